"""How many floating-point operations an op takes, from the shapes it meets. Products and convolutions
are counted exactly (a multiplication and an addition are two); for the rest it is a few for each
element, which is as good as nothing: bytes decide there. Measured times make all of this moot."""

import math

from .tracing import tensors_in

_PER_ELEMENT = {"softmax": 5, "log_softmax": 6, "layer_norm": 8, "rms_norm": 5, "batch_norm": 4, "gelu": 10,
                "silu": 5, "tanh": 8, "sigmoid": 5, "exp": 4}
_PRODUCTS = {"matmul", "bmm", "mm", "addmm", "baddbmm"}


def flops_of(kind, inputs, weights, result):
    """kind: as kind_of gives it; inputs: the tensors read, weights: those of the module."""
    name = kind[len("torch."):]
    outputs = sum(tensor.numel() for tensor in tensors_in(result))
    everything = list(inputs) + list(weights)
    if name == "linear" and len(everything) > 1:
        return 2 * outputs * everything[0].shape[-1]
    if name in _PRODUCTS and len(inputs) > 1:
        return 2 * outputs * inputs[-2].shape[-1]
    if name.startswith("conv") and len(everything) > 1:
        weight = next((tensor for tensor in everything[1:] if tensor.dim() > 2), None)
        if weight is not None:
            return 2 * outputs * math.prod(weight.shape[1:])
    if name == "scaled_dot_product_attention" and len(inputs) > 2:
        query, key, value = inputs[:3]
        return 2 * query.numel() * key.shape[-2] + 2 * outputs * value.shape[-2]
    return _PER_ELEMENT.get(name, 1) * outputs
