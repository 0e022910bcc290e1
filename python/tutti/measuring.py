"""Measures the time of each op of a model on each device, and of transfers between devices."""

import statistics
import time

import torch

from .binary import TuttiError
from .capturing import capture_with
from .keeping import copy_of
from .tracing import map_tensors

_BATCH_SECONDS = 0.002  # long compared with a clock reading and a synchronisation
_LARGEST_BATCH = 50
_SMALL_BYTES = 4 << 10
_LARGE_BYTES = 16 << 20


def synchronize(devices):
    """Waits until these torch devices have finished all issued work."""
    for device in devices:
        if torch.device(device).type == "cuda":
            torch.cuda.synchronize(device)


def _batch_seconds(work, devices, count):
    """The mean time of one call, of `count` calls in a row."""
    begin = time.perf_counter()
    for _ in range(count):
        work()
    synchronize(devices)
    return (time.perf_counter() - begin) / count


def _batch_of(work, devices, warm_up):
    """The number of calls in a row that is long enough to be timed."""
    for _ in range(warm_up):
        work()
    synchronize(devices)
    once = max(_batch_seconds(work, devices, 1), 1e-9)
    return max(1, min(_LARGEST_BATCH, int(_BATCH_SECONDS / once)))


def seconds_of(work, devices, repeats=5, warm_up=2):
    """The median time of work(). Calls are issued in batches, so that the devices do not idle in between: this is
    the time among other work, without the synchronisation that a single call would include."""
    batch = _batch_of(work, devices, warm_up)
    return statistics.median(_batch_seconds(work, devices, batch) for _ in range(repeats))


def seconds_in_turn(works, devices, repeats=9, warm_up=3):
    """The list of times of each work, measured in turns, forwards and backwards, so that other load affects
    all of them alike."""
    batches = [_batch_of(work, devices, warm_up) for work in works]
    times = [[] for _ in works]
    for repeat in range(repeats):
        turn = range(len(works)) if repeat % 2 == 0 else reversed(range(len(works)))
        for i in turn:
            times[i].append(_batch_seconds(works[i], devices, batches[i]))
    return times


def _nanoseconds(seconds):
    return max(1, round(seconds * 1e9))


class _OpTimer:
    """Times an op on every device, with its inputs and weights there."""

    def __init__(self, devices, repeats):
        self.devices = devices
        self.repeats = repeats

    def __call__(self, node, function, args, kwargs):
        times = {}
        seen = {}  # several names of one torch device share its time
        for name, device in self.devices.items():
            if device not in seen:
                seen[device] = self._time(node, function, args, kwargs, device)
            times[kind_of_device(name)] = seen[device]
        return times

    def _time(self, node, function, args, kwargs, device):
        target = torch.device(device)
        args, kwargs = map_tensors((tuple(args), dict(kwargs)), lambda tensor: tensor.to(target))
        if "device" in kwargs:
            kwargs["device"] = target
        if isinstance(function, torch.nn.Module):
            function = copy_of(function).to(target)
        try:
            return _nanoseconds(seconds_of(lambda: function(*args, **kwargs), [device], self.repeats))
        except (RuntimeError, NotImplementedError) as error:
            line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise TuttiError(f"node '{node.name}' cannot run on {device}: {line}") from error


def kind_of_device(name):
    """Given times are by kind of device; here each device has its own kind."""
    return name


def _transfer_times(source, target, bytes_):
    content = torch.zeros(bytes_, dtype=torch.uint8, device=source)
    return seconds_of(lambda: content.to(target), [source, target])


def _measure_link(first, second):
    """Latency in ns and bytes per second between two torch devices, in the slower direction."""
    small = max(_transfer_times(first, second, _SMALL_BYTES), _transfer_times(second, first, _SMALL_BYTES))
    large = max(_transfer_times(first, second, _LARGE_BYTES), _transfer_times(second, first, _LARGE_BYTES))
    rate = (_LARGE_BYTES - _SMALL_BYTES) / max(large - small, 1e-9)
    return _nanoseconds(small), rate


def _is_host(device):
    return torch.device(device).type == "cpu"


def measure_machine(devices):
    """A machine file (docs/formats/machine.md) with these devices and measured transfers between them."""
    machine = {"schema_version": 1, "name": "measured", "host": [{"name": "host-memory"}], "device": [], "link": []}
    for name, device in devices.items():
        described = {"name": name, "kind": kind_of_device(name)}
        if _is_host(device):
            described["uses_host_memory"] = True
        elif torch.device(device).type == "cuda":
            described["memory_bytes"] = torch.cuda.get_device_properties(torch.device(device)).total_memory
        machine["device"].append(described)
    names = list(devices)
    ends = {name: "host-memory" if _is_host(devices[name]) else name for name in names}
    linked = set()
    for i, first in enumerate(names):
        for second in names[i + 1:]:
            pair = (ends[first], ends[second])
            if pair[0] == pair[1] or pair in linked:
                continue
            linked.add(pair)
            latency, rate = _measure_link(devices[first], devices[second])
            machine["link"].append({"name": f"{pair[0]}-{pair[1]}", "between": list(pair), "latency_ns": latency,
                                    "bandwidth_bytes_per_s": rate})
    if not any(_is_host(device) for device in devices.values()):
        # Inputs come from the host, whose memory no device uses here.
        for name in names:
            latency, rate = _measure_link("cpu", devices[name])
            machine["link"].append({"name": f"host-memory-{name}", "between": ["host-memory", name],
                                    "latency_ns": latency, "bandwidth_bytes_per_s": rate})
    return machine


def _check_devices(devices):
    if not devices:
        raise TuttiError("devices is empty; name at least one, as in devices={'cpu': 'cpu'}")
    for name, device in devices.items():
        try:
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError) as error:
            line = str(error).strip().splitlines()[0]
            raise TuttiError(f"device '{name}' is {device}, which torch cannot use: {line}") from None


def measure(model, inputs, devices, name=None, repeats=5):
    """As capture, with the time of each op on each device (the median of `repeats`), on a machine whose
    transfers are measured too: `graph.machine`, which is the default of tutti.plan.

    devices: names of devices and their torch devices, such as {"cpu": "cpu", "gpu0": "cuda:0"}.
    The model and its inputs must be on the CPU, and stay there.
    """
    _check_devices(devices)
    with torch.no_grad():
        graph = capture_with(model, inputs, name, _OpTimer(devices, repeats))
        graph.machine = measure_machine(devices)
        graph.devices = dict(devices)
    return graph
