#!/usr/bin/env bash
# Reads a workflow in WfFormat 1.5, shows what becomes of it, and plans it. $TUTTI names the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
tutti=$(realpath "${TUTTI:-build/release/tutti}")
cd examples/07_workflow

run() {
  echo "\$ tutti $*"
  "$tutti" "$@" 2>&1
  echo
}

run graph info workflow.json
run graph convert workflow.json
run plan workflow.json --machine uniform-3 --policy heft
run plan workflow.json --machine uniform-3 --policy heft --scale-by-machine-speed
