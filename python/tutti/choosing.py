"""The fastest of a plan and the single devices, by running them all: what simulations do not know, such
as that one Python thread asks for the work of all devices, decides here."""

import statistics

import torch

from .binary import TuttiError
from .measuring import seconds_in_turn
from .placing import apply


def _candidates(plan, all_on, devices):
    """By name the plans to run, and the sentences of those that cannot be. Of several names for one torch
    device the first stands for it: they run alike."""
    found, refused = {}, {}
    if plan.one_device() is None:
        found["plan"] = plan
    seen = set()
    for name, device in devices.items():
        if torch.device(device) in seen:
            continue
        try:
            found[f"all on {name}"] = plan if plan.one_device() == name else all_on(name)
            seen.add(torch.device(device))
        except TuttiError as error:  # it has not the memory, or a constraint is against it
            refused[f"all on {name}"] = str(error)
    return found, refused


def _modules(found, refused, devices, output_device):
    """Each candidate as a module that has run once. What a device cannot hold or run is refused."""
    modules = {}
    for name, plan in found.items():
        traced = plan.graph.traced
        try:
            module = apply(traced.model, plan, devices, output_device=output_device)
            module(**traced.arguments)
            modules[name] = module
        except RuntimeError as error:
            refused[name] = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return modules


def choose(plan, all_on, devices, output_device=None, least_gain=0.0, repeats=9):
    """The plan, or all on one device if that is faster: run in turn, compared by medians. Several devices
    must gain least_gain over the best single one. all_on(name) gives the plan for one device, and raises
    TuttiError where there is none. `measured` of the result has every candidate."""
    with torch.no_grad():
        found, refused = _candidates(plan, all_on, devices)
        modules = _modules(found, refused, devices, output_device)
        if not modules:
            raise TuttiError(f"neither the plan nor a single device can run the model: {next(iter(refused.values()))}")
        arguments = plan.graph.traced.arguments
        works = [lambda module=module: module(**arguments) for module in modules.values()]
        times = dict(zip(modules, seconds_in_turn(works, set(devices.values()), repeats)))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    fastest = min(medians, key=lambda name: medians[name] / (1 - least_gain if name == "plan" else 1))
    rows = [{"name": name, "ops_by_device": _counts(found[name], devices),
             "simulated_ns": found[name].summary.get("makespan_ns"), "median_s": medians[name],
             "least_s": min(times[name]), "most_s": max(times[name])} for name in modules]
    rows += [{"name": name, "error": sentence} for name, sentence in refused.items()]
    chosen = found[fastest]
    chosen.measured = {"repeats": repeats, "fastest": fastest, "one_device": chosen.one_device(), "candidates": rows}
    return chosen


def _counts(plan, devices):
    placed = list(plan.placement.values())
    return {name: placed.count(name) for name in devices}
