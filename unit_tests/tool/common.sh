#!/bin/bash
# What the tests of the tool share. Each runs in a folder of its own, which is removed at the end;
# every check that fails is named, and the script then ends with status 1.
set -u
export LC_ALL=C
kradix=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

fail() {
  echo "FAILED: $*"
  failed=1
}

# passes WORDS...: kradix succeeds and is silent on stderr. Its output is left in ./stdout.
passes() {
  "$kradix" "$@" >stdout 2>stderr || fail "kradix $*: status $?, $(cat stderr)"
  [[ ! -s stderr ]] || fail "kradix $*: wrote to stderr: $(cat stderr)"
}

# fails_with PATTERN WORDS...: kradix fails with one line on stderr that begins with its name and
# matches; nothing is on stdout and no unfinished file stays.
fails_with() {
  local pattern=$1
  shift
  if "$kradix" "$@" >stdout 2>stderr; then fail "kradix $*: succeeded"; fi
  [[ $(wc -l <stderr) == 1 ]] || fail "kradix $*: not one line on stderr: $(cat stderr)"
  grep -q "^kradix: .*$pattern" stderr || fail "kradix $*: no '$pattern' in: $(cat stderr)"
  [[ ! -s stdout ]] || fail "kradix $*: wrote to stdout: $(cat stdout)"
  no_unfinished_file
}

no_unfinished_file() {
  [[ -z $(find . -name '.kradix-*') ]] || fail "left behind: $(find . -name '.kradix-*')"
}

absent() { [[ ! -e $1 ]] || fail "$1 exists"; }
same() { cmp "$1" "$2" || fail "$1 and $2 differ"; }
says() { grep -q "$1" stdout || fail "no '$1' in: $(cat stdout)"; }

finish() {
  ((failed == 0)) && echo "all as it should be"
  exit $failed
}
