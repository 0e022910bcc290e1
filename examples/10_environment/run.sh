#!/usr/bin/env bash
# Trains the agent and tests it. $TUTTI_LIBRARY names libtutti.so; otherwise that of build/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v python3 >/dev/null || { echo "skipped: python3 is missing" >&2; exit 77; }
PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 python3 examples/10_environment/agent.py
