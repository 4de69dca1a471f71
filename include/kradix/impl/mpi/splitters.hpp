// Where the sorted whole is cut: an exact search by digits, from histograms alone.
//
// Every round resolves up to eight more bits of every cut's key: the caller counts, for each distinct
// prefix that is still open, the keys that have it by their next digit, adds the counts of all ranks, and
// hands both back. Knows order, not messages: one process can play any number of ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kradix/impl/device/digit.hpp"
#include "kradix/key.hpp"

namespace kradix::impl::mpi {

/// One cut of the sorted whole. Left of it lie all keys below `bits` and the first
/// `target - less` of those equal to it, by (rank, index).
template <class Bits>
struct Cut {
  std::uint64_t target = 0;
  Bits bits{};
  std::uint64_t less = 0, equal = 0;              ///< of all ranks
  std::uint64_t local_less = 0, local_equal = 0;  ///< of this rank
  bool has_bits = true;                           ///< no: everything or nothing lies left of it
};

/// The digit of a round: bits [shift, shift + width).
struct Window {
  int shift = 0, width = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

/// The digit of the first round.
inline Window first_window(int key_bits) {
  const int width = std::min(digit_bits, key_bits);
  return {key_bits - width, width};
}

template <class Bits>
class SplitterSearch {
 public:
  /// `targets`, ascending: how many of the `total` elements lie left of each cut. `local` of them are
  /// this rank's. Keys have `key_bits` bits.
  SplitterSearch(int key_bits, std::uint64_t total, std::uint64_t local,
                 const std::vector<std::uint64_t>& targets)
      : open_bits_(key_bits) {
    cuts_.reserve(targets.size());
    for (std::size_t t = 0; t < targets.size(); ++t) {
      Cut<Bits> cut;
      cut.target = targets[t];
      cut.has_bits = targets[t] > 0 && targets[t] < total;
      if (targets[t] == 0) {
        cut.equal = cut.local_equal = 0;
      } else if (targets[t] >= total) {
        cut.less = total;
        cut.local_less = local;
      } else {
        cut.equal = total;
        cut.local_equal = local;
        open_.push_back(t);
      }
      cuts_.push_back(cut);
    }
    group();
  }

  /// Bits in which no two keys differ need no rounds: `all_set` are set in every key, `varying` in some.
  void leave_out_constant_bits(Bits all_set, Bits varying) {
    all_set_ = all_set;
    varying_ = varying;
    skip_constant_bits();
  }

  bool done() const { return open_.empty(); }
  Window window() const {
    const int width = std::min(digit_bits, open_bits_);
    return {open_bits_ - width, width};
  }
  /// Distinct, ascending: the bits above the window that keys must have to be counted.
  const std::vector<Bits>& prefixes() const { return prefixes_; }
  static constexpr std::size_t bins = bin_count;
  int rounds() const { return rounds_; }

  /// Takes counts[prefix][bin] of all ranks, and of this one.
  void refine(const std::uint64_t* global, const std::uint64_t* local) {
    const Window w = window();
    std::vector<std::size_t> still_open;
    std::size_t slot = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (i > 0 && slot_of_[i] != slot_of_[i - 1]) ++slot;
      Cut<Bits>& cut = cuts_[open_[i]];
      if (!descend(cut, w, global + slot * bins, local + slot * bins))
        still_open.push_back(open_[i]);
    }
    open_ = std::move(still_open);
    open_bits_ = w.shift;
    ++rounds_;
    skip_constant_bits();
  }

  const std::vector<Cut<Bits>>& cuts() const { return cuts_; }

 private:
  /// Moves the cut into the bin that holds the first key right of it. True when that settles it: the
  /// bin begins there, or no bits are left.
  static bool descend(Cut<Bits>& cut, Window w, const std::uint64_t* global,
                      const std::uint64_t* local) {
    std::size_t bin = 0;
    while (cut.less + global[bin] <= cut.target) {
      cut.less += global[bin];
      cut.local_less += local[bin];
      ++bin;
    }
    cut.bits |= static_cast<Bits>(static_cast<Bits>(bin) << w.shift);
    cut.equal = global[bin];
    cut.local_equal = local[bin];
    return cut.less == cut.target || w.shift == 0;
  }

  void skip_constant_bits() {
    while (open_bits_ > 0 && !(varying_ >> (open_bits_ - 1) & 1)) {
      --open_bits_;
      const Bits bit = static_cast<Bits>(all_set_ & static_cast<Bits>(Bits{1} << open_bits_));
      for (const std::size_t t : open_) cuts_[t].bits |= bit;
    }
    if (open_bits_ == 0) open_.clear();
    group();
  }

  /// Cuts in the same prefix share its counts.
  void group() {
    prefixes_.clear();
    slot_of_.clear();
    const bool nothing_above = open_bits_ >= static_cast<int>(8 * sizeof(Bits));
    for (const std::size_t t : open_) {
      const Bits prefix = nothing_above ? Bits{0} : static_cast<Bits>(cuts_[t].bits >> open_bits_);
      if (prefixes_.empty() || prefixes_.back() != prefix) prefixes_.push_back(prefix);
      slot_of_.push_back(prefixes_.size() - 1);
    }
  }

  std::vector<Cut<Bits>> cuts_;
  std::vector<std::size_t> open_;     ///< cuts that are not settled, ascending
  std::vector<std::size_t> slot_of_;  ///< of each open cut, its prefix
  std::vector<Bits> prefixes_;
  Bits all_set_ = 0;
  Bits varying_ = static_cast<Bits>(~Bits{0});
  int open_bits_;
  int rounds_ = 0;
};

/// A key at which a partition divides; this rank has `place` keys below it.
template <class Bits>
struct Bound {
  Bits bits;
  std::uint64_t place;
};

/// Where a partition divides: a cut then lies at a bound, or between two with nothing but equal keys
/// between them, in their order. Distinct, ascending; at most two a cut.
template <class Bits>
std::vector<Bound<Bits>> bounds_of(const std::vector<Cut<Bits>>& cuts) {
  std::vector<Bound<Bits>> bounds;
  const auto add = [&](Bits bits, std::uint64_t place) {
    if (bounds.empty() || bounds.back().bits < bits) bounds.push_back({bits, place});
  };
  for (const Cut<Bits>& cut : cuts) {
    if (!cut.has_bits) continue;
    add(cut.bits, cut.local_less);
    const Bits next = static_cast<Bits>(cut.bits + 1);  // none after the greatest
    if (cut.target > cut.less && next != 0) add(next, cut.local_less + cut.local_equal);
  }
  return bounds;
}

template <class Codec>
using BoundsOf = std::vector<Bound<typename Codec::bits_type>>;

/// How many of this rank's elements lie left of a cut, given how many keys equal to it lower ranks hold.
template <class Bits>
std::uint64_t elements_left(const Cut<Bits>& cut, std::uint64_t equal_before) {
  const std::uint64_t take = cut.target > cut.less ? cut.target - cut.less : 0;
  const std::uint64_t left = take > equal_before ? take - equal_before : 0;
  return cut.local_less + std::min(left, cut.local_equal);
}

}  // namespace kradix::impl::mpi
