"""Measures the units of a model by running it: all on the cores, all streamed to each device, and on the cores while
the link is busy. What is measured is what the executor will do."""

import statistics
import sys
import time
from typing import Callable, Dict, List, Optional

import torch

from .backend import Backend, Region
from .modes import Mode, OpInfo, Placement
from .names import HOST
from .problem import Machine
from .runner import Runner, Timing
from .simulating import Link
from .units import Units

_MOST_COPIES = 400  # in flight: less than what blocks the thread that issues them
_LEAST_PIECE = 1 << 16
_LINK_BYTES = 256 << 20


class Progress:
    """Says on standard error what is being measured; silent if not wanted. Or calls a function."""

    def __init__(self, wanted):
        self.wanted = wanted

    def __call__(self, sentence: str) -> None:
        if callable(self.wanted):
            self.wanted(sentence)
        elif self.wanted:
            print(f"tutti.dispatch: {sentence}", file=sys.stderr, flush=True)


class Measuring:
    def __init__(self, model, units: Units, backends: Dict[str, Backend], caps: Dict[str, int], modes: List[Mode],
                 run: Callable, progress: Progress, repeats: int = 3, most_seconds: float = 10.0):
        self.model = model
        self.units = units
        self.backends = backends
        self.caps = caps
        self.modes = modes
        self.run = run
        self.progress = progress
        self.repeats = repeats
        self.most_seconds = most_seconds

    def measure(self) -> Machine:
        """Fills in the times of all ops, and returns the machine."""
        total = sum(group.bytes for group in self.units.groups())
        self.progress(f"{len(self.units.units)} units, {total / 2**30:.2f} GiB; modes: "
                      + ", ".join(f"{mode.name} ({len(mode.ops)} ops)" for mode in self.modes))
        alone, _ = self._trial("on the cores", self._all_on(HOST))
        for mode, times in zip(self.modes, alone):
            for op in mode.ops:
                op.cores_s = op.busy_cores_s = times.get(op.name, 0.0)
        links = {}
        for name, backend in self.backends.items():
            size = self._buffer(name)
            times, _ = self._trial(f"streamed to {name}", self._all_on(name))
            for mode, mine in zip(self.modes, times):
                for op in mode.ops:
                    if op.name in mine and self._fits(op, size):
                        op.device_s[name] = mine[op.name]
            links[name] = self._link(name, backend, size)
        self._cross()
        return Machine(dict(self.caps), links)

    def _buffer(self, device: str) -> int:
        glue = self.units.glue.bytes if self.units.glue is not None else 0
        total = sum(unit.bytes for unit in self.units.units.values())
        return max(0, min(self.caps[device] - glue, 2 * total))

    def _fits(self, op: OpInfo, size: int) -> bool:
        return self.units.units[op.unit].bytes <= size

    def _all_on(self, device: str) -> Dict[str, Placement]:
        made = {}
        for mode in self.modes:
            size = self._buffer(device) if device != HOST else 0
            devices: Dict[str, List[str]] = {}
            for op in mode.ops:
                devices.setdefault(op.unit, []).append(device if device != HOST and self._fits(op, size) else HOST)
            made[mode.name] = Placement(mode.name, devices, [op.unit for op in mode.ops if op.share >= 1], {},
                                        {device: size} if device != HOST else {})
        return made

    def _runner(self, placements, backends) -> Runner:
        return Runner(self.model, self.units, backends, self.modes, placements)

    def _trial(self, what: str, placements, busy: Optional["_BusyLink"] = None):
        """Runs the passes, and returns for each mode the median time of each op; and the time of one run."""
        self.progress(f"measuring {what}")
        runner = self._runner(placements, self.backends)
        samples: Dict[str, Dict[str, List[float]]] = {mode.name: {} for mode in self.modes}
        by_name = {mode.name: mode for mode in self.modes}

        def on_pass(_, mode):
            if busy is not None:
                busy.end()
            self._collect(runner, by_name[mode], samples[mode])
            runner.timing = Timing()
        runner.attach()
        try:
            begin, runs = time.perf_counter(), []
            while len(runs) < self.repeats:
                runner.timing, runner.on_pass = Timing(), on_pass
                runner.on_begin = None if busy is None else busy.begin
                started = time.perf_counter()
                with torch.no_grad():
                    self.run()
                runs.append(time.perf_counter() - started)
                if len(runs) == 1 and self.repeats > 1 and runs[0] < self.most_seconds / self.repeats:
                    for mine in samples.values():
                        mine.clear()  # that was the warm-up run
                if time.perf_counter() - begin > self.most_seconds:
                    break
        finally:
            runner.detach()
        medians = [{name: statistics.median(taken) for name, taken in samples[mode.name].items()} for mode in self.modes]
        return medians, statistics.median(runs)

    def _collect(self, runner: Runner, mode: Mode, samples: Dict[str, List[float]]) -> None:
        ops = {op.name: op for op in mode.ops}
        counts: Dict[str, int] = {}
        for unit, device, first, second in runner.timing.calls:
            counts[unit] = counts.get(unit, 0) + 1
            name = unit if counts[unit] == 1 else f"{unit}#{counts[unit]}"
            seconds = second - first if device == HOST else self.backends[device].seconds(first, second)
            samples.setdefault(name, []).append(seconds)
            if name in ops and unit in runner.timing.sizes:
                ops[name].in_bytes, ops[name].out_bytes = runner.timing.sizes[unit]

    # -- the link ------------------------------------------------------------------------------------------------------

    def _link(self, name: str, backend: Backend, size: int) -> Link:
        groups = sorted((group for group in self.units.homes() if 0 < group.bytes <= size and group.host is not None),
                        key=lambda group: -group.bytes)
        if not groups:
            return Link(1e9, 1e9)
        self.progress(f"measuring the link to {name}")
        group = groups[0]
        block = backend.allocate(group.bytes, "measuring the link")
        region = Region(block, 0, group.bytes, ("measuring",))
        try:
            count = max(1, min(20, _LINK_BYTES // group.bytes))
            backend.place(region, [group], [], "measuring")
            alone = group.bytes / self._copy_seconds(backend, region, group, count)
            busy = self._busy(backend, region, group, alone)
        finally:
            backend.synchronize()
            backend.drop(region)
            backend.release(block)
        self.progress(f"link to {name}: {alone / 1e9:.2f} GB/s alone, {busy / 1e9:.2f} GB/s while the cores compute")
        return Link(alone, busy)

    @staticmethod
    def _copy_seconds(backend, region, group, count) -> float:
        backend.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            backend.place(region, [group], [], "measuring")
        backend.synchronize()
        return max(1e-9, (time.perf_counter() - begin) / count)

    def _busy(self, backend, region, group, alone: float) -> float:
        """Passes on the cores while copies run all the time. Sets busy_cores_s of the ops."""
        seconds = {mode.name: sum(op.share * op.cores_s for op in mode.ops) for mode in self.modes}
        busy = _BusyLink(backend, region, group, alone, seconds)
        times, _ = self._trial("on the cores while the link is busy", self._all_on(HOST), busy)
        for mode, mine in zip(self.modes, times):
            for op in mode.ops:  # never faster than alone: the figures of a few runs are noisy
                op.busy_cores_s = max(op.cores_s, mine.get(op.name, op.cores_s))
        return busy.rate()

    def _cross(self) -> None:
        """The time to take an op's input to the cores and its output back."""
        backend = next(iter(self.backends.values()), None)
        if backend is None:
            return
        known: Dict[int, float] = {}
        for mode in self.modes:
            for op in mode.ops:
                size = 1 << max(6, (op.in_bytes + op.out_bytes).bit_length())
                if size not in known:
                    content = torch.zeros(size // 2, dtype=torch.uint8)
                    taken = []
                    for _ in range(3):
                        begin = time.perf_counter()
                        backend.to_host(backend.to_device(content))
                        taken.append(time.perf_counter() - begin)
                    known[size] = statistics.median(taken)
                op.cross_s = known[size]


class _BusyLink:
    """Keeps a link busy during passes and finds its rate."""

    def __init__(self, backend: Backend, region: Region, group, alone: float, seconds: Dict[str, float]):
        self.backend = backend
        self.region = region
        self.group = group
        self.alone = alone
        self.seconds = seconds  # of a pass of each mode, on the cores alone
        self.rates: List[float] = []
        self.events: List = []

    def begin(self, mode: str) -> None:
        """Issues copies for half as long again as the pass takes, in pieces that are short compared with it."""
        wanted = 1.5 * self.seconds[mode] * self.alone
        self.piece = int(min(self.group.bytes, max(_LEAST_PIECE, wanted / (_MOST_COPIES / 2))))
        count = int(min(_MOST_COPIES, wanted / self.piece + 2))
        self.began = time.perf_counter()
        self.events = [self.backend.copy(self.region, 0, self.group.host[:self.piece], [], "measuring")
                       for _ in range(count)]

    def end(self) -> None:
        taken = time.perf_counter() - self.began
        done = sum(1 for event in self.events if self.backend.ended(event))
        if done < len(self.events):  # otherwise the link was idle at the end
            self.rates.append((done + 0.5) * self.piece / taken)
        self.backend.synchronize()

    def rate(self) -> float:
        """At most the rate alone; that, if the link was never busy to the end."""
        return min(self.alone, statistics.median(self.rates)) if self.rates else self.alone
