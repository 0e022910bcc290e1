#!/usr/bin/env bash
# Plans the example of Topcuoglu, Hariri and Wu with both of their policies. $TUTTI names the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
tutti=$(realpath "${TUTTI:-build/release/tutti}")
cd examples/02_topcuoglu

run() {
  echo "\$ tutti $*"
  "$tutti" "$@"
  echo
}

run plan graph.json --machine machine.toml --policy heft --json
run plan graph.json --machine machine.toml --policy cpop --json
run plan graph.json --machine machine.toml --policy heft --output -
