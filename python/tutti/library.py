"""libtutti, loaded into this process: the C interface of tutti/tutti_c.h by ctypes. Nothing is compiled for a
version of Python, and numpy is not needed."""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from ctypes import (POINTER, byref, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint8,
                    c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Iterator, Optional

from .binary import TuttiError

C_VERSION = 0  # TUTTI_C_VERSION of the header that this file was written for


_RANGES = {c_int32: (-2**31, 2**31 - 1), c_int64: (-2**63, 2**63 - 1), c_uint64: (0, 2**64 - 1)}


def whole(value: Any, name: str, kind: type) -> int:
    """The value, if a number of C holds it: ctypes would cut it without a word."""
    least, most = _RANGES[kind]
    try:
        number = operator.index(value)
    except TypeError:
        raise TuttiError(f"{name} is {value!r}; it must be a whole number", 2) from None
    if not least <= number <= most:
        raise TuttiError(f"{name} is {number}; it must be between {least} and {most}", 2)
    return number


class Error(ctypes.Structure):
    _fields_ = [("code", c_int32), ("message", c_char * 1020)]


class _Sized(ctypes.Structure):
    """A struct of options, which begins with its size."""

    def __init__(self, **fields):
        kinds = dict(self._fields_)
        for name, value in fields.items():
            if kinds[name] in _RANGES:
                fields[name] = whole(value, name, kinds[name])
        super().__init__(size=ctypes.sizeof(type(self)), **fields)


class Family(_Sized):
    _fields_ = [("size", c_size_t), ("family", c_char_p), ("ops", c_int32), ("seed", c_uint64), ("ccr", c_double),
                ("rate_flops_per_s", c_double), ("bandwidth_bytes_per_s", c_double)]


class ProblemOptions(_Sized):
    _fields_ = [("size", c_size_t), ("costs_file", c_char_p), ("costs_text", c_char_p), ("constraints_file", c_char_p),
                ("constraints_text", c_char_p), ("noise", c_double), ("has_noise", c_int32), ("cold", c_int32)]


class PlanOptions(_Sized):
    _fields_ = [("size", c_size_t), ("policy", c_char_p), ("seed", c_uint64), ("budget_seconds", c_double),
                ("evaluations", c_int64), ("threads", c_int32)]


class SimulateOptions(_Sized):
    _fields_ = [("size", c_size_t), ("seed", c_uint64), ("mean", c_int32), ("order", c_char_p)]


class CompareOptions(_Sized):
    _fields_ = [("size", c_size_t), ("policies", POINTER(c_char_p)), ("policy_count", c_int32), ("seeds", c_int32),
                ("seed", c_uint64), ("budget_seconds", c_double), ("evaluations", c_int64), ("threads", c_int32)]


class Compared(_Sized):
    _fields_ = [("size", c_size_t), ("policy", c_char_p), ("error", c_char_p), ("mean_ns", c_double), ("least_ns", c_double),
                ("deviation_ns", c_double), ("gap", c_double), ("plan_seconds", c_double), ("bytes_moved", c_double),
                ("evaluations", c_int64), ("runs", c_int32)]


class PlacingOptions(_Sized):
    _fields_ = [("size", c_size_t), ("window", c_int32)]


class JobsOptions(_Sized):
    _fields_ = [("size", c_size_t), ("machine", c_void_p), ("costs_text", c_char_p), ("graphs", POINTER(c_void_p)),
                ("graph_count", c_int32), ("jobs", c_int32), ("jobs_per_s", c_double), ("window", c_int32),
                ("most_steps", c_int32), ("graph_seed", c_uint64)]


class Step(ctypes.Structure):
    _fields_ = [("reward", c_double), ("time_ns", c_int64), ("terminated", c_int32), ("truncated", c_int32)]


_H, _E = c_void_p, POINTER(Error)  # a handle; the place for an error
# The result and the arguments of each function.
_FUNCTIONS = {
    "tutti_c_version": (c_int, []),
    "tutti_version": (c_char_p, []),
    "tutti_graph_load": (_H, [c_char_p, _E]),
    "tutti_graph_parse": (_H, [c_char_p, c_size_t, c_char_p, _E]),
    "tutti_graph_make": (_H, [POINTER(Family), _E]),
    "tutti_graph_warnings": (c_char_p, [_H]),
    "tutti_graph_free": (None, [_H]),
    "tutti_machine_load": (_H, [c_char_p, _E]),
    "tutti_machine_parse": (_H, [c_char_p, c_size_t, c_char_p, _E]),
    "tutti_machine_free": (None, [_H]),
    "tutti_problem_make": (_H, [_H, _H, POINTER(ProblemOptions), _E]),
    "tutti_problem_free": (None, [_H]),
    "tutti_problem_warnings": (c_char_p, [_H]),
    "tutti_problem_graph_name": (c_char_p, [_H]),
    "tutti_problem_machine_name": (c_char_p, [_H]),
    "tutti_problem_op_count": (c_int32, [_H]),
    "tutti_problem_device_count": (c_int32, [_H]),
    "tutti_problem_memory_count": (c_int32, [_H]),
    "tutti_problem_edge_count": (c_int32, [_H]),
    "tutti_problem_op_name": (c_char_p, [_H, c_int32]),
    "tutti_problem_op_kind": (c_char_p, [_H, c_int32]),
    "tutti_problem_device_name": (c_char_p, [_H, c_int32]),
    "tutti_problem_memory_name": (c_char_p, [_H, c_int32]),
    "tutti_problem_run_times": (c_int, [_H, POINTER(c_int64), c_size_t, _E]),
    "tutti_problem_edges": (c_int32, [_H, POINTER(c_int32), POINTER(c_int32), POINTER(c_int64), c_size_t]),
    "tutti_problem_lower_bound": (c_int64, [_H]),
    "tutti_plan_make": (_H, [_H, POINTER(PlanOptions), _E]),
    "tutti_plan_of": (_H, [_H, POINTER(c_int32), POINTER(c_int64), c_size_t, _E]),
    "tutti_plan_parse": (_H, [_H, c_char_p, c_size_t, c_char_p, _E]),
    "tutti_plan_free": (None, [_H]),
    "tutti_plan_makespan": (c_int64, [_H]),
    "tutti_plan_evaluations": (c_int64, [_H]),
    "tutti_plan_text": (c_char_p, [_H]),
    "tutti_simulate": (_H, [_H, _H, POINTER(SimulateOptions), _E]),
    "tutti_makespans": (c_int, [_H, _H, c_uint64, POINTER(c_int64), c_size_t, _E]),
    "tutti_run_free": (None, [_H]),
    "tutti_run_makespan": (c_int64, [_H]),
    "tutti_run_op_count": (c_size_t, [_H]),
    "tutti_run_op_devices": (c_void_p, [_H]),
    "tutti_run_op_slots": (c_void_p, [_H]),
    "tutti_run_op_starts": (c_void_p, [_H]),
    "tutti_run_op_finishes": (c_void_p, [_H]),
    "tutti_run_transfer_count": (c_size_t, [_H]),
    "tutti_run_transfer_values": (c_void_p, [_H]),
    "tutti_run_transfer_from": (c_void_p, [_H]),
    "tutti_run_transfer_to": (c_void_p, [_H]),
    "tutti_run_transfer_starts": (c_void_p, [_H]),
    "tutti_run_transfer_finishes": (c_void_p, [_H]),
    "tutti_run_trace": (c_char_p, [_H]),
    "tutti_compare": (_H, [_H, POINTER(CompareOptions), _E]),
    "tutti_comparison_free": (None, [_H]),
    "tutti_comparison_size": (c_size_t, [_H]),
    "tutti_comparison_row": (c_int, [_H, c_size_t, POINTER(Compared)]),
    "tutti_placing_env_new": (_H, [c_int32, POINTER(PlacingOptions), _E]),
    "tutti_placing_env_reset": (c_int, [_H, _H, _E]),
    "tutti_placing_env_plan": (_H, [_H, _E]),
    "tutti_jobs_env_new": (_H, [POINTER(JobsOptions), _E]),
    "tutti_jobs_env_reset": (c_int, [_H, c_uint64, _E]),
    "tutti_jobs_env_slow_down": (c_int32, [_H, POINTER(c_double)]),
    "tutti_env_free": (None, [_H]),
    "tutti_env_action_count": (c_int32, [_H]),
    "tutti_env_observation_size": (c_int32, [_H]),
    "tutti_env_observation": (c_void_p, [_H]),
    "tutti_env_mask": (c_void_p, [_H]),
    "tutti_env_step": (c_int, [_H, c_int32, POINTER(Step), _E]),
    "tutti_envs_step": (c_int, [POINTER(c_void_p), c_int32, POINTER(c_int32), POINTER(Step), _E]),
}

_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def _places() -> Iterator[Path]:
    package = Path(__file__).resolve().parent
    names = ("libtutti.so", f"libtutti.so.{C_VERSION}")
    for name in names:
        yield package / "lib" / name  # a wheel
    for root in (package.parents[1], Path.cwd()):
        yield root / "build" / "release" / "libtutti.so"  # a checkout
    if package.parent.name == "python" and len(package.parents) > 3:  # PREFIX/share/tutti/python/tutti
        prefix = package.parents[3]
        for folder in [prefix / "lib", prefix / "lib64", *sorted((prefix / "lib").glob("*-linux-*"))]:
            yield folder / names[1]


def find_library() -> str:
    """$TUTTI_LIBRARY; else libtutti in this package, in build/release of its checkout, or in the prefix that it
    is installed in; else the one that the system finds."""
    chosen = os.environ.get("TUTTI_LIBRARY")
    if chosen:
        if not os.path.isfile(chosen):
            raise TuttiError(f"TUTTI_LIBRARY is {chosen}, which is no file; set it to libtutti.so")
        return chosen
    for place in _places():
        if place.is_file():
            return str(place)
    return f"libtutti.so.{C_VERSION}"


def library() -> ctypes.CDLL:
    """The library, loaded once."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load(find_library())
        return _loaded


def available() -> bool:
    """Whether the library can be loaded. If not, plans are made by the program."""
    try:
        library()
    except TuttiError:
        return False
    return True


def _load(path: str) -> ctypes.CDLL:
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise TuttiError(f"the library libtutti was not found or cannot be loaded ({error}); build it with make build, "
                         "install it with make install, or name it in TUTTI_LIBRARY") from None
    try:
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
    except AttributeError:
        raise TuttiError(f"{path} is no libtutti, or one that is older than this package; build both from one "
                         "version") from None
    if loaded.tutti_c_version() != C_VERSION:
        raise TuttiError(f"{path} has version {loaded.tutti_c_version()} of the C interface, and this package needs "
                         f"{C_VERSION}; build both from one version")
    return loaded


def failure(error: Error) -> TuttiError:
    return TuttiError(error.message.decode("utf-8", "replace"), error.code)


def check(code: int, error: Error) -> None:
    if code != 0:
        raise failure(error)


class Handle:
    """Owns what a function of the library made, and frees it. Copies of its owner share it."""

    value: Optional[int] = None
    says: Any = None  # of a plan: its placement and priorities

    def __init__(self, made: Optional[int], free: str, error: Optional[Error] = None):
        if not made:
            raise failure(error) if error is not None else MemoryError()
        self.value = made
        self._free = getattr(library(), free)

    def __copy__(self) -> "Handle":
        return self

    def __deepcopy__(self, memo: dict) -> "Handle":
        return self

    def __reduce_ex__(self, protocol: int):
        raise TuttiError("what the library has made cannot be pickled; pickle the files or dicts that it was made of, or a Plan")

    def __del__(self):
        if self.value:
            self._free(self.value)
            self.value = None


def encoded(text: Optional[str]) -> Optional[bytes]:
    if text is not None and "\0" in os.fspath(text):
        raise TuttiError(f"{text!r} is no path: it has a zero byte", 2)
    return None if text is None else os.fsencode(text)


_FORMATS = {"i": c_int32, "q": c_int64, "f": c_float, "?": c_uint8}


def column(address: Optional[int], count: int, form: str, owner: object) -> memoryview:
    """Numbers that belong to a handle, without a copy. The view keeps the owner alive; numpy.asarray and lists take
    it."""
    if not address or count == 0:
        return memoryview(b"").cast(form)
    kind = type("Column", (_FORMATS[form] * count,), {})
    numbers = kind.from_address(address)
    numbers.owner = owner
    return memoryview(numbers).cast("B").cast(form).toreadonly()

