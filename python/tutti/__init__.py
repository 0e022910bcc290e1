"""Plans for PyTorch models: capture a model, measure it, plan it, run it on the planned devices.

    graph = tutti.measure(model, inputs, devices={"cpu": "cpu", "gpu0": "cuda:0"})
    plan = tutti.plan(graph, budget="5s")
    placed = tutti.apply(model, plan, devices={"cpu": "cpu", "gpu0": "cuda:0"})
    outputs = placed(*inputs)

The program `tutti` makes the plans; see docs/python.md. capture, measure and apply need torch.
"""

from .binary import TuttiError, find_binary
from .plans import Plan, plan, read_plan

__all__ = ["Graph", "Plan", "TuttiError", "apply", "capture", "find_binary", "measure", "plan",
           "read_plan"]

# Modules that need torch are imported on first use, so that plans can be made without it.
_HOMES = {"Graph": "graphs", "capture": "capturing", "measure": "measuring", "apply": "placing"}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'tutti' has no attribute '{name}'")
    from importlib import import_module
    return getattr(import_module("." + _HOMES[name], __name__), name)
