# shellcheck shell=bash
# Programs and packages of this machine, installed by apt where we are root. Sourced.

apt_install() {
  command -v apt-get >/dev/null || fail "please install with this machine's package manager: $*"
  ((EUID == 0)) || fail "please run: sudo apt-get install $*"
  step "installing $*" apt_install_quietly "$@"
}

apt_install_quietly() {
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@")
  "${install[@]}" || { apt-get update && "${install[@]}"; }
}

have() { command -v "$1" >/dev/null; }

is_installed() { dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

# What a native build needs before CMake can look for Kokkos.
need_build_tools() {
  local missing=()
  have cmake || missing+=(cmake)
  have "${CXX:-c++}" || missing+=(g++)
  have ninja || have make || missing+=(ninja-build)
  [[ -d /etc/ssl/certs ]] || missing+=(ca-certificates)
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
}

# Peers of the benchmarks, and what draws the plots; everything works without them.
bench_packages=(python3-matplotlib libboost-dev libtbb-dev libhwy-dev)

need_bench_packages() {
  if [[ $environment != native ]]; then
    fill_private_root_for bench "libraries to compare with, matplotlib" ||
      note "measuring without the libraries to compare with, or without plots"
  else
    have python3 || apt_install python3
    local missing=() package
    for package in "${bench_packages[@]}"; do
      is_installed "$package" || missing+=("$package")
    done
    ((${#missing[@]} == 0)) || (apt_install "${missing[@]}") ||
      note "measuring without what of these is missing: ${missing[*]}"
  fi
}
