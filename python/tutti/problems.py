"""Problems in this process: a graph on a machine, which is planned, simulated and compared without starting a
program. Columns are memoryviews, which list() and numpy.asarray() take; numpy copies nothing."""

from __future__ import annotations

import ctypes
import json
import os
from array import array
from collections.abc import Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint64
from dataclasses import dataclass
from typing import Any, Iterable, Optional, Union

from . import library as lib
from .binary import TuttiError
from .plans import Plan, parse

Content = Union[str, "os.PathLike[str]", Mapping]


def _text_of(content: Any) -> Optional[bytes]:
    """A dict, or an object with one, as JSON; None for a path."""
    content = getattr(content, "content", content)
    return json.dumps(content).encode() if isinstance(content, Mapping) else None


class Graph:
    """A graph of the library. Made by Problem from files and dicts, or drawn from a family."""

    def __init__(self, handle: lib.Handle):
        self.handle = handle

    @classmethod
    def of(cls, graph: Any) -> "Graph":
        """A file in any format that tutti reads, a dict (docs/formats/graph.md), or an object with one."""
        if isinstance(graph, Graph):
            return graph
        error, text = lib.Error(), _text_of(graph)
        if text is not None:
            made = lib.library().tutti_graph_parse(text, len(text), b"graph", byref(error))
        else:
            made = lib.library().tutti_graph_load(lib.encoded(os.fspath(graph)), byref(error))
        return cls(lib.Handle(made, "tutti_graph_free", error))

    @classmethod
    def drawn(cls, family: str = "random", ops: int = 30, seed: int = 1, ccr: float = 0.0, rate_flops_per_s: float = 0.0,
              bandwidth_bytes_per_s: float = 0.0) -> "Graph":
        """A graph of a seeded family: layered, random, stencil, fork-join, fft, cholesky or job. ccr: the time of
        transfers over the time of ops, at that rate and bandwidth."""
        error = lib.Error()
        options = lib.Family(family=family.encode(), ops=ops, seed=seed, ccr=ccr, rate_flops_per_s=rate_flops_per_s,
                             bandwidth_bytes_per_s=bandwidth_bytes_per_s)
        made = lib.library().tutti_graph_make(byref(options), byref(error))
        return cls(lib.Handle(made, "tutti_graph_free", error))


class Machine:
    """A machine of the library."""

    def __init__(self, machine: Any = "this-host"):
        """A preset, a machine file, this-host, this-host:4x2, or a dict (docs/formats/machine.md)."""
        error, text = lib.Error(), _text_of(machine)
        if text is not None:
            made = lib.library().tutti_machine_parse(text, len(text), b"machine", byref(error))
        else:
            made = lib.library().tutti_machine_load(lib.encoded(os.fspath(machine)), byref(error))
        self.handle = lib.Handle(made, "tutti_machine_free", error)


@dataclass(frozen=True)
class ComparedPolicy:
    """What became of one policy. Of a policy that failed only `policy` and `error` mean something."""

    policy: str
    error: Optional[str]
    mean_ns: float
    least_ns: float
    deviation_ns: float
    gap: float
    plan_seconds: float
    bytes_moved: float
    evaluations: int
    runs: int


