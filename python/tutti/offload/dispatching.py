"""tutti.dispatch: runs a model that is larger than the memory of its devices."""

import math
import os
import re
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import torch
from torch import nn

from ..binary import TuttiError
from . import plan as plans
from .backend import Backend
from .forwards import Forward
from .homes import Homes, available_host_bytes
from .measuring import Measuring, Progress
from .modes import group_calls
from .names import HOST
from .observing import observe
from .plan import DispatchPlan
from .planning import ChainPlanner, times_of
from .problem import Machine, ask_program, graph_of, machine_of, placement_of, plan_content
from .runner import Runner
from .units import Units, find_units, named_units
from .weights import Inventory

_SHARE_OF_FREE = 0.9  # of a device's free memory, if max_memory does not say
_UNIT_SHARE = 5  # a unit takes at most this part of the smallest device, so that several fit its buffer
_NEW_TOKENS = 4
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20,
          "gib": 2**30, "tib": 2**40}


class _State:
    """What undispatch needs."""

    def __init__(self):
        self.runner: Optional[Runner] = None
        self.homes: Optional[Homes] = None
        self.units: Optional[Units] = None
        self.whole: Optional[Backend] = None
        self.numbers: Dict[str, Any] = {}


def bytes_of_size(size: Union[int, float, str], key) -> int:
    """2500000000, "2.5GiB" or "2.5GB"."""
    if isinstance(size, (int, float)) and not isinstance(size, bool):
        value = float(size)
    else:
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", str(size))
        if match is None or match.group(2).lower() not in _UNITS:
            raise TuttiError(f"max_memory of {key!r} is {size!r}; write bytes, or a size such as \"2.5GiB\"")
        value = float(match.group(1)) * _UNITS[match.group(2).lower()]
    if not math.isfinite(value) or value < 0:
        raise TuttiError(f"max_memory of {key!r} is {size!r}; it must not be negative")
    return int(value)


def _memories(max_memory, backends) -> Tuple[Dict[str, Backend], Dict[str, int], Optional[int]]:
    """Backends and bytes by device name, and the bytes of host memory, if they were given."""
    if max_memory is None:
        from .cuda import free_memory
        free = {key: backend.memory_bytes() for key, backend in backends.items()} if backends else free_memory()
        if not free:
            raise TuttiError("torch finds no CUDA device, so there is nothing to dispatch to; call the model as it is")
        max_memory = {**{key: int(_SHARE_OF_FREE * size) for key, size in free.items()}}
    if not isinstance(max_memory, dict):
        raise TuttiError(f"max_memory is {max_memory!r}; write for instance {{0: \"10GiB\", \"cpu\": \"30GiB\"}}")
    sizes = {key: bytes_of_size(size, key) for key, size in max_memory.items()}
    found, caps = {}, {}
    for key, size in sizes.items():
        if key == HOST:
            continue
        if isinstance(key, bool) or not isinstance(key, int) or key < 0:
            raise TuttiError(f"max_memory has the key {key!r}; keys are the numbers of CUDA devices, and \"cpu\"")
        if size == 0:
            continue
        if backends:
            if key not in backends:
                raise TuttiError(f"max_memory names device {key}, but backends has none of that number")
            backend = backends[key]
        else:
            from .cuda import CudaBackend
            backend = CudaBackend(key)
        found[backend.name], caps[backend.name] = backend, size
    if not found:
        raise TuttiError("max_memory gives no device any memory; write for instance {0: \"10GiB\", \"cpu\": \"30GiB\"}, or call "
                         "the model as it is")
    return found, caps, sizes.get(HOST)


def _as_call(sample) -> Tuple[tuple, dict]:
    if isinstance(sample, dict) or (hasattr(sample, "keys") and hasattr(sample, "__getitem__")):
        return (), {key: sample[key] for key in sample.keys()}
    if isinstance(sample, tuple):
        return sample, {}
    return (sample,), {}


def _passes_of(model, sample, passes) -> Callable:
    """A function that runs the model as it will be used."""
    if passes is not None:
        if not callable(passes):
            raise TuttiError("passes is a function of the model that runs it as it will be used, such as "
                             "lambda model: model.generate(ids, max_new_tokens=4)")
        return lambda: passes(model)
    if sample is None:
        raise TuttiError("dispatch needs sample=inputs (a tensor, a tuple, a dict by name, or a list of these) or passes, "
                         "a function that runs the model: units are measured with it")
    samples = [_as_call(one) for one in (sample if isinstance(sample, list) else [sample])]

    def call():
        for args, kwargs in samples:
            model(*args, **kwargs)
    if callable(getattr(model, "generate", None)) and not isinstance(sample, list):
        return _Generates(model, samples[0], call)
    return call


class _Generates:
    """Runs `generate` for a few tokens; from the first time that this fails on, the plain call instead: what
    `generate` takes is not known here, and the sample need not be for it."""

    def __init__(self, model, sample, call):
        self.model = model
        self.sample = sample
        self.call = call
        self.works: Optional[bool] = None

    def __call__(self):
        if self.works is not False:
            args, kwargs = self.sample
            try:
                self.model.generate(*args, **kwargs, max_new_tokens=_NEW_TOKENS)
                self.works = True
            except Exception:
                if self.works:
                    raise
                self.works = False
        if not self.works:
            self.call()


