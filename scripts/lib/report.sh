# shellcheck shell=bash
# What the commands say while they work. Sourced.

# fail MESSAGE...: the one line that says what to do, and the end.
fail() {
  printf 'scripts/%s: %s\n' "$command_name" "$*" >&2
  exit 1
}

note() { printf '== %s\n' "$*"; }

# step TITLE COMMAND...: runs it with its output in a log under $log_dir, showing the seconds it has
# taken; on failure the end of the log and one line.
step() {
  local title=$1 start=$SECONDS shown=$SECONDS status=0 child log
  shift
  log=$log_dir/$(tr -cs 'a-zA-Z0-9\n' _ <<<"$title").log
  mkdir -p "$log_dir"
  set -m  # a process group of its own, so that an interrupt ends all of it
  "$@" </dev/null >"$log" 2>&1 &
  child=$!
  set +m
  trap 'kill -TERM -- -"$child" 2>/dev/null; exit 130' INT TERM
  printf '== %s ...' "$title"
  while kill -0 "$child" 2>/dev/null; do
    if [[ -t 1 ]]; then
      printf '\r== %s ... %d s' "$title" $((SECONDS - start))
    elif ((SECONDS - shown >= 30)); then
      shown=$SECONDS
      printf ' %d s ...' $((SECONDS - start))
    fi
    sleep 0.2
  done
  wait "$child" || status=$?
  trap - INT TERM
  [[ ! -t 1 ]] || printf '\r== %s ...' "$title"
  printf ' %d s\n' $((SECONDS - start))
  if ((status != 0)); then
    excerpt "$log" >&2
    fail "$title: failed with status $status; all its output is in $log"
  fi
}

# What a log says of a failure: ninja's first failed command, else the end.
excerpt() {
  if grep -q '^FAILED:' "$1"; then sed -n '/^FAILED:/,$p' "$1" | head -n 30; else tail -n 30 "$1"; fi
}
