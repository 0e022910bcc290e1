"""Where weights are at home: flat pieces of host memory, pinned if the device can, or a mapped file if host memory is
too small."""

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import torch
from torch import nn

from ..binary import TuttiError
from .backend import Backend
from .moving import version_of
from .weights import Group, Weight, form_of


def _line(path: str, name: str) -> Optional[int]:
    """The bytes of a line such as "MemAvailable: 12 kB"."""
    try:
        for line in Path(path).read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def available_host_bytes(weights: int = 0) -> int:
    """What the system says is available, and what these bytes of weights take already, unless they are mapped from files:
    gathering them gives their present memory back."""
    available = _line("/proc/meminfo", "MemAvailable")
    if available is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return available + min(weights, _line("/proc/self/status", "RssAnon") or 0)


class Homes:
    """Gathers groups into flat memory, and undoes that."""

    def __init__(self, backends: Iterable[Backend], memory_bytes: int, folder: Optional[str]):
        self.backends = list(backends)
        self.left = memory_bytes
        self.folder = folder
        self.groups: List[Group] = []
        self.pinned: List[torch.Tensor] = []
        # Also if the model is deleted as it is: memory must not be given back while it is pinned.
        self._unpin = weakref.finalize(self, _unpin, self.pinned, self.backends)
        self._unpin.atexit = False
        self.forms: Dict[int, Tuple[Any, ...]] = {}  # of the weights' memory before, by id

    def gather(self, groups: List[Group]) -> None:
        """As many groups as fit stay in memory, the others go to one mapped file."""
        groups = [group for group in groups if group.bytes]
        self.forms = {id(weight): form_of(weight.home) for group in groups for weight in group.weights}
        mapped = []
        for group in groups:
            if group.bytes <= self.left:
                self.left -= group.bytes
                flat = torch.empty(group.bytes, dtype=torch.uint8)
                for backend in self.backends:
                    flat = backend.pin(flat)
                group.gather(flat)
                self.pinned.append(flat)
                self.groups.append(group)
            else:
                mapped.append(group)
        if mapped:
            flat, begin = self._map(sum(group.bytes for group in mapped)), 0
            for group in mapped:
                group.gather(flat[begin:begin + group.bytes])
                self.groups.append(group)
                begin += group.bytes

    def _map(self, size: int) -> torch.Tensor:
        """Bytes in a file without a name: it is gone when the last tensor in it is, or the process."""
        path = None
        try:
            handle, path = tempfile.mkstemp(prefix="tutti-weights-", suffix=".bin", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)
            return torch.from_file(path, shared=True, size=size, dtype=torch.uint8)
        except OSError as error:
            raise TuttiError(f"host memory is too small for the model, and {size} bytes of weights cannot be written to "
                             f"{self.folder or tempfile.gettempdir()}: {error.strerror}; give offload_folder a folder "
                             "with room, or more for \"cpu\" in max_memory") from None
        finally:
            if path is not None:
                os.unlink(path)

    def restore(self) -> None:
        """Every weight is in memory of its own again, laid out as before; those that shared their memory do so again."""
        made: Dict[Tuple[Any, ...], torch.Tensor] = {}
        for group in self.groups:
            for weight in group.weights:
                form = self.forms[id(weight)]
                known = made.get(form)
                if known is None or not _equal(known, weight.home.data):
                    known = made[form] = _laid_out(weight.home.data, form[-1])
                weight.home.data = known
            group.host = None
        self.groups = []
        self._unpin()


def _unpin(pinned: List[torch.Tensor], backends: List[Backend]) -> None:
    for flat in pinned:
        for backend in backends:
            backend.unpin(flat)
    pinned.clear()


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and torch.equal(one, other)


def _laid_out(tensor: torch.Tensor, strides: Tuple[int, ...]) -> torch.Tensor:
    """A copy, with these strides if they give each element a place of its own."""
    if len(strides) != tensor.dim() or tensor.is_contiguous() and tensor.stride() == strides:
        return tensor.clone()
    end = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, tensor.shape) if size > 1):
        if stride != end:
            return tensor.clone()
        end *= size
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


class HomesWatch:
    """Notices that weights were changed at home: by load_state_dict, by new data, or by other parameters in their place."""

    def __init__(self, groups: List[Group], norms: List[nn.Module], plain: Callable):
        self.groups = groups
        self.norms = norms
        self.plain = plain  # plain(tensor): a tensor as the model had it before it was dispatched
        self._training = self._norms_in_training()
        self._seen = self._state()

    def _norms_in_training(self) -> List[bool]:
        """Statistics that they gathered on the cores count once they are read: when training ends."""
        return [norm.training for norm in self.norms]

    def _state(self):
        return [(version_of(weight.home), weight.home.data_ptr(),
                 all(container.get(key) is weight.home for container, key in _registered(weight)))
                for group in self.groups for weight in group.weights]

    def changed(self) -> bool:
        """Since the last time, or the beginning. New weights are taken into the homes."""
        now, training = self._state(), self._norms_in_training()
        if now == self._seen and training == self._training:
            return False
        other_statistics = training != self._training
        self._training = training
        taken = [_take(group, i, weight, self.plain)
                 for group in self.groups if group.host is not None for i, weight in enumerate(group.weights)]
        before, self._seen = self._seen, self._state()
        # Weights that were taken are at the old address, and may have the old version.
        return other_statistics or any(taken) or [state[:2] for state in self._seen] != [state[:2] for state in before]


def _registered(weight: Weight):
    """The places of parameters and buffers. Others are a module's own, which it may overwrite as it likes."""
    return [(container, key) for container, key in weight.places
            if isinstance(container, dict) and "_parameters" not in container]


def _take(group: Group, i: int, weight: Weight, plain: Callable) -> bool:
    """Copies a weight that is elsewhere into the group. True if it was."""
    places = _registered(weight)
    found = {id(new): new for new in (container.get(key) for container, key in places)
             if isinstance(new, torch.Tensor) and new is not weight.home}
    if len(found) == 1 and all(container.get(key) is not weight.home for container, key in places):
        new = next(iter(found.values()))
        new = new if isinstance(new, nn.Parameter) else plain(new)
        if type(new) in (torch.Tensor, type(weight.home)) and (new.dtype, new.shape) == group.kinds[i] \
                and new.device.type == "cpu" and not new.is_inference():
            weight.home = new
            for container, key in places:
                container[key] = new
    view = group.views(group.host)[i]
    if weight.home.data_ptr() == view.data_ptr() and (weight.home.dtype, weight.home.shape) == group.kinds[i]:
        return False
    if (weight.home.dtype, weight.home.shape) != group.kinds[i] or weight.home.device.type != "cpu":
        raise TuttiError(f"weight '{weight.name}' has another type, shape or device than when the model was dispatched "
                         f"({weight.home.dtype} on {weight.home.device}, by model.to() or model.half() perhaps); "
                         "tutti.undispatch(model) first, and dispatch it again")
    view.copy_(weight.home.detach())
    weight.home.data = view
    return True
