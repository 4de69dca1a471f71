// Words alone on hosts with AVX2 or wider vectors: all threads together part them by SIMD where they lie, until there is a part for
// each, which SIMD sorts. Nothing of that without the component Highway.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>

#include "kradix/impl/host/host_level.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/host/simd_partition.hpp"
#include "kradix/impl/host/sort_in_place.hpp"
#include "kradix/impl/host/threads.hpp"

namespace kradix::impl {

template <class Level>
struct SimdParts {
  static constexpr bool exists = false;
  static bool serve(const Level&) { return false; }
};

#ifdef KRADIX_ENABLE_HIGHWAY
/// Whole keys that are stored encoded, and none of which the order cannot store, are words. They lie in the sink.
template <class Level>
  requires(Level::can_count && !Level::OrderType::has_special &&
           (std::is_same_v<typename Level::Stored, std::uint32_t> ||
            std::is_same_v<typename Level::Stored, std::uint64_t>))
struct SimdParts<Level> {
  using Word = typename Level::Stored;
  using OrderType = typename Level::OrderType;
  static constexpr bool exists = true;

  /// Are they parted sooner than they are moved to buckets by a table? See docs/algorithms/blocked_radix.md.
  static bool serve(const Level& level) {
    return level.parts_words && level.all_bits_count() && level.sink.keys != nullptr;
  }
  /// And if they spread over buckets by a digit, which moves them quickest? Threads that part few words wait for each other.
  static bool serve_spread(std::size_t size, std::size_t threads) {
    // Shorter vectors hold few words of 8 bytes, and passes in cache take the less the more often a core stores.
    const std::size_t most = sizeof(Word) == 4  ? ~std::size_t{0}
                             : !has_wide_simd() ? 0
                             : stores_twice()   ? std::size_t{3} << 20
                                                : ~std::size_t{0};
    const auto rounds = static_cast<std::size_t>(bit_width_of<std::uint64_t>(threads - 1));
    return size <= most && threads <= most_threads && size >= threads * rounds * rounds * 4096;
  }

  struct Part {
    std::size_t begin, end;
    std::size_t sample_begin, sample_end;  ///< of the sample's words, those in the part
    Word least;                            ///< no word is less
    bool is_one_key = false;
    Word splitter = 0;
    bool is_cut = false;  ///< in two, this round
    std::size_t size() const { return end - begin; }
  };
  /// What one thread parts of a part.
  struct Slice {
    std::size_t begin, end, part;
    std::size_t below;  ///< so many of its words are less than the splitter
  };
  /// Stretches that change places.
  struct Exchange {
    std::size_t left, right, size;
  };
  static constexpr std::size_t most_threads = 64;  ///< that get slices and parts of their own
  static constexpr std::size_t least_grain = std::size_t{1} << 15;
  static constexpr std::size_t most_parts = 4 * most_threads, most_slices = 8 * most_threads;
  /// Each ends with a slice's words on one side or the other, or is as long as a slice.
  static constexpr std::size_t most_exchanges = 3 * most_slices + most_parts;

  Level level;
  WordTurn<Word> turn;  ///< of words that have not been parted yet
  Word* words;
  const Word* sample;  ///< in order
  Part *parts, *next_parts;
  Slice* slices;
  Exchange* exchanges;
  /// Doubles are parted by what they turn to, but stay what they are where they are best sorted as such, or most are not sorted.
  bool keeps = false;
  std::size_t part_count = 1, slice_count = 0, exchange_count = 0;
  /// Longer parts are halved by whoever sorts them: where sizes do not tell how long they take, and with AVX2 until a core's cache
  /// holds them, which takes less time than Highway's sort.
  std::size_t grain;

  static constexpr std::size_t bytes() {
    return 2 * most_parts * sizeof(Part) + most_slices * sizeof(Slice) +
           most_exchanges * sizeof(Exchange);
  }
  /// `memory`: so many bytes.
  SimdParts(const Level& of, const Word* sample_in_order, std::size_t sampled, std::byte* memory)
      : level(of),
        turn(turn_of(of.order)),
        words(of.sink.keys),
        sample(sample_in_order),
        parts(reinterpret_cast<Part*>(memory)),
        next_parts(parts + most_parts),
        slices(reinterpret_cast<Slice*>(next_parts + most_parts)),
        exchanges(reinterpret_cast<Exchange*>(slices + most_slices)),
        grain(has_wide_simd() ? of.range.size() : of.capacity / 2) {
    const std::size_t alike = count_alike(sample, sampled);
    keeps = orders_doubles<OrderType> && (has_wide_simd() || 2 * alike > sampled);
    if (4 * alike > sampled) {
      grain = std::min(grain, std::max(of.range.size() / (8 * of.threads), least_grain));
    }
    parts[0] = {0, of.range.size(), 0, sampled, 0};
  }

