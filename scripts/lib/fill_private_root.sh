#!/bin/bash
# fill_private_root.sh base|packages|bench|mpich ROOT ARCHIVE: runs in a mount namespace of its own.
set -euo pipefail
part=$1 root=$2 archive=$3
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

# The pieces of apt's configuration that decide whether this machine can download at all.
copy_apt_settings() {
  apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|Retries|https?::Proxy) ' \
    >"$root/etc/apt/apt.conf.d/90host" || true
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  if [[ $archive == https:* && -e /etc/ssl/certs/ca-certificates.crt ]]; then
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  fi
}

base() {
  local include=()
  [[ $archive != https:* ]] || include=(--include=ca-certificates)
  local proxy=
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  if [[ -n $proxy && $proxy != DIRECT ]]; then export http_proxy=$proxy https_proxy=$proxy; fi
  debootstrap --variant=minbase "${include[@]}" \
    --keyring=/usr/share/keyrings/debian-archive-keyring.gpg trixie "$root" "$archive"

  # Only Kokkos comes from unstable. Its Release file may be past its date on a frozen archive.
  printf 'deb %s trixie main\ndeb [check-valid-until=no] %s unstable main\n' "$archive" "$archive" \
    >"$root/etc/apt/sources.list"
  printf 'Package: *\nPin: release a=unstable\nPin-Priority: 50\n\n%s\n' \
    $'Package: libkokkos*\nPin: release a=unstable\nPin-Priority: 500' \
    >"$root/etc/apt/preferences.d/kokkos"
  printf 'force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-exclude=/usr/share/man/*\n' \
    >"$root/etc/dpkg/dpkg.cfg.d/lean"
  copy_apt_settings
}

install() {
  mount --rbind /dev "$root/dev"
  mount -t proc proc "$root/proc"
  local apt=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
    apt-get --quiet --yes)
  "${apt[@]}" update
  "${apt[@]}" install --no-install-recommends "$@"
  "${apt[@]}" clean
  rm -rf "$root"/var/lib/apt/lists/*
}

packages() {
  install g++ cmake ninja-build libkokkos-dev libgtest-dev libbenchmark-dev libcli11-dev libhwy-dev \
    openmpi-bin libopenmpi-dev python3
  complete_kokkos
}

bench() {
  copy_apt_settings
  install "${bench_packages[@]}"
}

mpich() {
  copy_apt_settings
  install mpich libmpich-dev
}

# The package names two static libraries that it does not carry (they hold no code), and
# find_package(Kokkos) insists on every file: empty archives stand in.
complete_kokkos() {
  local targets library
  targets=$(find "$root/usr/lib" -name 'KokkosTargets-none.cmake')
  while read -r library; do
    [[ -e $root/usr/$library ]] || printf '!<arch>\n' >"$root/usr/$library"
  done < <(sed -n 's,.*IMPORTED_LOCATION_NONE "${_IMPORT_PREFIX}/\(.*\.a\)".*,\1,p' "$targets")
}

"$part"
