#!/usr/bin/python3
"""Lets commands escape from their process group, session and parents, ends them, and looks for survivors.

  test/escaping_commands.py TUTTI [COUNT]

COUNT commands (default 8) are run by `tutti run`, half ended by their timeout and half by SIGTERM to
tutti, and as many jobs by `tutti serve`, half ended by the timeout and half by `tutti cancel`; then one
more job, which SIGTERM to the server ends. Exit code 0: nothing was left of any.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

# Words: how (g: process group, s: session, d: fork and let the parent end), and a file for its number.
ESCAPER = r"""
use POSIX;
my ($ways, $file) = @ARGV;
if (fork == 0) {
  $SIG{TERM} = $SIG{HUP} = 'IGNORE';
  for my $way (split //, $ways) {
    setpgrp(0, 0) if $way eq 'g';
    POSIX::setsid() if $way eq 's';
    if ($way eq 'd') { exit 0 if fork; }
  }
  close STDOUT; close STDERR;
  open my $out, '>', "$file.new"; print $out "$$\n"; close $out;
  rename "$file.new", $file;
  sleep 1000;
}
sleep 1000;
"""
WAYS = ["g", "s", "d", "dd", "gd", "sd", "ds", "dsd", "sdgd", "dgs"]
TIMEOUT_NS = 3_000_000_000


def graph(folder, number, timeout):
    """A graph of one command; and the file in which its escaped process tells its number."""
    told = os.path.join(folder, f"escaped.{number}")
    command = {"argv": ["/usr/bin/perl", "-e", ESCAPER, WAYS[number % len(WAYS)], told]}
    if timeout:
        command["timeout_ns"] = TIMEOUT_NS
    path = os.path.join(folder, f"graph.{number}.json")
    with open(path, "w") as file:
        json.dump({"format": "tutti-graph", "schema_version": 2, "name": "escape", "ops": [
            {"name": "a", "run_time_ns": 1000, "command": command}]}, file)
    return path, told


def wait_for(condition, what):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    sys.exit(f"waited for a minute: {what}")


def at_work(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def survivors(files):
    """Of the processes that told their numbers, those that are alive; and how many told them."""
    numbers = []
    for file in files:
        if os.path.exists(file):
            with open(file) as text:
                numbers.append(int(text.read()))
    return [number for number in numbers if at_work(number)], len(numbers)


def by_run(tutti, folder, count):
    told = []
    for number in range(count):
        timeout = number % 2 == 0
        path, file = graph(folder, number, timeout)
        told.append(file)
        process = subprocess.Popen(
            [tutti, "run", path, "-m", "this-host:1x1", "--policy", "heft", "--allow-commands",
             "--run-folder", path + ".run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not timeout:
            wait_for(lambda: os.path.exists(file), "the escape")
            process.send_signal(signal.SIGTERM)
        code = process.wait()
        if code != (1 if timeout else 130):
            sys.exit(f"run {number}: exit code {code}")
    return told


def by_serve(tutti, folder, count):
    state = os.path.join(folder, "state")
    server = subprocess.Popen(
        [tutti, "serve", "--listen", "127.0.0.1:0", "--state", state, "-m", "this-host:1x1",
         "--allow-commands", "--grace", "0"], stdout=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", server.stdout.readline()).group()

    def ask(*words):
        return subprocess.run([tutti, *words, "--server", address], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    told = []
    for number in range(count + 1):
        last = number == count
        timeout = number % 2 == 0 and not last
        path, file = graph(folder, 1000 + number, timeout)
        told.append(file)
        ask("submit", path, "--id", f"j{number}")
        if timeout:
            ask("status", f"j{number}", "--wait")
            continue
        wait_for(lambda: os.path.exists(file), "the escape")
        if not last:
            ask("cancel", f"j{number}")
            ended = ask("status", f"j{number}", "--wait").stdout
            if "cancelled" not in ended:
                sys.exit(f"job {number}: {ended}")
    server.send_signal(signal.SIGTERM)
    if server.wait() != 0:
        sys.exit(f"the server ended with {server.returncode}")
    return told


def main():
    tutti = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    left = []
    for name, ended in [("run", by_run), ("serve", by_serve)]:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.time()
            files = ended(tutti, folder, count)
            alive, escaped = survivors(files)
            left += alive
            print(f"{name}: {len(files)} commands, {escaped} escaped, {len(alive)} survived, "
                  f"{time.time() - begin:.1f} s", flush=True)
            # On a busy machine one or two may be too slow.
            if escaped < len(files) * 0.9 - 2:
                sys.exit("too few escaped for this to show anything")
    for process in left:
        os.kill(process, signal.SIGKILL)
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
