"""The examples of docs/python.md run."""

import json
import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tests.support import needs_library, needs_torch, torch

if torch is not None:
    from tests import offload_models as models
    from tutti.offload import cuda, dispatching
    from tutti.offload.fake import FakeBackend


TEXT = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
FORK = {"format": "tutti-graph", "schema_version": 1, "name": "fork", "ops": [
    {"name": name, "outputs": [{"bytes": 1000}], "run_time_ns": {"*": 1000000}} for name in "abcd"]}


@needs_library
class InProcess(unittest.TestCase):
    def printed(self, heading):
        code = re.search(rf"## {heading}\n.*?```python\n(.*?)```", TEXT, re.S).group(1)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, mock.patch("builtins.print") as said:
            (Path(folder) / "graph.json").write_text(json.dumps(FORK), encoding="utf-8")
            os.chdir(folder)
            try:
                exec(code, {})
            finally:
                os.chdir(before)
        return [call.args for call in said.call_args_list]

    def test_of_problems(self):
        (makespan, _), heft, contention = self.printed("In process")
        self.assertTrue(500_000 < makespan < 2_000_000)  # four ops of 1 ms on four GPUs, with noise
        self.assertEqual((heft[0], contention[0]), ("heft", "contention_eft"))

    def test_of_environments(self):
        ((makespan, gap),) = self.printed("Environments")
        self.assertGreater(makespan, 0)
        self.assertGreaterEqual(gap, 0)


@needs_torch
class Example(unittest.TestCase):
    def test_of_dispatch(self):
        code = re.search(r"## dispatch.*?```python\n(.*?)```", TEXT, re.S).group(1)
        self.assertIn('"2.5GiB"', code)
        code = code.replace('"2.5GiB"', '"100KiB"')  # of a model of 200
        model, x = models.Chain(), torch.randn(3, 32)
        with torch.no_grad():
            want = model(x)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, torch.no_grad(), \
                mock.patch.object(cuda, "CudaBackend", lambda index: FakeBackend(100 << 10, index=index)), \
                mock.patch("builtins.print"), mock.patch.object(dispatching, "Progress", lambda wanted: lambda text: None):
            os.chdir(folder)
            try:
                names = {"model": model, "inputs": {"x": x}}
                exec(code, names)
            finally:
                os.chdir(before)
            self.assertTrue(torch.equal(names["outputs"], want))
            self.assertTrue(torch.equal(model(x), want))
        self.assertEqual(model._tutti_state.runner.placement.mode, "tokens-3")


if __name__ == "__main__":
    unittest.main()
