"""Makes plans, in this process or with the program tutti, and reads them."""

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .binary import TuttiError, run


@dataclass
class Plan:
    """A device and a priority for each op (docs/formats/plan.md). Among the ops that can run, the one
    with the smallest priority runs first."""

    placement: dict
    priority: dict
    policy: str = ""
    # The output of `tutti plan --json`: makespan_ns, lower_bound_ns, single_device_ns, ...
    summary: dict = field(default_factory=dict)
    # The captured graph that it was made for, if any.
    graph: object = None
    # The plan file's text.
    text: str = ""
    # What plan(measure=True) measured: every candidate, and which was the fastest.
    measured: dict = field(default_factory=dict)
    # The plan in the library, if that made it.
    handle: object = field(default=None, repr=False, compare=False)

    def __getstate__(self):  # the library makes its plan again from the text
        return {**self.__dict__, "handle": None}

    def one_device(self):
        """The device that all ops are on; None if they are on several."""
        used = set(self.placement.values())
        return used.pop() if len(used) == 1 else None

    def save(self, path):
        Path(path).write_text(self.text, encoding="utf-8")

    def _repr_html_(self):
        """What a notebook shows: the planned timeline, if there is one, and a table."""
        from .offload.shown import table_of, timeline_of
        content = json.loads(self.text) if self.text else {"ops": []}
        rows = [(op, device, self.priority.get(op, "")) for op, device in self.placement.items()]
        rows.sort(key=lambda row: (row[2] == "", row[2]))
        return timeline_of(content) + table_of(rows, ("op", "device", "priority"))


def parse(text, name):
    """A plan from the text of a plan file; the name is for the sentence if it is none."""
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
    return parse(text, path)


def _file_of(content, folder, name):
    """The path of content that is a file, a dict, or an object with a dict."""
    content = getattr(content, "content", content)
    if not isinstance(content, dict):
        return str(content)
    path = Path(folder) / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def plan(graph, machine=None, policy="auto", budget=None, evaluations=None, seed=1, costs=None,
         constraints=None, least_gain=0.0, measure=False, devices=None, output_device=None, repeats=9):
    """Asks tutti for a plan, in this process if the library is there, else by the program. If one device alone is
    best, that is the plan.

    graph: the result of capture or measure, a dict, or a graph file in any format that tutti reads.
    machine: a preset, a file, or a dict (docs/formats/machine.md); by default the measured machine,
      else this host.
    budget: wall clock for the search, such as "5s" or 5 (seconds).
    evaluations: instead of a budget, a count of simulated runs; the same count gives the same plan.
    costs, constraints: files or dicts.
    least_gain: what a plan over several devices must gain over the best single one to be chosen, as a
      share of its time: 0.05 if the times are no more certain than that.
    measure: also run the plan, and all ops on each single device, `repeats` times in turns, and keep
      the fastest by the medians; `measured` of the plan has all figures. For graphs captured in this
      process.
    devices, output_device: as in apply; what measuring runs on. Devices that were given to
      tutti.measure need not be given again.
    """
    settings = {"machine": machine, "seed": seed, "costs": costs, "constraints": constraints}
    made = _plan(graph, policy=policy, budget=budget, evaluations=evaluations, **settings)
    alone = made.summary.get("single_device_ns")
    if alone is not None and made.one_device() is None and made.summary["makespan_ns"] > (1 - least_gain) * alone:
        made = _plan(graph, policy="single_device", **settings)
    if not measure:
        return made
    devices = devices or getattr(graph, "devices", None)
    if made.graph is None or devices is None:
        raise TuttiError("only a model that was captured here can be measured, on devices that are known; give "
                         "plan what tutti.measure gave, or say which torch devices its devices are")
    from .choosing import choose
    return choose(made, lambda device: _all_on(made, device, graph, settings), devices, output_device, least_gain, repeats)


def _all_on(made, device, graph, settings):
    """The plan with every op on that device, simulated. Raises TuttiError if that is not allowed."""
    content = json.loads(made.text)
    content.pop("strict_order", None)
    content.pop("planned_makespan_ns", None)
    content.pop("timeline", None)
    content.update(policy="single_device", evaluations=0)
    for op in content["ops"]:
        op["device"] = device
        op.pop("start_ns", None)
        op.pop("finish_ns", None)
    text = json.dumps(content, indent=1) + "\n"
    alone = parse(text, "plan.json")
    alone.graph = made.graph
    keep = {key: made.summary[key] for key in ("lower_bound_ns", "single_device_ns") if key in made.summary}
    alone.summary = {**keep, "policy": alone.policy, "makespan_ns": _simulated_ns(alone, graph, settings)}
    return alone


def _simulated_ns(made, graph, settings):
    from .library import available
    if available():
        from .problems import Problem
        problem = Problem(graph, settings["machine"], settings["costs"], settings["constraints"], noise=0.0)
        return problem.simulate(made, settings["seed"]).makespan_ns
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        path = Path(folder) / "plan.json"
        made.save(path)
        return json.loads(run(["simulate", *_problem(graph, folder, settings), "--noise", "0", "--plan", path,
                               "--json"]))["makespan_ns"]


def _problem(graph, folder, settings):
    """The arguments that every command needs: the graph, and where it runs. Files are written to the folder."""
    machine = settings["machine"]
    if machine is None:
        machine = getattr(graph, "machine", None)
    arguments = [_file_of(graph, folder, "graph.json"), "--seed", settings["seed"]]
    for flag, value, name in (("--machine", machine, "machine.json"),
                              ("--costs", settings["costs"], "costs.json"),
                              ("--constraints", settings["constraints"], "constraints.json")):
        if value is not None:
            arguments += [flag, _file_of(value, folder, name)]
    return arguments


def _plan(graph, policy, budget=None, evaluations=None, **settings):
    from .library import available
    made = (_plan_here if available() else _plan_by_program)(graph, policy, budget, evaluations, **settings)
    made.graph = graph if hasattr(graph, "traced") else None
    return made


def _plan_here(graph, policy, budget, evaluations, machine, seed, costs, constraints):
    from .problems import Problem
    problem = Problem(graph, machine, costs, constraints)
    made = problem.plan(policy, budget, evaluations, seed)
    try:
        made.summary["single_device_ns"] = problem.plan("single_device", seed=seed).summary["makespan_ns"]
    except TuttiError:  # no device can run all of it
        made.summary["single_device_ns"] = None
    return made


def _plan_by_program(graph, policy, budget, evaluations, **settings):
    if isinstance(budget, (int, float)):
        budget = f"{budget:g}s"
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        output = Path(folder) / "plan.json"
        arguments = ["plan", *_problem(graph, folder, settings), "--policy", policy, "--json", "-o", output]
        if budget is not None:
            arguments += ["--budget", budget]
        if evaluations is not None:
            arguments += ["--evaluations", evaluations]
        summary = json.loads(run(arguments))
        made = parse(output.read_text(encoding="utf-8"), output)
    made.summary = summary
    return made
