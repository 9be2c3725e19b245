#!/usr/bin/env bash
# Runs the acceptance checks on a running server with `stoka smoke --url`:
#   scripts/smoke.sh [--ask QUESTION] [--cites SLUG] [--page PAGE] [--void QUESTION] [FLAG...] [URL]
# The default URL is http://127.0.0.1:8787. Other flags of `stoka smoke`, such as --json, are passed on. Uses the
# stoka that scripts/run has built, else the one on the PATH. The exit code is 0 if no check failed, 1 if a check
# failed, 2 for wrong usage, 4 if the server does not answer or the rate limit allowed no question.
set -euo pipefail

usage() { echo "usage: scripts/smoke.sh [--ask QUESTION] [--cites SLUG] [--page PAGE] [--void QUESTION] [FLAG...] [URL]" >&2; exit 2; }
url="" flags=()
while [ $# -gt 0 ]; do
  case $1 in
    --ask | --cites | --page | --void | --config | --color) [ -n "${2:-}" ] || usage; flags+=("$1" "$2"); shift 2 ;;
    -*) flags+=("$1"); shift ;;
    *) [ -n "$1" ] && [ -z "$url" ] || usage; url=$1; shift ;;
  esac
done
stoka=$(dirname "$0")/../build/release/apps/stoka/stoka
[ -x "$stoka" ] || stoka=$(command -v stoka) || { echo "smoke: stoka is not installed; scripts/run builds it" >&2; exit 2; }
exec "$stoka" smoke --url "${url:-http://127.0.0.1:8787}" ${flags[@]+"${flags[@]}"}
