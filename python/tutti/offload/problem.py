"""The files of a dispatch's planning problem: for each mode a graph of its units, one op per call of a unit in order,
whose weights are at home in host memory; the machine; and the costs. docs/formats describes them."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from .. import binary
from ..binary import TuttiError
from .modes import Mode, Placement
from .names import HOST, unit_of
from .simulating import Link
from .units import Units


_VERSIONS = (1, 2, 3, 4)  # of plan files that are read


@dataclass
class Machine:
    """caps: bytes of each device that weights and buffers may use. links: from host memory to each device."""

    caps: Dict[str, int]
    links: Dict[str, Link]
    host_bytes: Optional[int] = None


def _ns(seconds: float) -> int:
    return max(1, round(seconds * 1e9))


def graph_of(mode: Mode, units: Units, model_name: str) -> Dict[str, Any]:
    """The graph of a mode. Times are expected ones: of an op that only some passes call, the mean over all passes."""
    first = mode.ops[0].in_bytes if mode.ops else 0
    content: Dict[str, Any] = {"format": "tutti-graph", "schema_version": 1, "name": f"{model_name} {mode.name}",
                               "inputs": [{"name": "(input)", "bytes": first, "residence": "host"}], "ops": []}
    for group in units.groups():
        content["inputs"].append({"name": group.name, "bytes": group.bytes, "weight": True, "residence": "host"})
    before = "(input)"
    for op in mode.ops:
        times = {HOST: _ns(op.share * (op.busy_cores_s + op.cross_s))}
        times.update({device: _ns(op.share * seconds) for device, seconds in op.device_s.items()})
        content["ops"].append({
            "name": op.name, "kind": "unit",
            "operands": [before] + [group.name for group in units.units[op.unit].groups],
            "outputs": [{"bytes": op.out_bytes}], "run_time_ns": times,
            "attributes": {"unit": op.unit, "share": f"{op.share:g}"}})
        before = op.name
    return content


def machine_of(machine: Machine, glue_bytes: int) -> Dict[str, Any]:
    """Links have the rate that was measured while the cores compute."""
    host: Dict[str, Any] = {"name": "host"}
    if machine.host_bytes:
        host["memory_bytes"] = machine.host_bytes
    content: Dict[str, Any] = {"schema_version": 1, "name": "measured by tutti.dispatch", "host": [host],
                               "device": [{"name": HOST, "kind": HOST, "uses_host_memory": True}], "link": []}
    for device, cap in machine.caps.items():
        content["device"].append({"name": device, "kind": device, "memory_bytes": max(1, cap - glue_bytes),
                                  "copy_engines": 2})
        content["link"].append({"name": f"host-{device}", "between": ["host", device],
                                "latency_ns": _ns(machine.links[device].latency_s),
                                "bandwidth_bytes_per_s": machine.links[device].busy})
    return content


def plan_content(mode: Mode, placement: Placement, graph_name: str, policy: str, timeline: Dict[str, Tuple[float, float]],
                 pass_s: Optional[float], base: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    """A plan file (docs/formats/plan.md) of a placement. base: a plan of the program for the same problem, whose
    fingerprints it takes over."""
    content: Dict[str, Any] = {"format": "tutti-plan", "schema_version": 3, "graph": graph_name,
                               "machine": "measured by tutti.dispatch", "policy": policy, "seed": "1", "evaluations": 0}
    for key in ("graph_fingerprint", "machine_fingerprint", "costs_fingerprint"):
        content[key] = base[key] if base else "0" * 16
    if pass_s is not None:
        content["note"] = f"a pass takes {_ns(pass_s)} ns by the simulation of tutti.dispatch"
    counts: Dict[str, int] = {}
    content["ops"] = []
    for i, op in enumerate(mode.ops):
        call = counts.get(op.unit, 0)
        counts[op.unit] = call + 1
        row: Dict[str, Any] = {"op": op.name, "device": placement.device(op.unit, call), "priority": i}
        if op.name in timeline:
            row["start_ns"], row["finish_ns"] = (round(seconds * 1e9) for seconds in timeline[op.name])
        content["ops"].append(row)
    content["kept_weights"] = [{"memory": device, "weights": sorted(groups)}
                               for device, groups in sorted(placement.kept.items()) if groups]
    content["stream_buffer_bytes"] = [{"memory": device, "bytes": count}
                                      for device, count in sorted(placement.buffer_bytes.items()) if count]
    return content


def strings(value: Any) -> List[str]:
    """The value, if it is a list of strings. Raises TypeError for others."""
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise TypeError("no list of strings")
    return value


def placement_of(content: Dict[str, Any], name: str, mode: str, certain=None) -> Placement:
    """The placement that a plan file states. `certain`: whether an op is called in every pass; by default all are."""
    try:
        if content["format"] != "tutti-plan":
            raise KeyError("format")
        if content.get("schema_version", 1) not in _VERSIONS:
            raise TuttiError(f"{name} has schema_version {content['schema_version']}, and this package reads {_VERSIONS[0]} to "
                             f"{_VERSIONS[-1]}; install a newer tutti")
        rows = sorted(content["ops"], key=lambda op: op["priority"])
        devices: Dict[str, List[str]] = {}
        order = []
        for row in rows:
            unit = unit_of(row["op"])
            devices.setdefault(unit, []).extend(strings([row["device"]]))
            if certain is None or certain(row["op"]):
                order.append(unit)
        kept: Dict[str, set] = {}
        for entry in content.get("kept_weights", []):
            kept.setdefault(entry["memory"], set()).update(strings(entry["weights"]))
        buffers = {entry["memory"]: int(entry["bytes"]) for entry in content.get("stream_buffer_bytes", [])}
        strings([*kept, *buffers])
        if min(buffers.values(), default=0) < 0:
            raise ValueError("bytes")
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise TuttiError(f"{name} is not a plan of tutti; model.tutti_plan.save(folder) writes one") from None
    return Placement(mode, devices, order, kept, buffers)


def ask_program(graph: Dict[str, Any], machine: Dict[str, Any], evaluations: int = 2000) -> Dict[str, Any]:
    """The plan file that the program tutti makes. Raises TuttiError if it cannot, or has no kept weights."""
    with tempfile.TemporaryDirectory(prefix="tutti-") as folder:
        paths = {}
        for name, content in (("graph", graph), ("machine", machine)):
            paths[name] = Path(folder) / f"{name}.json"
            paths[name].write_text(json.dumps(content), encoding="utf-8")
        output = Path(folder) / "plan.json"
        binary.run(["plan", paths["graph"], "--machine", paths["machine"], "--evaluations", evaluations, "--json",
                    "-o", output])
        content = json.loads(output.read_text(encoding="utf-8"))
    if "kept_weights" not in content and "stream_buffer_bytes" not in content:
        total = sum(entry["bytes"] for entry in graph["inputs"] if entry.get("weight"))
        if total > sum(device.get("memory_bytes", 0) for device in machine["device"]):
            raise TuttiError("this program tutti does not plan which weights are kept; install a newer one")
    return content
