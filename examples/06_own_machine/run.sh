#!/usr/bin/env bash
# Plans the camera graph with and without constraints, and checks both plans.
# $TUTTI names the program; all files go to a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
tutti=$(realpath "${TUTTI:-build/release/tutti}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp examples/06_own_machine/{graph.json,*.toml} "$work"
cd "$work"

run() {
  echo "\$ tutti $*"
  "$tutti" "$@" || echo "exit code $?"
  echo
}

problem=(graph.json --machine machine.toml --costs costs.toml)
obeying=("${problem[@]}" --constraints constraints.toml)
run plan "${problem[@]}" --policy heft --output free.json
run plan "${obeying[@]}" --policy heft --output obeying.json
run simulate "${obeying[@]}" --plan obeying.json
run check "${obeying[@]}" --plan obeying.json
run check "${obeying[@]}" --plan free.json
