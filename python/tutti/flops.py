"""The number of floating-point operations of an op, from the shapes of its tensors. Products and
convolutions are counted exactly (a multiplication and an addition are two). The rest counts a few for
each element, which is negligible: bytes dominate there. Measured times replace all of this."""

import math

from .tracing import tensors_in

_PER_ELEMENT = {"softmax": 5, "log_softmax": 6, "layer_norm": 8, "rms_norm": 5, "batch_norm": 4, "gelu": 10,
                "silu": 5, "tanh": 8, "sigmoid": 5, "exp": 4}
_PRODUCTS = {"matmul", "bmm", "mm", "addmm", "baddbmm"}


def flops_of(kind, inputs, weights, result):
    """kind: as returned by kind_of; inputs: the tensors read; weights: those of the module."""
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
