# shellcheck shell=bash
# Chooses and prepares what programs are built with and run in. Sourced.
#
# provide_environment sets build_dir and enter (the words to put before a command), in this order:
#   1. this machine, with a Kokkos that CMake finds (Kokkos_ROOT, CMAKE_PREFIX_PATH, a package);
#   2. this machine, with Kokkos' pinned release from GitHub;
#   3. a private Debian 13 root, where only Debian's archive can be reached (private_root.sh).

provide_environment() {
  look_for_kokkos
  if [[ $found_kokkos == no && -n ${Kokkos_ROOT:-} ]]; then
    need_build_tools
    look_for_kokkos
    [[ $found_kokkos != no ]] ||
      fail "Kokkos_ROOT=$Kokkos_ROOT holds no Kokkos that can be used here; see $log_dir/probe.log"
  fi

  if [[ $found_kokkos != no ]]; then
    note "this machine's Kokkos $found_kokkos"
    use native
    need_test_packages
    need_highway
    need_mpi
    cmake_options+=(-D CMAKE_DISABLE_FIND_PACKAGE_Kokkos=OFF)
  elif [[ -e $repo/build/native/_deps/kokkos-src/CMakeLists.txt ]]; then
    use_fetched_kokkos
  elif private_root_ready && private_root_possible; then
    use debian13
  elif github_reachable; then
    note "no Kokkos here: building its release from GitHub"
    need_build_tools
    use_fetched_kokkos
  elif private_root_possible; then
    make_private_root
    use debian13
  else
    fail "found no Kokkos >= 4.7, GitHub cannot be reached, and only root (where mounting is allowed)" \
      "can make a private Debian root: install Kokkos and set Kokkos_ROOT, or run this as root"
  fi
  mkdir -p "$repo/build"
  printf '%s\n' "$environment" >"$repo/build/environment"
}

# What an earlier command provided, for scripts/run.
recall_environment() {
  [[ -e $repo/build/environment ]] || fail "nothing is built yet: run scripts/demo or scripts/test first"
  use "$(cat "$repo/build/environment")"
  [[ $environment == native ]] || private_root_ready ||
    fail "the private root $(private_root_dir) is gone: run scripts/demo or scripts/test again"
}

use() {
  environment=$1
  if [[ $environment == native ]]; then
    build_dir=$repo/build/native
    enter=(env PATH="$build_dir/bin:$PATH:$build_dir/bin/examples")
  else
    build_dir=$repo/build/$(basename "$(private_root_dir)")
    enter=(unshare --mount bash "$repo/scripts/lib/enter_private_root.sh"
      "$(private_root_dir)" "$repo" "$build_dir")
  fi
  log_dir=$build_dir/logs
  allow_ranks
}

allow_ranks() {
  # More ranks than cores are fine for trying things out, and in a root of our own we are root.
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  if ((EUID == 0)); then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
}

# A package that is too old or incomplete (it can be: see complete_kokkos) must not stand in its way.
use_fetched_kokkos() {
  use native
  need_highway
  need_mpi
  cmake_options+=(-D CMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON)
}

# Sets found_kokkos (its version, or no) and missing_packages (of what the tests need).
look_for_kokkos() {
  found_kokkos=no missing_packages=
  local scratch
  have cmake && have "${CXX:-c++}" || return 0
  scratch=$(mktemp -d)
  mkdir -p "$log_dir"
  cmake -S "$repo/scripts/lib/probe" -B "$scratch" -D RESULT="$scratch/result" "${cmake_options[@]}" \
    >"$log_dir/probe.log" 2>&1 || true
  [[ ! -e $scratch/result ]] || source "$scratch/result"
  rm -rf "$scratch"
}

need_test_packages() {
  if [[ -n $missing_packages ]] && ! github_reachable; then
    # shellcheck disable=SC2086
    apt_install $missing_packages
  fi
}

# MPI is optional: where it cannot be had, the distributed sorts are left out. (A subshell, because a
# failed installation ends the command.)
need_mpi() {
  { have mpicxx && have mpirun; } || [[ " ${cmake_options[*]} " == *KRADIX_ENABLE_MPI=OFF* ]] ||
    (apt_install openmpi-bin libopenmpi-dev) || note "no MPI here: building without the distributed sorts"
}

# MPICH, beside the MPI that is built with. Only a machine where nothing can be installed does without.
need_mpich() {
  if [[ $environment != native ]]; then
    fill_private_root_for mpich "MPICH" || fail "MPICH cannot be installed"
  elif ! have mpicxx.mpich || ! have mpiexec.mpich; then
    if have apt-get && ((EUID == 0)); then
      apt_install mpich libmpich-dev
    else
      note "no MPICH here, and nothing can be installed: testing with the one MPI"
      return 1
    fi
  fi
}

# Highway is optional, too, of which CMake knows what is recent enough.
need_highway() {
  local offered minimum
  minimum=$(sed -n 's/^set(KRADIX_HIGHWAY_MINIMUM \(.*\))/\1/p' "$repo/cmake/kradix_highway.cmake")
  have apt-cache || return 0
  offered=$(apt-cache policy libhwy-dev | sed -n 's/^  Candidate: \([0-9].*\)/\1/p')
  [[ -n $offered ]] && dpkg --compare-versions "$offered" ge "$minimum" || return 0
  is_installed libhwy-dev || (apt_install libhwy-dev) || note "no Highway here: building without SIMD on hosts"
}

github_reachable() {
  local url
  url=$(sed -n 's/^set(kradix_kokkos_url \(.*\))/\1/p' "$repo/cmake/kradix_kokkos.cmake")
  if have curl; then
    curl --silent --fail --location --range 0-0 --max-time 20 --output /dev/null "$url"
  elif have wget; then
    wget --quiet --spider --tries=1 --timeout=20 "$url"
  else
    timeout 5 bash -c ': </dev/tcp/github.com/443' 2>/dev/null
  fi
}
