#!/bin/bash
# Each failure: a status that is not zero, one clear line, no output, and the input as it was.
# shellcheck source=unit_tests/tool/common.sh
source "$(dirname "$0")/common.sh"

passes gen --key u32 --count 300000 input.bin
cp input.bin before.bin

# Names and sizes.
fails_with "cannot read nowhere.bin: No such file or directory" sort --key u32 nowhere.bin out.bin
fails_with "cannot read nowhere.bin: No such" check --key u32 input.bin nowhere.bin
fails_with "not a regular file" sort --key u32 . out.bin
fails_with "No such file or directory" sort --key u32 input.bin nowhere/out.bin
fails_with "1200000 bytes are not a multiple of the 7-byte record (4 left over)" \
  sort --key u32 --record-size 7 input.bin out.bin
fails_with "u32 key at byte 5 does not lie within a record of 8 bytes" \
  sort --key u32 --record-size 8 --key-offset 5 input.bin out.bin
fails_with "u32 key at byte 0 does not lie within a record of 3 bytes" \
  sort --key u32 --record-size 3 input.bin out.bin
fails_with "does not lie within" sort --key u32 --key-offset 18446744073709551615 input.bin out.bin

# Words.
for name in u33 bytes bytes0 bytes17 bytes4x F32 ""; do
  fails_with "key type '$name' \|--key" sort --key "$name" input.bin out.bin
done
fails_with "\-\-key TYPE is missing" sort input.bin out.bin
fails_with "bits 0:33 do not lie within the 32 bits of u32" sort --key u32 --bits 0:33 input.bin out.bin
fails_with "bits 9:8 do not lie within" sort --key u32 --bits 9:8 input.bin out.bin
fails_with "bits 0:81 do not lie within the 80 bits of bytes10" check --key bytes10 --bits 0:81 input.bin input.bin
for bits in 8 8: :8 a:b 1:2:3 99999999999:1; do
  fails_with "bits $bits is not of the form B:E" sort --key u32 --bits "$bits" input.bin out.bin
done
fails_with "unknown algorithm 'bogo' ('kradix algorithms' lists them)" \
  sort --key u32 --algorithm bogo input.bin out.bin
fails_with "sideways" sort --key u32 --order sideways input.bin out.bin
fails_with "OUTPUT" sort --key u32 input.bin
fails_with "nonsense" sort --key u32 --nonsense input.bin out.bin
fails_with "" # no command at all
absent out.bin

# The input is never the output, by whatever name.
ln input.bin hard.bin
ln -s input.bin soft.bin
for name in input.bin ./input.bin hard.bin soft.bin; do
  fails_with "is the input itself, which is never changed" sort --key u32 input.bin "$name"
done
fails_with "cannot write /dev/full: not a regular file" sort --key u32 input.bin /dev/full
fails_with "cannot write .: not a regular file" gen --key u32 --count 1 .

# Larger than the memory; a sparse file takes no disk.
truncate -s 8T huge.bin
fails_with "huge.bin is too large: sorting its 8796093022208 bytes needs [0-9]* bytes of memory ([0-9]* of them temporary), [A-Za-z]* has [0-9]*$" \
  sort --key u64 huge.bin out.bin
rm huge.bin

# A full disk: the output may not grow beyond a limit. What had its name stays.
echo precious >out.bin
cp out.bin precious.bin
real_kradix=$kradix
limited() { (ulimit -f 100 && exec "$real_kradix" "$@"); }
kradix=limited
fails_with "cannot write out.bin: File too large" sort --key u32 input.bin out.bin
fails_with "cannot write out.bin: File too large" sort --key u32 --record-size 8 input.bin out.bin
fails_with "cannot write out.bin: File too large" gen --key u32 --count 300000 out.bin
kradix=$real_kradix
same precious.bin out.bin

# Results that nobody can read are a failure too.
"$kradix" sort --key u32 input.bin other.bin >/dev/full 2>stderr && fail "stdout is full, yet all is well"
grep -q "^kradix: cannot write to stdout: No space left on device" stderr || fail "says: $(cat stderr)"

# Ended from outside in the middle: nothing is left. (1.6 GB of keys cannot be made in no time.)
set -m  # a shell without job control has its background jobs ignore SIGINT
for signal in INT TERM HUP; do
  "$kradix" gen --key f64 --distribution normal --count 200000000 gone.bin >stdout 2>stderr &
  for ((tries = 0; tries < 200; ++tries)); do
    [[ -n $(find . -name '.kradix-*') ]] && break
    sleep 0.05
  done
  kill -"$signal" $! || fail "it had ended already"
  wait $!
  (($? > 128)) || fail "not ended by SIG$signal"
  absent gone.bin
  no_unfinished_file
done
set +m

same before.bin input.bin
finish
