// The byte bound: what an algorithm must move through memory, and how fast memory is.
#pragma once

#include <array>
#include <cstdint>

#include "support/case.hpp"

namespace bench {

/// 128 bits, the low word first.
using BitMask = std::array<std::uint64_t, 2>;

/// Passes that `plan` comes down to for keys that differ in these bits of their encoding:
///   four_kernel  8-bit digits that each start at a bit that varies and cover all that do;
///   onesweep     those of the fixed 8-bit digits in which a bit varies;
///   msd_hybrid   as few sweeps as leave short runs of keys that spread evenly, and the finish; three of 2^28 keys
///                alone and more, of which at most 32 bits vary;
///   counting     one: all keys are counted once;
///   blocked_radix  the move of blocks to buckets and that of buckets to order, while buckets fit a cache;
///   for study    all of the plan's; of ranges mapped exactly those up to the highest bit that varies
///                (fewer where the least key is not near zero).
int passes_of(const kradix::Plan& plan, const BitMask& varying);

/// Least bytes that `plan` moves in that many passes over n keys of k bytes with v bytes each, caches
/// and counters left out:
///   four_kernel  n k + passes n (3 k + 2 v): one read to survey the keys; each pass counts them, then
///                reads and writes them with their values;
///   onesweep     n k + passes n (2 k + 2 v): one read counts all digits;
///   msd_hybrid   likewise;
///   counting     n 2 k: keys are read once and written anew;
///   blocked_radix  passes n (2 k + 2 v): what a block or bucket reads again lies in a cache.
/// A scan costs s = 24 bytes a number (divide and conquer) or 16. Algorithms for study, with n k more where
/// ranges are mapped:
///   bit_split    passes n (3 k + 2 v + 16 + s): flags are written, scanned and read;
///   serial_radix, zagha_blelloch, four_prefix, hp_stable, transposed
///                passes n (3 k + 2 v): keys are counted, then read and written with their values;
///   satish       passes n 4 (k + v): tiles are put in order and then copied;
///   ha_kruger_silva  the same; pairs side by side take p = 2 max(k, v) for k + v but at the ends;
///   one_team     n 4 (k + v): to the other array and back, whatever its cache does;
///   hp_sort      r (16 + s) + n (2 k + 16 + s) for a range of r values;
///   hp_distinct  r (16 + s) + n 2 k;
///   hp_compressed  r 24 + n (2 k + 16 + s), and something for each value that occurs.
/// In place, an odd number of passes (without a finish) ends with a copy, 2 n (k + v) more. argsort reads no values in its
/// first pass and writes no keys in its last, n (k + v) less.
double bytes_moved(const kradix::Plan& plan, Operation operation, int passes);

/// Bytes per second that a copy reads and writes together, of arrays beyond any cache. Measured once.
double copy_bandwidth(const Space& exec);

}  // namespace bench
