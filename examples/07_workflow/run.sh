#!/usr/bin/env bash
# Reads a workflow in WfFormat 1.5, shows the resulting graph, and plans it; then runs another, whose
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

# The commands run in their own folder.
here=$PWD
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
cp "$here/words.json" "$here/words.txt" .
export LC_ALL=C

# The time of a run varies: only the first lines, which do not have it, are shown.
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
