"""A plan as text, and for notebooks as a table and a timeline."""

import html
from typing import Any, Dict, List, Optional, Tuple

from .names import HOST, unit_of

_MOST_ROWS = 200
_COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2")
_WIDTH, _ROW = 900, 26


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def rows_of(content: Dict[str, Any], graph: Optional[Dict[str, Any]]) -> List[Tuple[str, str, str, str]]:
    """(op, device, what happens to its weights, their bytes) of a plan file."""
    kept = {name: entry["memory"] for entry in content.get("kept_weights", []) for name in entry["weights"]}
    weights = {entry["name"]: entry.get("bytes", 0) for entry in (graph or {}).get("inputs", []) if entry.get("weight")}
    operands = {op["name"]: op.get("operands", []) for op in (graph or {}).get("ops", [])}
    made = []
    for row in sorted(content["ops"], key=lambda op: op["priority"]):
        mine = [name for name in operands.get(row["op"], [f"weight:{unit_of(row['op'])}"])
                if name in weights or name.startswith("weight:")]
        if row["device"] == HOST:
            how = "on the cores"
        elif all(kept.get(name) == row["device"] for name in mine):
            how = "kept"
        else:
            how = "streamed"
        count = sum(weights.get(name, 0) for name in mine)
        made.append((row["op"], row["device"], how, _bytes(count) if weights else ""))
    return made


def text_of(plan) -> str:
    if plan.whole is not None:
        return f"all of the model is on {plan.whole}"
    lines = list(plan.notes)
    for mode in plan.modes:
        rows = rows_of(plan.contents[mode.name], plan.graphs.get(mode.name))
        count = {how: sum(1 for row in rows if row[2] == how) for how in ("kept", "streamed", "on the cores")}
        time = f", {plan.pass_s[mode.name] * 1e3:.2f} ms predicted" if mode.name in plan.pass_s else ""
        lines.append(f"{mode.name}: {count['kept']} kept, {count['streamed']} streamed, {count['on the cores']} on the cores"
                     + time)
        width = max((len(row[0]) for row in rows), default=0)
        lines += [f"  {name:{width}}  {device:6} {how:12} {size}" for name, device, how, size in rows]
    return "\n".join(lines)


def timeline_of(content: Dict[str, Any]) -> str:
    """An inline SVG with a lane for each device; empty if the plan has no timeline."""
    ops = [op for op in content["ops"] if "start_ns" in op and "finish_ns" in op]
    end = max((op["finish_ns"] for op in ops), default=0)
    if not end:
        return ""
    lanes = sorted({op["device"] for op in ops})
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_ROW * len(lanes) + 20}" '
             'font-family="sans-serif" font-size="11">']
    scale = (_WIDTH - 80) / end
    for i, lane in enumerate(lanes):
        parts.append(f'<text x="0" y="{_ROW * i + 16}">{html.escape(lane)}</text>')
        for op in ops:
            if op["device"] != lane:
                continue
            x, width = 80 + op["start_ns"] * scale, max(0.5, (op["finish_ns"] - op["start_ns"]) * scale)
            label = html.escape(f"{op['op']}: {(op['finish_ns'] - op['start_ns']) / 1e6:.3f} ms")
            parts.append(f'<rect x="{x:.1f}" y="{_ROW * i + 2}" width="{width:.1f}" height="{_ROW - 6}" '
                         f'fill="{_COLORS[i % len(_COLORS)]}" stroke="white" stroke-width="0.5"><title>{label}</title></rect>')
    parts.append(f'<text x="80" y="{_ROW * len(lanes) + 14}">0</text>')
    parts.append(f'<text x="{_WIDTH}" y="{_ROW * len(lanes) + 14}" text-anchor="end">{end / 1e6:.2f} ms</text></svg>')
    return "".join(parts)


def table_of(rows: List[Tuple[str, ...]], head: Tuple[str, ...]) -> str:
    shown = rows[:_MOST_ROWS]
    cells = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in shown)
    more = f"<p>and {len(rows) - len(shown)} more</p>" if len(rows) > len(shown) else ""
    return ("<table><thead><tr>" + "".join(f"<th>{name}</th>" for name in head) + f"</tr></thead><tbody>{cells}</tbody>"
            f"</table>{more}")


def html_of(plan) -> str:
    if plan.whole is not None:
        return f"<p>all of the model is on {html.escape(plan.whole)}</p>"
    parts = [f"<p>{html.escape(note)}</p>" for note in plan.notes]
    for mode in plan.modes:
        content = plan.contents[mode.name]
        time = f": {plan.pass_s[mode.name] * 1e3:.2f} ms predicted" if mode.name in plan.pass_s else ""
        parts.append(f"<h4>{html.escape(mode.name)}{time}</h4>{timeline_of(content)}")
        parts.append(table_of(rows_of(content, plan.graphs.get(mode.name)), ("op", "device", "weights", "bytes")))
    return "".join(parts)
