# shellcheck shell=bash
# A private Debian 13 root beside the user's caches, for machines that reach nothing but Debian's
# archive: Debian 12 has no Kokkos, and unstable's libkokkos-dev needs Debian 13's C library. Sourced.
#
# It is built in a temporary folder and renamed when complete, so a broken attempt is never used.
# Everything in it runs in a mount namespace of its own: the mounts vanish with the command.

# Moves with enter_private_root.sh and fill_private_root.sh: another recipe, another root.
private_root_recipe=3
private_root_dir() { printf '%s/kradix/debian13-%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}" "$private_root_recipe"; }

private_root_ready() { [[ -e $(private_root_dir)/.complete ]]; }

# Can this process mount and chroot?
private_root_possible() {
  [[ $EUID -eq 0 ]] && unshare --mount true 2>/dev/null
}

# The first archive of this machine's own apt configuration that holds both releases we need.
debian_archive() {
  local uri
  while read -r uri; do
    if downloads "$uri/dists/trixie/Release" && downloads "$uri/dists/unstable/Release"; then
      printf '%s\n' "$uri"
      return 0
    fi
  done < <(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed 's,/*$,,' | grep '^http' | sort -u)
  return 1
}

# downloads URL: can it be had? Through apt's proxy, as apt would.
downloads() {
  local http_proxy=${http_proxy:-} https_proxy=${https_proxy:-} proxy
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  if [[ -n ${proxy:-} && $proxy != DIRECT ]]; then
    http_proxy=$proxy https_proxy=$proxy
  fi
  export http_proxy https_proxy
  wget --quiet --spider --tries=2 --timeout=20 "$1"
}

make_private_root() {
  local final partial archive lock
  final=$(private_root_dir)
  partial=$final.partial
  mkdir -p "$(dirname "$final")"
  exec {lock}>"$final.lock"
  flock "$lock"   # two commands at once: the second waits, and finds the root there
  if private_root_ready; then exec {lock}>&-; return; fi

  need_debootstrap
  archive=$(debian_archive) ||
    fail "no archive in this machine's apt configuration holds Debian trixie and unstable;" \
      "install Kokkos >= 4.7 and set Kokkos_ROOT"
  note "no Kokkos here and GitHub cannot be reached: making a private Debian 13 root from $archive"
  note "  in $final (once, some 2 minutes and 1 GB; delete that folder to be rid of it)"
  rm -rf --one-file-system "$partial"
  step "Debian 13 base system" unshare --mount \
    bash "$repo/scripts/lib/fill_private_root.sh" base "$partial" "$archive"
  step "compiler, CMake, Kokkos, MPI, test libraries" unshare --mount \
    bash "$repo/scripts/lib/fill_private_root.sh" packages "$partial" "$archive"
  touch "$partial/.complete"
  mv "$partial" "$final"
  exec {lock}>&-
}

# fill_private_root_for PART TITLE: what only some commands need, once for a root.
fill_private_root_for() {
  local root archive
  root=$(private_root_dir)
  [[ ! -e $root/.$1 ]] || return 0
  archive=$(debian_archive) && (step "$2" unshare --mount \
    bash "$repo/scripts/lib/fill_private_root.sh" "$1" "$root" "$archive") && touch "$root/.$1"
}

need_debootstrap() {
  local missing=()
  command -v debootstrap >/dev/null || missing+=(debootstrap)
  command -v wget >/dev/null || missing+=(wget)
  [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || missing+=(debian-archive-keyring)
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
}
