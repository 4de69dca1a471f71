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

# What a native build needs before CMake can look for Kokkos.
need_build_tools() {
  local missing=()
  have cmake || missing+=(cmake)
  have "${CXX:-c++}" || missing+=(g++)
  have ninja || have make || missing+=(ninja-build)
  [[ -d /etc/ssl/certs ]] || missing+=(ca-certificates)
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
}
