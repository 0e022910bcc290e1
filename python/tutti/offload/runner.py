"""Runs a model by its placements. The forward of each unit is replaced by one that brings its weights and inputs to the
unit's device; that of the modules above, by one that begins and ends passes. Everything happens in the thread that
calls the model; calls from several threads wait for each other."""

import contextlib
import dataclasses
import functools
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch import nn

from ..binary import TuttiError
from .arena import Arena, Item
from .backend import Backend, Region
from .forwards import Forward, forget_forward
from .installing import Installer, norm_statistics
from .homes import HomesWatch
from .modes import Mode, Placement, distance, sizes_of
from .names import HOST
from .moving import Moved, Mover, SharedObjects, is_container, map_nested, tensors_of
from .packed import PackedModule, away_of, slice_name, stand_in
from .units import Unit, Units
from .weights import Group

_MOST_VIEWS = 4096


class Timing:
    """How long the calls of units took, if measured: (unit, device, seconds) in order, once per pass."""

    def __init__(self):
        self.calls: List[Tuple[str, str, Any, Any]] = []
        self.sizes: Dict[str, Tuple[int, int]] = {}


class Runner:
    def __init__(self, model: nn.Module, units: Units, backends: Dict[str, Backend], modes: List[Mode],
                 placements: Dict[str, Placement]):
        self.model = model
        self.units = units
        self.backends = backends
        self.modes = modes
        self.placements = placements
        self.objects = SharedObjects()
        self.timing: Optional[Timing] = None
        self.trace: Optional[Callable] = None  # trace(event, label), if set
        self.on_begin: Optional[Callable] = None  # on_begin(mode) and on_pass(entry, mode), if set: around each pass
        self.on_pass: Optional[Callable] = None
        self.placement: Optional[Placement] = None
        self._followed: Dict[Optional[str], str] = {}  # the mode that came after each mode
        self._arenas: Dict[str, Arena] = {}
        self._kept: Dict[Tuple[str, str], Region] = {}  # by device and group
        self._glue: Dict[str, Region] = {}
        self._views: Dict[Any, List] = {}
        statistics = norm_statistics(model)
        self._homes = HomesWatch(units.homes(), list(statistics.values()), self._to_caller_tensor)
        self._installer = Installer(lambda device, tensor: self._mover(device).tensor(tensor), self._to_caller_tensor,
                                    self._back, statistics)
        self._shared = self._find_shared()
        self._lock = threading.RLock()
        self._thread: Optional[int] = None  # that runs a pass
        self._entries = {mode.entry for mode in modes}
        self._attached: List[nn.Module] = []
        self._trains = list(model.parameters())
        self._unit: Optional[Unit] = None  # that is running
        self._counts: Dict[str, int] = {}
        self._movers: Dict[str, Mover] = {}
        self.main = HOST

    # -- attaching ---------------------------------------------------------------------------------------------------

    def attach(self) -> None:
        for name, unit in self.units.units.items():
            if unit.module is not None:
                self._wrap(unit.module, functools.partial(self._call_unit, unit))
        for name, packed in self.units.packed.items():
            self._wrap(packed.module, functools.partial(self._call_packed, packed))
        for name, module in self.units.splits.items():
            self._wrap(module, functools.partial(self._call_split, name, module))

    def _wrap(self, module: nn.Module, call: Callable) -> None:
        module.forward = Forward(module, call)
        self._attached.append(module)

    def detach(self) -> None:
        with self._lock:
            for module in self._attached:
                forget_forward(module)
            self._attached = []
            self.release()

    def release(self) -> None:
        """Gives all memory of the devices back."""
        for backend in self.backends.values():
            backend.synchronize()
        for arena in self._arenas.values():
            arena.close()
        for (device, _), region in self._kept.items():
            self.backends[device].release(region.block)
        for device, region in self._glue.items():
            self.backends[device].release(region.block)
        self._arenas, self._kept, self._glue, self._views = {}, {}, {}, {}
        self.placement = None

    def _find_shared(self) -> Dict[str, List[Tuple[Any, Any, torch.Tensor]]]:
        """For each unit the places of glue in its modules: where it runs elsewhere than the main device, they differ."""
        if self.units.glue is None:
            return {}
        found: Dict[str, List] = {}
        for name, unit in self.units.units.items():
            if unit.module is None:
                continue
            holders = {id(holder) for module in unit.module.modules()
                       for holder in (module._parameters, module._buffers, module.__dict__)}
            mine = [(container, key, weight.home, weight.home) for weight in self.units.glue.weights
                    for container, key in weight.places if id(container) in holders]
            if mine:
                found[name] = mine
        return found

    # -- passes ------------------------------------------------------------------------------------------------------

    def _in_pass(self) -> bool:
        return self._thread == threading.get_ident()

    def _call_split(self, name: str, module: nn.Module, inner: Callable, args, kwargs):
        if self._in_pass():
            return inner(*args, **kwargs)
        return self._pass(name, module, inner, inner, args, kwargs)

    def _pass(self, name: str, module: nn.Module, inner: Callable, run: Callable, args, kwargs):
        """run: what a pass does. inner: the module's own forward, for a caller that waited while it was undispatched."""
        if not self._lock.acquire(blocking=False):  # another thread runs a pass
            if name not in self._entries:  # that pass may wait for this thread
                raise TuttiError(f"module '{name}' of a dispatched model is called by one thread while another runs the model; "
                                 "call it when that has ended, or tutti.undispatch(model) first")
            self._lock.acquire()
        try:
            if not self._attached:
                return inner(*args, **kwargs)
            return self._locked_pass(name, module, run, args, kwargs)
        finally:
            self._lock.release()

    def _locked_pass(self, name: str, module: nn.Module, run: Callable, args, kwargs):
        if torch.is_grad_enabled() and (any(p.requires_grad for p in self._trains)
                                        or any(t.requires_grad for t in tensors_of((args, kwargs)))):
            raise TuttiError("a dispatched model cannot be trained, and gradients are enabled; call it under "
                             "torch.no_grad(), or tutti.undispatch(model) first")
        mode = self.choose(name, sizes_of(module, args, kwargs))
        if self._homes.changed():  # the devices' copies are old
            self.release()
        self.switch(self.placements[mode])
        self._counts, self._movers = {}, {}
        for arena in self._arenas.values():
            arena.begin_pass()
            arena.copy_ahead()
        if self.on_begin is not None:
            self.on_begin(mode)
        caller = next(iter(tensors_of((args, kwargs))), None)
        self._thread = threading.get_ident()
        complete = False
        try:
            with self._main_context(), self._glue_installed(self.main):
                moved = Moved(self._mover(self.main), args, kwargs)
                outputs = run(*moved.args, **moved.kwargs)
                originals = moved.finish(self._back)
            outputs = self._to_caller(outputs, caller, originals)
            complete = True
            return outputs
        finally:
            self._thread = None
            self._movers = {}
            if complete:
                self._prepare_next(mode)
            else:
                for arena in self._arenas.values():
                    arena.follow([])
                self.placement = None
            if self.on_pass is not None:
                self.on_pass(name, mode)

    def choose(self, entry: str, sizes) -> str:
        """The mode whose measured call is nearest."""
        among = [mode for mode in self.modes if mode.entry == entry] or self.modes
        return min(among, key=lambda mode: distance(mode.sizes, sizes)).name

    def _prepare_next(self, mode: str) -> None:
        """The copies of the next pass start now: of the mode that followed this one the last time. The first time, of
        the mode that is listed next, since a decode follows a prefill."""
        before = getattr(self, "_last", None)
        self._followed[before] = mode
        self._last = mode
        names = [m.name for m in self.modes]
        guess = self._followed.get(mode) or names[min(names.index(mode) + 1, len(names) - 1)]
        self.switch(self.placements[guess], ahead=True)
        for arena in self._arenas.values():
            arena.copy_ahead()

    def switch(self, placement: Placement, ahead: bool = False) -> None:
        """Makes this placement the current one: weights that it keeps are loaded, others dropped."""
        if self.placement is placement:
            return
        if ahead and self.placement is not None and placement.kept != self.placement.kept:
            return  # what is kept changes only when it must
        with torch.inference_mode(False):  # what is made here is used in other modes too
            self._switch(placement)

    def _switch(self, placement: Placement) -> None:
        self.placement = placement
        used = placement.used()
        self.main = used[0] if used else HOST
        self.objects.watch_again()
        self._views.clear()
        wanted = {(device, group) for device, groups in placement.kept.items() for group in groups}
        for key in [key for key in self._kept if key not in wanted]:
            region = self._kept.pop(key)
            self.backends[key[0]].synchronize()
            self.backends[key[0]].drop(region)
            self.backends[key[0]].release(region.block)
        for device in used:
            self._make_arena(device, placement)
        groups = {group.name: group for group in self.units.groups()}
        for device in used:
            if self.units.glue is not None and device not in self._glue:
                self._glue[device] = self._load(device, self.units.glue)
        for device, name in sorted(wanted):
            if (device, name) not in self._kept:
                self._kept[device, name] = self._load(device, groups[name])
        for device, arena in self._arenas.items():
            arena.follow(self._items(placement, device))

    def _make_arena(self, device: str, placement: Placement) -> None:
        # One size for all placements that keep the same, so that going from one to the other drops nothing.
        size = max(other.buffer_bytes.get(device, 0) for other in self.placements.values() if other.kept == placement.kept)
        arena = self._arenas.get(device)
        if arena is not None and arena.wanted_size == size:
            return
        if arena is not None:
            self.backends[device].synchronize()
            arena.close()
        self._arenas[device] = Arena(self.backends[device], size)

    def _load(self, device: str, group: Group) -> Region:
        backend = self.backends[device]
        region = Region(backend.allocate(group.bytes, group.name), 0, group.bytes, group.name)
        backend.place(region, [group], [], group.name)
        backend.wait(region.ready)
        return region

    def streamed(self, unit: Unit, device: str) -> List[Group]:
        return [group for group in unit.groups if (device, group.name) not in self._kept]

    def _items(self, placement: Placement, device: str) -> List[Item]:
        items, counts = [], {}
        for name in placement.order:
            call = counts.get(name, 0)
            counts[name] = call + 1
            unit = self.units.units[name]
            if placement.device(name, call) == device and self.streamed(unit, device):
                items.append((unit, self.streamed(unit, device)))
        return items

    # -- values ------------------------------------------------------------------------------------------------------

    def _mover(self, device: str) -> Mover:
        if device not in self._movers:
            if device == HOST:
                self._movers[device] = Mover(self._to_host, self._on_host)
            else:
                backend = self.backends[device]
                self._movers[device] = Mover(backend.to_device, backend.holds)
        return self._movers[device]

    def _holder(self, tensor) -> Optional[Backend]:
        return next((backend for backend in self.backends.values() if backend.holds(tensor)), None)

    def _to_host(self, tensor):
        backend = self._holder(tensor) or next(iter(self.backends.values()), None)
        return tensor.cpu() if backend is None else backend.to_host(tensor)

    def _on_host(self, tensor):
        return all(backend.on_host(tensor) for backend in self.backends.values()) and tensor.device.type == "cpu"

    def _back(self, tensor, like):
        """The tensor where `like` is."""
        backend = self._holder(like)
        if backend is not None:
            return backend.to_device(tensor)
        return self._to_caller_tensor(tensor)

    def _to_caller_tensor(self, tensor):
        backend = self._holder(tensor) or next(iter(self.backends.values()), None)
        return tensor if backend is None else backend.to_caller(backend.to_host(tensor))

    def _to_caller(self, outputs, caller, originals):
        """Tensors of the output are where the caller's first tensor was; those nested deeper, such as a cache, stay."""
        if self.main == HOST and not self.backends:
            return outputs

        def change(tensor):
            if id(tensor) in originals:
                return originals[id(tensor)]
            if caller is None or self._holder(caller) is None:
                return self._to_caller_tensor(tensor)
            return self._back(tensor, caller)

        def outer(value, depth):
            if isinstance(value, torch.Tensor):
                return change(value)
            if depth or not is_container(value):
                return value
            return _map_one_level(value, lambda part: outer(part, depth + 1))
        return outer(outputs, 0)

    # -- units -------------------------------------------------------------------------------------------------------

    def _call_unit(self, unit: Unit, inner: Callable, args, kwargs):
        if not self._in_pass():  # called by itself, not by a module above it
            return self._pass(unit.name, unit.module, inner,
                              lambda *given, **named: self._call_unit(unit, inner, given, named), args, kwargs)
        outer = self._unit
        if self._runs_within(unit.module):
            return inner(*args, **kwargs)
        self._unit = unit
        try:
            return self._run_unit(unit, inner, args, kwargs)
        finally:
            self._unit = outer

    def _runs_within(self, module: nn.Module) -> bool:
        """True if the unit that is running holds the module too: its weights and inputs are there."""
        return self._unit is not None and self.units.within(self._unit.name, module)

    def _run_unit(self, unit: Unit, inner: Callable, args, kwargs):
        call = self._counts.get(unit.name, 0)
        self._counts[unit.name] = call + 1
        device = self.placement.device(unit.name, call)
        self._note("begin", unit)
        mover = self._mover(device)
        watched = self.objects.before(unit.name, (args, kwargs), mover)
        moved = Moved(mover, args, kwargs)
        if device == HOST:
            outputs = self._on_cores(unit, inner, moved)
        else:
            outputs = self._on_device(unit, device, inner, moved)
        self.objects.after(watched)
        originals = moved.finish(self._back)
        if device == self.main and not originals:
            return outputs
        settle = functools.partial(self._settle, originals, mover)
        moved.settle_containers(settle)
        return map_nested(outputs, settle)

    def _settle(self, originals, mover: Mover, tensor):
        """An output of a unit, on the main device, where modules above units compute."""
        main = self._mover(self.main)
        original = originals.get(id(tensor))
        if original is not None and main.holds(original):
            return original
        if main.holds(tensor):
            return tensor
        made = main.move(tensor)
        mover.remember(made, tensor)  # the next unit may want it where it was computed
        return made

    def _call_packed(self, packed: PackedModule, inner: Callable, args, kwargs):
        """On the main device, with stand-ins for the tensors of all experts."""
        if not self._in_pass():
            return self._pass(packed.name, packed.module, inner,
                              lambda *given, **named: self._call_packed(packed, inner, given, named), args, kwargs)
        if self._runs_within(packed.module):
            return inner(*args, **kwargs)
        if self.main == HOST:
            taken = _TimedOnCores(self, packed) if self.timing is not None else None
            if taken is None:
                return inner(*args, **kwargs)
        else:
            taken = _Slices(self, packed)
        places = [(container, key, stand_in(weight, taken.device, functools.partial(taken.take, i)), weight.home)
                  for i, weight in enumerate(packed.weights) for container, key in weight.places]
        for container, key, stand, _ in places:
            container[key] = stand
        try:
            return inner(*args, **kwargs)
        finally:
            for container, key, _, home in places:
                container[key] = home
            taken.finish()

    def _note(self, event: str, unit: Unit) -> None:
        if self.trace is not None:
            self.trace(event, unit.name)

    def _on_cores(self, unit: Unit, inner: Callable, moved: Moved):
        with self._glue_installed(HOST, unit):
            begin = time.perf_counter()
            outputs = inner(*moved.args, **moved.kwargs)
            self._record(unit, HOST, begin, time.perf_counter(), moved, outputs)
            self._note("end", unit)
        return outputs

    def _on_device(self, unit: Unit, device: str, inner: Callable, moved: Moved):
        backend, arena = self.backends[device], self._arenas[device]
        streamed = self.streamed(unit, device)
        region = arena.use(unit, streamed) if streamed else None
        places = self._places(unit, device, streamed, region)
        timed = self.timing is not None
        try:
            with backend.guard(), self._glue_installed(device, unit), self._installer.installed(device, places):
                begin = backend.mark() if timed else None
                outputs = inner(*moved.args, **moved.kwargs)
                if timed:
                    self._record(unit, device, begin, backend.mark(), moved, outputs)
                self._note("end", unit)
        finally:
            if region is not None:
                arena.done(region)
                arena.copy_ahead()
        if region is not None:
            outputs = map_nested(outputs, functools.partial(_out_of, region))
        return outputs

    def _places(self, unit: Unit, device: str, streamed: List[Group], region: Optional[Region]):
        """What to put where while the unit runs: (container, key, tensor)."""
        key = (unit.name, device, None if region is None else region.offset)
        known = self._views.get(key)
        if known is not None and (known[0] is region or not self.backends[device].tells_regions_apart):
            return known[1]
        with torch.inference_mode(False):
            places = []
            for group in unit.groups:
                kept = self._kept.get((device, group.name))
                if kept is not None:
                    places += self.backends[device].views(kept, [group])
            if region is not None:
                places += self.backends[device].views(region, streamed)
        if len(self._views) >= _MOST_VIEWS:
            self._views.clear()
        self._views[key] = (region, places)
        return places

    @contextlib.contextmanager
    def _glue_installed(self, device: str, unit: Optional[Unit] = None):
        """Within, the glue is that of the device: of all modules, or of those of a unit."""
        shared = self._shared.get(unit.name) if unit is not None else None
        if self.units.glue is None or (unit is not None and (shared is None or device == self.main)) \
                or (unit is None and device == HOST):
            yield
            return
        if device == HOST:
            places = shared
        else:
            places = self._views.get(("glue", device))
            if places is None:
                with torch.inference_mode(False):
                    places = self.backends[device].views(self._glue[device], [self.units.glue])
                self._views["glue", device] = places
        with self._installer.installed(device, places, self._glue_changed):
            yield

    def _glue_changed(self, home, now) -> None:
        """A module has changed a weight of the glue: other devices have a copy of it too."""
        for device in self._glue:
            for _, _, tensor, other in self._views.get(("glue", device), ()):
                if other is home and tensor is not now:
                    tensor.data.copy_(self._back(now, tensor))

    def _main_context(self):
        return contextlib.nullcontext() if self.main == HOST else self.backends[self.main].guard()

    def _record(self, unit: Unit, device: str, begin, end, moved: Moved, outputs) -> None:
        if self.timing is None:
            return
        self.timing.calls.append((unit.name, device, begin, end))
        if unit.name not in self.timing.sizes:
            count = [sum(t.numel() * t.element_size() for t in tensors_of(value))
                     for value in ((moved.args, moved.kwargs), outputs)]
            self.timing.sizes[unit.name] = (count[0], count[1])


