# shellcheck shell=bash
# Where things are, for every command. Sourced; expects command_name.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
export HOME=${HOME:-$(getent passwd "$EUID" | cut -d: -f6)}
log_dir=$repo/build/logs

# Options for CMake, e.g. KRADIX_CMAKE_OPTIONS='-DFETCHCONTENT_SOURCE_DIR_KOKKOS=/path/to/kokkos'.
read -r -a cmake_options <<<"${KRADIX_CMAKE_OPTIONS:-}"

source "$repo/scripts/lib/report.sh"
source "$repo/scripts/lib/packages.sh"
source "$repo/scripts/lib/private_root.sh"
source "$repo/scripts/lib/environment.sh"
