#!/usr/bin/env bash
# Reads a workflow in WfFormat 1.5, shows what becomes of it, and plans it; then runs another, whose
# tasks are small commands, lets one fail, and completes it. $TUTTI names the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
tutti=$(realpath "${TUTTI:-build/release/tutti}")
cd examples/07_workflow

run() {
  echo "\$ tutti $*"
  "$tutti" "$@" 2>&1 || echo "(exit code $?)"
  echo
}

run graph info workflow.json
run graph convert workflow.json
run plan workflow.json --machine uniform-3 --policy heft
run plan workflow.json --machine uniform-3 --policy heft --scale-by-machine-speed

# The commands run in a folder of their own.
here=$PWD
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
cp "$here/words.json" "$here/words.txt" .
export LC_ALL=C

# How long a run takes is no two times the same: only the first lines are shown, without it.
run_commands() {
  run run words.json --machine this-host:1x1 --policy heft "$@" |
    sed -n 's/ commands in [0-9.]* [mun]*s/ commands/; /^ /!p'
}

run_commands
run_commands --allow-commands
mkdir public
run_commands --allow-commands --resume
echo "\$ cat public/sorted.txt"
cat public/sorted.txt
