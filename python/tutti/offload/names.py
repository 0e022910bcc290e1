"""Names in plan and machine files of a dispatch. Needs no torch."""

from typing import Any, Dict, Optional

HOST = "cpu"  # the cores


def unit_of(op: str, units: Optional[Dict[str, Any]] = None) -> str:
    """The unit of an op's name: the second call of a unit in a pass is called unit#2."""
    return op.rsplit("#", 1)[0] if "#" in op and (units is None or op not in units) else op
