#!/bin/bash
# Generated files.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

distributions=$("$kradix" gen --help | sed -n '/^Distributions:/,$s/^  \([a-z0-9-]*\) .*/\1/p')
(($(wc -l <<<"$distributions") >= 15)) || fail "--help lists too few: $distributions"

# Each distribution makes something that sorts, the same again for the same seed.
for distribution in $distributions; do
  for key in i32 f16 bytes10; do
    passes gen --key $key --count 5000 --distribution "$distribution" --seed 5 keys.bin
    passes sort --key $key keys.bin sorted.bin
    passes check --key $key keys.bin sorted.bin
  done
  passes gen --key f64 --count 5000 --distribution "$distribution" --seed 5 again.bin
  passes gen --key f64 --count 5000 --distribution "$distribution" --seed 5 keys.bin
  same keys.bin again.bin
done

# Files do not depend on the number of threads.
passes gen --key u64 --count 100000 --seed 6 all.bin
first_core=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
taskset -c "$first_core" "$kradix" gen --key u64 --count 100000 --seed 6 one.bin >stdout ||
  fail "with one thread"
same all.bin one.bin
passes gen --key u64 --count 100000 --seed 7 other.bin
cmp -s all.bin other.bin && fail "seeds 6 and 7 give the same"

# Shapes: what is sorted is, what is constant is, few keys are few.
for key in u16 i64 f32 bytes5; do
  passes gen --key $key --count 4000 --distribution sorted keys.bin
  passes check --key $key keys.bin keys.bin
  passes gen --key $key --count 4000 --distribution reverse keys.bin
  passes check --key $key --order descending keys.bin keys.bin
done
distinct() { od -An -v -tu4 -w4 keys.bin | sort -u | wc -l; }
passes gen --key u32 --count 4000 --distribution constant keys.bin
[[ $(distinct) == 1 ]] || fail "constant: $(distinct) keys"
passes gen --key u32 --count 4000 --distribution few-distinct keys.bin
[[ $(distinct) == 16 ]] || fail "few-distinct: $(distinct) keys"
passes gen --key u32 --count 4000 --distribution one-hot-bits keys.bin
[[ $(distinct) == 32 ]] || fail "one-hot-bits: $(distinct) keys"
passes gen --key u32 --count 4000 --distribution root-dup keys.bin
[[ $(distinct) == 63 ]] || fail "root-dup: $(distinct) keys"

# The mean and the range of what has them.
mean() { od -An -v -tf8 -w8 keys.bin | awk '{ s += $1 } END { printf "%.1f", s / NR + 0.001 }'; }
passes gen --key f64 --count 20000 --distribution uniform keys.bin
[[ $(mean) == 0.5 ]] || fail "uniform: mean $(mean)"
passes gen --key f64 --count 20000 --distribution normal keys.bin
[[ $(mean) == 0.0 ]] || fail "normal: mean $(mean)"
passes gen --key f64 --count 20000 --distribution exponential keys.bin
[[ $(mean) == 1.0 ]] || fail "exponential: mean $(mean)"

# Records carry their index after, or around, the key.
passes gen --key u16 --record-size 10 --key-offset 4 --count 300 keys.bin
[[ $(od -An -v -tu4 -j2990 -N4 keys.bin) -eq 299 ]] || fail "no index in the last record"
passes gen --key u32 --count 0 --json keys.bin
says '"command": "gen", "key": "u32", "count": 0'
[[ -f keys.bin && ! -s keys.bin ]] || fail "no empty file"

# Progress is for terminals only (`passes` sees to it that files get none); one core makes it long work.
script -qec "taskset -c $first_core '$kradix' gen --key f64 --distribution normal --count 20000000 keys.bin" \
  /dev/null >terminal
grep -q "kradix: generating [0-9]* %" terminal || fail "no progress on a terminal: $(cat terminal)"

fails_with "unknown distribution 'gauss' (known: uniform" gen --key u8 --count 1 --distribution gauss out
fails_with "are too many" gen --key u128 --count 18446744073709551615 out
fails_with "needs 1000000000000000000 bytes, .* free" gen --key u8 --count 1000000000000000000 out
fails_with "count" gen --key u8 --count -1 out
absent out
finish
