"""Finds the units of a model: the modules that a plan places. A unit is a repeated layer, or a module between such
layers, or a part of a layer that would be too large for the buffer of streamed weights. No class of models is known
here: what counts is the tree of modules, their bytes, and which of them are called.

Modules above units are split: their forward runs as it is, on the main device, and calls the units. Their own weights,
and weights that are read while their module is not running (an output layer that reads the embedding's weight), are
kept there: *glue*."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Set

from torch import nn

from ..binary import TuttiError
from .packed import PackedModule, candidates, parse, slice_name
from .weights import Group, Inventory, Weight, groups_of

_CONTAINERS = (nn.ModuleList, nn.ModuleDict)
_REPEATED = (nn.ModuleList, nn.ModuleDict, nn.Sequential)
_TINY = 1 / 256  # of the limit: modules below it are not worth a unit of their own


@dataclass
class Unit:
    """A module that runs on one device, and its weights; or an expert of a packed module, without a module of its own."""

    name: str
    module: Optional[nn.Module]
    groups: List[Group] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return sum(group.bytes for group in self.groups)


@dataclass
class Units:
    units: Dict[str, Unit]
    splits: Dict[str, nn.Module]  # modules above units that have a forward
    glue: Optional[Group]
    packed: Dict[str, PackedModule] = field(default_factory=dict)
    nested: Dict[str, Set[int]] = field(default_factory=dict)  # for each unit the ids of other units' modules in it

    def within(self, name: str, module: Optional[nn.Module]) -> bool:
        """True if that unit holds the module, which is another unit's too: a module may be below several parents."""
        return id(module) in self.nested.get(name, ())

    def homes(self) -> List[Group]:
        """The groups whose bytes lie together in host memory: all but slices, and what those are slices of."""
        slices = self._slices()
        found = [group for group in self.groups() if group.name not in slices]
        found += [home for packed in self.packed.values() for home in packed.homes]
        return found + ([self.glue] if self.glue is not None else [])

    def _slices(self):
        return {group.name for unit in self.units.values() if unit.module is None for group in unit.groups}

    def groups(self) -> List[Group]:
        """All groups but the glue, each once."""
        found = {}
        for unit in self.units.values():
            for group in unit.groups:
                found[group.name] = group
        return list(found.values())