  /// Cuts parts that are larger than a share, and those into slices. False if there are none.
  bool cut(std::size_t share, std::size_t slice) {
    slice_count = 0;
    std::size_t count = part_count;
    for (std::size_t p = 0; p < part_count; ++p) {
      Part& part = parts[p];
      const std::size_t pieces = (part.size() + slice - 1) / slice;
      part.is_cut = part.size() > share + share / 4 && count < most_parts &&
                    slice_count + pieces <= most_slices && split(part);
      if (!part.is_cut) continue;
      ++count;
      for (std::size_t i = 0; i < pieces; ++i) {
        slices[slice_count++] = {part.begin + part.size() * i / pieces,
                                 part.begin + part.size() * (i + 1) / pieces, p, 0};
      }
    }
    return slice_count > 0;
  }

  /// After slices were parted: what parts there are now, and what lies on the wrong side of a border.
  void join(std::size_t slice) {
    exchange_count = 0;
    std::size_t count = 0, first = 0;
    for (std::size_t p = 0; p < part_count; ++p) {
      const Part& part = parts[p];
      if (!part.is_cut) {
        next_parts[count++] = part;
        continue;
      }
      std::size_t last = first, border = part.begin;
      for (; last < slice_count && slices[last].part == p; ++last) border += slices[last].below;
      exchange(first, last, border, slice);
      first = last;
      cut_at(border, part, next_parts[count], next_parts[count + 1]);
      count += 2;
    }
    std::swap(parts, next_parts);
    part_count = count;
    end_turning();
  }

  /// All words have been turned by now, or never will be.
  void end_turning() {
    if (!keeps) turn = {};
  }

  void part(Slice& slice) const {
    slice.below = part(slice.begin, slice.end, parts[slice.part].splitter);
  }

  /// By one thread, if the part is long. What is behind the splitter is another part then.
  bool halve(Part& part, Part& other) const {
    if (part.size() <= grain || !split(part)) return false;
    const std::size_t border = part.begin + this->part(part.begin, part.end, part.splitter);
    cut_at(border, part, part, other);
    return true;
  }

  void sort(const Part& part) const {
    Word* const begin = words + part.begin;
    if (keeps) {
      if (!part.is_one_key) sort_in_place(level.order, begin, begin, part.size());
    } else {
      if (!part.is_one_key) sort_leaf(begin, part.size());
      const auto back = turn_of(level.order);
      if (back.changes()) turn_back(begin, part.size(), back);
    }
  }

  /// Long parts last, where they are taken from, and first what is in order.
  void line_up() const {
    std::sort(parts, parts + part_count, [](const Part& a, const Part& b) {
      return a.is_one_key != b.is_one_key ? a.is_one_key : a.size() < b.size();
    });
  }

 private:
  std::size_t part(std::size_t begin, std::size_t end, Word splitter) const {
    if constexpr (orders_doubles<OrderType>) {
      if (keeps) return part_doubles(words + begin, end - begin, splitter, turn);
    }
    return part_words(words + begin, end - begin, splitter, turn);
  }

  /// Either may be the part itself.
  void cut_at(std::size_t border, Part part, Part& below, Part& others) const {
    const Word* const middle =
        std::lower_bound(sample + part.sample_begin, sample + part.sample_end, part.splitter);
    const auto sample_border = static_cast<std::size_t>(middle - sample);
    const bool is_one_key = part.splitter == static_cast<Word>(part.least + 1);
    below = {part.begin, border, part.sample_begin, sample_border, part.least, is_one_key};
    others = {border, part.end, sample_border, part.sample_end, part.splitter};
  }

  /// By the middle of its sample. Where that is the least, that key gets a part of its own: what is less goes first, then what is
  /// greater. False if there is nothing to part.
  bool split(Part& part) const {
    if (part.is_one_key || part.sample_begin == part.sample_end) return false;
    const Word first = sample[part.sample_begin];
    part.splitter = sample[part.sample_begin + (part.sample_end - part.sample_begin) / 2];
    if (part.splitter == first && part.least == first) {
      part.is_one_key = first == static_cast<Word>(~Word{0});
      part.splitter = static_cast<Word>(first + 1);
    }
    return !part.is_one_key;
  }

