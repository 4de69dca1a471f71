# shellcheck shell=bash
# Configures and builds in the provided environment. Sourced.

configure() {
  local generator=()
  if [[ ! -e $build_dir/CMakeCache.txt ]] && "${enter[@]}" sh -c 'command -v ninja' >/dev/null; then
    generator=(-G Ninja)
  fi
  mkdir -p "$build_dir"
  exec {build_lock}>"$build_dir/.lock"
  flock "$build_lock"  # another command may be building in the same tree
  step "configuring" "${enter[@]}" cmake -S "$repo" -B "$build_dir" "${generator[@]}" \
    -D CMAKE_BUILD_TYPE=Release "${cmake_options[@]}"
}

# build [TARGET...]: ninja shows its own status on a terminal.
build() {
  local command=("${enter[@]}" cmake --build "$build_dir" --parallel "$(build_jobs)")
  (($# == 0)) || command+=(--target "$@")
  if [[ -t 1 ]]; then
    note "building"
    "${command[@]}" || fail "building failed"
  else
    step "building" "${command[@]}"
  fi
}

# Compilers of this much template code want some 1.5 GB each.
build_jobs() {
  local cores by_memory
  cores=$(nproc)
  by_memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
  if ((by_memory < 1)); then by_memory=1; fi
  echo "${CMAKE_BUILD_PARALLEL_LEVEL:-$((cores < by_memory ? cores : by_memory))}"
}
