"""A device that is none: its memory is host memory of its own with an enforced limit, and its copies are made by a
thread. With it the executor is tested on any host, more strictly than a GPU would: a weight that is read before its
copy has ended or after it was dropped raises, and so does an op that reads tensors of two devices."""

import queue
import threading
import time
from typing import Any, Iterable, List, Optional

import torch

from ..binary import TuttiError
from . import worker
from .backend import Backend, Block, Region
from .packed import Away, StandIn

_CHUNK = 1 << 16
_CROSSING = ("__get__", "__set__", "copy_")  # what may have tensors of two devices


class Placed(torch.Tensor):
    """A tensor that knows where it is: "host", or the name of a fake device. Results of ops on it are there too; plain
    tensors (made by factory functions) may be anywhere."""

    _where: Optional[str] = None
    _region: Optional[Region] = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if any(issubclass(kind, (StandIn, Away)) for kind in types):
            return NotImplemented  # they decide where the op runs
        kwargs = kwargs or {}
        found: List["Placed"] = []
        _collect((args, kwargs), found)
        where = None
        for tensor in found:
            region = tensor._region
            if region is not None and getattr(func, "__name__", "") != "__get__":
                if region.dropped:
                    raise RuntimeError(f"a weight of {region.key} was read after it was dropped")
                if region.ready is not None and not region.ready.is_set():
                    raise RuntimeError(f"a weight of {region.key} was read before its copy ended")
            if tensor._where is not None:
                if where not in (None, tensor._where):
                    raise RuntimeError(f"expected all tensors on one device, but found {where} and {tensor._where}")
                where = tensor._where
        if where not in (None, "host") and getattr(func, "__name__", "") not in _CROSSING:
            _refuse_parameters((args, kwargs), where)
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
        return _wrapped(result, where)


def _refuse_parameters(value, where):
    """Parameters of the model are in host memory. Of other plain tensors that is not known."""
    if type(value) is torch.nn.Parameter:
        raise RuntimeError(f"expected all tensors on one device, but found {where} and a parameter in host memory")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ():
        _refuse_parameters(part, where)


def _collect(value, found):
    if isinstance(value, Placed):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for part in value:
            _collect(part, found)
    elif isinstance(value, dict):
        for part in value.values():
            _collect(part, found)


def _wrapped(result, where):
    if isinstance(result, torch.Tensor):
        if not isinstance(result, Placed) and where is not None:
            return located(result, where)
        return result
    if isinstance(result, (tuple, list)) and any(isinstance(part, torch.Tensor) for part in result):
        parts = [_wrapped(part, where) for part in result]
        return type(result)(parts) if type(result) in (tuple, list) else type(result)(tuple(parts))
    return result


def located(tensor: torch.Tensor, where: str, region: Optional[Region] = None) -> Placed:
    with torch._C.DisableTorchFunction():
        made = tensor.as_subclass(Placed)
    made._where = where
    made._region = region
    return made


def plain(tensor: torch.Tensor) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        return tensor.as_subclass(torch.Tensor) if type(tensor) is Placed else tensor


class _Done(threading.Event):
    """Set at the end of a copy."""

    error: Optional[Exception] = None


class FakeBackend(Backend):
    """limit: bytes of its memory. bytes_per_s: of its copies, None for as fast as they are. `trace`: what happened, as
    (time, event, label); `peak`: the most bytes that were in use."""

    tells_regions_apart = True
    device = torch.device("cpu")  # what modules are told

    def __init__(self, limit: int, bytes_per_s: Optional[float] = None, index: int = 0):
        self.limit = limit
        self.bytes_per_s = bytes_per_s
        self.torch_device = index
        self.name = f"gpu{index}"
        self.where = f"fake:{index}"
        self.trace: List[Any] = []
        self.in_use = 0
        self.peak = 0
        self._jobs: queue.Queue = queue.Queue()
        worker.start(self._copy_all, self._jobs)

    def note(self, event: str, label: str) -> None:
        self.trace.append((time.perf_counter(), event, label))

    def memory_bytes(self) -> int:
        return self.limit

    def allocate(self, size: int, label: str) -> Block:
        if self.in_use + size > self.limit:
            raise TuttiError(f"{self.name} has no {size} bytes left for {label}; it has {self.limit}, and {self.in_use} are "
                             "in use")
        self.in_use += size
        self.peak = max(self.peak, self.in_use)
        return Block(torch.full((size,), 255, dtype=torch.uint8), label)

    def release(self, block: Block) -> None:
        self.in_use -= block.flat.numel()
        block.flat = None

    def copy(self, region: Region, at: int, source: torch.Tensor, after: Iterable[Any], label: str) -> Any:
        begin = region.offset + at
        target = region.block.flat[begin:begin + source.numel()]
        done = _Done()
        self.note("issue", label)
        self._jobs.put((target, plain(source), list(after), done, label))
        return done

    def _copy_all(self):
        while True:
            job = self._jobs.get()
            if job is None:
                return
            target, source, after, done, label = job
            try:
                self._copy(target, source, after, label)
            except Exception as error:  # raised by wait
                done.error = error
            done.set()
            del job, target, source, after, done  # the thread holds no memory while it waits
            self._jobs.task_done()

    def _copy(self, target, source, after, label):
        for event in after:
            event.wait()
        self.note("copy", label)
        for begin in range(0, source.numel(), _CHUNK):
            end = min(begin + _CHUNK, source.numel())
            until = time.perf_counter() + ((end - begin) / self.bytes_per_s if self.bytes_per_s else 0)
            target[begin:end].copy_(source[begin:end])
            while time.perf_counter() < until:  # a slow link copies the chunk for as long as that takes
                target[begin:end].copy_(source[begin:end])
        self.note("copied", label)

    def wait(self, event: Any) -> None:
        event.wait()
        if getattr(event, "error", None) is not None:
            raise event.error

    def ended(self, event: Any) -> bool:
        return event.is_set()

    def used(self) -> Any:
        event = threading.Event()  # ops are computed when they are called
        event.set()
        return event

    def drop(self, region: Region) -> None:
        region.dropped = True
        self.note("drop", str(region.key))

    def shown(self, region: Region, tensor: torch.Tensor, parameter: bool) -> torch.Tensor:
        return located(tensor, self.where, region)

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor if self.holds(tensor) else located(plain(tensor).clone(), self.where)

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        if isinstance(tensor, Placed) and tensor._where == "host":
            return tensor
        return located(plain(tensor).clone(), "host")

    def holds(self, tensor: torch.Tensor) -> bool:
        return isinstance(tensor, Placed) and tensor._where == self.where

    def on_host(self, tensor: torch.Tensor) -> bool:
        return isinstance(tensor, Placed) and tensor._where == "host"

    def to_caller(self, tensor: torch.Tensor) -> torch.Tensor:
        return plain(tensor)

    def mark(self) -> Any:
        return time.perf_counter()

    def seconds(self, first: Any, second: Any) -> float:
        return second - first

    def synchronize(self) -> None:
        self._jobs.join()

    def move_model(self, model: torch.nn.Module) -> None:
        size = sum(tensor.numel() * tensor.element_size() for tensor in [*model.parameters(), *model.buffers()])
        block = self.allocate(size, "the model")
        for tensor in [*model.parameters(), *model.buffers()]:
            tensor.data = tensor.data.clone()
        self.note("moved", block.label)
