#!/bin/bash
# .npy files in and out.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

byte() { printf "\\x$(printf %02x "$1")"; }
# npy VERSION DICTIONARY: the header on stdout.
npy() {
  printf '\x93NUMPY'
  byte "$1"
  byte 0
  byte $((${#2} % 256))
  byte $((${#2} / 256))
  [[ $1 == 1 ]] || printf '\0\0'
  printf '%s' "$2"
}
array() { echo "{'descr': '$1', 'fortran_order': False, 'shape': ($2,), }"; }

# Versions 1 and 2; the dtype is kept, also of bool.
for version in 1 2; do
  { npy $version "$(array '<i4' 3)"; printf '\1\0\0\0\377\377\377\377\0\0\0\0'; } >input.npy
  passes sort input.npy output.npy
  tail -c 12 output.npy | od -An -td4 >found
  echo "          -1           0           1" >expected
  same expected found
  passes check --key i32 input.npy output.npy
done
[[ $(head -c 10 output.npy | od -An -tx1) == " 93 4e 55 4d 50 59 01 00 76 00" ]] || fail "not numpy's header"
[[ $(stat -c %s output.npy) == 140 ]] || fail "the header is not 128 bytes long"
{ npy 1 "$(array '|b1' 4)"; printf '\1\0\1\0'; } >input.npy
passes sort input.npy output.npy
grep -aq "'descr': '|b1', 'fortran_order': False, 'shape': (4,), }" output.npy || fail "not bool"
tail -c 4 output.npy | cmp - <(printf '\0\0\1\1') || fail "bools are not sorted"

# The name tells the format: raw to .npy and back.
passes gen --key f16 --count 1000 --distribution normal raw.f16
passes sort --key f16 raw.f16 sorted.npy
passes sort --key f16 raw.f16 sorted.f16
passes check --key f16 raw.f16 sorted.npy
passes sort sorted.npy again.f16
same sorted.f16 again.f16
passes gen --key u16 --count 77 keys.npy
grep -aq "'descr': '<u2', 'fortran_order': False, 'shape': (77,), }" keys.npy || fail "gen: no header"
passes sort --order descending --json keys.npy sorted.npy
says '"key": "u16", "count": 77'

fails_with "holds u16 keys, not i16" sort --key i16 keys.npy out.npy
fails_with "have 2 bytes, not 8" sort --record-size 8 keys.npy out.npy
fails_with "a .npy file cannot hold records of 16 bytes with u128 keys" gen --key u128 --count 2 out.npy
fails_with "cannot hold records of 8 bytes" gen --key u32 --record-size 8 --count 2 out.npy
refuses() {
  "${@:2}" >bad.npy
  fails_with "$1" sort bad.npy out.npy
}
refuses "not a .npy file" printf 'no numpy here'
refuses "version 3 is not 1 or 2" npy 3 "$(array '<i4' 0)"
refuses "dtype '>f8' is not" npy 1 "$(array '>f8' 0)"
refuses "several fields" npy 1 "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (0,), }"
refuses "shape (2, 3), not one dimension" npy 1 "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"
refuses "shape (), not one dimension" npy 1 "{'descr': '<i4', 'fortran_order': False, 'shape': (), }"
refuses "no 'shape'" npy 1 "{'descr': '<i4', 'fortran_order': False, }"
refuses "header is cut off" head -c 50 keys.npy
refuses "0 bytes follow the header of 5 elements of 4 bytes" npy 1 "$(array '<i4' 5)"
absent out.npy
finish
