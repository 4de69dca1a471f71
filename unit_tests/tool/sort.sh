#!/bin/bash
# Sorted files beside those of od and sort, which know nothing of this library.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

# sorts_as OD_TYPE WIDTH SORT_OPTIONS KRADIX_OPTIONS...: input.bin sorted by kradix and by sort.
sorts_as() {
  local type=$1 width=$2 options=$3
  shift 3
  cp input.bin input.before
  passes sort "$@" input.bin output.bin
  # shellcheck disable=SC2086  # options and types are lists of words
  od -An -v -w"$width" $type input.bin | sort -s $options >expected
  # shellcheck disable=SC2086
  od -An -v -w"$width" $type output.bin >found
  same expected found
  same input.before input.bin
}

count=100000
for type in u8:u1 i8:d1 u16:u2 i16:d2 u32:u4 i32:d4 u64:u8 i64:d8; do
  key=${type%:*}
  passes gen --key "$key" --count $count --distribution bits --seed 1 input.bin
  sorts_as "-t${type#*:}" "${type: -1}" "-n -k1,1" --key "$key"
  sorts_as "-t${type#*:}" "${type: -1}" "-n -r -k1,1" --key "$key" --order descending
done
for type in f32:f4 f64:f8; do
  passes gen --key "${type%:*}" --count $count --distribution normal --seed 2 input.bin
  sorts_as "-t${type#*:}" "${type: -1}" "-g -k1,1" --key "${type%:*}"
done

# Records, with few keys so that stability shows: od prints the key's column and the others.
passes gen --key u32 --record-size 16 --key-offset 4 --count $count --distribution few-distinct input.bin
sorts_as "-tu4" 16 "-n -k2,2" --key u32 --record-size 16 --key-offset 4
sorts_as "-tu4" 16 "-n -r -k2,2" --key u32 --record-size 16 --key-offset 4 --order descending
sorts_as "-tu1" 16 "-n -k6,6" --key u32 --record-size 16 --key-offset 4 --bits 8:16
sorts_as "-tu1" 16 "-k99,99" --key u32 --record-size 16 --key-offset 4 --bits 8:8 --order descending
passes gen --key u8 --record-size 3 --key-offset 2 --count $count input.bin
sorts_as "-tu1" 3 "-n -k3,3" --key u8 --record-size 3 --key-offset 2

# Byte strings of every length, at an odd place; alone and within records.
for length in 1 2 3 4 5 7 8 10 13 16; do
  passes gen --key "bytes$length" --record-size $((length + 3)) --key-offset 3 --count 5000 \
    --distribution and-5 input.bin
  sorts_as "-tx1" $((length + 3)) "-k4,$((length + 3))" --key "bytes$length" \
    --record-size $((length + 3)) --key-offset 3
done
passes gen --key bytes10 --count 5000 input.bin
sorts_as "-tx1" 10 "" --key bytes10

# Nothing, one record, and an output that was there before or is reached through a link.
: >empty.bin
passes sort --key f64 empty.bin output.bin
same empty.bin output.bin
passes sort --key bytes10 --record-size 100 empty.bin output.bin
same empty.bin output.bin
printf 'abcd' >one.bin
passes sort --key u32 one.bin output.bin
same one.bin output.bin
ln -s output.bin link
passes sort --key u8 one.bin link
[[ -L link ]] || fail "the link is gone"
same one.bin output.bin

# Results for programs.
passes sort --key u32 --algorithm four_kernel --json one.bin output.bin
[[ $(wc -l <stdout) == 1 ]] || fail "--json is not one line"
says '^{"command": "sort", "key": "u32", "count": 1, .*"algorithm": "four_kernel".*"seconds": .*}$'
passes sort --kokkos-num-threads=1 --key u32 one.bin output.bin
no_unfinished_file
finish
