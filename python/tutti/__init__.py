"""Plans for PyTorch models: capture a model, measure it, plan it, run it on the planned devices.

    graph = tutti.measure(model, inputs, devices={"cpu": "cpu", "gpu0": "cuda:0"})
    plan = tutti.plan(graph, budget="5s")
    placed = tutti.apply(model, plan, devices={"cpu": "cpu", "gpu0": "cuda:0"})
    outputs = placed(*inputs)

A model that is larger than the memory of its GPU runs by tutti.dispatch:

    tutti.dispatch(model, max_memory={0: "10GiB", "cpu": "60GiB"}, sample=inputs)

Problems are planned, simulated and compared in this process, and stepped as environments (tutti.envs):

    problem = tutti.Problem("graph.json", "p100-4")
    print(problem.simulate(problem.plan("heft")).gap)

See docs/python.md. capture, measure, apply and dispatch need torch; nothing else does, and numpy is not needed.
"""

from .binary import TuttiError, find_binary
from .plans import Plan, plan, read_plan
from .version import __version__

__all__ = ["Graph", "Plan", "Problem", "Run", "TuttiError", "apply", "capture", "compare", "device_map", "dispatch", "envs",
           "find_binary", "find_library", "measure", "plan", "read_plan", "simulate", "undispatch"]

# Modules that need torch, or the library, are imported on first use, so that the rest works without them.
_HOMES = {"Problem": "problems", "Run": "problems", "simulate": "problems", "compare": "problems",
          "find_library": "library", "Graph": "graphs", "capture": "capturing", "measure": "measuring", "apply": "placing",
          "dispatch": "offload.dispatching", "undispatch": "offload.dispatching",
          "device_map": "offload.dispatching"}


def __getattr__(name):
    from importlib import import_module
    if name == "envs":
        return import_module(".envs", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'tutti' has no attribute '{name}'")
    return getattr(import_module("." + _HOMES[name], __name__), name)
