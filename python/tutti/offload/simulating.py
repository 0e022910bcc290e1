"""Simulates passes of a chain of units: computations follow each other, copies run ahead of them into the buffer, and
link and cores slow each other down while both are busy, because they read the same host memory. This is what the small
planner in planning.py searches with."""

from dataclasses import dataclass
from typing import Dict, List, Optional

from .names import HOST


@dataclass
class Link:
    """Bytes per second from host memory to a device, alone and while the cores compute."""

    alone: float
    busy: float
    latency_s: float = 20e-6


@dataclass
class Step:
    """One op as placed: where it computes and for how long, and what must be streamed before."""

    name: str
    unit: str
    device: str
    compute_s: float  # while no copy runs
    busy_s: float  # while copies run
    stream_bytes: int = 0
    planned: bool = True  # False: copied when it is called, because it may not be called
    share: float = 1.0
    start_s: float = 0.0
    finish_s: float = 0.0


@dataclass
class _Copy:
    position: int  # the step that it is for, counted over passes
    device: str
    bytes: int
    left: float = 0.0
    begun: bool = False


class Simulation:
    """Runs the steps `passes` times. `pass_s`: the time of the last pass, when copies of the next one overlap."""

    def __init__(self, steps: List[Step], links: Dict[str, Link], buffers: Dict[str, int], passes: int = 3):
        self.steps = steps
        self.links = links
        self.buffers = buffers
        self.now = 0.0
        self.copied = set()
        self.queues: Dict[str, List[_Copy]] = {device: [] for device in links}
        self.held: Dict[str, int] = {device: 0 for device in links}
        self.feasible = True
        self.pass_s = self._run(passes)

    def _run(self, passes: int) -> float:
        count = len(self.steps)
        for device in self.links:
            self.queues[device] = [_Copy(p * count + i, device, step.stream_bytes, step.stream_bytes)
                                   for p in range(passes) for i, step in enumerate(self.steps)
                                   if step.device == device and step.stream_bytes and step.planned]
        begin = 0.0
        for p in range(passes):
            begin = self.now
            for i, step in enumerate(self.steps):
                self._step(p * count + i, step, begin)
                if not self.feasible:
                    return float("inf")
        return self.now - begin

    def _step(self, position: int, step: Step, begin: float) -> None:
        streamed = step.device != HOST and step.stream_bytes
        if streamed and step.planned:
            if step.stream_bytes > self.buffers.get(step.device, 0):
                self.feasible = False
                return
            self._until_copied(position, step.device)
        step.start_s = self.now - begin
        if streamed and not step.planned:  # the expected time of a copy that is made when the step is called
            self._advance(step.share * (step.stream_bytes / self.links[step.device].alone
                                        + self.links[step.device].latency_s), cores=False, link_taken=step.device)
        if step.device == HOST:
            self._compute_on_cores(step)
        else:
            self._advance(step.share * step.compute_s, cores=False)
        if streamed and step.planned:
            self.held[step.device] -= step.stream_bytes
        step.finish_s = self.now - begin

    def _active(self, device: str) -> Optional[_Copy]:
        """The copy that the link is busy with: the first one, if the buffer has room for it."""
        queue = self.queues[device]
        if not queue:
            return None
        copy = queue[0]
        if not copy.begun:
            if self.held[device] + copy.bytes > self.buffers.get(device, 0):
                return None
            copy.begun = True
            self.held[device] += copy.bytes
        return copy

    def _progress(self, seconds: float, cores: bool, link_taken: Optional[str] = None) -> None:
        for device, link in self.links.items():
            left = seconds
            if device == link_taken:
                continue
            rate = link.busy if cores else link.alone
            while left > 0:
                copy = self._active(device)
                if copy is None:
                    break
                need = copy.left / rate
                if need > left:
                    copy.left -= left * rate
                    break
                left -= need
                copy.left = 0.0
                self.copied.add(copy.position)
                self.queues[device].pop(0)
        self.now += seconds

    def _advance(self, seconds: float, cores: bool, link_taken: Optional[str] = None) -> None:
        if seconds > 0:
            self._progress(seconds, cores, link_taken)

    def _until_copied(self, position: int, device: str) -> None:
        while position not in self.copied:
            copy = self._active(device)
            if copy is None:
                self.feasible = False
                return
            self._progress(copy.left / self.links[device].alone + 1e-12, cores=False)

    def _compute_on_cores(self, step: Step) -> None:
        """The cores are slower while any copy runs."""
        left = step.share  # of the op
        while left > 1e-12:
            active = [(device, self._active(device)) for device in self.links]
            ends = [copy.left / self.links[device].busy for device, copy in active if copy is not None]
            if not ends:
                self._advance(left * step.compute_s, cores=True)
                return
            speed = 1 / max(step.busy_s, 1e-12)
            need = left / speed
            until = min(need, min(ends) + 1e-12)
            self._advance(until, cores=True)
            left -= until * speed
