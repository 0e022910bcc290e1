#!/usr/bin/env bash
# Compares list schedulers on two sharded workloads. $TUTTI names the program; all files go to a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
tutti=$(realpath "${TUTTI:-build/release/tutti}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() {
  echo "\$ tutti $*"
  "$tutti" "$@"
}

policies=single_device,random,critical_path,heft,peft,contention_eft,expert
run graph make llama-block --split tp --shards 8 --devices 4 -o block.json
echo
# The last column, the time of planning, differs from run to run.
run compare block.json --machine p100-4 --policies "$policies" --noise 0.1 | sed -E 's/ +plan time$//; s/( +[0-9.]+ %) +[0-9.]+ [mun]?s$/\1/'
echo
run graph make cholesky --tiles 10 --tile-size 4096 -o cholesky.json
echo
run compare cholesky.json --machine p100-4 --policies "$policies" --noise 0.1 | sed -E 's/ +plan time$//; s/( +[0-9.]+ %) +[0-9.]+ [mun]?s$/\1/'
