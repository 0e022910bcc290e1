"""A client of `tutti serve`: submit jobs, wait for them, see what became of them.

    client = Client("https://build.example", token_file="token")
    job = client.submit({"make": "cholesky --tiles 4 --tile-size 64"}, id="night-1")
    done = client.wait(job.id)
    print(done.state, done.makespan, client.history(job.id)["slowdown"])

It needs the standard library alone. See docs/serve.md.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union

__all__ = ["Client", "Job", "JobFailed", "ServerError"]

OVER = ("done", "failed", "cancelled")
_LONGEST_WAIT = 30  # seconds for which the server is asked to hold an answer back
_IDLE = 5  # seconds after which the server may have closed a connection


class ServerError(Exception):
    """The server refused a request, or cannot be reached. `status` is that of HTTP; 0: no answer."""

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status


class JobFailed(Exception):
    """A job that was waited for has failed or was cancelled."""

    def __init__(self, job: "Job"):
        super().__init__(f"job '{job.id}' {job.state}" + (f": {job.message}" if job.message else ""))
        self.job = job


@dataclass(frozen=True)
class Job:
    """A job as the server described it last. `raw` has all that it said."""

    id: str
    number: int
    state: str  # accepting, queued, running, done, failed, cancelled
    priority: int
    graph: str
    ops: int
    message: str = ""
    client: str = ""
    makespan: Optional[float] = None  # seconds; of a job that is done
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @staticmethod
    def from_answer(raw: Mapping[str, Any]) -> "Job":
        makespan = raw.get("makespan_ns")
        return Job(id=raw["id"], number=raw["number"], state=raw["state"], priority=raw["priority"],
                   graph=raw["graph"], ops=raw["ops"], message=raw.get("message", ""),
                   client=raw.get("client", ""), makespan=None if makespan is None else makespan / 1e9,
                   raw=raw)


def _read_token(token: Optional[str], token_file: Optional[str]) -> str:
    """As the program does: a file goes before the environment variable TUTTI_TOKEN."""
    if token is not None and token_file is not None:
        raise ValueError("give a token or a token_file, not both")
    if token_file is not None:
        with open(token_file, encoding="utf-8") as file:
            token = file.read()
    elif token is None:
        token = os.environ.get("TUTTI_TOKEN", "")
    # As the program reads it: comments, and NAME TOKEN or one bare token.
    lines = [line.split() for line in token.splitlines()]
    found = [words for words in lines if words and not words[0].startswith("#")]
    if len(found) > 1 or any(len(words) > 2 for words in found):
        raise ValueError(f"{token_file or 'the token'}: holds more than one token; give your own alone")
    return found[0][-1] if found else ""


class Client:
    """Speaks to one server; not for several threads at once.

    server      its address; default: $TUTTI_SERVER, else http://127.0.0.1:7171
    token       or token_file; default: $TUTTI_TOKEN
    ca          for https: file with the certificates of trusted authorities; default: the system's
    timeout     seconds to connect, and for an answer beyond the time that was asked to wait
    patience    seconds for which requests are repeated while the server is full, restarting or away
    """

    def __init__(self, server: Optional[str] = None, *, token: Optional[str] = None,
                 token_file: Optional[str] = None, ca: Optional[str] = None, timeout: float = 30,
                 patience: float = 60):
        self.server = server or os.environ.get("TUTTI_SERVER") or "http://127.0.0.1:7171"
        parts = urllib.parse.urlsplit(self.server)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{self.server}' is no address of a server; it begins with http:// or https://")
        self._parts = parts
        self._token = _read_token(token, token_file)
        self._timeout = timeout
        self._patience = patience
        self._tls = ssl.create_default_context(cafile=ca) if parts.scheme == "https" else None
        self._connection: Optional[http.client.HTTPConnection] = None
        self._last_used = 0.0

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def submit(self, job: Union[str, bytes, Mapping[str, Any]], *, id: Optional[str] = None,
               priority: int = 0) -> Job:
        """Submit a graph: a dict in tutti's format (or with the key "make"), its text, or the path of a
        file with it. Returns once the job is on the server's disk.

        With an `id` it is safe to repeat: the same id and graph are the same job. Without one, a submission
        whose answer is lost may or may not have been accepted, so it is not repeated.
        """
        query: Dict[str, Any] = {"priority": priority}
        if id is not None:
            query["id"] = id
        return Job.from_answer(self._ask("POST", "/v1/jobs", query, _content_of(job), repeat=id is not None))

    def job(self, id: str) -> Job:
        """The state of a job now."""
        return Job.from_answer(self._ask("GET", _address(id)))

    def jobs(self, *states: str, limit: Optional[int] = None) -> Iterator[Job]:
        """Jobs, the latest first; of these states, or all."""
        before: Optional[int] = None
        while limit is None or limit > 0:
            query: Dict[str, Any] = {"limit": 1000 if limit is None else min(limit, 1000)}
            if states:
                query["state"] = ",".join(states)
            if before is not None:
                query["before"] = before
            found: List[Mapping[str, Any]] = self._ask("GET", "/v1/jobs", query)["jobs"]
            for raw in found:
                yield Job.from_answer(raw)
            if len(found) < query["limit"]:
                return
            before = found[-1]["number"]
            limit = None if limit is None else limit - len(found)

    def wait(self, id: str, timeout: Optional[float] = None, *, check: bool = True) -> Job:
        """The job once it is over. Raises TimeoutError if it is not after `timeout` seconds, and, unless
        `check` is False, JobFailed if it has failed or was cancelled."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _LONGEST_WAIT if end is None else max(0, min(_LONGEST_WAIT, end - time.monotonic()))
            # The server waits for whole seconds.
            patience = self._patience if end is None else min(self._patience, max(0.0, end - time.monotonic()))
            try:
                job = Job.from_answer(self._ask("GET", _address(id), {"wait": int(left)}, wait=left, patience=patience))
            except ServerError as error:
                away = error.status in (0, 429, 503) and not isinstance(error.__cause__, ssl.SSLCertVerificationError)
                if end is None or patience >= self._patience or not away:
                    raise
                if time.monotonic() >= end:
                    raise TimeoutError(f"job '{id}' is not known to be over after {timeout} s: {error}") from error
                time.sleep(min(0.1, max(0.0, end - time.monotonic())))
                continue
            if job.is_over:
                if check and job.state != "done":
                    raise JobFailed(job)
                return job
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"job '{id}' is {job.state} after {timeout} s")
            if left < 1:
                time.sleep(min(0.05, max(0.0, left)))

    def cancel(self, id: str) -> Job:
        """Cancel a job. One that runs is asked to stop: wait for it. Raises ServerError (409) if it is over."""
        return Job.from_answer(self._ask("DELETE", _address(id)))

    def history(self, id: str) -> Dict[str, Any]:
        """What is kept of a job that is over: queue_ns, run_ns, slowdown, waits, ops, log (docs/formats/history.md)."""
        return self._ask("GET", _address(id) + "/history")

    def trace(self, id: str) -> Dict[str, Any]:
        """The Chrome trace of a job's run; written as JSON to a file, `tutti check` judges it."""
        return self._ask("GET", _address(id) + "/trace")

    def overview(self) -> Dict[str, Any]:
        """How the server does: counts of jobs, utilisation, the queue."""
        return self._ask("GET", "/v1/overview")

    # ---- One request

    def _ask(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, content: bytes = b"", *,
             repeat: bool = True, wait: float = 0, patience: Optional[float] = None) -> Any:
        target = self._parts.path.rstrip("/") + path + ("?" + urllib.parse.urlencode(query) if query else "")
        end = time.monotonic() + (self._patience if patience is None else patience)
        pause = 0.1
        while True:
            try:
                if not repeat and time.monotonic() - self._last_used > _IDLE:
                    self.close()
                status, after, body = self._send(method, target, content, wait)
                self._last_used = time.monotonic()
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if isinstance(error, ssl.SSLCertVerificationError):
                    raise ServerError(f"{self.server}: its certificate is not trusted: {error.verify_message}") from error
                if not repeat or time.monotonic() + pause > end:
                    raise ServerError(f"{self.server}: does not answer: {error}") from error
                after = None
            else:
                if 200 <= status < 300:
                    return _parsed(body)
                if not (status in (429, 503) and time.monotonic() + pause <= end):
                    raise ServerError(_sentence(status, body), status)
            time.sleep(min(pause if after is None else max(pause, min(after, 2.0)), max(0.0, end - time.monotonic())))
            pause = min(2 * pause, 2.0)

    def _send(self, method: str, target: str, content: bytes, wait: float) -> "tuple[int, Optional[float], bytes]":
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        if self._connection is None:
            host, port = self._parts.hostname, self._parts.port
            if self._tls is not None:
                self._connection = http.client.HTTPSConnection(host, port, context=self._tls)
            else:
                self._connection = http.client.HTTPConnection(host, port)
        self._connection.timeout = self._timeout + wait
        if self._connection.sock is not None:
            self._connection.sock.settimeout(self._timeout + wait)
        fresh = self._connection.sock is None
        try:
            self._connection.request(method, target, body=content if method == "POST" else None, headers=headers)
            reply = self._connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # The server closes connections that were idle for a while; that is no failure.
            if fresh or method == "POST":
                raise
            self.close()
            return self._send(method, target, content, wait)
        body = reply.read()
        if reply.will_close:
            self.close()
        after = reply.getheader("Retry-After")
        return reply.status, float(after) if after is not None and after.isdigit() else None, body


def _address(id: str) -> str:
    return "/v1/jobs/" + urllib.parse.quote(id, safe="")


def _content_of(job: Union[str, bytes, Mapping[str, Any]]) -> bytes:
    if isinstance(job, Mapping):
        return json.dumps(job).encode()
    if isinstance(job, bytes):
        return job
    if job.lstrip().startswith("{"):
        return job.encode()
    with open(job, "rb") as file:
        return file.read()


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise ServerError(f"the answer is no JSON: {error}") from error


def _sentence(status: int, body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {status} and gave no reason"