class _TimedOnCores:
    """The slices of a packed module whose values are on the cores, timed: from when one is taken to the next."""

    device = torch.device("cpu")

    def __init__(self, runner: Runner, packed: PackedModule):
        self.runner = runner
        self.packed = packed
        self.index: Optional[int] = None
        self.begin: Any = None

    def take(self, which: int, index: int) -> torch.Tensor:
        if index != self.index:
            self.finish()
            self.index, self.begin = index, time.perf_counter()
        return self.packed.weights[which].home.data[index]

    def finish(self) -> None:
        timing = self.runner.timing
        if self.index is not None and timing is not None:
            timing.calls.append((slice_name(self.packed.name, self.index), HOST, self.begin, time.perf_counter()))
        self.index = None


class _Slices:
    """The slices of a packed module during one call: one expert at a time."""

    def __init__(self, runner: Runner, packed: PackedModule):
        self.runner = runner
        self.packed = packed
        self.device = runner.backends[runner.main].device
        self.index: Optional[int] = None
        self.tensors: List[torch.Tensor] = []
        self.region: Optional[Region] = None
        self.where = HOST
        self.begin: Any = None

    def take(self, which: int, index: int) -> torch.Tensor:
        if index != self.index:
            self.finish()
            self._begin(index)
        return self.tensors[which]

    def _begin(self, index: int) -> None:
        runner = self.runner
        unit = runner.units.units[slice_name(self.packed.name, index)]
        call = runner._counts.get(unit.name, 0)
        runner._counts[unit.name] = call + 1
        self.where = runner.placement.device(unit.name, call)
        runner._note("begin", unit)
        if self.where == HOST:
            tensors = [weight.home.data[index] for weight in self.packed.weights]
        else:
            backend = runner.backends[self.where]
            region = runner._kept.get((self.where, unit.groups[0].name))
            if region is None:
                region = self.region = runner._arenas[self.where].use(unit, unit.groups)
            flat = region.block.flat[region.offset:region.offset + region.size]
            tensors = [backend.shown(region, view.data, False) for view in unit.groups[0].views(flat)]
        if self.where != runner.main:
            main = runner._mover(runner.main)
            tensors = [away_of(tensor, runner._mover(self.where), main.move) for tensor in tensors]
        self.index, self.tensors = index, tensors
        self.begin = time.perf_counter() if self.where == HOST else runner.backends[self.where].mark() \
            if runner.timing is not None else None

    def finish(self) -> None:
        """The expert has been used: what comes next may overwrite its copy."""
        if self.index is None:
            return
        runner, name = self.runner, slice_name(self.packed.name, self.index)
        if runner.timing is not None:
            end = time.perf_counter() if self.where == HOST else runner.backends[self.where].mark()
            runner.timing.calls.append((name, self.where, self.begin, end))
        runner._note("end", runner.units.units[name])
        if self.region is not None:
            runner._arenas[self.where].done(self.region)
            runner._arenas[self.where].copy_ahead()
        self.index, self.tensors, self.region = None, [], None


def _out_of(region: Region, tensor: torch.Tensor) -> torch.Tensor:
    """A copy of what lies in the buffer of streamed weights, which will be overwritten."""
    begin = region.block.flat.data_ptr()
    inside = tensor.device == region.block.flat.device and begin <= tensor.data_ptr() < begin + region.block.flat.numel()
    return tensor.clone() if inside else tensor


def _map_one_level(value, change):
    if isinstance(value, tuple):
        parts = [change(part) for part in value]
        if type(value) is tuple:
            return tuple(parts)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, list):
        return [change(part) for part in value]
    if isinstance(value, dict):
        for key in list(value):
            part = change(value[key])
            if part is not value[key]:
                value[key] = part
        return value
    for name in list(vars(value)) if hasattr(value, "__dict__") else [part.name for part in dataclasses.fields(value)]:
        part = getattr(value, name, None)
        new = change(part)
        if new is not part:
            object.__setattr__(value, name, new)
    return value
