"""Plans: asking for one, and reading one."""

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .binary import TuttiError, run


@dataclass
class Plan:
    """A device and a priority for each op (docs/formats/plan.md). Of the ops that could run, the one
    of the smallest priority goes first."""

    placement: dict
    priority: dict
    policy: str = ""
    # What `tutti plan --json` says: makespan_ns, lower_bound_ns, single_device_ns, ...
    summary: dict = field(default_factory=dict)
    # The captured graph it was made for, if it was.
    graph: object = None
    # The plan file's text.
    text: str = ""

    def save(self, path):
        Path(path).write_text(self.text, encoding="utf-8")


def _parse(text, name):
    try:
        content = json.loads(text)
        if content["format"] != "tutti-plan":
            raise KeyError("format")
        ops = content["ops"]
        return Plan(placement={op["op"]: op["device"] for op in ops},
                    priority={op["op"]: op["priority"] for op in ops},
                    policy=content.get("policy", ""), text=text)
    except (ValueError, KeyError, TypeError):
        raise TuttiError(f"{name} is not a plan of tutti; tutti plan -o writes one") from None


def read_plan(path):
    """A plan file, as tutti plan -o writes it."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise TuttiError(f"{path} cannot be read: {error}") from None
    return _parse(text, path)


def _file_of(content, folder, name):
    """What may be given as a file, as a dict, or as something that has a dict."""
    content = getattr(content, "content", content)
    if not isinstance(content, dict):
        return str(content)
    path = Path(folder) / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def plan(graph, machine=None, policy="auto", budget=None, evaluations=None, seed=1, costs=None,
         constraints=None, least_gain=0.0):
    """Asks tutti for a plan. If one device alone is best, that is the plan.

    graph: what capture or measure gave, a dict, or a graph file in any format tutti reads.
    machine: a preset, a file, or a dict (docs/formats/machine.md); left out, the machine that was
      measured, or else this host.
    budget: wall clock for the search, such as "5s" or 5 (seconds).
    evaluations: instead of a budget, a count of simulated runs: the same count, the same plan.
    costs, constraints: files or dicts.
    least_gain: what a plan over several devices must gain over the best single one to be taken, as a
      share of its time: 0.05 where the times are not known better than that.
    """
    settings = {"machine": machine, "seed": seed, "costs": costs, "constraints": constraints}
    made = _plan(graph, policy=policy, budget=budget, evaluations=evaluations, **settings)
    alone = made.summary.get("single_device_ns")
    if alone is None or len(set(made.placement.values())) == 1:
        return made
    if made.summary["makespan_ns"] > (1 - least_gain) * alone:
        return _plan(graph, policy="single_device", **settings)
    return made


def _plan(graph, machine, policy, seed, costs, constraints, budget=None, evaluations=None):
    if machine is None:
        machine = getattr(graph, "machine", None)
    if isinstance(budget, (int, float)):
        budget = f"{budget:g}s"
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        output = Path(folder) / "plan.json"
        arguments = ["plan", _file_of(graph, folder, "graph.json"), "--policy", policy, "--seed",
                     seed, "--json", "-o", output]
        for flag, value, name in (("--machine", machine, "machine.json"),
                                  ("--costs", costs, "costs.json"),
                                  ("--constraints", constraints, "constraints.json")):
            if value is not None:
                arguments += [flag, _file_of(value, folder, name)]
        if budget is not None:
            arguments += ["--budget", budget]
        if evaluations is not None:
            arguments += ["--evaluations", evaluations]
        summary = json.loads(run(arguments))
        made = _parse(output.read_text(encoding="utf-8"), output)
    made.summary = summary
    made.graph = graph if hasattr(graph, "traced") else None
    return made
