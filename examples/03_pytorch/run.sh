#!/usr/bin/env bash
# Captures, measures, plans and runs a small transformer on two devices, which here are both the CPU.
# $TUTTI names the program. Exits with 77 if no Python has torch.
set -euo pipefail
cd "$(dirname "$0")/../.."
TUTTI_BINARY=$(realpath "${TUTTI:-build/release/tutti}")
export TUTTI_BINARY PYTHONDONTWRITEBYTECODE=1
python=$(python/find_python)
"$python" examples/03_pytorch/transformer.py --quiet --devices cpu,cpu --policy round_robin \
  --hidden 64 --sequence 32 --vocabulary 100 --repeats 1
