"""The plan of a dispatched model: for each mode its graph and plan files, the machine, and what they say. It can be
saved to a folder, changed there, and given to tutti.dispatch again."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

from ..binary import TuttiError
from .modes import Mode, OpInfo, Placement, Sizes
from .names import HOST, unit_of
from .problem import placement_of, strings
from .units import Units

_FILE = "dispatch.json"


@dataclass
class DispatchPlan:
    """modes: how the model is called. contents: the plan file of each mode, as a dict; graphs and machine: the files
    of the problem. pass_s: the predicted time of a pass."""

    modes: List[Mode]
    contents: Dict[str, Dict[str, Any]]
    graphs: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    machine: Optional[Dict[str, Any]] = None
    pass_s: Dict[str, float] = field(default_factory=dict)
    notes: List[str] = field(default_factory=list)
    glue: Optional[List[str]] = None  # weights of units that others read too, if known: they stay on the main device
    units: List[str] = field(default_factory=list)  # all, also those that no measured pass has called
    whole: Optional[str] = None  # the device that holds all of the model, if one does

    def placements(self) -> Dict[str, Placement]:
        made = {}
        for mode in self.modes:
            shares = {op.name: op.share for op in mode.ops}
            made[mode.name] = placement_of(self.contents[mode.name], f"the plan of mode '{mode.name}'", mode.name,
                                           lambda op, shares=shares: shares.get(op, 1.0) >= 1)
        return made

    def unit_names(self) -> List[str]:
        found: Dict[str, None] = {}
        for content in self.contents.values():
            for row in content["ops"]:
                found[unit_of(row["op"])] = None
        return list(found)

    def save(self, folder: Union[str, Path]) -> None:
        """Writes MODE.plan.json and MODE.graph.json for each mode, machine.json, and dispatch.json, which lists the
        modes. `tutti check` and `tutti plan` read the first three."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        listed = []
        for mode in self.modes:
            _write(folder / f"{mode.name}.plan.json", self.contents[mode.name])
            if mode.name in self.graphs:
                _write(folder / f"{mode.name}.graph.json", self.graphs[mode.name])
            listed.append({"name": mode.name, "entry": mode.entry, "sizes": [list(size) for size in mode.sizes],
                           "calls": mode.calls, "shares": {op.name: op.share for op in mode.ops if op.share < 1},
                           "pass_s": self.pass_s.get(mode.name)})
        if self.machine is not None:
            _write(folder / "machine.json", self.machine)
        _write(folder / _FILE, {"format": "tutti-dispatch", "schema_version": 1, "modes": listed,
                               "glue": self.glue or [], "units": self.units})

    def __str__(self) -> str:
        from .shown import text_of
        return text_of(self)

    def _repr_html_(self) -> str:
        from .shown import html_of
        return html_of(self)


def _write(path: Path, content) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _read(path: Path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TuttiError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise TuttiError(f"{path} is no JSON: {error}") from None


def read(path: Union[str, Path]) -> DispatchPlan:
    """A folder that DispatchPlan.save wrote, or one plan file, which then serves all calls."""
    path = Path(path)
    if not path.is_dir():
        content = _read(path)
        placement_of(content, str(path), "all")
        mode = Mode("all", "", (), [OpInfo(row["op"], unit_of(row["op"])) for row in content["ops"]])
        return DispatchPlan([mode], {"all": content})
    index = _read(path / _FILE)
    try:
        if index["format"] != "tutti-dispatch" or index["schema_version"] != 1:
            raise KeyError("format")
        modes, contents, graphs, pass_s = [], {}, {}, {}
        for row in index["modes"]:
            name = row["name"]
            content = contents[name] = _read(path / f"{name}.plan.json")
            placement_of(content, str(path / f"{name}.plan.json"), name)
            ordered = sorted(content["ops"], key=lambda op: op["priority"])
            ops = [OpInfo(op["op"], unit_of(op["op"]), row["shares"].get(op["op"], 1.0)) for op in ordered]
            modes.append(Mode(name, row["entry"], _sizes(row["sizes"]), ops, int(row["calls"])))
            if (path / f"{name}.graph.json").exists():
                graphs[name] = _read(path / f"{name}.graph.json")
            if row.get("pass_s") is not None:
                pass_s[name] = float(row["pass_s"])
        glue, units = strings(index.get("glue", [])), strings(index.get("units", []))
        if not modes:
            raise KeyError("modes")
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise TuttiError(f"{path / _FILE} does not list the modes of a dispatch; model.tutti_plan.save(folder) writes "
                         "it") from None
    machine = _read(path / "machine.json") if (path / "machine.json").exists() else None
    return DispatchPlan(modes, contents, graphs, machine, pass_s,
                        glue=glue, units=units)


def _sizes(rows) -> Sizes:
    """As modes.sizes_of counts them. Raises TypeError or ValueError for others."""
    made = tuple((key, size) for key, size in rows)
    strings([key for key, _ in made])
    if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for _, size in made):
        raise ValueError("sizes")
    return made