  /// Of slices [first, last) what is not below and lies before the border, with what is below and lies behind.
  void exchange(std::size_t first, std::size_t last, std::size_t border, std::size_t most) {
    std::size_t left = first, right = first, left_at = 0, right_at = 0;
    const auto left_end = [&] { return std::min(slices[left].end, border); };
    const auto right_end = [&] { return slices[right].begin + slices[right].below; };
    const auto open_left = [&] { left_at = slices[left].begin + slices[left].below; };
    const auto open_right = [&] { right_at = std::max(slices[right].begin, border); };
    open_left();
    open_right();
    for (;;) {
      while (left < last && left_at >= left_end()) {
        if (++left < last) open_left();
      }
      while (right < last && right_at >= right_end()) {
        if (++right < last) open_right();
      }
      if (left == last || right == last) return;
      const std::size_t size = std::min({left_end() - left_at, right_end() - right_at, most});
      exchanges[exchange_count++] = {left_at, right_at, size};
      left_at += size;
      right_at += size;
    }
  }
};
#endif

/// Keys to where they are parted, as they are stored.
template <class Parts>
struct EnterWords {
  Parts parts;
  void operator()(std::size_t) const {
    const auto order = parts.level.order;
    const auto* const keys = parts.level.source.keys;
    auto* const words = parts.words;
    const bool keeps = parts.keeps;
    parts.level.for_each_block([=](std::size_t begin, std::size_t end) {
      if (keeps) {
        std::copy(keys + begin, keys + end, words + begin);
        return;
      }
      for (std::size_t i = begin; i < end; ++i) words[i] = order.enter(keys[i]);
    });
  }
};

template <class Parts>
struct PartSlices {
  Parts parts;
  void operator()(std::size_t) const {
    parts.level.for_each_claimed(parts.slice_count,
                                 [&](std::size_t s) { parts.part(parts.slices[s]); });
  }
};

template <class Parts>
struct ExchangeStretches {
  Parts parts;
  void operator()(std::size_t) const {
    parts.level.for_each_claimed(parts.exchange_count, [&](std::size_t e) {
      const auto [left, right, size] = parts.exchanges[e];
      std::swap_ranges(parts.words + left, parts.words + left + size, parts.words + right);
    });
  }
};

/// The parts that nobody has taken yet; threads take them one after the other, and give halves back.
template <class Parts>
class PartPool {
 public:
  using Part = typename Parts::Part;
  explicit PartPool(const Parts& parts)
      : parts_(parts.parts), waiting_(parts.part_count), open_(parts.part_count) {}

  /// False if all are done; waits while others may give some.
  bool take(Part& part) {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(mutex_);
      if (open_ == 0) return false;
      if (waiting_ == 0) continue;
      part = parts_[--waiting_];
      return true;
    }
  }
  /// False if there is no room.
  bool give(const Part& part) {
    const std::lock_guard lock(mutex_);
    if (waiting_ == Parts::most_parts) return false;
    parts_[waiting_++] = part;
    ++open_;
    return true;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    --open_;
  }

 private:
  std::mutex mutex_;
  Part* parts_;
  std::size_t waiting_;  ///< to be taken
  std::size_t open_;     ///< and those that were taken and are not done
};

template <class Parts>
struct SortParts {
  Parts parts;
  PartPool<Parts>* pool;

  void operator()(std::size_t) const {
    typename Parts::Part part, other;
    while (pool->take(part)) {
      while (parts.halve(part, other)) {
        if (part.size() < other.size()) std::swap(part, other);
        if (!pool->give(other)) parts.sort(other);
      }
      parts.sort(part);
      pool->done();
    }
  }
};

/// The host loop.
template <class ExecutionSpace, class Parts>
struct SortByParts {
  const HostThreads<ExecutionSpace>& on;
  Parts parts;
  std::size_t least_slice = 4096;

  void sort() {
    const std::size_t size = parts.level.range.size(), share = size / threads();
    const std::size_t slice = std::max(size / (4 * threads()) + 1, least_slice);
    bool is_cut = threads() > 1 && parts.cut(share, slice);
    const bool waits = !parts.keeps && !is_cut && parts.turn.changes();
    if (parts.level.source.keys != parts.words || waits) {
      launch("EnterWords", EnterWords<Parts>{parts});
      parts.end_turning();
    }
    for (; is_cut; is_cut = parts.cut(share, slice)) {
      launch("PartSlices", PartSlices<Parts>{parts});
      parts.join(slice);
      if (parts.exchange_count == 0) continue;
      launch("ExchangeStretches", ExchangeStretches<Parts>{parts});
    }
    parts.line_up();
    PartPool pool(parts);
    launch("SortParts", SortParts<Parts>{parts, &pool});
  }

 private:
  std::size_t threads() const { return std::min(parts.level.threads, Parts::most_threads); }

  template <class Kernel>
  void launch(const char* name, const Kernel& kernel) const {
    parts.level.open();
    on.launch(name, threads(), kernel);
  }
};

}  // namespace kradix::impl
