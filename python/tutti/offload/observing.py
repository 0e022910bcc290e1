"""Watches a model run on the cores, before it is dispatched: which modules are called, in which order, and which
weights are read while their module is not running."""

import collections
import functools
from typing import Any, Callable, Dict, List, Set, Tuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from .modes import Call, sizes_of
from .packed import Watch
from .units import Units
from .weights import Inventory


def inside(name: str, unit: str) -> bool:
    return unit == "" or name == unit or name.startswith(unit + ".")


class Observed:
    """What the passes of a run have shown."""

    def __init__(self):
        self.passes = 0
        self.called: Dict[str, int] = collections.Counter()  # modules: in how many passes of their entry
        # By name of a weight: its holders, and the modules that read it while none of them was running.
        self.reads: Dict[str, Tuple[List[str], Set[str]]] = {}
        self.packed: List[str] = []  # modules that take slices of packed weights one by one
        # By pass: (entry, sizes, the modules called, in order, each with those that were running).
        self.sequence: List[Any] = []
        self.names: Dict[int, str] = {}  # of modules, by id

    def share_of_calls(self, name: str) -> float:
        """In how many of the passes that call anything near it the module is called, at most 1."""
        parent = name.rsplit(".", 2)[0] if name.count(".") > 1 else ""
        near = self.called.get(parent, 0) or self.passes
        return min(1.0, self.called.get(name, 0) / near) if near else 0.0

    def calls_below(self, name: str) -> bool:
        return any(count and called.startswith(name + ".") for called, count in self.called.items())

    def read_by_others(self, name: str, unit: str) -> bool:
        """True if a weight is read by a module that is not in the unit, or has its holders elsewhere."""
        holders, readers = self.reads.get(name, ((), ()))
        return any(not (inside(reader, unit) and any(inside(holder, unit) for holder in holders)) for reader in readers)

    def calls_of(self, units: Units) -> List[Call]:
        """A unit that another one holds and calls is a part of that one's call."""
        of = {name if unit.module is None else self.names[id(unit.module)]: unit for name, unit in units.units.items()}

        def alone(name, above):
            return not any(outer in of and units.within(of[outer].name, of[name].module) for outer in above)
        return [Call(entry, sizes, [of[name].name for name, above in calls if name in of and alone(name, above)])
                for entry, sizes, calls in self.sequence]


class _Reads(TorchFunctionMode):
    """Notes the weights that an op reads while no module that refers to them is running."""

    def __init__(self, observer):
        super().__init__()
        self.observer = observer

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") != "__get__":
            for value in (*args, *kwargs.values()):
                for part in value if isinstance(value, (tuple, list)) else (value,):
                    if isinstance(part, torch.Tensor):
                        self.observer.read(part)
        return func(*args, **kwargs)


class _Observer:
    def __init__(self, model: nn.Module, inventory: Inventory):
        self.model = model
        self.inventory = inventory
        self.observed = Observed()
        self.running: List[str] = []
        self.holders: Dict[int, List[str]] = collections.defaultdict(list)  # a tensor's id: modules that refer to it
        for path, module in model.named_modules():
            self.observed.names[id(module)] = path
            for weight in inventory.direct(path):
                self.holders[id(weight.home)].append(path)

    def read(self, tensor):
        holders = self.holders.get(id(tensor))
        if not holders or not self.running or any(holder in self.running for holder in holders):
            return
        name = self.inventory.weights[id(tensor)].name
        self.observed.reads.setdefault(name, (holders, set()))[1].add(self.running[-1])

    def take(self, name):
        """A slice of packed weights is taken: one op of a pass, however often that is done."""
        if self.running and name not in self.this_pass:
            self.this_pass.add(name)
            self.observed.sequence[-1][2].append((name, tuple(self.running)))

    def enter(self, name, module, args, kwargs):
        if not self.running:
            self.observed.passes += 1
            self.observed.sequence.append((name, sizes_of(module, args, kwargs), []))
            self.this_pass = set()
        self.observed.sequence[-1][2].append((name, tuple(self.running)))
        self.running.append(name)
        if name not in self.this_pass:
            self.this_pass.add(name)
            self.observed.called[name] += 1


def observe(model: nn.Module, inventory: Inventory, run: Callable) -> Observed:
    """Runs run() once and returns what it showed."""
    observer = _Observer(model, inventory)
    wrapped = []
    watch = Watch(observer.take)
    try:
        for name, module in model.named_modules():
            wrapped.append((module, module.__dict__.get("forward")))
            module.forward = _watching(observer, name, module, module.forward)
        watch.install(model, inventory)
        with torch.no_grad(), _Reads(observer):
            run()
    finally:
        watch.remove()
        for module, before in wrapped:
            if before is None:
                module.__dict__.pop("forward", None)
            else:
                module.forward = before
    observer.observed.packed = watch.packed()
    return observer.observed


def _watching(observer, name, module, inner):
    @functools.wraps(inner)
    def forward(*args, **kwargs):
        observer.enter(name, module, args, kwargs)
        try:
            return inner(*args, **kwargs)
        finally:
            observer.running.pop()
    forward.__wrapped__ = inner
    return forward
