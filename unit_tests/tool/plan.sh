#!/bin/bash
# Plans and the list of algorithms.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

passes plan --key u32 --count 1000000
says "1000000 keys of 4 B, bits \[0, 32)"
says "in place"
passes plan --key f64 --record-size 100 --key-offset 10 --bits 8:24 --count 5000000000 --json
says '"count": 5000000000, .*"by_index": true, "temporary_bytes": [0-9]*, "memory_bytes": 6[0-9]\{11\},'
passes gen --key bytes10 --record-size 100 --count 50 records.bin
passes plan --key bytes10 --record-size 100 records.bin
says "50 keys of 16 B.*bits \[0, 80)"
passes gen --key i16 --count 50 keys.npy
passes plan keys.npy
says "50 keys of 2 B"
fails_with "a file or --count" plan --key u8
fails_with "a file or --count" plan --key u8 --count 3 records.bin
fails_with "\-\-key TYPE is missing" plan --count 3

# Every algorithm of the list can be asked for.
passes algorithms
says "^four_kernel: .*; stable; .*docs/algorithms/four_kernel.md"
for algorithm in automatic $(sed 's/:.*//' stdout); do
  passes sort --algorithm "$algorithm" keys.npy out.npy
  passes check keys.npy out.npy
  passes plan --algorithm "$algorithm" --json keys.npy
done
passes algorithms --json
says '^{"algorithm": "four_kernel", .*"stability": "stable"'
finish
