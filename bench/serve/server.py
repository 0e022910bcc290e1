"""Starts and stops a `tutti serve`, for bench/serve/load, bench/serve/kill and the others."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Can be started and killed repeatedly, always with the same port and journal."""

    def __init__(self, tutti, folder, more=(), machine="this-host:1x1"):
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.run_log = os.path.join(folder, "runs.jsonl")
        self.words = [tutti, "serve", "--listen", f"127.0.0.1:{self.port}", "--state", os.path.join(folder, "state"),
                      "--run-log", self.run_log, "--machine", machine, *more]
        self.process = None
        self.said = []

    def start(self):
        """Returns when it listens, with the seconds that took."""
        begin = time.monotonic()
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while True:
            line = self.process.stdout.readline()
            self.said.append(line)
            if "http://" in line:
                return time.monotonic() - begin
            if line == "":
                raise SystemExit("the server did not start: " + "".join(self.said[-3:]))

    def kill(self, with_signal=signal.SIGKILL):
        self.process.send_signal(with_signal)
        self.process.wait()
        self.process.stdout.close()
        return self.process.returncode

    def ask(self, method, target, body=None, timeout=60):
        """(status, answer); OSError or http.client.HTTPException if there is no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, target, body)
            reply = connection.getresponse()
            text = reply.read()
            return reply.status, json.loads(text) if text.startswith(b"{") else text.decode()
        finally:
            connection.close()

    def runs(self):
        """The complete lines of the run log, in their order."""
        with open(self.run_log, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0