def dispatch(model: nn.Module, max_memory: Optional[Dict[Any, Union[int, str]]] = None, sample: Any = None,
             plan: Any = None, passes: Optional[Callable] = None, *, planner: str = "auto",
             unit_bytes: Optional[int] = None, offload_folder: Optional[str] = None, progress: Any = True,
             repeats: int = 3, backends: Optional[Dict[int, Backend]] = None) -> nn.Module:
    """Runs the model on devices that have too little memory for it. Returns the model, whose forward then follows a
    plan: weights stay on a device, are copied there ahead of their use, or are used by the cores. Only inference.

    max_memory: bytes by CUDA device and for "cpu", as in accelerate: {0: "2.5GiB", "cpu": "30GiB"}. Of a device, what
      weights and their buffers take; activations and caches come on top. If host memory is too small for the model,
      weights that do not fit are mapped from a file in offload_folder. By default 90 % of what is free.
    sample: inputs to measure with: a tensor, a tuple in order, a dict by name, or a list of such for several shapes.
    passes: instead, a function of the model that runs it as it will be used. Calls of clearly different sizes get a
      plan of their own, each counting as often as it was seen. By default the sample is run, by `generate` for a few
      tokens if the model has it, so that prefill and decode have plans.
    plan: a folder that model.tutti_plan.save(folder) wrote, a plan file, or a plan; nothing is measured then.
    planner: "auto" asks the program tutti and the planner of this package and takes what simulates faster; "tutti" and
      "chain" ask one of them.
    unit_bytes: the most bytes of a unit; layers above it are split. By default a fifth of the smallest device.
    progress: True to print what is measured, False, or a function that is given each sentence.
    repeats: how often the passes are run for each measurement.
    backends: devices by number instead of CUDA devices, for tests (tutti.offload.fake).
    """
    if "_tutti_state" in model.__dict__:
        raise TuttiError("the model is dispatched already; call tutti.undispatch(model) first")
    for name, module in model.named_modules():
        if isinstance(module.__dict__.get("forward"), Forward):
            raise TuttiError(f"module '{name}' is a part of another model that is dispatched; tutti.undispatch that one first, "
                             "or dispatch a copy")
    if planner not in ("auto", "tutti", "chain"):
        raise TuttiError(f"planner is {planner!r}; it is \"auto\", \"tutti\" or \"chain\"")
    if not isinstance(repeats, int) or repeats < 1:
        raise TuttiError(f"repeats is {repeats!r}; it must be 1 or more")
    devices, caps, host_bytes = _memories(max_memory, backends)
    state = _State()
    state.numbers = {name: backend.torch_device for name, backend in devices.items()}
    with torch.inference_mode(False), torch.no_grad():
        inventory = Inventory(model)
        inventory.refuse_unready()
        if host_bytes is None:
            host_bytes = available_host_bytes(inventory.total_bytes())
        if plan is None and (whole := _whole(inventory, devices, caps)) is not None:
            return _all_on(model, state, devices[whole])
        return _dispatch(model, state, inventory, devices, caps, host_bytes, sample, plan, passes, planner, unit_bytes,
                         offload_folder, Progress(progress), repeats)


def _whole(inventory: Inventory, devices, caps) -> Optional[str]:
    total = inventory.total_bytes()
    return next((name for name in devices if total <= caps[name]), None)


def _all_on(model, state, backend) -> nn.Module:
    backend.move_model(model)
    state.whole = backend
    plan = DispatchPlan([], {}, whole=backend.name)
    model.__dict__.update(_tutti_state=state, tutti_plan=plan)
    return model


