"""The client against a real server: needs no torch."""

import json
import re
import subprocess
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest import mock

from tests.support import environment
from tutti.binary import find_binary
from tutti.client import Client, JobFailed, ServerError

CHOLESKY = {"make": "cholesky --tiles 3 --tile-size 32"}
# Ends only when it is cancelled, or with its server.
ENDLESS = {"format": "tutti-graph", "schema_version": 2, "name": "endless", "ops": [
    {"name": "sleep", "run_time_ns": 1000, "command": {"argv": ["/bin/sleep", "3600"]}}]}


class Server:
    """`tutti serve` in a folder of its own, until the context ends."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        with environment(TUTTI_TOKEN=None):
            self.process = subprocess.Popen(
                [find_binary(), "serve", "--listen", "127.0.0.1:0", "--state", self.folder.name + "/state",
                 "--machine", "this-host:1x1", *self.arguments], stdout=subprocess.PIPE, text=True)
        found = re.search(r"http://[^ ]+", self.process.stdout.readline())
        assert found, "the server did not start"
        self.address = found.group()
        return self

    def __exit__(self, *ignored):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.folder.cleanup()


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.__enter__()
        cls.client = Client(cls.server.address, patience=5)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.__exit__()

    def test_a_job_is_submitted_waited_for_and_looked_at(self):
        job = self.client.submit(CHOLESKY, id="night-1", priority=5)
        self.assertEqual((job.id, job.priority, job.ops), ("night-1", 5, 10))
        done = self.client.wait("night-1", timeout=60)
        self.assertEqual(done.state, "done")
        self.assertGreater(done.makespan, 0)
        history = self.history("night-1")
        self.assertGreaterEqual(history["slowdown"], 0.1)
        self.assertEqual(len(history["ops"]), 10)
        self.assertEqual(set(history["waits"]), {"deciding_ns", "device_ns", "operands_ns", "memory_ns", "running_ns"})
        self.assertEqual(self.client.trace("night-1")["tutti"]["format"], "tutti-trace")

    def history(self, id):
        # It is written after the end was reported.
        for _ in range(100):
            try:
                return self.client.history(id)
            except ServerError as error:
                self.assertEqual(error.status, 404)
                threading.Event().wait(0.05)
        return self.client.history(id)

    def test_the_trace_passes_the_check(self):
        with tempfile.TemporaryDirectory() as folder:
            graph, trace = Path(folder, "graph.json"), Path(folder, "trace.json")
            subprocess.run([find_binary(), "graph", "make", "cholesky", "--tiles", "3", "--tile-size", "32", "-o",
                            str(graph)], check=True, capture_output=True)
            self.client.submit(str(graph), id="checked")
            self.client.wait("checked", timeout=60)
            self.history("checked")
            trace.write_text(json.dumps(self.client.trace("checked")))
            checked = subprocess.run([find_binary(), "check", str(graph), "--trace", str(trace), "--machine",
                                      "this-host:1x1"], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_the_same_id_is_the_same_job(self):
        first = self.client.submit(CHOLESKY, id="twice")
        self.assertEqual(self.client.submit(CHOLESKY, id="twice").number, first.number)
        with self.assertRaises(ServerError) as refused:
            self.client.submit({"make": "cholesky --tiles 2"}, id="twice")
        self.assertEqual(refused.exception.status, 409)

    def test_jobs_are_listed_the_latest_first(self):
        for i in range(3):
            self.client.submit(CHOLESKY, id=f"listed-{i}")
        listed = [job.id for job in self.client.jobs(limit=3)]
        self.assertEqual(listed, ["listed-2", "listed-1", "listed-0"])
        self.client.wait("listed-2", timeout=60)
        self.assertIn("listed-2", [job.id for job in self.client.jobs("done")])
        self.assertEqual(self.client.overview()["runtime"], "local")

    def test_what_is_wrong_is_said(self):
        with self.assertRaisesRegex(ServerError, "no job of that id"):
            self.client.job("absent")
        with self.assertRaises(ServerError) as refused:
            self.client.submit("{}")
        self.assertEqual(refused.exception.status, 400)
        with self.assertRaisesRegex(ValueError, "http://"):
            Client("build.example")
        with self.assertRaises(FileNotFoundError):
            self.client.submit("absent.json")

    def test_a_server_that_is_away_is_said_to_be(self):
        with self.assertRaisesRegex(ServerError, "does not answer"):
            Client("http://127.0.0.1:1", patience=0).overview()

    def test_a_wait_for_a_server_that_is_away_has_an_end(self):
        with self.assertRaises(TimeoutError):
            Client("http://127.0.0.1:1", patience=3600).wait("a", timeout=0.3)

    def test_the_example_of_the_documents_runs(self):
        text = (Path(__file__).resolve().parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
        example = re.search(r"```python\n(.*?)```", text, re.S).group(1)
        with environment(TUTTI_SERVER=self.server.address):
            exec(compile(example, "docs/serve.md", "exec"), {})


class Cancelling(unittest.TestCase):
    def test_a_queued_job_is_cancelled(self):
        # The only place is taken by a job that does not end by itself, so the second job is still queued.
        with Server("--allow-commands", "--parallel", "1") as server, Client(server.address) as client:
            client.submit(ENDLESS, id="endless")
            client.submit(CHOLESKY, id="small", priority=-5)
            client.cancel("small")
            with self.assertRaises(JobFailed) as failed:
                client.wait("small", timeout=60)
            self.assertEqual(failed.exception.job.state, "cancelled")
            self.assertEqual(client.wait("small", check=False).state, "cancelled")
            client.cancel("endless")
            self.assertEqual(client.wait("endless", timeout=60, check=False).state, "cancelled")

    def test_a_wait_has_an_end(self):
        with Server("--allow-commands") as server, Client(server.address) as client:
            client.submit(ENDLESS, id="endless")
            with self.assertRaises(TimeoutError):
                client.wait("endless", timeout=0.01)
            client.cancel("endless")


class Tokens(unittest.TestCase):
    def test_a_token_is_needed_where_one_is_set(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens, own = Path(folder, "tokens"), Path(folder, "own")
            tokens.write_text("alice 0123456789abcdef0123456789abcdef\n")
            own.write_text("# mine\nalice 0123456789abcdef0123456789abcdef\n")
            tokens.chmod(0o600)
            with Server("--token-file", str(tokens)) as server:
                with self.assertRaises(ServerError) as refused, environment(TUTTI_TOKEN=None):
                    with Client(server.address) as client:
                        client.overview()
                self.assertEqual(refused.exception.status, 401)
                with Client(server.address, token_file=str(own)) as client:
                    self.assertEqual(client.submit(CHOLESKY, id="hers").client, "alice")

    def test_a_file_of_several_tokens_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            several = Path(folder, "several")
            several.write_text("alice 0123456789abcdef0123456789abcdef\nbob 0123456789abcdef0123456789abcdee\n")
            with self.assertRaisesRegex(ValueError, "more than one token"):
                Client("http://127.0.0.1:1", token_file=str(several))


class Patience(unittest.TestCase):
    def test_a_full_server_is_asked_again(self):
        answers = [(429, b'{"error": "full"}'), (503, b'{"error": "stopping"}'), (200, b'{"runtime": "sim"}')]
        asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                status, body = answers[len(asked) - 1]
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *ignored):
                pass

        with HTTPServer(("127.0.0.1", 0), Handler) as fake:
            thread = threading.Thread(target=lambda: [fake.handle_request() for _ in answers])
            thread.start()
            client = Client(f"http://127.0.0.1:{fake.server_port}")
            self.assertEqual(client.overview(), {"runtime": "sim"})
            client.close()
            thread.join()
        self.assertEqual(len(asked), 3)

    def test_a_connection_that_was_idle_loses_no_submission(self):
        job = json.dumps({"id": "job-1", "number": 1, "state": "queued", "priority": 0, "graph": "g", "ops": 1}).encode()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(201)
                self.send_header("Content-Length", str(len(job)))
                self.end_headers()
                self.wfile.write(job)
                self.close_connection = True  # as after a while, without a word

            def log_message(self, *ignored):
                pass

        with HTTPServer(("127.0.0.1", 0), Handler) as fake, mock.patch("tutti.client._IDLE", 0):
            thread = threading.Thread(target=lambda: [fake.handle_request() for _ in range(2)])
            thread.start()
            with Client(f"http://127.0.0.1:{fake.server_port}") as client:
                for _ in range(2):
                    self.assertEqual(client.submit(CHOLESKY).id, "job-1")
            thread.join()


if __name__ == "__main__":
    unittest.main()
