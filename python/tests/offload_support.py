"""Plans of any shape for the tests of dispatch, without measuring. Imported only if torch is installed."""

import torch

import tutti
from tutti.offload.dispatching import _passes_of
from tutti.offload.fake import FakeBackend
from tutti.offload.modes import Placement, group_calls
from tutti.offload.observing import observe
from tutti.offload.plan import DispatchPlan
from tutti.offload.problem import plan_content
from tutti.offload.units import find_units
from tutti.offload.weights import Inventory


def units_of(model, sample=None, passes=None, limit=1 << 20):
    """The units and the modes that dispatch would find."""
    inventory = Inventory(model)
    observed = observe(model, inventory, _passes_of(model, sample, passes))
    units = find_units(model, inventory, limit, observed)
    return units, group_calls(observed.calls_of(units))


def plan_by(model, where, sample=None, passes=None, limit=1 << 20, buffers=2.0, kept=(), devices=("gpu0",)):
    """A plan in which where(mode, i, unit) is the device of the i-th unit. kept: names of units that the first device
    keeps. buffers: the size of the buffer, in largest units."""
    units, modes = units_of(model, sample, passes, limit)
    largest = max(unit.bytes for unit in units.units.values())
    contents = {}
    for mode in modes:
        order = list(dict.fromkeys(op.unit for op in mode.ops))
        place = {unit: where(mode, i, unit) for i, unit in enumerate(order)}
        held = {group.name for name in kept for group in units.units[name].groups}
        placement = Placement(mode.name, {unit: [device] for unit, device in place.items()}, [],
                              {devices[0]: held} if held else {}, {name: int(buffers * largest) for name in devices})
        contents[mode.name] = plan_content(mode, placement, "test", "test", {}, None)
    glue = [weight.name for weight in units.glue.weights] if units.glue else []
    return DispatchPlan(modes, contents, glue=glue)


def need(plan, model, device="gpu0"):
    """The most bytes that the plan may take on the device."""
    from tutti.offload.units import named_units
    units = named_units(model, Inventory(model), set(plan.unit_names()), set(plan.glue))
    sizes = {group.name: group.bytes for group in units.groups()}
    glue = units.glue.bytes if units.glue else 0
    return glue + max(placement.buffer_bytes.get(device, 0) + sum(sizes[name] for name in placement.kept.get(device, ()))
                      for placement in plan.placements().values())


def dispatched(model, plan, devices=1, bytes_per_s=None, **more):
    """The model, dispatched by the plan to fake devices with just the memory that it needs."""
    found = {i: FakeBackend(need(plan, model, f"gpu{i}"), bytes_per_s, i) for i in range(devices)}
    memory = {i: backend.limit for i, backend in found.items()}
    tutti.dispatch(model, {**memory, "cpu": "1GiB", **more.pop("max_memory", {})}, plan=plan, backends=found, progress=False,
                   **more)
    return found[0] if devices == 1 else found


def streams(mode, i, unit):
    return "gpu0"


def cores(mode, i, unit):
    return "cpu"


def alternates(mode, i, unit):
    return "gpu0" if i % 2 else "cpu"
