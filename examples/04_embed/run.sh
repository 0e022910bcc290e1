#!/usr/bin/env bash
# Installs tutti into a temporary folder, builds both programs against what was installed, and runs them.
# $TUTTI names the program, in the folder it was built in.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(dirname "$(realpath "${TUTTI:-build/release/tutti}")")
[ "$(nproc)" -ge 2 ] || { echo "skipped: first.cc wants two cores" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

quietly cmake --install "$build" --prefix "$work/tutti"
quietly cmake -S examples/04_embed -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/tutti"
quietly cmake --build "$work/build"
# The gap is that of this host's two cores, whatever they are.
"$work/build/first" | sed -E 's/gap -?[0-9.]+ %/gap of this host/'
"$work/build/embed"
