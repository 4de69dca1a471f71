#!/bin/bash
# Every key type with awkward keys (zeros of both signs, NaNs, infinities, ends of ranges), alone and
# in records, in both orders and by some bits only, judged by `kradix check`.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

sorts_and_checks() {
  passes sort "$@" input.bin output.bin
  passes check "$@" input.bin output.bin
}

for key in u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f16 bf16 f32 f64 bytes1 bytes6 bytes16; do
  for record in "" "--record-size 36 --key-offset 5"; do
    # shellcheck disable=SC2086  # the record's options are words
    passes gen --key $key $record --count 2000 --distribution awkward --seed 3 awkward.bin
    # shellcheck disable=SC2086
    passes gen --key $key $record --count 2000 --distribution bits --seed 3 bits.bin
    cat awkward.bin bits.bin >input.bin
    # shellcheck disable=SC2086
    for order in "" "--order descending" "--bits 3:7" "--bits 1:8 --order descending"; do
      sorts_and_checks --key $key $record $order
    done
  done
done
finish
