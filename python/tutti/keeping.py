"""Puts a model back as it was, after its code has run; copies and compares."""

import copy

import torch
from torch.nn.parameter import UninitializedTensorMixin

_TABLES = ("_parameters", "_buffers", "_modules")


class Kept:
    """What the modules of a model refer to, and the values of its buffers. Parameters are not copied: forward does not
    change them."""

    def __init__(self, model):
        self.tables = []  # a dict of a module, and its entries
        self.containers = []  # a list, dict or set that is an attribute, and a copy
        for module in model.modules():
            attributes = module.__dict__
            self.tables += [(table, dict(table)) for table in [attributes, *(attributes[name] for name in _TABLES)]]
            self.containers += [(value, value.copy()) for value in attributes.values() if type(value) in (list, dict, set)]
        self.buffer_names = [name for name, buffer in model.named_buffers() if _has_values(buffer)]
        self.buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers() if _has_values(buffer)]

    def put_back(self):
        for table, entries in self.tables:
            if list(table) != list(entries) or any(table[name] is not value for name, value in entries.items()):
                table.clear()
                table.update(entries)
        for value, before in self.containers:
            if isinstance(value, list):
                value[:] = before
            else:
                value.clear()
                value.update(before)
        for buffer, before in self.buffers:
            if not torch.equal(buffer, before):
                with torch.no_grad():
                    buffer.copy_(before)


def copy_of(module, memo=None):
    """A deep copy. Attributes that were computed, as the weight of weight_norm, are copied as plain tensors."""
    made = {id(value): value.detach().clone() for below in module.modules() for value in vars(below).values()
            if isinstance(value, torch.Tensor) and not value.is_leaf}
    return copy.deepcopy(module, {**made, **(memo or {})})


def _has_values(tensor):
    return not isinstance(tensor, UninitializedTensorMixin) and tensor.layout == torch.strided and tensor.device.type != "meta"


def buffer_values(model):
    return {name: buffer.detach().clone() for name, buffer in model.named_buffers() if _has_values(buffer)}


def difference(one, other):
    """How two tensors differ beyond rounding, in words; None if they do not."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f"is {other.dtype} {list(other.shape)}, not {one.dtype} {list(one.shape)}"
    if one.layout != torch.strided or one.is_quantized or one.device.type == "meta":
        return None
    if not one.is_floating_point() and not one.is_complex():
        return None if torch.equal(one, other) else "differs"
    share = 0.05 if one.element_size() < 4 else 1e-3
    wide = torch.complex128 if one.is_complex() else torch.float64
    one, other = one.detach().to(wide), other.detach().to(wide)
    finite = one.abs()[torch.isfinite(one.abs())]
    most = share * finite.max().item() if finite.numel() else 0.0
    return None if torch.allclose(one, other, rtol=share, atol=most, equal_nan=True) else "differs"
