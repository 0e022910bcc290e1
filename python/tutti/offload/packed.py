"""Experts that are packed in one tensor, [experts, ...]: each slice is a unit. A module that takes its experts one after
the other by index gets a stand-in for the tensor; the slice that it asks for is kept, copied or left to the cores.

A watched run decides whether that is possible: a tensor that is also used as a whole (one grouped product for all
experts), or whose slices are collected before they are used, is not packed, and its module is a unit as it is."""

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch import nn

from ..binary import TuttiError
from .moving import Mover, map_nested, tensors_of, version_of
from .weights import Group, Weight, aligned, bytes_of

_GET = "__getitem__"
_HARMLESS = {"size", "dim", "numel", "stride", "ndimension", "nelement", "element_size", "is_contiguous",
             "is_floating_point", "__len__", "__get__"}


def slice_name(module: str, index: int) -> str:
    return f"{module}[{index}]"


def parse(name: str) -> Optional[Tuple[str, int]]:
    """The module and the index of a slice's name; None for other units."""
    match = re.fullmatch(r"(.*)\[([0-9]+)\]", name)
    return (match.group(1), int(match.group(2))) if match else None


def index_of(index: Any) -> Optional[int]:
    """The one expert that an index picks; None if it picks something else."""
    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    if isinstance(index, bool):
        return None
    if isinstance(index, int):
        return index
    if isinstance(index, torch.Tensor) and index.dim() == 0 and not index.is_floating_point() \
            and index.dtype != torch.bool:
        return int(index)
    return None


class SliceGroup(Group):
    """The slices of one expert: their bytes lie in the tensors of all experts."""

    def __init__(self, name: str, weights: List[Weight], index: int):
        self.index = index
        self.name = name
        self.weights = weights
        self.offsets, self.bytes, self.host = [], 0, None
        for weight in weights:
            self.offsets.append(self.bytes)
            self.bytes += aligned(bytes_of(weight.home[index]))

    def copies(self):
        return [(weight.home.data[self.index].reshape(-1).view(torch.uint8), offset)
                for weight, offset in zip(self.weights, self.offsets)]

    def views(self, flat: torch.Tensor) -> List[torch.Tensor]:
        made = []
        for weight, offset in zip(self.weights, self.offsets):
            like = weight.home[self.index]
            made.append(flat[offset:offset + bytes_of(like)].view(like.dtype).view(like.shape))
        return made


@dataclass
class PackedModule:
    """A module whose tensors of all experts have stand-ins while it runs."""

    name: str
    module: nn.Module
    weights: List[Weight]
    homes: List[Group] = field(default_factory=list)

    def __post_init__(self):
        self.homes = [Group(f"home:{weight.name}", [weight]) for weight in self.weights]

    @property
    def count(self) -> int:
        return self.weights[0].home.shape[0]

    def group(self, index: int) -> SliceGroup:
        return SliceGroup(f"weight:{slice_name(self.name, index)}", self.weights, index)


def candidates(weights: List[Weight]) -> List[Weight]:
    """Tensors of a module that may hold a slice for each expert."""
    found = [weight for weight in weights if weight.parameter and weight.home.dim() >= 3 and weight.home.shape[0] > 1
             and weight.home.is_contiguous()]
    return [weight for weight in found if weight.home.shape[0] == found[0].home.shape[0]]


def _plain(value):
    with torch._C.DisableTorchFunction():
        return value.as_subclass(torch.Tensor)