def _dispatch(model, state, inventory, devices, caps, host_bytes, sample, plan, passes, planner, unit_bytes, folder,
              progress, repeats) -> nn.Module:
    inventory.refuse_special(model)
    homes = Homes(devices.values(), host_bytes, folder)
    try:
        if plan is not None:
            if not isinstance(plan, (DispatchPlan, str, os.PathLike)):
                raise TuttiError(f"plan is a {type(plan).__name__}; give a folder that model.tutti_plan.save(folder) wrote, a "
                                 "plan file, or the tutti_plan of a dispatched model")
            made = plan if isinstance(plan, DispatchPlan) else plans.read(plan)
            names = {*made.unit_names(), *made.units}
            glue = made.glue
            if glue is None and (sample is not None or passes is not None):
                observed = observe(model, inventory, _passes_of(model, sample, passes))
                glue = [name for name in observed.reads if any(observed.read_by_others(name, unit) for unit in names)]
            state.units = named_units(model, inventory, names, set(glue or ()))
            homes.gather(state.units.homes())
        else:
            run = _passes_of(model, sample, passes)
            progress("watching which modules are called")
            observed = observe(model, inventory, run)
            limit = unit_bytes or max(1, min(caps.values()) // _UNIT_SHARE)
            state.units = find_units(model, inventory, limit, observed)
            homes.gather(state.units.homes())
            made = _plan(model, state.units, devices, caps, host_bytes, observed, run, planner, progress, repeats)
        placements = plans.check(made, state.units, caps)
    except BaseException:
        homes.restore()
        raise
    state.homes = homes
    state.runner = Runner(model, state.units, devices, made.modes, placements)
    try:
        state.runner.attach()
    except BaseException:
        state.runner.detach()
        homes.restore()
        raise
    model.__dict__.update(_tutti_state=state, tutti_plan=made)
    return model


def _plan(model, units: Units, devices, caps, host_bytes, observed, run, planner, progress, repeats) -> DispatchPlan:
    modes = [mode for mode in group_calls(observed.calls_of(units)) if mode.ops]
    if not modes:
        raise TuttiError("the sample calls no module with weights; give a sample, or passes, that runs the model")
    glue = units.glue.bytes if units.glue is not None else 0
    for name, cap in caps.items():
        if glue > cap:
            raise TuttiError(f"weights that are used between units take {glue} bytes, and max_memory gives {name} {cap}; give "
                             "it more")
    machine = Measuring(model, units, devices, caps, modes, run, progress, repeats).measure()
    machine.host_bytes = host_bytes
    chain = ChainPlanner(modes, units, machine)
    made = chain.plan()
    graphs = {mode.name: graph_of(mode, units, type(model).__name__) for mode in modes}
    described = machine_of(machine, glue)
    notes: List[str] = []
    contents, pass_s = {}, {}
    for mode in modes:
        base, theirs = None, None
        if planner != "chain":
            try:
                base = ask_program(graphs[mode.name], described)
                theirs = _simulated(base, mode, chain)
            except TuttiError as error:
                if planner == "tutti":
                    raise
                notes.append(f"{mode.name}: the program tutti made no plan: {error}")
        mine = made.pass_s[mode.name]
        if theirs is not None and (planner == "tutti" or theirs[1] < 0.99 * mine):
            placement, pass_s[mode.name], timeline, policy = *theirs, base.get("policy", "auto")
        else:
            placement, pass_s[mode.name], timeline, policy = (made.placements[mode.name], mine,
                                                              made.timelines[mode.name], "chain")
        contents[mode.name] = plan_content(mode, placement, graphs[mode.name]["name"], policy, timeline,
                                           pass_s[mode.name], base)
        progress(f"{mode.name}: {pass_s[mode.name] * 1e3:.2f} ms predicted, planned by {policy}")
    shared = [weight.name for weight in units.glue.weights] if units.glue is not None else []
    return DispatchPlan(modes, contents, graphs, described, pass_s, notes, shared, list(units.units))


def _simulated(content, mode, chain: ChainPlanner):
    shares = {op.name: op.share for op in mode.ops}
    placement = placement_of(content, "the plan of the program tutti", mode.name, lambda op: shares[op] >= 1)
    pass_s, timeline = times_of(placement, mode, chain)
    if not math.isfinite(pass_s):
        raise TuttiError("its plan does not fit the buffer for streamed weights")
    return placement, pass_s, timeline


def _state_of(model) -> _State:
    state = model.__dict__.get("_tutti_state") if isinstance(model, nn.Module) else None
    if state is None:
        raise TuttiError("the model is not dispatched; tutti.dispatch(model, ...) does that")
    return state


def undispatch(model: nn.Module) -> nn.Module:
    """Everything as before: weights in memory of their own on the CPU, forwards as they were. Returns the model."""
    state = _state_of(model)
    if state.whole is not None:
        model.to("cpu")
    else:
        state.runner.detach()
        state.homes.restore()
        for backend in state.runner.backends.values():
            backend.close()
    del model.__dict__["_tutti_state"], model.__dict__["tutti_plan"]
    return model


def device_map(model_or_plan: Any) -> Dict[str, Any]:
    """Module names and devices, as accelerate's dispatch_model takes them: what a device keeps is on it, everything
    else on "cpu". Of a dispatched model, or of a plan (whose devices are then numbered as in their names)."""
    if isinstance(model_or_plan, DispatchPlan):
        made, numbers = model_or_plan, {}
        if made.whole is not None:
            return {"": int(made.whole[3:]) if made.whole.startswith("gpu") else made.whole}
        for placement in made.placements().values():
            numbers.update({name: int(name[3:]) for name in [*placement.used(), *placement.kept]
                            if re.fullmatch(r"gpu[0-9]+", name)})
        return plans.device_map(made, numbers)
    state = _state_of(model_or_plan)
    if state.whole is not None:
        return {"": state.whole.torch_device}
    found = plans.device_map(model_or_plan.tutti_plan, state.numbers)
    covered = {id(weight.home) for group in state.units.groups() for weight in group.weights}
    main = state.numbers.get(state.runner.main, next(iter(state.numbers.values())))
    if state.units.glue is not None:  # accelerate wants every weight named
        for weight in state.units.glue.weights:
            if weight.parameter and id(weight.home) not in covered and not any(
                    weight.name.startswith(name + ".") for name in found):
                found[weight.name] = main
    return found
