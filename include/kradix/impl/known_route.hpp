// What a sort by msd_hybrid has chosen on the device, if the host has waited to know it: kernels that would find nothing to do
// need not be launched then. Each question is the one that such a kernel asks when it begins; who does not know launches all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/route.hpp"

namespace kradix::impl {

class KnownRoute {
 public:
  /// Nothing is known.
  KnownRoute() = default;
  KnownRoute(const Route& route, const PassTable& passes, const PassTable& sweeps)
      : known_(Known{route, passes, sweeps}) {}

  /// As words: the route, and behind it in scratch memory the lists of all passes and of those that are sweeps.
  static KnownRoute of(const std::uint64_t* words, std::size_t lists_at) {
    const std::uint64_t* const lists = words + lists_at;
    return {read<Route>(words), read<PassTable>(lists),
            read<PassTable>(lists + sizeof(PassTable) / sizeof(*lists))};
  }

  bool is_known() const { return known_.has_value(); }

  // Before the sweeps.
  bool takes_out_or_labels() const {
    return !known_ || known_->route.heavy != 0 || known_->passes.expands != 0;
  }
  int sweeps_by_labels(int most) const {
    return known_ ? std::min(known_->passes.expands, most) : most;
  }
  bool spreads_by_cells() const { return !known_ || known_->route.spreads_by_cells(); }

  // The passes.
  bool spreads() const {
    return !known_ || (known_->passes.count > 0 && !known_->passes.has_moved());
  }
  int sweeps(int most) const { return known_ ? std::min(known_->sweeps.count, most) : most; }
  bool sweeps_by_value() const { return spreads_so(Route::swept_by_value); }
  /// By that way alone (`Route::spreads`).
  bool spreads_so(int way) const { return !known_ || known_->route.spreads == way; }
  bool gathers() const { return finishes_so(PassTable::gathering); }
  bool deals() const { return finishes_so(PassTable::dealing); }
  bool ranges() const { return finishes_so(PassTable::ranging); }
  bool splits() const { return finishes_so(PassTable::splitting); }

  // What follows them.
  bool takes_out() const { return !known_ || known_->passes.takes_out != 0; }
  bool turns_ties_back() const {
    return !known_ || known_->passes.mirrors == PassTable::turning_ties_back;
  }
  bool finishes() const { return !known_ || known_->passes.finishes != 0; }
  bool finishes_chunks() const {
    if (!known_) return true;
    const Route& route = known_->route;
    const PassTable& passes = known_->passes;
    return passes.finishes != 0 && !passes.counts() && passes.finishes != PassTable::gathering &&
           passes.finishes != PassTable::dealing && route.mends == 0 && !route.leaves_suffixes();
  }
  bool finishes_even_chunks() const {
    return finishes_chunks() && !(known_ && known_->route.crowded != 0);
  }
  bool finishes_crowded_or_mends() const {
    return finishes() && !(known_ && known_->passes.finishes == PassTable::splitting);
  }
  /// Heavy keys come back, whatever the light ones took; all others where no finish followed: `settles` asks whether those
  /// passes leave them elsewhere.
  template <class Settles>
  bool settles(const Settles& settles) const {
    if (!known_) return true;
    const PassTable& passes = known_->passes;
    const bool turns = passes.mirrors == PassTable::turning_round;
    const bool elsewhere = turns || passes.expands != 0 || settles(passes);
    return passes.takes_out != 0 || (!passes.finishes && elsewhere);
  }

 private:
  struct Known {
    Route route;
    PassTable passes, sweeps;
  };
  template <class T>
  static T read(const std::uint64_t* words) {
    static_assert(std::is_trivially_copyable_v<T>);
    T copy;
    std::memcpy(static_cast<void*>(&copy), words, sizeof(T));
    return copy;
  }
  bool finishes_so(int way) const { return !known_ || known_->passes.finishes == way; }

  std::optional<Known> known_;
};

}  // namespace kradix::impl
