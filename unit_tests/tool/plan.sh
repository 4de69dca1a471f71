#!/bin/bash
# Plans and the list of algorithms.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

passes plan --key u32 --count 1000000
says "1000000 keys of 4 B, up to .* over bits \[0, 32)"
says "in place"
passes plan --key f64 --record-size 100 --key-offset 10 --bits 8:24 --count 5000000000 --json
says '"count": 5000000000, .*"by_index": true, "temporary_bytes": [0-9]*, "memory_bytes": [67][0-9]\{11\},'
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
says "^small_msd: "
says "^counting: .*1 or 2 bytes alone"
printf 'zyxwvutsrqponmabcdefghijkl' >letters.bin # none twice, which one algorithm needs
names=$(sed 's/:.*//' stdout)
passes plan --key u8 letters.bin
on_host=$(grep -c ^blocked_radix stdout || true)
for algorithm in automatic $names; do
  [[ $algorithm == blocked_radix && $on_host == 0 ]] && continue # sorts on hosts only
  [[ $algorithm == msd_hybrid ]] && continue # wants longer keys
  passes sort --key u8 --algorithm "$algorithm" letters.bin out.bin
  [[ $(cat out.bin) == abcdefghijklmnopqrstuvwxyz ]] || fail "$algorithm: $(cat out.bin)"
  passes plan --key u8 --algorithm "$algorithm" --json letters.bin
done
fails_with "msd_hybrid needs lanes, keys of 4 to 16 bytes.*keys of 1 bytes" \
  sort --key u8 --algorithm msd_hybrid letters.bin out2.bin
passes gen --key u64 --count 30000 wide.npy
fails_with "counting needs lanes.*1 or 2 bytes alone.*keys of 8 bytes" sort --algorithm counting wide.npy out2.npy
passes sort --algorithm msd_hybrid wide.npy wide_sorted.npy
passes check wide.npy wide_sorted.npy
passes sort --algorithm satish --study digit_bits=3,map=exact,scan=chained keys.npy out.npy
passes check keys.npy out.npy
passes plan --algorithm satish --study digit_bits=3 keys.npy
says "satish: 50 keys .*passes of 3 bits.*with digit_bits=3"
fails_with 'digit_bits=x. takes a number' sort --algorithm satish --study digit_bits=x keys.npy out2.npy
fails_with "hp_sort sorts keys within \[0, 110), but 13 of 26 keys lie outside" \
  sort --key u8 --algorithm hp_sort --study range=0:110 letters.bin out2.bin
fails_with "hp_sort makes keys from counts: it takes no values" \
  sort --key u8 --record-size 2 --algorithm hp_sort letters.bin out2.bin
absent out2.npy
absent out2.bin
passes algorithms --json
says '^{"algorithm": "four_kernel", .*"stability": "stable"'
finish
