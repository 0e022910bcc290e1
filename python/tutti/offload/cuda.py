"""A CUDA device: pinned host memory, one stream for copies, events between it and the stream that computes. This is
the only file that uses torch.cuda."""

import contextlib
import queue
import threading
from typing import Any, Dict, Iterable, Tuple

import torch

from ..binary import TuttiError
from . import worker
from .backend import Backend, Block, Region

_STAGE_BYTES = 32 << 20
_PORTABLE = 1  # cudaHostRegisterPortable: pinned for all devices
_LEAST_REGISTERED = 1 << 20
_PINNED: Dict[int, Tuple[int, str]] = {}  # by address of host memory: bytes, and how they were pinned


def _is_pinned(source: torch.Tensor) -> bool:
    """True for bytes in memory that `pin` has pinned."""
    begin = source.data_ptr()
    return begin in _PINNED or any(first <= begin < first + size for first, (size, _) in _PINNED.items())


def _device(index: int) -> torch.device:
    return torch.device("cuda", index)


def _pinned_copy(flat: torch.Tensor) -> torch.Tensor:
    return flat.pin_memory()


def free_memory() -> Dict[int, int]:
    """The free bytes of each CUDA device."""
    if not torch.cuda.is_available():
        return {}
    return {index: torch.cuda.mem_get_info(index)[0] for index in range(torch.cuda.device_count())}


class _Ticket:
    """The event at the end of a copy that another thread issues."""

    def __init__(self):
        self.issued = threading.Event()
        self.event = None
        self.error = None


class CudaBackend(Backend):
    def __init__(self, index: int):
        if not torch.cuda.is_available():
            raise TuttiError(f"max_memory names device {index}, but torch finds no CUDA device; call the model as it "
                             "is, or install a torch with CUDA")
        if index >= torch.cuda.device_count():
            raise TuttiError(f"max_memory names device {index}, but torch finds {torch.cuda.device_count()} CUDA devices; "
                             "they are counted from 0")
        self.device = _device(index)
        self.torch_device = index
        self.name = f"gpu{index}"
        self._copies = torch.cuda.Stream(device=self.device)
        self._stager = None  # the thread that copies from memory that cannot be pinned

    def memory_bytes(self) -> int:
        return torch.cuda.get_device_properties(self.device).total_memory

    def allocate(self, size: int, label: str) -> Block:
        try:
            flat = torch.empty(size, dtype=torch.uint8, device=self.device)
        except RuntimeError as error:
            raise TuttiError(f"{self.name} has no {size} bytes left for {label}; give it less in max_memory: "
                             f"{str(error).splitlines()[0]}") from None
        # What used this memory before may still be running, in the order of the stream that computes.
        self._copies.wait_stream(torch.cuda.current_stream(self.device))
        return Block(flat, label)

    def release(self, block: Block) -> None:
        block.flat = None

    def pin(self, flat: torch.Tensor) -> torch.Tensor:
        if _PINNED.get(flat.data_ptr()) or flat.numel() == 0:
            return flat
        if flat.numel() < _LEAST_REGISTERED:  # it may share pages with other memory
            flat = _pinned_copy(flat)
            _PINNED[flat.data_ptr()] = (flat.numel(), "torch")
        elif int(torch.cuda.cudart().cudaHostRegister(flat.data_ptr(), flat.numel(), _PORTABLE)) == 0:
            _PINNED[flat.data_ptr()] = (flat.numel(), "registered")
        else:
            with contextlib.suppress(RuntimeError):  # takes the error that CUDA remembers
                torch.zeros(1, device=self.device)
        return flat

    def unpin(self, flat: torch.Tensor) -> None:
        if _PINNED.pop(flat.data_ptr(), (0, ""))[1] == "registered":
            torch.cuda.cudart().cudaHostUnregister(flat.data_ptr())

    def copy(self, region: Region, at: int, source: torch.Tensor, after: Iterable[Any], label: str) -> Any:
        begin = region.offset + at
        target = region.block.flat[begin:begin + source.numel()]
        pinned = _is_pinned(source)
        if self._stager is None and not pinned:
            self._stager = _Stager(self)  # from now on all copies go through it, so that they stay in order
        if self._stager is not None:
            return self._stager.add(target, source, list(after), pinned)
        return self.issue(target, source, after)

    def issue(self, target, source, after):
        with torch.cuda.stream(self._copies):
            for event in after:
                self._copies.wait_event(self.real(event))
            target.copy_(source, non_blocking=True)
            event = torch.cuda.Event(enable_timing=False)
            event.record(self._copies)
        return event

    @staticmethod
    def real(event):
        """The CUDA event of an event; blocks until the copy in question has been issued."""
        if isinstance(event, _Ticket):
            event.issued.wait()
            if event.error is not None:
                raise event.error
            return event.event
        return event

    def wait(self, event: Any) -> None:
        torch.cuda.current_stream(self.device).wait_event(self.real(event))

    def ended(self, event: Any) -> bool:
        return self.real(event).query()

    def used(self) -> Any:
        event = torch.cuda.Event(enable_timing=False)
        event.record(torch.cuda.current_stream(self.device))
        return event

    def shown(self, region: Region, tensor: torch.Tensor, parameter: bool) -> torch.Tensor:
        return torch.nn.Parameter(tensor, requires_grad=False) if parameter else tensor

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        # A copy from pageable memory returns when the memory has been read, one from pinned memory at once.
        waits = tensor.device.type == "cpu" and tensor.is_pinned()
        return tensor.to(self.device, non_blocking=not waits)

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.cpu()

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.device == self.device

    @contextlib.contextmanager
    def guard(self):
        with torch.cuda.device(self.device):
            yield

    def mark(self) -> Any:
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self.device))
        return event

    def seconds(self, first: Any, second: Any) -> float:
        second.synchronize()
        return first.elapsed_time(second) / 1e3

    def synchronize(self) -> None:
        if self._stager is not None:
            self._stager.drain()
        torch.cuda.synchronize(self.device)

    def close(self) -> None:
        if self._stager is not None:
            self._stager.jobs.put(None)
            self._stager = None

    def move_model(self, model: torch.nn.Module) -> None:
        model.to(self.device)


