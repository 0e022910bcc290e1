"""Moves what a unit reads to its device and what it returns to the main device: tensors, containers of tensors, and
the tensors in objects, such as caches, that several units share."""

import collections
import copy
import dataclasses
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

_PLAIN = (str, bytes, int, float, complex, bool, type(None), torch.dtype, torch.device, torch.Size, type)
_DEPTH = 6


def version_of(tensor: torch.Tensor) -> Optional[int]:
    """How often it was changed in place; None if torch does not count that (inference mode)."""
    return None if tensor.is_inference() else tensor._version


def is_container(value: Any) -> bool:
    return isinstance(value, (tuple, list, dict)) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def map_nested(value: Any, change: Callable, copies: Optional[List] = None) -> Any:
    """The value with `change` applied to every tensor in it. What does not change is not copied. Containers that can
    change are listed with their copies."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple):
        parts = [map_nested(part, change, copies) for part in value]
        if isinstance(value, PackedSequence) and parts[1].device.type != "cpu":
            parts[1] = value.batch_sizes  # torch wants them in host memory
        if all(new is old for new, old in zip(parts, value)):
            return value
        if type(value) is tuple:
            return tuple(parts)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, list):
        parts = [map_nested(part, change, copies) for part in value]
        if all(new is old for new, old in zip(parts, value)):
            return value
        made = parts if type(value) is list else type(value)(parts)
        if copies is not None:
            copies.append((value, made, list(parts)))
        return made
    if isinstance(value, dict):
        parts = {key: map_nested(part, change, copies) for key, part in value.items()}
        if all(parts[key] is part for key, part in value.items()):
            return value
        made = parts if type(value) is dict else copy.copy(value)
        for key, part in parts.items():
            made[key] = part
        if copies is not None:
            copies.append((value, made, dict(parts)))
        return made
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _mapped_dataclass(value, change, copies)
    return value


def _mapped_dataclass(value, change, copies):
    changed = {}
    for part in dataclasses.fields(value):
        old = getattr(value, part.name, None)
        new = map_nested(old, change, copies)
        if new is not old:
            changed[part.name] = new
    if not changed:
        return value
    made = copy.copy(value)
    for name, new in changed.items():
        object.__setattr__(made, name, new)
    return made


def tensors_of(value: Any) -> List[torch.Tensor]:
    found: List[torch.Tensor] = []

    def take(tensor):
        found.append(tensor)
        return tensor
    map_nested(value, take)
    return found


class Mover:
    """Moves values to one device within a pass; a value is moved once."""

    def __init__(self, move: Callable, holds: Callable):
        self.move = move
        self.holds = holds
        # By the id of a tensor: a weak reference to it, its version, and the moved tensor.
        self.moved: Dict[int, Tuple[Any, Optional[int], torch.Tensor]] = {}

    def tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if self.holds(tensor):
            return tensor
        version = version_of(tensor)
        known = self.moved.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == version and version is not None:
            return known[2]
        if torch.is_inference_mode_enabled():
            with torch.inference_mode(False), torch.no_grad():  # a copy whose changes torch counts
                made = self.move(tensor)
        else:
            made = self.move(tensor)
        self.remember(tensor, made)
        return made

    def remember(self, tensor: torch.Tensor, made: torch.Tensor) -> None:
        key, moved = id(tensor), self.moved

        def forget(reference):  # what was moved is not held longer than the tensor that it was made of
            known = moved.get(key)
            if known is not None and known[0] is reference:
                del moved[key]
        moved[key] = (weakref.ref(tensor, forget), version_of(tensor), made)


class Moved:
    """The arguments of one call, moved. `finish` carries changes that the call made in place back to the originals."""

    def __init__(self, mover: Mover, args, kwargs):
        self.pairs: List[Tuple[torch.Tensor, torch.Tensor, Optional[int]]] = []
        self.copies: List[Tuple[Any, Any, Any]] = []
        self._mover = mover
        self._given = (args, kwargs)
        self.args, self.kwargs = map_nested((args, kwargs), self._move, self.copies)
        self.kwargs = dict(self.kwargs)

    def _move(self, tensor):
        made = self._mover.tensor(tensor)
        if made is not tensor:
            self.pairs.append((tensor, made, version_of(made)))
        return made

    def finish(self, back: Callable) -> Dict[int, torch.Tensor]:
        """back(tensor, like): the tensor where `like` is. Returns the original of each moved tensor, by id."""
        originals = {}
        for original, made, version in self.pairs:
            originals[id(made)] = original
            if version is not None and version_of(made) != version:
                with torch.no_grad():
                    original.copy_(back(made, original))
                self._mover.remember(original, made)
        for original, made, placed in self.copies:
            _carry_back(original, made, placed)
        return originals

    def settle_containers(self, settle: Callable) -> None:
        """Applies `settle` to what the call has put into lists and dicts of its arguments."""
        for container in _changeable(self._given):
            for key, part in list(enumerate(container) if isinstance(container, list) else container.items()):
                if isinstance(part, (torch.Tensor, tuple)):
                    settled = map_nested(part, settle)
                    if settled is not part:
                        container[key] = settled


def _changeable(value: Any) -> Iterator[Any]:
    """The lists and dicts in nested arguments."""
    if isinstance(value, (list, dict)):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        if isinstance(part, (list, dict, tuple)):
            yield from _changeable(part)


def _carry_back(original, made, placed):
    """Entries of a list or dict that the call replaced, added or took away."""
    if isinstance(original, list):
        if len(made) == len(placed) and all(new is old for new, old in zip(made, placed)):
            return
        before = {id(new): old for new, old in zip(placed, original)}
        original[:] = [before.get(id(part), part) for part in made]
        return
    for key in [key for key in original if key not in made]:
        del original[key]
    for key, part in made.items():
        if key not in placed or placed[key] is not part:
            original[key] = part


Path = Tuple[Any, ...]


def objects_in(value: Any) -> Iterator[Any]:
    """Objects among the arguments that may hold tensors: neither tensors nor containers nor modules."""
    if isinstance(value, (torch.Tensor, nn.Module) + _PLAIN):
        return
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from objects_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from objects_in(part)
    elif hasattr(value, "__dict__") and not callable(value) and not dataclasses.is_dataclass(value):
        yield value


def _children(value: Any) -> Iterator[Tuple[Any, Any]]:
    if isinstance(value, (list, tuple)):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from value.items()
    elif hasattr(value, "__dict__") and not isinstance(value, (nn.Module,) + _PLAIN) and not callable(value):
        yield from (("." + name, part) for name, part in vars(value).items())


def tensors_at(value: Any, path: Path = (), depth: int = 0) -> Iterator[Tuple[Path, Any, Any, torch.Tensor]]:
    """Every tensor in an object: (path, what holds it, its key there, the tensor)."""
    if depth > _DEPTH:
        return
    for key, part in list(_children(value)):
        if isinstance(part, torch.Tensor):
            yield path + (key,), value, key, part
        elif not isinstance(part, _PLAIN):
            yield from tensors_at(part, path + (key,), depth + 1)


def _get(holder, key):
    try:
        return getattr(holder, key[1:]) if isinstance(key, str) and key[:1] == "." else holder[key]
    except (AttributeError, KeyError, IndexError, TypeError):
        return None


class SharedObjects:
    """Knows which tensors of the objects that units share belong to which unit, by watching what each changes: the keys
    and values of a layer in a cache are moved when the layer's device changes, those of other layers are not."""

    WATCHED_CALLS = 3

    def __init__(self):
        self.paths: Dict[Tuple[str, type], set] = collections.defaultdict(set)
        self.calls: Dict[Tuple[str, type], int] = collections.defaultdict(int)

    def watch_again(self):
        self.calls.clear()

    def before(self, unit: str, values: Any, mover: Mover):
        """Moves what belongs to the unit. Returns what `after` needs."""
        watched = []
        for owner in objects_in(values):
            key = (unit, type(owner))
            for path in self.paths[key]:
                self._move(owner, path, mover)
            if self.calls[key] < self.WATCHED_CALLS:
                self.calls[key] += 1
                watched.append((key, owner, {path: (tensor, version_of(tensor))
                                             for path, _, _, tensor in tensors_at(owner)}))
        return watched

    def after(self, watched):
        for key, owner, seen in watched:
            for path, _, _, tensor in tensors_at(owner):
                known = seen.get(path)
                if known is None or known[0] is not tensor or known[1] != version_of(tensor):
                    self.paths[key].add(path)

    @staticmethod
    def _move(owner, path, mover):
        holders = [owner]
        for key in path[:-1]:
            holders.append(_get(holders[-1], key))
            if holders[-1] is None:
                return
        tensor = _get(holders[-1], path[-1])
        if not isinstance(tensor, torch.Tensor) or mover.holds(tensor):
            return
        value = mover.move(tensor)
        for holder, key in zip(reversed(holders), reversed(path)):  # tuples are made again, up to what can change
            if isinstance(holder, tuple):
                value = tuple(value if i == key else part for i, part in enumerate(holder))
            elif isinstance(key, str) and key[:1] == ".":
                setattr(holder, key[1:], value)
                return
            else:
                holder[key] = value
                return
