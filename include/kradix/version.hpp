// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// CMake reads the numbers from here, so they stand in one place.
#define KRADIX_VERSION_MAJOR 0
#define KRADIX_VERSION_MINOR 2
#define KRADIX_VERSION_PATCH 0

#define KRADIX_VERSION \
  (KRADIX_VERSION_MAJOR * 10000 + KRADIX_VERSION_MINOR * 100 + KRADIX_VERSION_PATCH)