class _Stager:
    """Copies from memory that cannot be pinned, such as a mapped file: a thread reads it into two pinned buffers in
    turn, so that neither the model nor the link waits for pages."""

    def __init__(self, backend: CudaBackend):
        self.backend = backend
        self.jobs = queue.Queue()
        self.buffers = [_pinned_copy(torch.empty(_STAGE_BYTES, dtype=torch.uint8)) for _ in range(2)]
        self.free = [None, None]
        self.turn = 0
        worker.start(self._run, self.jobs)

    def add(self, target, source, after, pinned) -> _Ticket:
        ticket = _Ticket()
        self.jobs.put((target, source, after, pinned, ticket))
        return ticket

    def drain(self):
        self.jobs.join()

    def _run(self):
        torch.cuda.set_device(self.backend.device)
        while True:
            job = self.jobs.get()
            if job is None:
                return
            target, source, after, pinned, ticket = job
            try:
                ticket.event = (self.backend.issue(target, source, after) if pinned
                                else self._staged(target, source, after))
            except Exception as error:  # handed to the thread that waits for the copy
                ticket.error = error
            ticket.issued.set()
            self.jobs.task_done()

    def _staged(self, target, source, after):
        event = None
        for begin in range(0, source.numel(), _STAGE_BYTES):
            size = min(_STAGE_BYTES, source.numel() - begin)
            if self.free[self.turn] is not None:
                self.free[self.turn].synchronize()
            buffer = self.buffers[self.turn][:size]
            buffer.copy_(source[begin:begin + size])
            event = self.backend.issue(target[begin:begin + size], buffer, after)
            self.free[self.turn] = event
            self.turn = 1 - self.turn
            after = []
        return event
