"""Finds and runs the program tutti."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


class TuttiError(Exception):
    """An error with a one-sentence message. `exit_code` is the program's, None if it was not run: 2 bad
    input, 3 infeasible problem, 1 anything else."""

    def __init__(self, sentence, exit_code=None):
        super().__init__(sentence)
        self.exit_code = exit_code


def carried_binary():
    """The program in this package, which wheels have; None if there is none."""
    carried = Path(__file__).resolve().parent / "bin" / "tutti"
    if not carried.exists():
        return None
    if not os.access(carried, os.X_OK):
        raise TuttiError(f"{carried} cannot be run; make it executable (chmod +x), or install the wheel with pip")
    return str(carried)


def find_binary():
    """$TUTTI_BINARY; else the program in this package (wheels have one); else tutti on the PATH; else
    build/release/tutti of this checkout."""
    chosen = os.environ.get("TUTTI_BINARY")
    if chosen:
        if not os.access(chosen, os.X_OK) or os.path.isdir(chosen):
            raise TuttiError(f"TUTTI_BINARY is {chosen}, which cannot be run; set it to the program tutti")
        return chosen
    found = carried_binary() or shutil.which("tutti")
    if found:
        return found
    for root in (Path(__file__).resolve().parents[2], Path.cwd()):
        built = root / "build" / "release" / "tutti"
        if os.access(built, os.X_OK):
            return str(built)
    raise TuttiError("the program tutti was not found; build it with make build, put it on the PATH, "
                     "or name it in TUTTI_BINARY")


def run(arguments):
    """Returns the output of the program. Raises TuttiError with its message if it fails.

    The config file of the program's user is not read: what a call does is in its arguments.
    """
    command = [find_binary(), *map(str, arguments)]
    environment = {**os.environ, "TUTTI_CONFIG": "", "TUTTI_COLOR": "never"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode == 0:
        return done.stdout
    lines = [line for line in done.stderr.strip().splitlines() if "tutti: warning:" not in line]
    sentence = lines[-1] if lines else f"tutti ended with exit code {done.returncode} and said nothing"
    if sentence.startswith("tutti: "):
        sentence = sentence[len("tutti: "):]
    raise TuttiError(sentence, done.returncode)


def main():
    """The command tutti of an installed wheel: becomes the program."""
    try:
        # Not one from the PATH, which may be this command again.
        program = os.environ.get("TUTTI_BINARY") and find_binary() or carried_binary()
        if program is None:
            raise TuttiError("this Python package has no program in it; install a wheel of make wheel, or name the "
                             "program in TUTTI_BINARY")
        sys.stdout.flush()
        os.execv(program, ["tutti", *sys.argv[1:]])
    except (TuttiError, OSError) as error:
        sys.exit(f"tutti: {error}")