class _Finder:
    def __init__(self, model, inventory, limit, observed):
        self.inventory = inventory
        self.limit = limit
        self.observed = observed
        self.units: Dict[str, nn.Module] = {}
        self.splits: Dict[str, nn.Module] = {}
        self.glue: List[Weight] = []
        self.packed: List[str] = []
        self.seen: Dict[int, str] = {}  # modules that are registered under several names
        self._visit("", model, in_repeated=False)

    def _bytes(self, module):
        return sum(weight.bytes for weight in self.inventory.under(module))

    def _holds_layers(self, module):
        """True if most of its bytes are in a list of several modules with weights."""
        mine = self._bytes(module)
        for child in module.modules():
            if isinstance(child, _REPEATED) and (child is not module or isinstance(child, nn.Sequential)):
                parts = [part for part in child.children() if self._bytes(part)]
                if len(parts) > 1 and self._bytes(child) > mine / 2:
                    return True
        return False

    def _called_irregularly(self, name, module):
        """True if a list of modules in it has members that only some passes call: experts."""
        if self.observed is None:
            return False
        if any(self.inventory.module(packed) in module.modules() for packed in self.observed.packed):
            return True
        for path, child in module.named_modules(prefix=name):
            if isinstance(child, _CONTAINERS):
                keys = [f"{path}.{key}" for key, part in child.named_children() if self._bytes(part)]
                shares = [self.observed.share_of_calls(key) for key in keys]
                if len(keys) > 1 and max(shares) > 0 and min(shares) < 1:
                    return True
        return False

    def _can_split(self, name, module):
        """The parts of a module can only be units if they are called, and its own weights are few."""
        children = [(f"{name}.{key}" if name else key, child) for key, child in module.named_children()]
        weighted = [(path, child) for path, child in children if self._bytes(child)]
        if not weighted:
            return False
        own = sum(weight.bytes for weight in self.inventory.direct(name))
        if own > max(1 << 20, self.limit // 16) and own > self._bytes(module) // 4:
            return False
        if self.observed is not None:
            for path, child in weighted:
                if not isinstance(child, _CONTAINERS) and self.observed.share_of_calls(path) == 0 \
                        and not self.observed.calls_below(path) and self._bytes(child) > self.limit * _TINY:
                    # Never called. An unused module does no harm, but weights that are read do.
                    if any(self.observed.read_by_others(weight.name, path)
                           for weight in self.inventory.under(child)):
                        return name == ""
        return True

    def _visit(self, name, module, in_repeated):
        if id(module) in self.seen:
            return
        self.seen[id(module)] = name
        total = self._bytes(module)
        if total == 0:
            return
        container = isinstance(module, _CONTAINERS)
        if self.observed is not None and name in self.observed.packed and name:
            self.packed.append(name)
            slices = {id(weight) for weight in candidates(self.inventory.direct(name))}
            self.glue += [weight for weight in self.inventory.direct(name) if id(weight) not in slices]
            for key, child in module.named_children():
                self._visit(f"{name}.{key}", child, "part")
            return
        split = container or (self._can_split(name, module) and (
            name == "" or total > self.limit or (not in_repeated and self._holds_layers(module))
            or self._called_irregularly(name, module)))
        if not split:
            if total <= self.limit * _TINY and name and in_repeated != "layer":
                self.glue += self.inventory.under(module)
            else:
                self.units[name] = module
            return
        if not container:
            self.splits[name] = module
        self.glue += self.inventory.direct(name)
        for key, child in module.named_children():
            inside = "layer" if isinstance(module, _REPEATED) else ("part" if in_repeated else False)
            self._visit(f"{name}.{key}" if name else key, child, inside)


def find_units(model: nn.Module, inventory: Inventory, limit: int, observed=None) -> Units:
    """limit: the bytes of the largest unit, if parts of modules can be had. observed: what a run of the model has
    shown (observing.Observed), or None."""
    finder = _Finder(model, inventory, limit, observed)
    glue = {id(weight): weight for weight in finder.glue}
    if observed is not None:
        for unit, module in finder.units.items():
            for weight in inventory.under(module):
                if observed.read_by_others(weight.name, unit):
                    glue[id(weight)] = weight
    return _made(model, inventory, finder.units, finder.splits, glue, finder.packed)


def named_units(model: nn.Module, inventory: Inventory, names: Set[str], kept_glue: Set[str] = frozenset()) -> Units:
    """The units with these names, as a plan file lists them; everything else is glue."""
    modules = dict(model.named_modules())
    units, packed = {}, []
    for name in names:
        part = parse(name)
        if part is not None and inventory.module(part[0]) is not None and candidates(inventory.direct(part[0])):
            if part[0] not in packed:
                packed.append(part[0])
            continue
        module = inventory.module(name)
        if module is None:
            raise TuttiError(f"the plan has the op '{name}', but the model has no module of that name; use the plan with "
                             "the model that it was made for, or make a new one (plan=None)")
        units[name] = module
    for name in names:
        parts = name.split(".")
        for i in range(1, len(parts)):
            if ".".join(parts[:i]) in units:
                raise TuttiError(f"the plan has the ops '{'.'.join(parts[:i])}' and '{name}', of which one is a part of "
                                 "the other; keep one of them")
    used = {id(weight) for name, module in units.items() for weight in inventory.under(module)
            if weight.name not in kept_glue}
    used |= {id(weight) for name in packed for weight in candidates(inventory.direct(name))}
    glue = {id(weight): weight for weight in inventory.weights.values() if id(weight) not in used}
    splits = {path: module for path, module in modules.items() if not isinstance(module, _CONTAINERS)
              and any(path == "" or name.startswith(path + ".") for name in [*units, *packed])
              and path not in units and path not in packed}
    return _made(model, inventory, units, splits, glue, sorted(packed))


def _made(model, inventory, modules, splits, glue, packed) -> Units:
    users = {}
    for name, module in modules.items():
        users[name] = [weight for weight in inventory.under(module) if id(weight) not in glue]
    groups = groups_of(users)
    units = {name: Unit(name, module, groups[name]) for name, module in modules.items()}
    stands = {name: PackedModule(name, inventory.module(name), candidates(inventory.direct(name))) for name in packed}
    for name, stand in stands.items():
        for index in range(stand.count):
            part = slice_name(name, index)
            units[part] = Unit(part, None, [stand.group(index)])
    if not units:
        raise TuttiError(f"{type(model).__name__} has no module with weights that could be placed; move it with "
                         "model.to(device)")
    kept = [weight for weight in glue.values() if weight.bytes]
    called = {id(module) for module in modules.values()} | {id(stand.module) for stand in stands.values()}
    nested = {name: called & {id(below) for below in module.modules() if below is not module}
              for name, module in modules.items()}
    return Units(units, splits, Group("weight:(glue)", kept) if kept else None, stands, nested)
