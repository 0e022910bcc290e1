#!/usr/bin/env bash
# A server that runs jobs for real, is killed, and goes on. $TUTTI names the program; all files go to a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
tutti=$(realpath "${TUTTI:-build/release/tutti}")
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
unset TUTTI_TOKEN

# Starts a server at a free port, and waits until it listens.
serve() {
  echo "\$ tutti serve --state jobs &"
  : >serve.log  # there before the server opens it
  "$tutti" serve --state jobs --listen 127.0.0.1:0 >serve.log 2>&1 &
  server=$!
  for _ in $(seq 300); do
    TUTTI_SERVER=$(sed -n 's/^tutti serve: \(http:[^ ]*\) .*/\1/p' serve.log)
    [ -z "$TUTTI_SERVER" ] || break
    sleep 0.1
  done
  export TUTTI_SERVER
}

# Prints the command, with quotes where a word has blanks, and the first line of its answer. Times and bounds differ from
# run to run and are left out.
run() {
  local word printed=
  for word in "$@"; do
    case $word in *' '*) word="'$word'" ;; esac
    printed+=" $word"
  done
  echo "\$ tutti$printed"
  "$tutti" "$@" 2>&1 | sed -n '1{s/, makespan [^(]*(/ (/; s/; lower bound .*//; p}'
}

serve
run submit --make 'cholesky --tiles 4 --tile-size 64' --id night-1 --wait
run submit --make 'chainmm --size 256 --split 2,2,1' --id night-2 --wait

echo "\$ kill -9 %1"
{ kill -9 "$server" && wait "$server"; } 2>/dev/null || true
serve
run submit --make 'chainmm --size 256 --split 2,2,1' --id night-2
run submit --make 'cholesky --tiles 6 --tile-size 64' --id night-3 --wait
run status night-3 --trace trace.json
run graph make cholesky --tiles 6 --tile-size 64 -o graph.json
run check graph.json --trace trace.json
run drain --wait
