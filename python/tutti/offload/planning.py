"""A small planner for chains of units: which weights each device keeps, and for each mode which units stream theirs
and which run on the cores. It tries interleaving patterns for all sizes of the kept set, then improves the best by
local search, by the simulation in simulating.py. What is kept is the same in all modes; whatever memory is left is the
buffer for streams. The same input gives the same plan."""

import random
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

from ..binary import TuttiError
from .modes import Mode, OpInfo, Placement
from .names import HOST
from .problem import Machine
from .simulating import Simulation, Step
from .units import Units

_EVALUATIONS = 1500


@dataclass
class Choice:
    """kept: the device that keeps each group, if any. where: for each mode the device of each unit."""

    kept: Dict[str, str] = field(default_factory=dict)
    where: Dict[str, Dict[str, str]] = field(default_factory=dict)

    def copy(self) -> "Choice":
        return Choice(dict(self.kept), {mode: dict(where) for mode, where in self.where.items()})


@dataclass
class Made:
    placements: Dict[str, Placement]
    timelines: Dict[str, Dict[str, Tuple[float, float]]]
    pass_s: Dict[str, float]
    evaluations: int = 0


class ChainPlanner:
    def __init__(self, modes: List[Mode], units: Units, machine: Machine, allow_cores: bool = True):
        self.modes = modes
        self.units = units
        self.machine = machine
        self.allow_cores = allow_cores
        self.groups = {group.name: group for group in units.groups()}
        glue = units.glue.bytes if units.glue is not None else 0
        self.caps = {device: cap - glue for device, cap in machine.caps.items()}
        self.evaluations = 0
        self._users: Dict[str, List[str]] = {}
        for unit in units.units.values():
            for group in unit.groups:
                self._users.setdefault(group.name, []).append(unit.name)
        self._names = sorted({op.unit for mode in modes for op in mode.ops})
        self._known: Dict = {}

    # -- what a choice costs -------------------------------------------------------------------------------------------

    def buffers(self, choice: Choice) -> Dict[str, int]:
        left = dict(self.caps)
        for group, device in choice.kept.items():
            left[device] -= self.groups[group].bytes
        return left

    def steps(self, mode: Mode, choice: Choice) -> List[Step]:
        made = []
        for op in mode.ops:
            device = choice.where[mode.name][op.unit]
            if device == HOST:
                made.append(Step(op.name, op.unit, HOST, op.cores_s + op.cross_s, op.busy_cores_s + op.cross_s,
                                 share=op.share))
                continue
            size = sum(group.bytes for group in self.units.units[op.unit].groups
                       if choice.kept.get(group.name) != device)
            seconds = op.device_s.get(device, 0.0)
            made.append(Step(op.name, op.unit, device, seconds, seconds, size, planned=op.share >= 1, share=op.share))
        return made

    def time_of(self, mode: Mode, choice: Choice) -> float:
        buffers = self.buffers(choice)
        if min(buffers.values(), default=0) < 0:
            return float("inf")
        steps = self.steps(mode, choice)
        if any(step.stream_bytes > buffers.get(step.device, 0) for step in steps):
            return float("inf")
        key = (mode.name, tuple((step.device, step.stream_bytes) for step in steps), tuple(sorted(buffers.items())))
        if key not in self._known:
            self.evaluations += 1
            self._known[key] = Simulation(steps, self.machine.links, buffers).pass_s
        return self._known[key]

    def cost(self, choice: Choice) -> float:
        return sum(mode.calls * self.time_of(mode, choice) for mode in self.modes)

    # -- choices to begin with -----------------------------------------------------------------------------------------

    def _value(self, unit: str) -> float:
        """What keeping the unit's weights saves per byte, against the cheaper of streaming it and the cores."""
        saved = 0.0
        for mode in self.modes:
            for op in mode.ops:
                if op.unit == unit:
                    saved += mode.calls * op.share * min(self._stream_s(op), self._cores_s(op))
        return saved / max(1, self.units.units[unit].bytes)

    def _stream_s(self, op: OpInfo) -> float:
        return self.units.units[op.unit].bytes / next(iter(self.machine.links.values())).alone

    def _cores_s(self, op: OpInfo) -> float:
        return op.busy_cores_s + op.cross_s if self.allow_cores else float("inf")

    def _starts(self):
        """Choices that keep as much as leaves room for a few of the largest streamed units, and in each mode let every
        so many units of the rest run on the cores."""
        device = next(iter(self.caps))
        ranked = sorted(self._names, key=lambda name: (-self._value(name), self._names.index(name)))
        largest = max((self.units.units[name].bytes for name in self._names), default=0)
        rooms = sorted({0} | {count * largest for count in (1, 2, 3)})
        for room in rooms:
            choice = self._keeping(ranked, room)
            for mode in self.modes:
                self._best_pattern(choice, mode, device)
            yield choice

    def _keeping(self, ranked: List[str], room: int) -> Choice:
        choice = Choice(where={mode.name: {op.unit: HOST for op in mode.ops} for mode in self.modes})
        left = {device: cap - room for device, cap in self.caps.items()}
        for name in ranked:
            if self.allow_cores and all(self._cores_s(op) < 0.1 * self._stream_s(op) for mode in self.modes
                                        for op in mode.ops if op.unit == name):
                continue  # the cores do it in no time: a look-up in an embedding
            size = sum(group.bytes for group in self.units.units[name].groups if group.name not in choice.kept)
            for device in left:
                if size <= left[device]:
                    left[device] -= size
                    choice.kept.update({group.name: device for group in self.units.units[name].groups})
                    break
        for where in choice.where.values():
            for name in where:
                kept_on = {choice.kept.get(group.name) for group in self.units.units[name].groups}
                if len(kept_on) == 1 and None not in kept_on:
                    where[name] = kept_on.pop()
        return choice

    def _best_pattern(self, choice: Choice, mode: Mode, device: str) -> None:
        where = choice.where[mode.name]
        order = list(dict.fromkeys(op.unit for op in mode.ops))
        ops = {op.unit: op for op in mode.ops}
        rest = [name for name in order if where[name] == HOST
                and not (self.allow_cores and self._cores_s(ops[name]) < 0.1 * self._stream_s(ops[name]))]
        best = None
        for count in range(len(rest) + 1 if self.allow_cores else 1):
            for shift in (0.0, 0.5):
                for i, name in enumerate(rest):
                    at = (i + shift) * count / max(1, len(rest))
                    before = (i - 1 + shift) * count / max(1, len(rest))
                    where[name] = HOST if int(at) != int(before) and count else device
                taken = self.time_of(mode, choice)
                if best is None or taken < best[0]:
                    best = (taken, dict(where))
        if best is not None:
            where.update(best[1])

    # -- search --------------------------------------------------------------------------------------------------------

    def plan(self) -> Made:
        best, cost = None, float("inf")
        for choice in self._starts():
            taken = self.cost(choice)
            if taken < cost:
                best, cost = choice, taken
        if best is None:
            raise TuttiError(self._why_not())
        best = self._improve(best, cost)
        return self._made(best)

    def _improve(self, choice: Choice, cost: float) -> Choice:
        rng = random.Random(1)
        devices = list(self.caps)
        tries = 0
        limit = self.evaluations + _EVALUATIONS
        while self.evaluations < limit and tries < 4 * _EVALUATIONS and self._names and devices:
            tries += 1
            other = choice.copy()
            self._change(other, rng, devices)
            taken = self.cost(other)
            if taken <= cost:
                choice, cost = other, taken
        return choice

    def _change(self, choice: Choice, rng: random.Random, devices: List[str]) -> None:
        move = rng.randrange(4)
        name = rng.choice(self._names)
        if move == 0:
            mode = rng.choice(self.modes)
            self._flip(choice, mode, name, rng.choice(devices))
        elif move == 1:  # two units of a mode change places
            mode = rng.choice(self.modes)
            where = choice.where[mode.name]
            other = rng.choice(self._names)
            if name in where and other in where and not self._kept(choice, name) and not self._kept(choice, other):
                where[name], where[other] = where[other], where[name]
        elif move == 2:
            if self._kept(choice, name):
                self._let_go(choice, name)
            else:
                self._keep(choice, name, rng.choice(devices))
        else:  # one is kept instead of another
            other = rng.choice(self._names)
            if self._kept(choice, name) and not self._kept(choice, other):
                device = choice.kept[self.units.units[name].groups[0].name]
                self._let_go(choice, name)
                for mode in self.modes:
                    if name in choice.where[mode.name] and other in choice.where[mode.name]:
                        choice.where[mode.name][name] = choice.where[mode.name][other]
                self._keep(choice, other, device)

    def _kept(self, choice: Choice, name: str) -> bool:
        groups = self.units.units[name].groups  # none, if all of the unit's weights are glue
        return bool(groups) and all(group.name in choice.kept for group in groups)

    def _flip(self, choice, mode, name, device):
        where = choice.where[mode.name]
        if name in where and self.allow_cores and not self._kept(choice, name):
            where[name] = device if where[name] == HOST else HOST

    def _let_go(self, choice, name):
        for group in self.units.units[name].groups:
            choice.kept.pop(group.name, None)

    def _keep(self, choice, name, device):
        for group in self.units.units[name].groups:
            choice.kept[group.name] = device
        for where in choice.where.values():
            if name in where:
                where[name] = device

    def _why_not(self) -> str:
        size, name = max((sum(group.bytes for group in self.units.units[name].groups), name) for name in self._names)
        caps = ", ".join(f"{device} {cap}" for device, cap in self.caps.items())
        return (f"unit '{name}' needs {size} bytes, and after the weights that must stay the devices have {caps}; give "
                "them more in max_memory, or allow the cores (\"cpu\" in max_memory)")

    def _made(self, choice: Choice) -> Made:
        made = Made({}, {}, {}, self.evaluations)
        buffers = self.buffers(choice)
        for mode in self.modes:
            steps = self.steps(mode, choice)
            simulation = Simulation(steps, self.machine.links, buffers)
            streams = {step.device for step in steps if step.stream_bytes}
            devices: Dict[str, List[str]] = {}
            for step in steps:
                devices.setdefault(step.unit, []).append(step.device)
            kept: Dict[str, set] = {}
            for group, device in choice.kept.items():
                kept.setdefault(device, set()).add(group)
            made.placements[mode.name] = Placement(
                mode.name, devices, [op.unit for op in mode.ops if op.share >= 1], kept,
                {device: min(size, self._most_useful(steps, device)) for device, size in buffers.items()
                 if device in streams})
            made.timelines[mode.name] = {step.name: (step.start_s, step.finish_s) for step in steps}
            made.pass_s[mode.name] = simulation.pass_s
        return made


    @staticmethod
    def _most_useful(steps: List[Step], device: str) -> int:
        """A buffer that holds all streams of two passes has nothing to gain."""
        return 2 * sum(step.stream_bytes for step in steps if step.device == device)


def times_of(placement: Placement, mode: Mode, planner: ChainPlanner):
    """The simulated time of a pass with any placement, and its timeline: to compare plans of different planners."""
    choice = Choice({group: device for device, groups in placement.kept.items() for group in groups},
                    {mode.name: {op.unit: placement.device(op.unit, 0) for op in mode.ops}})
    steps = planner.steps(mode, choice)
    simulation = Simulation(steps, planner.machine.links, placement.buffer_bytes)
    return simulation.pass_s, {step.name: (step.start_s, step.finish_s) for step in steps}