class Probe(torch.Tensor):
    """Stands for a candidate while the model is watched."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        probes = [tensor for tensor in tensors_of((args, kwargs)) if isinstance(tensor, Probe)]
        name = getattr(func, "__name__", "")
        index = index_of(args[1]) if name == _GET else None
        for probe in probes:
            if probe._index is not None:  # a slice
                probe._watch.used(probe._module, probe._index)
            elif index is None and name not in _HARMLESS:
                probe._watch.whole(probe._module)
        args, kwargs = map_nested((args, kwargs), lambda t: _plain(t) if isinstance(t, Probe) else t)
        result = func(*args, **kwargs)
        first = probes[0]
        if first._index is None and name in _HARMLESS and isinstance(result, torch.Tensor):  # .data, .T
            first._watch.whole(first._module)
        if index is not None and first._index is None:
            first._watch.taken(first._module, index % first.shape[0])
            return _probe(result, first._watch, first._module, index % first.shape[0])
        if first._index is not None and isinstance(result, torch.Tensor) and len(probes) == len(tensors_of((args, kwargs))):
            return _probe(result, first._watch, first._module, first._index)
        return result


def _probe(tensor, watch, module, index):
    with torch._C.DisableTorchFunction():
        made = tensor.as_subclass(Probe)
    made._watch, made._module, made._index = watch, module, index
    return made


class Watch:
    """Which slices of which modules a run takes. taken(module, index) is called for each."""

    def __init__(self, on_taken: Callable):
        self.on_taken = on_taken
        self.unfit: set = set()
        self.seen: set = set()
        self.current: Dict[str, int] = {}
        self._replaced: List = []

    def install(self, model: nn.Module, inventory) -> None:
        for path, module in model.named_modules():
            for weight in candidates(inventory.direct(path)):
                if len(weight.places) == 1 and weight.places[0][0] is module._parameters:
                    key = weight.places[0][1]
                    self._replaced.append((module._parameters, key, weight.home))
                    module._parameters[key] = _probe(weight.home.detach(), self, path, None)

    def remove(self) -> None:
        for container, key, home in self._replaced:
            container[key] = home

    def taken(self, module: str, index: int) -> None:
        self.current[module] = index
        self.seen.add(module)
        self.on_taken(slice_name(module, index))

    def used(self, module: str, index: int) -> None:
        if self.current.get(module) != index:
            self.unfit.add(module)

    def whole(self, module: str) -> None:
        self.unfit.add(module)

    def packed(self) -> List[str]:
        return sorted(self.seen - self.unfit)


class StandIn(torch.Tensor):
    """What a module finds in place of the tensor of all experts. `take(index)` gives a slice."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        stand = next(t for t in tensors_of((args, kwargs or {})) if isinstance(t, StandIn))
        name = getattr(func, "__name__", "")
        if name == _GET and args[0] is stand:
            index = index_of(args[1])
            if index is not None:
                return stand._take(index % stand._home.shape[0])
        if name in _HARMLESS:
            if func == torch.Tensor.device.__get__:
                return stand._device
            found = func(stand._home)
            if not isinstance(found, torch.Tensor):
                return found
            name = getattr(getattr(func, "__self__", None), "__name__", name)  # .data, .T
        raise TuttiError(f"weight '{stand._weight}' is used as a whole ({name}), but in the sample its experts were taken one "
                         "by one; dispatch with a sample that shows how it is used")


def stand_in(weight: Weight, device, take: Callable) -> StandIn:
    with torch._C.DisableTorchFunction():
        made = weight.home.detach().as_subclass(StandIn)
    made._home, made._weight, made._device, made._take = weight.home.data, weight.name, device, take
    return made


class Away(torch.Tensor):
    """A slice on another device than the module's values: they are moved to it, and results back."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        found = tensors_of((args, kwargs or {}))
        away = next(t for t in found if isinstance(t, Away))
        alone = all(isinstance(t, Away) for t in found)
        there: Mover = away._there
        moved = []

        def change(tensor):
            if isinstance(tensor, Away):
                return tensor._raw
            made = there.tensor(tensor)
            if made is not tensor:
                moved.append((tensor, made, version_of(made)))
            return made
        args, kwargs = map_nested((args, kwargs or {}), change)
        result = func(*args, **kwargs)
        if alone:
            return map_nested(result, lambda tensor: away_of(tensor, there, away._back))
        for original, made, version in moved:
            if version_of(made) != version:  # by out=, or in place
                with torch.no_grad():
                    original.copy_(away._back(made))
                there.remember(original, made)
        originals = {id(made): original for original, made, _ in moved}
        return map_nested(result, lambda tensor: originals[id(tensor)] if id(tensor) in originals else away._back(tensor))


def away_of(tensor: torch.Tensor, there: Mover, back: Callable) -> Away:
    with torch._C.DisableTorchFunction():
        made = tensor.as_subclass(Away)
    made._raw, made._there, made._back = tensor, there, back
    return made
