"""The buffer of streamed weights of one device. Units are copied into it in the order in which they
will be used, as far ahead as there is room. A copy waits for the last use of what it overwrites, never for the thread
that runs the model. A unit that is used out of order is copied when it is used: later, but right."""

from typing import List, Optional, Tuple

from ..binary import TuttiError
from .backend import Backend, Block, Region
from .units import Unit
from .weights import ALIGNMENT, Group

Item = Tuple[Unit, List[Group]]  # a unit, and those of its groups that are streamed


def size_of(groups: List[Group]) -> int:
    return sum(group.bytes for group in groups)


def key_of(unit: Unit, groups: List[Group]) -> Tuple[str, ...]:
    return (unit.name, *(group.name for group in groups))


class Arena:
    def __init__(self, backend: Backend, size: int, label: str = "streamed weights"):
        self.backend = backend
        self.wanted_size = size
        self.size = size = size // ALIGNMENT * ALIGNMENT  # regions at its end are aligned too
        self.block: Optional[Block] = backend.allocate(size, label) if size else None
        self.regions: List[Region] = []
        self._stamp = 0  # of the latest use
        self.items: List[Item] = []
        self.issued = 0  # items copied ahead so far, counted over passes
        self.consumed = 0
        self._end = 0  # of this pass, counted as `consumed`
        self.demands = 0  # copies that were not planned

    def follow(self, items: List[Item]) -> None:
        """From now on units are used in this order, again and again. What was copied ahead and fits stays."""
        if [key_of(*item) for item in items] == [key_of(*item) for item in self.items]:
            return
        for region in self.regions:
            region.wanted = 0
        self.items = items
        self.issued = self.consumed = self._end = 0

    def copy_ahead(self) -> None:
        """Issues copies until the buffer is full of what is not used yet."""
        count = len(self.items)
        while count and self.issued - self.consumed < count:
            unit, groups = self.items[self.issued % count]
            if self._find(unit, groups) is None and not self._issue(unit, groups, ahead=True):
                return
            self._find(unit, groups).wanted += 1
            self.issued += 1

    def _find(self, unit: Unit, groups: List[Group]) -> Optional[Region]:
        key = key_of(unit, groups)
        for region in self.regions:
            if region.key == key:
                return region
        return None

    def _issue(self, unit: Unit, groups: List[Group], ahead: bool) -> bool:
        size = size_of(groups)
        if self.block is None or size > self.size:
            if ahead:
                return False
            raise TuttiError(f"unit '{unit.name}' needs {size} bytes of the buffer for streamed weights of "
                             f"{self.backend.name}, which has {self.size}; give the device more in max_memory, place the "
                             "unit on the cores, or make a new plan")
        offset = self._room(size, over_wanted=False) if ahead else self._room_now(unit, size)
        if offset is None:
            return False
        after = []
        for region in [region for region in self.regions if region.overlaps(offset, size)]:
            if region.free is not None:
                after.append(region.free)
            self.backend.drop(region)
            self.regions.remove(region)
        region = Region(self.block, offset, size, key_of(unit, groups))
        self.regions.append(region)
        self.backend.place(region, groups, after, unit.name)
        return True

    def _room(self, size: int, over_wanted: bool) -> Optional[int]:
        """Where the bytes can go: over nothing that is in use and as little as possible of what is wanted, then over
        what was used longest ago, then at an edge, so that the rest stays in one piece."""
        edges = {0, self.size - size}
        for region in self.regions:
            end = region.offset + region.size
            edges |= {region.offset, end, region.offset - size, end - size}
        best = None
        for offset in sorted(edges):
            if offset < 0 or offset + size > self.size:
                continue
            over = [region for region in self.regions if region.overlaps(offset, size)]
            wanted = sum(region.size for region in over if region.wanted)
            if any(region.pins for region in over) or (wanted and not over_wanted):
                continue
            inner = 0 < offset < self.size - size
            cost = (wanted, max((region.stamp for region in over), default=0), inner, offset)
            if best is None or cost < best[0]:
                best = (cost, offset)
        return None if best is None else best[1]

    def _room_now(self, unit: Unit, size: int) -> int:
        offset = self._room(size, over_wanted=True)
        if offset is None:
            raise TuttiError(f"unit '{unit.name}' is called while others use the buffer for streamed weights of "
                             f"{self.backend.name} ({self.size} bytes); give the device more in max_memory")
        return offset

    def use(self, unit: Unit, groups: List[Group]) -> Region:
        """The region with the unit's bytes, which what is computed next may read. `done` must follow."""
        self._advance_to(unit)
        region = self._find(unit, groups)
        if region is None:
            self._issue(unit, groups, ahead=False)
            region = self._find(unit, groups)
            self.demands += 1
        region.pins += 1
        region.wanted = max(0, region.wanted - 1)
        self.backend.wait(region.ready)
        return region

    def _advance_to(self, unit: Unit) -> None:
        """Counts the next planned use of the unit in this pass as done, and those before it as left out. A use that is
        not planned changes nothing."""
        for position in range(self.consumed, self._end):
            if self.items[position % len(self.items)][0] is unit:
                self._leave_out(position)
                self.consumed = position + 1
                self.issued = max(self.issued, self.consumed)
                return

    def _leave_out(self, until: int) -> None:
        for skipped in range(self.consumed, min(self.issued, until)):
            region = self._find(*self.items[skipped % len(self.items)])
            if region is not None:
                region.wanted = max(0, region.wanted - 1)

    def begin_pass(self) -> None:
        """A pass begins at the first item, even if the last one left some out."""
        if self.items:
            self._leave_out(self._end)
            self.consumed = self._end
            self.issued = max(self.issued, self.consumed)
            self._end += len(self.items)

    def done(self, region: Region) -> None:
        region.pins -= 1
        self._stamp += 1
        region.stamp = self._stamp
        region.free = self.backend.used()

    def close(self) -> None:
        for region in self.regions:
            self.backend.drop(region)
        self.regions = []
        self.items = []
        if self.block is not None:
            self.backend.release(self.block)
            self.block = None