class Run:
    """What happened in one simulated run. Times are in ns since it began."""

    def __init__(self, handle: lib.Handle, problem: "Problem"):
        self.handle = handle
        self.problem = problem

    @property
    def makespan_ns(self) -> int:
        return lib.library().tutti_run_makespan(self.handle.value)

    @property
    def gap(self) -> float:
        """makespan / lower bound - 1."""
        bound = self.problem.lower_bound_ns
        return self.makespan_ns / bound - 1 if bound > 0 else 0.0

    def _column(self, name: str, form: str, count: str) -> memoryview:
        its = lib.library()
        return lib.column(getattr(its, name)(self.handle.value), getattr(its, count)(self.handle.value), form, self.handle)

    def ops(self) -> "dict[str, memoryview]":
        """Columns by op: device, slot, start_ns, finish_ns."""
        names = {"device": ("devices", "i"), "slot": ("slots", "i"), "start_ns": ("starts", "q"),
                 "finish_ns": ("finishes", "q")}
        return {key: self._column(f"tutti_run_op_{name}", form, "tutti_run_op_count")
                for key, (name, form) in names.items()}

    def transfers(self) -> "dict[str, memoryview]":
        """Columns by hop: value, from_memory, to_memory, start_ns, finish_ns."""
        names = {"value": ("values", "i"), "from_memory": ("from", "i"), "to_memory": ("to", "i"),
                 "start_ns": ("starts", "q"), "finish_ns": ("finishes", "q")}
        return {key: self._column(f"tutti_run_transfer_{name}", form, "tutti_run_transfer_count")
                for key, (name, form) in names.items()}

    def trace(self) -> str:
        """A Chrome trace (docs/formats/trace.md); look at it at ui.perfetto.dev."""
        return lib.library().tutti_run_trace(self.handle.value).decode()


