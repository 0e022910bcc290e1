"""Shared by the tests: whether torch and the library are there, and a machine of two devices."""

import os
import unittest

try:
    import torch
except ImportError:
    torch = None

needs_torch = unittest.skipIf(torch is None, "needs torch, which this Python has not")


def _has_library():
    from tutti.library import available
    return available()


needs_library = unittest.skipUnless(_has_library(), "needs libtutti, which make build makes")

# Two names for one CPU, so that plans over two devices can be run anywhere.
DEVICES = {"cpu": "cpu", "other": "cpu"}


def machine(other_flops_per_s=1e9, bandwidth_bytes_per_s=1e12):
    return {"schema_version": 1, "name": "two", "device": [
        {"name": "cpu", "kind": "cpu", "uses_host_memory": True, "flops_per_s": 1e9, "bytes_per_s": 1e9},
        {"name": "other", "kind": "other", "flops_per_s": other_flops_per_s, "bytes_per_s": other_flops_per_s}],
        "link": [{"name": "bus", "between": ["host", "other"], "bandwidth_bytes_per_s": bandwidth_bytes_per_s}]}


class environment:
    """Sets environment variables within a context; None removes one."""

    def __init__(self, **changes):
        self.changes = changes

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in self.changes}
        self._set(self.changes)

    def __exit__(self, *_):
        self._set(self.before)

    @staticmethod
    def _set(values):
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
