#!/usr/bin/env bash
# Plans, simulates and checks the diamond. $TUTTI names the program; all files go to a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
tutti=$(realpath "${TUTTI:-build/release/tutti}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp examples/01_first_plan/{graph.json,machine.toml} "$work"
cd "$work"

run() {
  echo "\$ tutti $*"
  "$tutti" "$@"
  echo
}

run graph info graph.json
run plan graph.json --machine machine.toml --policy heft --output plan.json
run simulate graph.json --machine machine.toml --plan plan.json --trace trace.json
run check graph.json --machine machine.toml --plan plan.json --trace trace.json
