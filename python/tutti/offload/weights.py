"""The weights of a model as the units of a dispatch see them: where modules refer to each tensor, its home in host
memory, and groups of tensors that are copied together."""

from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch
from torch import nn
from torch.nn.parameter import UninitializedTensorMixin

from ..binary import TuttiError

ALIGNMENT = 512  # bytes; offsets of the tensors of a group


def aligned(count: int) -> int:
    return (count + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def bytes_of(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def form_of(tensor: torch.Tensor) -> Tuple[Any, ...]:
    """Equal for tensors that are the same bytes. Its last entry are the strides."""
    return tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride()


@dataclass
class Weight:
    """One parameter, buffer or tensor attribute. `places` are the dicts and lists of modules that refer to it."""

    name: str
    home: torch.Tensor
    places: List[Tuple[Any, Any]] = field(default_factory=list)
    parameter: bool = True

    @property
    def bytes(self) -> int:
        return bytes_of(self.home)


@dataclass
class Group:
    """Tensors with the same users. Its bytes lie in one piece of host memory, so that one copy moves it."""

    name: str
    weights: List[Weight]
    offsets: List[int] = field(default_factory=list)
    bytes: int = 0
    host: Optional[torch.Tensor] = None  # the flat bytes, once `gather` was called

    def __post_init__(self):
        self.kinds = [(weight.home.dtype, weight.home.shape) for weight in self.weights]
        for weight in self.weights:
            self.offsets.append(self.bytes)
            self.bytes += aligned(weight.bytes)

    def copies(self) -> List[Tuple[torch.Tensor, int]]:
        """What is copied to a device: (bytes of host memory, where they go from the group's beginning)."""
        return [(self.host, 0)]

    def views(self, flat: torch.Tensor) -> List[torch.Tensor]:
        """The tensors of the group in flat bytes (uint8) that begin with it."""
        made = []
        for (dtype, shape), offset in zip(self.kinds, self.offsets):
            size = shape.numel() * torch.empty(0, dtype=dtype).element_size()
            made.append(flat[offset:offset + size].view(dtype).view(shape))
        return made

    def gather(self, flat: torch.Tensor) -> None:
        """Moves the homes of the weights into these bytes of host memory. The objects that modules hold stay."""
        for weight, view in zip(self.weights, self.views(flat)):
            view.copy_(weight.home.detach())
            weight.home.data = view
        self.host = flat


def _attributes(module: nn.Module) -> Iterator[Tuple[Any, Any, torch.Tensor, bool]]:
    """Every place of a module that holds a tensor: (container, key, tensor, whether it is a parameter)."""
    for name, tensor in module._parameters.items():
        if tensor is not None:
            yield module._parameters, name, tensor, True
    for name, tensor in module._buffers.items():
        if tensor is not None:
            yield module._buffers, name, tensor, False
    for name, value in module.__dict__.items():
        if name in ("_parameters", "_buffers", "_modules"):
            continue
        if isinstance(value, torch.Tensor):
            yield module.__dict__, name, value, False
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, torch.Tensor):
                    yield value, i, item, False


class Inventory:
    """All weights of a model, each once, however many modules refer to it."""

    def __init__(self, model: nn.Module):
        self.weights: Dict[int, Weight] = {}  # by the tensor's id
        self._model = model
        self._of_module: Dict[int, List[Weight]] = {}  # by the module's id: it may be below several parents
        for path, module in model.named_modules():
            mine = self._of_module.setdefault(id(module), [])
            for container, key, tensor, parameter in _attributes(module):
                if tensor.layout != torch.strided:
                    continue
                weight = self.weights.get(id(tensor))
                if weight is None:
                    name = f"{path}.{key}" if path else str(key)
                    weight = self.weights[id(tensor)] = Weight(name, tensor, [], parameter)
                weight.parameter = weight.parameter or parameter
                weight.places.append((container, key))
                mine.append(weight)

    def refuse_unready(self) -> None:
        """Raises TuttiError for weights that have no bytes on the CPU yet."""
        for weight in self.weights.values():
            if isinstance(weight.home, UninitializedTensorMixin):
                raise TuttiError(f"weight '{weight.name}' of a lazy module has no shape yet; call the model once, then dispatch it")
            if weight.home.device.type != "cpu":
                kind = "parameter" if weight.parameter else "buffer"
                raise TuttiError(f"{kind} '{weight.name}' is on {weight.home.device}; dispatch begins with a model on the CPU "
                                 "(model.to(\"cpu\"), or load its weights if it is on \"meta\")")

    def refuse_special(self, model: nn.Module) -> None:
        """Raises TuttiError for weights that cannot be copied as plain bytes, or whose modules cannot be led to copies."""
        for weight in self.weights.values():
            home, kind = weight.home, type(weight.home).__name__
            if home.is_quantized or (type(home) is not torch.Tensor and kind not in ("Parameter", "Buffer")):
                raise TuttiError(f"weight '{weight.name}' is no plain tensor ({kind}, {home.dtype}), so tutti cannot place it; "
                                 "dispatch the model without quantisation")
            if home.is_inference():
                raise TuttiError(f"weight '{weight.name}' was made in inference mode, so its changes cannot be seen; load the "
                                 "model outside of torch.inference_mode()")
        self._refuse_parts()
        for path, module in model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):
                raise TuttiError(f"module '{path}' is compiled by torch.jit, so its weights cannot be placed; dispatch the model "
                                 "that it was made from")

    def _refuse_parts(self) -> None:
        """Weights that are the same bytes in the same form stay so. Those that share some bytes would be torn apart."""
        spans = []
        for weight in self.weights.values():
            home = weight.home
            if home.numel():
                last = sum((size - 1) * stride for size, stride in zip(home.shape, home.stride()))
                end = home.data_ptr() + (last + 1) * home.element_size()
                spans.append((home.data_ptr(), end, form_of(home), weight.name))
        reach = None
        for span in sorted(spans, key=lambda span: span[:2]):
            if reach is not None and span[0] < reach[1] and span[2] != reach[2]:
                raise TuttiError(f"weights '{reach[3]}' and '{span[3]}' share a part of their memory, so they cannot be placed "
                                 "each by itself; clone() one of them, or take the part in forward")
            if reach is None or span[1] > reach[1]:
                reach = span

    def module(self, path: str) -> Optional[nn.Module]:
        try:
            return self._model.get_submodule(path)
        except AttributeError:
            return None

    def direct(self, path: str) -> List[Weight]:
        """Those that the module itself refers to, each once."""
        return list({id(weight): weight for weight in self._of_module.get(id(self.module(path)), [])}.values())

    def under(self, module: nn.Module) -> List[Weight]:
        """Those of the module and all modules in it, each once."""
        found = {}
        for below in module.modules():
            for weight in self._of_module.get(id(below), []):
                found[id(weight)] = weight
        return list(found.values())

    def total_bytes(self) -> int:
        return sum(weight.bytes for weight in self.weights.values())


def groups_of(users: Dict[str, List[Weight]]) -> Dict[str, List[Group]]:
    """For each unit its groups: tensors that no other unit uses, and tensors shared with the same units."""
    units_of: Dict[int, List[str]] = {}
    weights: Dict[int, Weight] = {}
    for unit, mine in users.items():
        for weight in mine:
            weights[id(weight)] = weight
            units_of.setdefault(id(weight), []).append(unit)
    members: Dict[Tuple[str, ...], List[Weight]] = {}
    for key, names in units_of.items():
        members.setdefault(tuple(names), []).append(weights[key])
    result: Dict[str, List[Group]] = {unit: [] for unit in users}
    for names, mine in members.items():
        name = f"weight:{names[0]}" if len(names) == 1 else f"weight:{mine[0].name}"
        group = Group(name, mine)
        for unit in names:
            result[unit].append(group)
    return result
