#!/bin/bash
# test_measures.sh PYTHON BENCH_SORT SCRIPTS: measures a small grid twice, the second time with Kradix slowed
# down on purpose, and looks for that in the comparison. Much slower: this must hold on a busy machine too, as what
# 5 % come to is tested without one (test_bench.py).
set -euo pipefail
python=$1 program=$2 scripts=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bench() { "$python" -B "$scripts" "$@"; }

expect() {  # expect STATUS COMMAND...
  local wanted=$1 status=0
  shift
  "$@" >"$folder/output" 2>&1 || status=$?
  if ((status != wanted)); then
    echo "ended with $status, not $wanted: $*"
    cat "$folder/output"
    exit 1
  fi
}

expect 0 bench --program "$program" --settings test --options "--repetitions 9" --out "$folder"
first=$(echo "$folder"/*.json)
grep -q '^## Kernels' "${first%.json}.md"
expect 0 bench --result "$first" --baseline "$first"
grep -q 'none slower by more than 3 %' "$folder/output"
expect 3 bench --program "$program" --settings test --options "--repetitions 9 --slow-down 900" --no-report \
  --out "$folder/slow" --baseline "$first"
grep -q 'all cases, geometric mean .*slower' "$folder/output"
expect 3 bench --program "$program" --against "$program" --settings test --options "--slow-down 900"
grep -q 'all cases, geometric mean .*slower' "$folder/output"
expect 1 bench --program "$program" --against "$program" --settings test --blocks 2
expect 1 bench --program "$folder/none" --out "$folder"
grep -q "^bench: cannot run" "$folder/output"
expect 1 bench --program "$program" --settings unknown --out "$folder"
