"""Finds and runs the program tutti."""

import os
import shutil
import subprocess
from pathlib import Path


class TuttiError(Exception):
    """An error with a one-sentence message. `exit_code` is the program's, None if it was not run: 2 bad
    input, 3 infeasible problem, 1 anything else."""

    def __init__(self, sentence, exit_code=None):
        super().__init__(sentence)
        self.exit_code = exit_code


def find_binary():
    """$TUTTI_BINARY; else tutti on the PATH; else build/release/tutti of this checkout."""
    chosen = os.environ.get("TUTTI_BINARY")
    if chosen:
        if not os.access(chosen, os.X_OK) or os.path.isdir(chosen):
            raise TuttiError(f"TUTTI_BINARY is {chosen}, which cannot be run; set it to the program tutti")
        return chosen
    found = shutil.which("tutti")
    if found:
        return found
    for root in (Path(__file__).resolve().parents[2], Path.cwd()):
        built = root / "build" / "release" / "tutti"
        if os.access(built, os.X_OK):
            return str(built)
    raise TuttiError("the program tutti was not found; build it with make build, put it on the PATH, "
                     "or name it in TUTTI_BINARY")


def run(arguments):
    """Returns the output of the program. Raises TuttiError with its message if it fails."""
    command = [find_binary(), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    lines = [line for line in done.stderr.strip().splitlines() if "tutti: warning:" not in line]
    sentence = lines[-1] if lines else f"tutti ended with exit code {done.returncode} and said nothing"
    if sentence.startswith("tutti: "):
        sentence = sentence[len("tutti: "):]
    raise TuttiError(sentence, done.returncode)
