// The buckets of many 4-byte keys at once, by SIMD: compiled for each of a machine's instruction sets (src/highway), and only with the
// component Highway.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kradix::impl {

/// What finds a key's bucket (`BucketTable` and `KeyCells`), in plain numbers.
struct TableNumbers {
  using Word = std::uint32_t;

  Word wanted;
  Word low, high;  ///< cells of one width,
  int shift;
  bool by_width;  ///< or around a center, by so many fine bits
  Word center, middle;
  int fine;
  const std::uint16_t* bucket;  ///< [cell]; some bytes behind the last one may be read
  const Word* heavy;            ///< [bucket]
};

#ifdef KRADIX_ENABLE_HIGHWAY
/// The bucket of each key to `buckets`: quicker than one key after the other with vectors of 32 bytes or more. (For 8-byte keys
/// it is not.)
void find_buckets(const std::uint32_t* keys, std::size_t size, const TableNumbers& table,
                  std::uint16_t* buckets);
#endif

}  // namespace kradix::impl