def check(plan: DispatchPlan, units: Units, caps: Dict[str, int]) -> Dict[str, Placement]:
    """The placements of a plan that this model and these devices can follow. Raises TuttiError for others."""
    groups = {group.name: group for group in units.groups()}
    glue = units.glue.bytes if units.glue is not None else 0
    made = plan.placements()
    for mode, placement in made.items():
        for unit, devices in placement.devices.items():
            for device in devices:
                if device != HOST and device not in caps:
                    raise TuttiError(f"the plan of mode '{mode}' has op '{unit}' on '{device}', but max_memory gives only "
                                     f"{', '.join([*caps, HOST])}; change the plan or max_memory")
        for device, names in placement.kept.items():
            if device not in caps:
                raise TuttiError(f"the plan of mode '{mode}' keeps weights on '{device}', but max_memory gives only "
                                 f"{', '.join(caps)} to keep them on; change the plan or max_memory")
            for name in names:
                if name not in groups:
                    raise TuttiError(f"the plan of mode '{mode}' keeps '{name}' on {device}, which is no weight of the model; "
                                     f"its weights are named like '{next(iter(groups), 'weight:layer')}'")
        for device, cap in caps.items():
            kept = sum(groups[name].bytes for name in placement.kept.get(device, ()))
            uses = device in placement.used() or kept
            if device in placement.used() and device not in placement.buffer_bytes:
                placement.buffer_bytes[device] = max(0, cap - kept - glue) if _streams(placement, units, device) else 0
            need = kept + placement.buffer_bytes.get(device, 0) + glue
            if uses and need > cap:
                raise TuttiError(f"the plan of mode '{mode}' needs {need} bytes on {device} ({kept} kept, "
                                 f"{placement.buffer_bytes.get(device, 0)} of buffer, {glue} for weights between units), and "
                                 f"max_memory gives {cap}; keep fewer weights, or give it more")
        _check_streams(placement, units, mode)
    return made


def _streams(placement: Placement, units: Units, device: str) -> bool:
    return any(device in devices and _streamed(placement, units, unit, device)
               for unit, devices in placement.devices.items())


def _streamed(placement: Placement, units: Units, unit: str, device: str) -> int:
    kept = placement.kept.get(device, set())
    return sum(group.bytes for group in units.units[unit].groups if group.name not in kept)


def _check_streams(placement: Placement, units: Units, mode: str) -> None:
    for unit, devices in placement.devices.items():
        for device in set(devices) - {HOST}:
            size = _streamed(placement, units, unit, device)
            if size > placement.buffer_bytes.get(device, 0):
                raise TuttiError(f"the plan of mode '{mode}' streams unit '{unit}' ({size} bytes) to {device}, whose buffer has "
                                 f"{placement.buffer_bytes.get(device, 0)} bytes; place it on {HOST}, keep its weights, or "
                                 "raise stream_buffer_bytes")


def device_map(plan: DispatchPlan, numbers: Dict[str, Any]) -> Dict[str, Any]:
    """Module name to device, as accelerate takes it: units whose weights a device keeps are on it, all others "cpu".
    The mode that was called most often decides."""
    mode = max(plan.modes, key=lambda mode: mode.calls)
    placement = plan.placements()[mode.name]
    made: Dict[str, Any] = {}
    for unit in plan.unit_names():
        on = [device for device, names in placement.kept.items() if f"weight:{unit}" in names]
        where = numbers.get(on[0], on[0]) if on else HOST
        slice_of = re.fullmatch(r"(.*)\[[0-9]+\]", unit)
        name = slice_of.group(1) if slice_of else unit  # of packed experts, all or none are on a device
        made[name] = where if made.get(name, where) == where else HOST
    return made
