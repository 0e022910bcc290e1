#!/usr/bin/env bash
# Installs tutti into a temporary folder, builds embed.cc against what was installed, and runs it.
# $TUTTI names the program, in the folder it was built in.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(dirname "$(realpath "${TUTTI:-build/release/tutti}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

quietly cmake --install "$build" --prefix "$work/tutti"
quietly cmake -S examples/04_embed -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/tutti"
quietly cmake --build "$work/build"
"$work/build/embed"
