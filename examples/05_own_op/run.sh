#!/usr/bin/env bash
# Runs the program of this example, which the build compiles. $OWN_OP names it.
set -euo pipefail
cd "$(dirname "$0")/../.."
"${OWN_OP:-build/release/test/own_op}"
