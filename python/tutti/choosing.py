"""Finds the fastest of a plan and the single devices by running them all. This covers what simulation does
not, such as that one Python thread issues the work of all devices."""

import statistics

import torch

from .binary import TuttiError
from .measuring import seconds_in_turn
from .placing import apply


def _candidates(plan, all_on, devices):
    """The plans to run, by name, and the error messages of those that cannot run. If a torch device has several
    names, only the first is used, because they run alike."""
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
        except TuttiError as error:  # it lacks memory, or a constraint forbids it
            if error.exit_code is None:  # nothing was asked
                raise
            refused[f"all on {name}"] = str(error)
    return found, refused


def _modules(found, refused, devices, output_device):
    """Each candidate as a module that has run once. Candidates that a device cannot hold or run are refused."""
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
    """The plan, or all ops on one device if that is faster: run in turns, compared by medians. A plan over several
    devices must gain least_gain over the best single one. all_on(name) returns the plan for one device, and raises
    TuttiError if there is none. `measured` of the result has every candidate."""
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
