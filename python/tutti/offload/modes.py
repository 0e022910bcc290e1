"""A mode is one way in which the model is called: the prefill of a prompt, the decode of a token. Calls are assigned to
modes by the sizes of their tensors. Each mode has a placement: what a plan says, as the executor needs it."""

import inspect
import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Set, Tuple

import torch
from torch import nn

from .names import HOST

Sizes = Tuple[Tuple[str, int], ...]
_SAME = 0.5  # calls that are closer than this are one mode


@dataclass
class Call:
    """One call of the model, as it was observed."""

    entry: str
    sizes: Sizes
    units: List[str] = field(default_factory=list)


@dataclass
class OpInfo:
    """One call of a unit within a pass: an op of the graph. Times are in seconds. `share`: in how many of the passes
    it is called."""

    name: str
    unit: str
    share: float = 1.0
    in_bytes: int = 0
    out_bytes: int = 0
    cores_s: float = 0.0
    busy_cores_s: float = 0.0  # while the link is busy
    device_s: Dict[str, float] = field(default_factory=dict)
    cross_s: float = 0.0  # to take its input to the cores and its output back


@dataclass
class Mode:
    name: str
    entry: str  # the module that was called; "" is the model
    sizes: Sizes
    ops: List[OpInfo] = field(default_factory=list)
    calls: int = 1

    @property
    def tokens(self) -> int:
        return self.sizes[0][1] if self.sizes else 1


@dataclass
class Placement:
    """devices: for each unit the device of its calls in a pass, in order. order: the units in the order of their
    certain calls. kept: names of weight groups by device. buffer_bytes: by device."""

    mode: str
    devices: Dict[str, List[str]]
    order: List[str]
    kept: Dict[str, Set[str]] = field(default_factory=dict)
    buffer_bytes: Dict[str, int] = field(default_factory=dict)

    def device(self, unit: str, call: int) -> str:
        mine = self.devices.get(unit)
        return mine[min(call, len(mine) - 1)] if mine else HOST

    def used(self) -> List[str]:
        return sorted({device for mine in self.devices.values() for device in mine if device != HOST})


def sizes_of(module: nn.Module, args, kwargs) -> Sizes:
    """The number of elements of each tensor argument, in the order of the signature; integers count as tokens, of
    others the last dimension does not count."""
    given: List[Tuple[str, Any]] = []
    try:
        forward = module.forward
        bound = inspect.signature(getattr(forward, "__wrapped__", forward)).bind_partial(*args, **kwargs)
        for name, value in bound.arguments.items():
            given += list(value.items()) if isinstance(value, dict) else [(name, value)]
    except TypeError:  # the call itself will say what is wrong
        given = [(str(i), value) for i, value in enumerate(args)] + list(kwargs.items())
    return tuple((name, _tokens(value)) for name, value in given if isinstance(value, torch.Tensor) and value.dim() > 0)


def _tokens(tensor: torch.Tensor) -> int:
    if tensor.is_floating_point() and tensor.dim() > 1:
        return max(1, tensor.numel() // max(1, tensor.shape[-1]))
    return max(1, tensor.numel())


def distance(first: Sizes, second: Sizes) -> float:
    """0 for equal sizes. The first tensor of the call counts most; tensors that only one of them has count a little."""
    one, other = dict(first), dict(second)
    if not one or not other:
        return 0.0 if one == other else 1.0
    lead = abs(math.log(first[0][1] / second[0][1]))
    missing = len(set(one) ^ set(other)) * 0.01
    rest = sum(min(1.0, abs(math.log(one[name] / other[name]))) for name in one if name in other)
    return lead + missing + 0.01 * rest


def group_calls(calls: List[Call]) -> List[Mode]:
    """The modes of the observed calls, in the order of their first call. Ops are the calls of units in that order; a
    unit that only some of the calls use stands where it was first seen."""
    modes: List[Mode] = []
    members: List[List[Call]] = []
    for call in calls:
        for mode, mine in zip(modes, members):
            if mode.entry == call.entry and distance(mode.sizes, call.sizes) < _SAME:
                mine.append(call)
                break
        else:
            modes.append(Mode("", call.entry, call.sizes))
            members.append([call])
    for mode, mine in zip(modes, members):
        mode.calls = len(mine)
        mode.ops = _merged([_numbered(call.units) for call in mine])
    _name(modes)
    return modes


def _numbered(units: List[str]) -> List[Tuple[str, str]]:
    seen: Dict[str, int] = {}
    made = []
    for unit in units:
        seen[unit] = seen.get(unit, 0) + 1
        made.append((unit if seen[unit] == 1 else f"{unit}#{seen[unit]}", unit))
    return made


def _merged(sequences: List[List[Tuple[str, str]]]) -> List[OpInfo]:
    order: List[OpInfo] = []
    counts: Dict[str, int] = {}
    for sequence in sequences:
        at = 0
        for name, unit in sequence:
            counts[name] = counts.get(name, 0) + 1
            known = next((i for i, op in enumerate(order) if op.name == name), None)
            if known is None:
                order.insert(at, OpInfo(name, unit))
                at += 1
            else:
                at = max(at, known + 1)
    for op in order:
        op.share = counts[op.name] / len(sequences)
    return order


def _name(modes: List[Mode]) -> None:
    taken: Set[str] = set()
    for mode in modes:
        base = f"{mode.entry.replace('.', '-') + '-' if mode.entry else ''}tokens-{mode.tokens}"
        name, count = base, 2
        while name in taken:
            name, count = f"{base}-{count}", count + 1
        taken.add(name)
        mode.name = name
