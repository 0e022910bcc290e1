"""What a dispatch needs of a device: memory, copies that run next to the computation, and the order between the two.
cuda.py is the real one; fake.py is one of host memory with a copy thread, for tests."""

import contextlib
from typing import Any, Iterable, List, Optional, Tuple

import torch

from .weights import Group


class Region:
    """A piece of a block that holds (or will hold) the bytes of groups. `ready`: the event at which its copy has
    ended; `free`: the event after its last use; `pins`: uses in progress; `wanted`: planned uses to come; `stamp`: a
    number that grows with each use."""

    def __init__(self, block, offset: int, size: int, key=None):
        self.block = block
        self.offset = offset
        self.size = size
        self.key = key
        self.ready = None
        self.free = None
        self.pins = 0
        self.wanted = 0
        self.stamp = 0
        self.dropped = False

    def overlaps(self, offset: int, size: int) -> bool:
        return self.offset < offset + size and offset < self.offset + self.size


class Block:
    """Bytes of a device's memory. `flat` is a tensor of uint8."""

    def __init__(self, flat: torch.Tensor, label: str):
        self.flat = flat
        self.label = label


class Backend:
    """One device. All methods are called by the thread that runs the model. Events are opaque to the caller."""

    name = "device"  # in machine and plan files
    torch_device: Any = None  # what accelerate calls it: 0, 1, ...
    tells_regions_apart = False  # True if a tensor in a region must not serve another region at the same place

    def memory_bytes(self) -> int:
        """How much memory could be used at most."""
        raise NotImplementedError

    def allocate(self, size: int, label: str) -> Block:
        raise NotImplementedError

    def release(self, block: Block) -> None:
        raise NotImplementedError

    def pin(self, flat: torch.Tensor) -> torch.Tensor:
        """These bytes of host memory, or others as many, from which copies are fast."""
        return flat

    def unpin(self, flat: torch.Tensor) -> None:
        pass

    def copy(self, region: Region, at: int, source: torch.Tensor, after: Iterable[Any], label: str) -> Any:
        """Starts a copy of host bytes to `at` in the region, behind earlier copies and these events. Returns the event
        at its end."""
        raise NotImplementedError

    def wait(self, event: Any) -> None:
        """What is computed from now on comes after the event."""
        raise NotImplementedError

    def ended(self, event: Any) -> bool:
        """True if the event has happened; does not wait."""
        raise NotImplementedError

    def used(self) -> Any:
        """The event at which all that was issued so far has been computed."""
        raise NotImplementedError

    def drop(self, region: Region) -> None:
        """The region's bytes will not be read any more."""
        region.dropped = True

    def shown(self, region: Region, tensor: torch.Tensor, parameter: bool) -> torch.Tensor:
        """A tensor in the region, as modules see it."""
        raise NotImplementedError

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def holds(self, tensor: torch.Tensor) -> bool:
        raise NotImplementedError

    def on_host(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == "cpu"

    def to_caller(self, tensor: torch.Tensor) -> torch.Tensor:
        """A host tensor as the caller of the model gets it."""
        return tensor

    def guard(self):
        """A context in which modules run on this device."""
        return contextlib.nullcontext()

    def mark(self) -> Any:
        """A point in the sequence of computations whose time is recorded."""
        raise NotImplementedError

    def seconds(self, first: Any, second: Any) -> float:
        """The time between two marks; waits for the second."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Waits for all copies and computations."""
        raise NotImplementedError

    def close(self) -> None:
        """No more copies will follow."""

    def move_model(self, model: torch.nn.Module) -> None:
        """All of the model to this device, for good."""
        raise NotImplementedError

    def place(self, region: Region, groups: List[Group], after: Iterable[Any], label: str) -> Any:
        """Starts the copies of groups, one behind the other, into the region. Returns the event at the end."""
        event, at = None, 0
        after = list(after)
        for group in groups:
            for source, offset in group.copies():
                event = self.copy(region, at + offset, source, after, label)
                after = []
            at += group.bytes
        region.ready = event
        return event

    def views(self, region: Region, groups: List[Group]) -> List[Tuple[Any, Any, torch.Tensor, torch.Tensor]]:
        """For every place that refers to a weight of the groups, the tensor in the region: (container, key, tensor, home)."""
        made, at = [], region.offset
        for group in groups:
            flat = region.block.flat[at:at + group.bytes]
            for weight, view in zip(group.weights, group.views(flat)):
                tensor = self.shown(region, view.data, weight.parameter)  # with a version of its own
                made += [(container, key, tensor, weight.home) for container, key in weight.places]
            at += group.bytes
        return made
