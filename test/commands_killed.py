#!/usr/bin/python3
"""Runs a workflow of small commands, kills tutti with signal 9 in the middle, and completes the run.

  test/commands_killed.py TUTTI [ROUNDS [SEED]]

The workflow is WfFormat 1.5 as others write it: a text is split, its parts are cleaned and sorted,
merged, counted and digested, by coreutils. Each command notes in a ledger that it was started. After
every kill nothing may be left running; after the last run the result is right, what the journal said
was done had not been started again, and no command was started more often than the journal says.
"""

import collections
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PARTS = 6
LINES = 60000


def workflow():
    """Tasks by name: (command, files read, files made)."""
    def shell(script):
        return ["/bin/sh", "-c", script]
    parts = [f"part.{i:02}" for i in range(PARTS)]
    tasks = {"split": (["split", "-n", f"l/{PARTS}", "-d", "words", "part."], ["words"], parts)}
    for i, part in enumerate(parts):
        tasks[f"clean_{i}"] = (shell(f"grep -v '^#' {part} > clean.{i}"), [part], [f"clean.{i}"])
        tasks[f"sort_{i}"] = (["sort", "-o", f"sorted.{i}", f"clean.{i}"], [f"clean.{i}"],
                              [f"sorted.{i}"])
    ordered = [f"sorted.{i}" for i in range(PARTS)]
    tasks["merge"] = (["sort", "-m", "-o", "merged", *ordered], ordered, ["merged"])
    tasks["count"] = (shell("uniq -c merged | sort -rn -s > counts"), ["merged"], ["counts"])
    tasks["digest"] = (shell("sha256sum merged counts > digest"), ["merged", "counts"], ["digest"])
    return tasks


def noted(name, command):
    """The same command, which first writes its name into the ledger."""
    return ["/bin/sh", "-c", 'echo "$1" >> ledger; shift; exec "$@"', "step", name, *command]


def wfformat(tasks):
    makes = {file: name for name, (_, _, made) in tasks.items() for file in made}
    parents = {name: sorted({makes[file] for file in read if file in makes})
               for name, (_, read, _) in tasks.items()}
    files = sorted({file for _, read, made in tasks.values() for file in (*read, *made)})
    commands = {name: noted(name, command) for name, (command, _, _) in tasks.items()}
    return {
        "name": "words", "schemaVersion": "1.5",
        "workflow": {
            "specification": {
                "tasks": [{"name": name, "id": name, "inputFiles": read, "outputFiles": made,
                           "parents": parents[name],
                           "children": [other for other in tasks if name in parents[other]]}
                          for name, (_, read, made) in tasks.items()],
                "files": [{"id": file, "sizeInBytes": 100000} for file in files]},
            "execution": {
                "makespanInSeconds": 1, "executedAt": "2026-01-01T00:00:00Z",
                "tasks": [{"id": name, "runtimeInSeconds": 0.1,
                           "command": {"program": command[0], "arguments": command[1:]}}
                          for name, command in commands.items()]}}}


def words(seed):
    rng = random.Random(seed)
    return [rng.choice("#abc") + f"{rng.randrange(LINES // 4):08}" for _ in range(LINES)]


def expected_digest(lines):
    """What the commands come to, worked out here."""
    merged = sorted(line for line in lines if not line.startswith("#"))
    counted = collections.Counter(merged)
    counts = sorted(counted, key=lambda line: (-counted[line], line))
    texts = {"merged": "".join(line + "\n" for line in merged),
             "counts": "".join(f"{counted[line]:7} {line}\n" for line in counts)}
    return "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
                   for name, text in texts.items())


