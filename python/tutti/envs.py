"""Environments to learn scheduling in, with Gymnasium's signatures (Gymnasium itself is not needed):

    env = tutti.envs.PlacementEnv()
    observation, info = env.reset(seed=1)
    terminated = truncated = False
    while not (terminated or truncated):
        action = choose(observation, env.action_masks())
        observation, reward, terminated, truncated, info = env.step(action)

PlacementEnv places the ops of a graph on devices; JobsEnv gives ops of arriving jobs to the devices of a simulated
cluster. An observation is an array('f') of `pairs * FEATURES` numbers, `FEATURES` for each pair of an op that may be
chosen and a device, zeros for pairs that are not allowed; docs/python.md says what they are. Action i is pair i.
"""

from __future__ import annotations

import random
from array import array
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_uint64, c_void_p, cast
from typing import Any, Callable, Optional, Sequence, Union

from . import library as lib
from .binary import TuttiError
from .plans import Plan
from .problems import Content, Graph, Machine, Problem, _text_of

FEATURES = 8
_MOST_KEPT = 4096  # problems that were drawn


class _Env:
    """What both environments have."""

    metadata: "dict[str, Any]" = {"render_modes": []}
    render_mode = None
    spec = None

    def _open(self, made: Optional[int], error: lib.Error) -> None:
        its = lib.library()
        self.handle = lib.Handle(made, "tutti_env_free", error)
        self.action_count: int = its.tutti_env_action_count(self.handle.value)
        self.observation_shape = (its.tutti_env_observation_size(self.handle.value),)
        # What is seen, where the library writes it: it changes with every step.
        self.live_observation = lib.column(its.tutti_env_observation(self.handle.value), self.observation_shape[0], "f",
                                           self.handle)
        self._mask = lib.column(its.tutti_env_mask(self.handle.value), self.action_count, "?", self.handle)
        self._step, self._error = lib.Step(), lib.Error()
        self._step_place, self._error_place = byref(self._step), byref(self._error)
        self._env, self._call = self.handle.value, its.tutti_env_step
        self._seen = self.live_observation.cast("B")
        self._rng = random.Random(1)

    def __reduce_ex__(self, protocol: int):
        raise TuttiError("an environment cannot be copied or pickled; make another one, and reset it with the same seed")

    @property
    def unwrapped(self) -> "_Env":
        return self

    def action_masks(self) -> memoryview:
        """By action, whether it is allowed. Changes with every step; list() or bytes() copies it."""
        return self._mask

    def _observe(self) -> array:
        return array("f", self._seen.tobytes())

    def _seed(self, seed: Optional[int]) -> int:
        """The seed of the episode: the one given, which also begins a sequence of those that follow."""
        if seed is None:
            return self._rng.randrange(1, 2**31)
        seed = lib.whole(seed, "seed", c_uint64)
        self._rng = random.Random(seed)
        return seed

    def step(self, action: int) -> "tuple[array, float, bool, bool, dict]":
        """Observation, reward, terminated, truncated, info. Raises TuttiError if the action is not allowed."""
        if not 0 <= action < self.action_count:
            raise TuttiError(f"action is {action}; it must be between 0 and {self.action_count - 1}", 2)
        code = self._call(self._env, action, self._step_place, self._error_place)
        if code:
            raise lib.failure(self._error)
        step = self._step
        ended = bool(step.terminated)
        cut = bool(step.truncated)
        return self._observe(), step.reward, ended, cut, self._info() if ended or cut else {}

    def _info(self) -> dict:
        raise NotImplementedError

    def close(self) -> None:
        pass


class PlacementEnv(_Env):
    """Places ops on devices, one after another.

    The ops are given in the order of HEFT's upward rank, and an action is a device; with a window above 1, the agent
    chooses among that many ready ops too (action = place in the window * devices + device). The rewards of an episode
    add up to minus the simulated makespan over the lower bound. info of the last step has makespan_ns,
    lower_bound_ns and gap; if memory leaves no device for any op, the episode ends with a reward of -10 and a
    makespan_ns of None.

    problems: a list of Problems, or a function from a seed to one; reset(seed) takes problems[seed % len] or calls it.
      By default graphs of a family are drawn (Graph.drawn): family, ops and ccr, for that machine.
    reset(options={"problem": problem}) begins with a problem of your own.
    """

    def __init__(self, problems: "Union[None, Sequence[Problem], Callable[[int], Problem]]" = None, window: int = 1,
                 family: str = "random", ops: int = 30, ccr: float = 1.0, machine: Any = "p100-4"):
        self._kept: "dict[int, Problem]" = {}
        if problems is None:
            its = Machine(machine)
            self._make = lambda seed: Problem(Graph.drawn(family, ops, seed, ccr, 1e13, 12e9), its)
        elif callable(problems):
            self._make = problems
        elif problems:
            self._make = lambda seed: problems[seed % len(problems)]
        else:
            raise TuttiError("problems is an empty list; give at least one", 2)
        self.problem = self._drawn(0)
        error, options = lib.Error(), lib.PlacingOptions(window=window)
        made = lib.library().tutti_placing_env_new(self.problem.device_count, byref(options), byref(error))
        self._open(made, error)
        self.device_count = self.problem.device_count

    def _drawn(self, seed: int) -> Problem:
        problem = self._kept.get(seed)
        if problem is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            problem = self._kept[seed] = self._make(seed)
        return problem

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict] = None) -> "tuple[array, dict]":
        given = (options or {}).get("problem")
        problem = given if given is not None else self._drawn(self._seed(seed))
        code = lib.library().tutti_placing_env_reset(self._env, problem.handle.value, self._error_place)
        lib.check(code, self._error)
        self.problem = problem
        return self._observe(), {"graph": self.problem.name}

    def plan(self) -> Plan:
        """The plan of the episode, which has ended."""
        error = lib.Error()
        return self.problem._plan(lib.library().tutti_placing_env_plan(self._env, byref(error)), error)

    def _info(self) -> dict:
        makespan, bound = self._step.time_ns, self.problem.lower_bound_ns
        if makespan < 0:
            return {"makespan_ns": None, "lower_bound_ns": bound, "gap": None}
        return {"makespan_ns": makespan, "lower_bound_ns": bound, "gap": makespan / bound - 1 if bound > 0 else 0.0}


