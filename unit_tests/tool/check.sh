#!/bin/bash
# `kradix check` must refuse what is not the stably sorted input, and say where.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

# poke FILE OFFSET BYTES: overwrites bytes (as printf %b has them).
poke() { printf %b "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# 16-byte records: an 8-byte key, then the index.
record=(--key u64 --record-size 16)
passes gen "${record[@]}" --count 1000 --distribution few-distinct --seed 4 input.bin
passes sort "${record[@]}" input.bin sorted.bin
passes check "${record[@]}" input.bin sorted.bin
says "checked 1000 records: in ascending order.*16 groups"
passes check "${record[@]}" --json input.bin sorted.bin
says '"count": 1000, .*"in_order": true, "same_records": true, "stable": true'

# Order.
fails_with "not in order: the key of record" check "${record[@]}" --order descending input.bin sorted.bin
cp sorted.bin bad.bin
poke bad.bin $((500 * 16)) '\0\0\0\0\0\0\0\0'
fails_with "not in order: the key of record 500 belongs before that of record 499" check "${record[@]}" input.bin bad.bin

# Stability: records 700 and 701 have equal keys and change places.
swap() {  # FILE FIRST SECOND
  dd if="$1" of=a bs=16 skip="$2" count=1 status=none
  dd if="$1" of=b bs=16 skip="$3" count=1 status=none
  dd if=a of="$1" bs=16 seek="$3" conv=notrunc status=none
  dd if=b of="$1" bs=16 seek="$2" conv=notrunc status=none
  cmp -s -n 8 a b || fail "the test itself: records $2 and $3 have different keys"
}
cp sorted.bin bad.bin
swap bad.bin 700 701
fails_with "not stable: at record 700 should stand record" check "${record[@]}" input.bin bad.bin
cp sorted.bin bad.bin
swap bad.bin 0 5
swap bad.bin 990 999
fails_with "not stable: at record 0 should stand record" check "${record[@]}" input.bin bad.bin

# The multiset: a payload that changed, a record twice instead of another, one too few.
cp sorted.bin bad.bin
poke bad.bin $((999 * 16 + 15)) '\1'
fails_with "does not hold the records of the input; the first difference lies at the key of record 9" \
  check "${record[@]}" input.bin bad.bin
cp sorted.bin bad.bin
dd if=sorted.bin of=bad.bin bs=16 skip=3 seek=4 count=1 conv=notrunc status=none
fails_with "first difference lies at the key of record 0" check "${record[@]}" input.bin bad.bin
head -c $((999 * 16)) sorted.bin >bad.bin
fails_with "has 999 records, the input 1000" check "${record[@]}" input.bin bad.bin

# The largest key lowered to the one before it: the output lacks what comes after its last record.
passes gen --key u32 --count 100 --distribution sorted --seed 1 keys.bin
cp keys.bin bad.bin
dd if=keys.bin of=bad.bin bs=4 skip=98 seek=99 count=1 conv=notrunc status=none
fails_with "first difference lies at the key of record 98" check --key u32 keys.bin bad.bin

# Zeros of both signs are equal keys that differ: their order counts, that of NaNs too.
printf '\0\0\0\200\0\0\0\0' >zeros.bin
printf '\0\0\0\0\0\0\0\200' >swapped.bin
passes check --key f32 zeros.bin zeros.bin
passes check --key f32 swapped.bin swapped.bin
fails_with "not stable: at record 0 should stand record 0" check --key f32 zeros.bin swapped.bin
printf '\0\0\300\377\0\0\200\177' >nan_inf.bin
fails_with "not in order" check --key f32 nan_inf.bin nan_inf.bin
passes check --key f32 --order descending nan_inf.bin nan_inf.bin

# Bits that do not count travel only.
printf '\1\0\2\0' >pairs.bin
passes check --key u16 --bits 8:16 pairs.bin pairs.bin
printf '\2\0\1\0' >swapped.bin
fails_with "not in order" check --key u16 swapped.bin swapped.bin
passes check --key u16 --bits 8:16 swapped.bin swapped.bin
fails_with "not stable" check --key u16 --bits 8:16 pairs.bin swapped.bin

# Descending, and arrays of other keys.
passes sort "${record[@]}" --order descending input.bin sorted.bin
passes check "${record[@]}" --order descending input.bin sorted.bin
fails_with "not in order" check "${record[@]}" input.bin sorted.bin
passes gen --key u32 --count 4 u.npy
passes gen --key i32 --count 4 i.npy
fails_with "holds i32 keys, the input u32" check u.npy i.npy
finish