class Round:
    """One workflow in a folder of its own, from its first run to its end."""

    def __init__(self, tutti, seed):
        self.folder = tempfile.mkdtemp(prefix="tutti_killed_")
        self.lines = words(seed)
        with open(self.path("words"), "w") as file:
            file.writelines(line + "\n" for line in self.lines)
        with open(self.path("workflow.json"), "w") as file:
            json.dump(wfformat(workflow()), file)
        self.command = [tutti, "run", "workflow.json", "-m", "this-host:2x1", "--policy", "heft",
                        "--allow-commands", "--run-folder", "run"]

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *flags):
        # Sorted by bytes, as Python does.
        return subprocess.Popen([*self.command, *flags], cwd=self.folder,
                                env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (process.returncode, out, err)
        return out

    def ledger(self):
        if not os.path.exists(self.path("ledger")):
            return collections.Counter()
        with open(self.path("ledger")) as file:
            return collections.Counter(file.read().split())

    def journal(self):
        """The whole lines after the head."""
        if not os.path.exists(self.path("run/journal.jsonl")):
            return []
        with open(self.path("run/journal.jsonl")) as file:
            lines = file.read().split("\n")[1:-1]
        return [json.loads(line) for line in lines]

    def done(self):
        return {event["op"] for event in self.journal() if event.get("good")}

    def at_work(self):
        """Processes in the folder that still run."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{process}/cwd") != os.path.realpath(self.folder):
                    continue
                with open(f"/proc/{process}/stat") as file:
                    state = file.read().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state not in "ZX":
                found.append(process)
        return found

    def wait_for(self, process, events):
        """Until the journal has so many, or the run has ended."""
        until = time.monotonic() + 120
        while len(self.journal()) < events and process.poll() is None:
            assert time.monotonic() < until, "the run does not go on"
            time.sleep(0.002)

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.communicate()
        until = time.monotonic() + 20
        while self.at_work():
            assert time.monotonic() < until, f"still running after the kill: {self.at_work()}"
            time.sleep(0.01)

    def check_end(self):
        with open(self.path("digest")) as file:
            assert file.read() == expected_digest(self.lines), "the result is wrong"
        names = set(workflow())
        starts = collections.Counter(e["op"] for e in self.journal() if e["event"] == "start")
        goods = collections.Counter(e["op"] for e in self.journal() if e.get("good"))
        ledger = self.ledger()
        assert set(goods) == names and set(goods.values()) == {1}, goods
        for name in names:
            assert 1 <= ledger[name] <= starts[name], (name, ledger[name], starts[name])

    def remove(self):
        shutil.rmtree(self.folder)


def main():
    tutti = os.path.realpath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    rng = random.Random(seed)

    whole = Round(tutti, seed)
    whole.finish(whole.start())
    whole.check_end()
    assert set(whole.ledger().values()) == {1}, "a command ran twice without need"
    again = whole.start()
    assert again.wait(timeout=60) == 2, "a run there already must be resumed, not begun again"
    assert "--resume" in again.communicate()[1]
    whole.finish(whole.start("--resume"))
    assert set(whole.ledger().values()) == {1}, "a complete run was run again"
    whole.remove()

    killed = repeated = 0
    for number in range(rounds):
        trial = Round(tutti, seed + number)
        flags = ()
        for _ in range(1 + number % 2):  # some are killed twice
            if len(trial.done()) > len(workflow()) - 4:
                break
            process = trial.start(*flags)
            # At some point of the journal, and a little later.
            left = 2 * len(workflow()) - len(trial.journal())
            trial.wait_for(process, len(trial.journal()) + rng.randrange(max(1, left - 4)))
            time.sleep(rng.uniform(0, 0.05))
            killed += process.poll() is None
            trial.kill(process)
            flags = ("--resume",)
        done, before = trial.done(), trial.ledger()
        said = json.loads(trial.finish(trial.start("--resume", "--json")))
        assert said["done_before"] == len(done), (said, done)
        assert said["done_before"] + said["done_now"] == said["ops"] == len(workflow())
        after = trial.ledger()
        for name in done:
            assert after[name] == before[name], f"{name} was done, and ran again"
        repeated += sum(after.values()) - len(workflow())
        trial.check_end()
        trial.remove()
        print(f"round {number}: {len(done)} of {len(workflow())} done when killed, "
              f"{said['in_flight_before']} in flight")
    print(f"{killed} runs killed, {repeated} commands started again, all results right")
    assert killed > 0, "no run was killed in the middle"


if __name__ == "__main__":
    main()