class JobsEnv(_Env):
    """Gives ops of arriving jobs to devices, while others run.

    An action is a pair of one of the first `window` ops that could start now (by the arrival of their jobs) and a
    device: place in the window * devices + device; the last action is "nothing now". The reward of a step is minus
    the sum, over ops that are ready or run, of the time that passed over the op's shortest time. info of the last
    step has jobs (how many have ended), mean_slow_down and time_ns.

    machine, costs: without, tutti's default cluster without its FPGAs. graphs: the jobs, as Problem takes graphs;
    without, sixteen small jobs for the default cluster, drawn with graph_seed. jobs of them arrive in an episode,
    jobs_per_s on average. most_steps cuts an episode short (truncated).
    """

    def __init__(self, machine: Any = None, graphs: Optional[Sequence[Any]] = None, costs: Optional[Content] = None,
                 jobs: int = 20, jobs_per_s: float = 100.0, window: int = 8, most_steps: int = 0, graph_seed: int = 1):
        if (machine is None) != (graphs is None):
            raise TuttiError("machine and graphs belong together: give both, or neither for tutti's own", 2)
        options = lib.JobsOptions(jobs=jobs, jobs_per_s=jobs_per_s, window=window, most_steps=most_steps,
                                  graph_seed=graph_seed)
        keep = []
        if machine is not None:
            keep.append(machine if isinstance(machine, Machine) else Machine(machine))
            options.machine = keep[0].handle.value
        if graphs is not None:
            made = [Graph.of(graph) for graph in graphs]
            keep += made
            handles = (c_void_p * len(made))(*[graph.handle.value for graph in made])
            options.graphs = cast(handles, POINTER(c_void_p))
            options.graph_count = len(made)
        if costs is not None:
            text = _text_of(costs)
            if text is None:
                try:
                    with open(costs, "rb") as file:
                        text = file.read()
                except OSError as error:
                    raise TuttiError(f"{costs} cannot be read: {error.strerror}", 2) from None
            options.costs_text = c_char_p(text)
        error = lib.Error()
        self._open(lib.library().tutti_jobs_env_new(byref(options), byref(error)), error)

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict] = None) -> "tuple[array, dict]":
        lib.check(lib.library().tutti_jobs_env_reset(self._env, self._seed(seed), self._error_place), self._error)
        return self._observe(), {}

    def _info(self) -> dict:
        mean = c_double()
        jobs = lib.library().tutti_jobs_env_slow_down(self._env, byref(mean))
        return {"jobs": jobs, "mean_slow_down": mean.value if jobs else None, "time_ns": self._step.time_ns}


class Batch:
    """Several environments of one kind, each stepped with an action of its own by one call into the library. Nothing is
    copied: read what is seen from `live_observation` and `action_masks()` of each."""

    def __init__(self, envs: "Sequence[_Env]"):
        self.envs = list(envs)
        count = len(self.envs)
        self._handles = (c_void_p * count)(*[env.handle.value for env in self.envs])
        self._actions = (c_int32 * count)()
        self._steps = (lib.Step * count)()
        self._error = lib.Error()

    def step(self, actions: Sequence[int]) -> "list[tuple[float, bool, bool]]":
        """Reward, terminated, truncated of each. An action of -1 leaves its environment as it is, as an episode that has
        ended must be until its reset."""
        if len(actions) != len(self.envs):
            raise TuttiError(f"{len(actions)} actions for {len(self.envs)} environments", 2)
        for i, (env, action) in enumerate(zip(self.envs, actions)):  # before any of them is stepped
            if action != -1 and not (0 <= action < env.action_count and env.action_masks()[action]):
                raise TuttiError(f"action {action} of environment {i} is not allowed now; choose by action_masks(), and reset an "
                                 "episode that has ended", 2)
        self._actions[:] = actions
        code = lib.library().tutti_envs_step(self._handles, len(self.envs), self._actions, self._steps, byref(self._error))
        lib.check(code, self._error)
        return [(step.reward, bool(step.terminated), bool(step.truncated)) for step in self._steps]