class Problem:
    """A graph on a machine with its costs and constraints: all that is known before a run. Immutable.

    graph: a file in any format that tutti reads, a dict, the result of capture or measure, or Graph.drawn(...).
    machine: a preset, a file, a dict or a Machine; by default the machine that was measured, else this host.
    costs, constraints: files or dicts. noise: spread of log-normal noise; None: as the costs say.
    cold: loading kept weights is part of the run.
    """

    def __init__(self, graph: Any, machine: Any = None, costs: Optional[Content] = None,
                 constraints: Optional[Content] = None, noise: Optional[float] = None, cold: bool = False):
        if machine is None:
            machine = getattr(graph, "machine", None) or "this-host"
        if not isinstance(machine, Machine):
            machine = Machine(machine)
        self.graph = Graph.of(graph)
        options = lib.ProblemOptions(noise=noise or 0.0, has_noise=noise is not None, cold=cold)
        for name, content in (("costs", costs), ("constraints", constraints)):
            text = _text_of(content) if content is not None else None
            if text is not None:
                setattr(options, f"{name}_text", text)
            elif content is not None:
                setattr(options, f"{name}_file", lib.encoded(os.fspath(content)))
        error = lib.Error()
        made = lib.library().tutti_problem_make(self.graph.handle.value, machine.handle.value, byref(options), byref(error))
        self.handle = lib.Handle(made, "tutti_problem_free", error)
        self.warnings = [line for source in (lib.library().tutti_graph_warnings(self.graph.handle.value),
                                             lib.library().tutti_problem_warnings(self.handle.value))
                         for line in source.decode().splitlines()]

    def _names(self, count: str, name: str) -> "list[str]":
        its, handle = lib.library(), self.handle.value
        return [getattr(its, name)(handle, i).decode() for i in range(getattr(its, count)(handle))]

    @property
    def name(self) -> str:
        return lib.library().tutti_problem_graph_name(self.handle.value).decode()

    @property
    def machine_name(self) -> str:
        return lib.library().tutti_problem_machine_name(self.handle.value).decode()

    @property
    def op_count(self) -> int:
        return lib.library().tutti_problem_op_count(self.handle.value)

    @property
    def device_count(self) -> int:
        return lib.library().tutti_problem_device_count(self.handle.value)

    def op_names(self) -> "list[str]":
        return self._names("tutti_problem_op_count", "tutti_problem_op_name")

    def op_kinds(self) -> "list[str]":
        return self._names("tutti_problem_op_count", "tutti_problem_op_kind")

    def device_names(self) -> "list[str]":
        return self._names("tutti_problem_device_count", "tutti_problem_device_name")

    def memory_names(self) -> "list[str]":
        return self._names("tutti_problem_memory_count", "tutti_problem_memory_name")

    @property
    def lower_bound_ns(self) -> int:
        """No plan takes less."""
        return lib.library().tutti_problem_lower_bound(self.handle.value)

    def run_times_ns(self) -> memoryview:
        """Mean run times, by op and device: row op * device_count + device. -1: it cannot run there."""
        count = self.op_count * self.device_count
        times, error = array("q", bytes(8 * count)), lib.Error()
        if count:
            pointer = (c_int64 * count).from_buffer(times)
            lib.check(lib.library().tutti_problem_run_times(self.handle.value, pointer, count, byref(error)), error)
        return memoryview(times)

    def edges(self) -> "dict[str, memoryview]":
        """Columns by operand that another op makes: producer, consumer (numbers of ops), bytes."""
        its, handle = lib.library(), self.handle.value
        count = its.tutti_problem_edges(handle, None, None, None, 0)
        producers, consumers, sizes = (c_int32 * count)(), (c_int32 * count)(), (c_int64 * count)()
        its.tutti_problem_edges(handle, producers, consumers, sizes, count)
        return {"producer": memoryview(producers).cast("B").cast("i"), "consumer": memoryview(consumers).cast("B").cast("i"),
                "bytes": memoryview(sizes).cast("B").cast("q")}

    def _plan(self, made: Optional[int], error: lib.Error) -> Plan:
        handle = lib.Handle(made, "tutti_plan_free", error)
        its = lib.library()
        plan = parse(its.tutti_plan_text(handle.value).decode(), "plan")
        bound = self.lower_bound_ns
        makespan = its.tutti_plan_makespan(handle.value)
        plan.summary = {"graph": self.name, "machine": self.machine_name, "policy": plan.policy, "makespan_ns": makespan,
                        "lower_bound_ns": bound, "gap": makespan / bound - 1 if bound > 0 else None,
                        "evaluations": its.tutti_plan_evaluations(handle.value)}
        handle.says = dict(plan.placement), dict(plan.priority)
        plan.handle = handle
        return plan

    def plan(self, policy: str = "auto", budget: Union[None, float, str] = None, evaluations: Optional[int] = None,
             seed: int = 1, threads: int = 0) -> Plan:
        """A plan by that policy (docs/policies.md). budget: seconds of search; evaluations: instead, a count of
        simulations, which gives the same plan each time."""
        options = lib.PlanOptions(policy=policy.encode(), seed=seed, budget_seconds=seconds_of(budget),
                                  evaluations=evaluations or 0, threads=threads)
        error = lib.Error()
        return self._plan(lib.library().tutti_plan_make(self.handle.value, byref(options), byref(error)), error)

    def place(self, devices: "Union[Sequence[int], Mapping[str, str]]", priorities: Optional[Iterable[int]] = None) -> Plan:
        """A plan by hand: the number of a device for each op in order, or a dict from names of ops to names of
        devices. Without priorities, the first op in the graph goes first."""
        if isinstance(devices, Mapping):
            numbers = {name: i for i, name in enumerate(self.device_names())}
            unknown = set(devices) - set(self.op_names())
            if unknown:
                raise TuttiError(f"the placement has op '{min(unknown, key=str)}', which the graph has not", 2)
            try:
                devices = [numbers[devices[op]] for op in self.op_names()]
            except KeyError as missing:
                raise TuttiError(f"the placement lacks op {missing}, or names a device of that name, which is not "
                                 "there", 2) from None
        count = len(devices)
        placed = (c_int32 * count)(*[lib.whole(device, "a device", c_int32) for device in devices])
        order = None
        if priorities is not None:
            given = [lib.whole(priority, "a priority", c_int64) for priority in priorities]
            if len(given) != count:
                raise TuttiError(f"{len(given)} priorities for {count} ops; give one for each", 2)
            order = (c_int64 * count)(*given)
        error = lib.Error()
        made = lib.library().tutti_plan_of(self.handle.value, placed, order, count, byref(error))
        return self._plan(made, error)

    def _handle_of(self, plan: Plan) -> lib.Handle:
        says = plan.placement, plan.priority
        if plan.handle is not None and plan.handle.says == says:
            return plan.handle
        made = parse(plan.text, "the plan") if plan.text else None
        if made is None or (made.placement, made.priority) != says:  # it was made or changed by hand
            order = [plan.priority.get(op, i) for i, op in enumerate(self.op_names())]
            return self.place(plan.placement, order).handle
        error, text = lib.Error(), plan.text.encode()
        made = lib.library().tutti_plan_parse(self.handle.value, text, len(text), b"plan", byref(error))
        return lib.Handle(made, "tutti_plan_free", error)

    def simulate(self, plan: Plan, seed: int = 1, mean: bool = False, order: str = "priority") -> Run:
        """One run of the plan. Durations are drawn with the seed if the costs have noise, unless mean is set."""
        error, its = lib.Error(), self._handle_of(plan)
        options = lib.SimulateOptions(seed=seed, mean=mean, order=order.encode())
        made = lib.library().tutti_simulate(self.handle.value, its.value, byref(options), byref(error))
        return Run(lib.Handle(made, "tutti_run_free", error), self)

    def makespans_ns(self, plan: Plan, count: int, first_seed: int = 1) -> memoryview:
        """The makespans of so many runs, with one seed after another."""
        if lib.whole(count, "count", c_int32) < 0:
            raise TuttiError(f"count is {count}; it must be 0 or more", 2)
        error, its, made = lib.Error(), self._handle_of(plan), (c_int64 * count)()
        seed = lib.whole(first_seed, "first_seed", c_uint64)
        code = lib.library().tutti_makespans(self.handle.value, its.value, seed, made, count, byref(error))
        lib.check(code, error)
        return memoryview(made).cast("B").cast("q")

    def compare(self, policies: Optional[Sequence[str]] = None, seeds: int = 10, seed: int = 1,
                budget: Union[None, float, str] = None, evaluations: Optional[int] = None,
                threads: int = 0) -> "list[ComparedPolicy]":
        """Every policy with several seeds, simulated, as tutti compare does."""
        options = lib.CompareOptions(seeds=seeds, seed=seed, budget_seconds=seconds_of(budget), evaluations=evaluations or 0,
                                     threads=threads)
        if policies is not None:
            names = (c_char_p * len(policies))(*[policy.encode() for policy in policies])
            options.policies = ctypes.cast(names, POINTER(c_char_p))
            options.policy_count = len(policies)
        error, its = lib.Error(), lib.library()
        made = its.tutti_compare(self.handle.value, byref(options), byref(error))
        comparison = lib.Handle(made, "tutti_comparison_free", error)
        rows = []
        for i in range(its.tutti_comparison_size(comparison.value)):
            row = lib.Compared()
            its.tutti_comparison_row(comparison.value, i, byref(row))
            rows.append(ComparedPolicy(row.policy.decode(), row.error.decode() if row.error else None, row.mean_ns,
                                       row.least_ns, row.deviation_ns, row.gap, row.plan_seconds, row.bytes_moved,
                                       row.evaluations, row.runs))
        return rows


def seconds_of(budget: Union[None, float, str]) -> float:
    """5, 5.0, "5s", "500ms" or "2m"."""
    if budget is None:
        return 0.0
    if isinstance(budget, (int, float)):
        return float(budget)
    for unit, factor in (("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)):
        if budget.endswith(unit):
            try:
                return float(budget[:-len(unit)]) * factor
            except ValueError:
                break
    raise TuttiError(f"budget is '{budget}', not a time such as 5s, 500ms or 2m", 2)


def simulate(problem: Problem, plan: Plan, seed: int = 1, mean: bool = False) -> Run:
    """One simulated run of a plan."""
    return problem.simulate(plan, seed, mean)


def compare(problem: Problem, policies: Optional[Sequence[str]] = None, seeds: int = 10, **settings) -> "list[ComparedPolicy]":
    """Every policy with several seeds, simulated; see Problem.compare."""
    return problem.compare(policies, seeds, **settings)
