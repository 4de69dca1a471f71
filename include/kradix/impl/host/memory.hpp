// What host sorts ask of the machine's memory: the size of its caches, lines read soon, lines written
// past the caches, large pages.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__unix__)
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kradix::impl {

inline constexpr std::size_t line_bytes = 64;

/// Bytes of the cache that each core has for itself, within what is sensible.
inline std::size_t core_cache_bytes() {
  static const std::size_t bytes = [] {
    long found = 0;
#if defined(_SC_LEVEL2_CACHE_SIZE)
    found = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    constexpr long least = 1 << 18, most = 1 << 21;
    return static_cast<std::size_t>(found > 0 ? std::clamp(found, least, most) : 1 << 19);
  }();
  return bytes;
}

/// The line there is wanted soon.
inline void prefetch_line(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

/// Writes a whole line, past the caches if `streams`. Both lie at multiples of a line's bytes.
inline void write_line(void* to, const void* line, bool streams) {
#if defined(__SSE2__)
  if (streams) {
    for (std::size_t i = 0; i < line_bytes / sizeof(__m128i); ++i) {
      _mm_stream_si128(static_cast<__m128i*>(to) + i,
                       _mm_load_si128(static_cast<const __m128i*>(line) + i));
    }
    return;
  }
#else
  (void)streams;
#endif
  std::memcpy(to, line, line_bytes);
}

/// Lines that were written past the caches are there for the threads that come next.
inline void settle_lines() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Asks for large pages where memory was taken but not touched yet: page faults cost half a sort else.
inline void advise_large_pages(void* memory, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = 1 << 21;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)memory, (void)bytes;
#endif
}

/// Writes a line of objects `of(j)` past the caches.
template <class T, class Of>
void stream_line(T* to, const Of& of) {
  constexpr std::size_t per_line = line_bytes / sizeof(T);
#if defined(__SSE2__)
  // A line in memory would be waited for: pairs of 8 bytes are not loaded as one while their stores are under way.
  if constexpr (sizeof(T) == sizeof(long long)) {
    const auto word = [&](std::size_t j) { return std::bit_cast<long long>(of(j)); };
    for (std::size_t j = 0; j < per_line; j += 2) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + j), _mm_set_epi64x(word(j + 1), word(j)));
    }
    return;
  }
#endif
  alignas(line_bytes) std::byte line[line_bytes];
  for (std::size_t j = 0; j < per_line; ++j) {
    const T object = of(j);
    std::memcpy(line + j * sizeof(T), &object, sizeof(T));
  }
  write_line(to, line, true);
}

/// Writes `count` objects `of(i)` to `to`, in whole lines where it can.
template <class T, class Of>
void write_objects(T* to, std::size_t count, bool streams, const Of& of) {
  constexpr std::size_t per_line = line_bytes / sizeof(T);
  std::size_t i = 0;
  if constexpr (line_bytes % sizeof(T) == 0 && line_bytes % alignof(T) == 0) {
    if (streams) {
      for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % line_bytes != 0; ++i) {
        to[i] = of(i);
      }
      for (; i + per_line <= count; i += per_line) {
        stream_line(to + i, [&](std::size_t j) { return of(i + j); });
      }
    }
  }
  for (; i < count; ++i) to[i] = of(i);
}

/// Writes bytes as they are.
inline void write_bytes(std::byte* to, const std::byte* from, std::size_t bytes, bool streams) {
  if (streams) {
    const std::size_t odd = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
    const std::size_t head = std::min(bytes, (line_bytes - odd) % line_bytes);
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + line_bytes <= bytes; at += line_bytes) {
      alignas(line_bytes) std::byte line[line_bytes];
      std::memcpy(line, from + at, line_bytes);
      write_line(to + at, line, true);
    }
    to += at, from += at, bytes -= at;
  }
  std::memcpy(to, from, bytes);
}

/// Pieces of bytes that go one behind the other, in whole lines past the caches if `streams`: what begins a line waits for the next
/// piece. (Stores to parts of lines that no cache holds wait for each other: a piece with two such costs 100 ns.)
class LineWriter {
 public:
  LineWriter(std::byte* to, bool streams)
      : to_(to),
        begin_(to),
        streams_(streams),
        odd_(-reinterpret_cast<std::uintptr_t>(to) % line_bytes) {}
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter() { std::memcpy(to_, line_, held_); }

  /// Bytes that were put.
  std::size_t size() const { return static_cast<std::size_t>(to_ - begin_) + held_; }

  void put(const std::byte* from, std::size_t bytes) {
    if (!streams_) {
      std::memcpy(to_, from, bytes);
      to_ += bytes;
      return;
    }
    if (odd_ > 0) {
      const std::size_t some = std::min(bytes, odd_);
      std::memcpy(to_, from, some);
      to_ += some, from += some, bytes -= some, odd_ -= some;
    }
    if (held_ > 0) {
      const std::size_t some = std::min(bytes, line_bytes - held_);
      std::memcpy(line_ + held_, from, some);
      held_ += some, from += some, bytes -= some;
      if (held_ < line_bytes) return;
      stream(line_);
      held_ = 0;
    }
    for (; bytes >= line_bytes; from += line_bytes, bytes -= line_bytes) {
      alignas(line_bytes) std::byte line[line_bytes];
      std::memcpy(line, from, line_bytes);
      stream(line);
    }
    std::memcpy(line_, from, bytes);
    held_ = bytes;
  }

 private:
  void stream(const std::byte* line) {
    write_line(to_, line, true);
    to_ += line_bytes;
  }

  std::byte *to_, *begin_;
  bool streams_;
  std::size_t odd_;       ///< bytes until the first whole line
  std::size_t held_ = 0;  ///< of a line
  alignas(line_bytes) std::byte line_[line_bytes];
};

}  // namespace kradix::impl
