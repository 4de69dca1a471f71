#!/bin/bash
# Sorting and checking on several ranks: the same bytes as on one. ranks.sh KRADIX MPIEXEC WORDS...
# shellcheck source=unit_tests/tool/common.sh
mpiexec=("${@:2}")
source "$(dirname "$0")/common.sh"
alone=$kradix

# shellcheck disable=SC2016  # the words of the script that is written
on_ranks() {  # N: from now on passes and fails_with run on N ranks
  printf '#!/bin/bash\n%s -n %s %s "$@" 2>all_errors\nstatus=$?\ngrep "^kradix: " all_errors >&2\nexit $status\n' \
    "${mpiexec[*]}" "$1" "$alone" >ranks
  chmod +x ranks
  kradix=./ranks
}
on_one() { kradix=$alone; }

# sorts_alike OPTIONS...: input sorted on one rank and on several.
sorts_alike() {
  on_one
  passes sort "$@" input expected
  for ranks in 2 5; do
    on_ranks $ranks
    passes sort "$@" input output
    says "on $ranks ranks"
    same expected output
    passes check "$@" input output
    says "on $ranks ranks"
  done
  on_one
  no_unfinished_file
}

for key in f64 u8 bytes10; do
  passes gen --key "$key" --count 20001 --distribution few-distinct --seed 1 input
  sorts_alike --key "$key"
done
passes gen --key u16 --record-size 24 --key-offset 5 --count 10007 --distribution few-distinct input
sorts_alike --key u16 --record-size 24 --key-offset 5 --order descending
sorts_alike --key u16 --record-size 24 --key-offset 5 --bits 3:9
passes gen --key u64 --count 3 input
sorts_alike --key u64
: >input
sorts_alike --key f32

passes gen --key f32 --count 5000 input.npy
passes sort input.npy expected.npy
on_ranks 3
passes sort --json input.npy output.npy
says '"ranks": 3'
same expected.npy output.npy
passes check --json input.npy output.npy

# What check must find, wherever it lies.
on_one
passes gen --key u8 --record-size 8 --count 3000 --distribution few-distinct input
passes sort --key u8 --record-size 8 input output
records() { dd if="$1" bs=8 skip="$2" count="$3" status=none; }
for at in 0 999 1000 1500 2998; do  # slices of three ranks begin at 0, 1000 and 2000
  { records output 0 "$at"; records output $((at + 1)) 1; records output "$at" 1; records output $((at + 2)) 3000; } >wrong
  on_ranks 3
  fails_with 'wrong is not \(stable\|in order\)' check --key u8 --record-size 8 input wrong
done
{ records output 0 1200; printf 'XXXXXXXX'; records output 1201 3000; } >wrong
fails_with 'wrong \(does not hold\|is not in order\)' check --key u8 --record-size 8 input wrong
records output 0 2999 >wrong
fails_with '2999 records, the input 3000' check --key u8 --record-size 8 input wrong

# One line, once, and nothing left behind.
fails_with 'cannot read nowhere' sort --key u8 nowhere output
fails_with 'input itself' sort --key u8 --record-size 8 input input
fails_with 'nowhere' sort --key u8 --record-size 8 input /nowhere/output
fails_with "'gen' runs on one rank" gen --key u8 --count 3 made
fails_with 'one rank' sort --key u8 --record-size 8 --algorithm four_kernel input output
absent made
finish
