#!/bin/bash
# enter_private_root.sh ROOT REPOSITORY BUILD_DIR COMMAND...: runs the command in ROOT. The folders of
# the machine that are not part of its system appear at the same paths, and so does the working
# directory. Runs in a mount namespace of its own, so nothing has to be unmounted.
set -euo pipefail
root=$1 repo=$2 build_dir=$3
shift 3

show() {  # show PATH: the machine's folder or file at the same path in the root
  if [[ -L $1 ]]; then
    rmdir "$root$1" 2>/dev/null || true
    [[ -e $root$1 || -L $root$1 ]] || ln -s "$(readlink "$1")" "$root$1"
  elif [[ -d $1 ]]; then
    mkdir -p "$root$1"
    mount --rbind "$1" "$root$1"
  else
    [[ -e $root$1 ]] || : >"$root$1"
    mount --bind "$1" "$root$1"
  fi
}

# A folder inside /var, /usr or /etc can only appear where the root has nothing of its own.
show_if_hidden() {
  [[ -d $root$1 && -n $(ls -A "$root$1") ]] || show "$1"
}

for path in /* /.[!.]*; do
  case $path in
    /bin | /sbin | /lib | /lib[0-9x]* | /usr | /etc | /var | /boot | /lost+found | '/.[!.]*') ;;
    *) [[ ! -d $path ]] || show "$path" ;;
  esac
done
for path in /var/*; do
  [[ ! -d $path ]] || show_if_hidden "$path"
done
for path in /etc/resolv.conf /etc/hosts /etc/hostname /etc/passwd /etc/group; do
  [[ ! -e $path ]] || mount --bind "$path" "$root$path" 2>/dev/null || true
done
for path in "$repo" "$build_dir" "$HOME" "$PWD"; do
  case $path in /usr/* | /var/* | /etc/*) show_if_hidden "$path" ;; esac
done
[[ -d $root$PWD ]] || { echo "the working directory $PWD cannot be shown in $root; change to another" >&2; exit 1; }

unset CC CXX LD_LIBRARY_PATH LD_PRELOAD Kokkos_ROOT CMAKE_PREFIX_PATH
exec chroot "$root" /usr/bin/env --chdir="$PWD" LC_ALL=C.UTF-8 \
  PATH="$build_dir/bin:/usr/local/bin:/usr/bin:/usr/sbin:$build_dir/bin/examples" "$@"
