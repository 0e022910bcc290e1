"""Threads that copy. A thread that is inside of torch when the interpreter ends would abort the process, so they are ended
before that."""

import atexit
import queue
import threading
from typing import Callable, Dict

_LONGEST_JOB_S = 30.0
_RUNNING: Dict[threading.Thread, queue.Queue] = {}


def start(run: Callable[[], None], jobs: queue.Queue) -> None:
    """Starts a thread of run(), which takes jobs until it gets None."""

    def ends():
        try:
            run()
        finally:
            _RUNNING.pop(threading.current_thread(), None)
    thread = threading.Thread(target=ends, daemon=True)
    _RUNNING[thread] = jobs
    thread.start()


@atexit.register
def _end_all() -> None:
    """Jobs that have not begun are left out."""
    running = list(_RUNNING.items())
    for _, jobs in running:
        try:
            while True:
                jobs.get_nowait()
        except queue.Empty:
            jobs.put(None)
    for thread, _ in running:
        thread.join(_LONGEST_JOB_S)
