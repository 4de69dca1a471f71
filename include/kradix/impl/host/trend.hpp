// Keys that come in order already, or in reverse: guessed from a few, proven by one read.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/host/host_level.hpp"
#include "kradix/impl/host/simd_trend.hpp"

namespace kradix::impl {

/// `falling` strictly: equal keys that were turned round would not keep their order.
enum class Trend : std::uint32_t { none, rising, falling };

template <class Order>
class TrendOf {
  using Key = typename Order::Key;
  using Bits = typename Order::Bits;

 public:
  TrendOf(const Order& order, const Key* keys, std::size_t count)
      : order_(order), keys_(keys), count_(count) {}

  /// What a few keys follow. Others soon show that there is none.
  Trend guess() const {
    bool rises = true, falls = true;
    // Of fewer keys fewer: to prove it takes no longer then.
    constexpr std::size_t least = 8, most = 64, each = 1024;
    const std::size_t pairs = std::min(std::clamp(count_ / each, least, most), count_ - 1);
    for (std::size_t p = 0; p < pairs && (rises || falls); ++p) {
      const std::size_t at = p * ((count_ - 1) / pairs);
      const Bits first = bits(at), second = bits(at + 1), last = bits(count_ - 1);
      rises = rises && first <= second && second <= last;
      falls = falls && first > second && second >= last;
    }
    return rises ? Trend::rising : falls ? Trend::falling : Trend::none;
  }

  /// Do keys [begin, end) and the one behind them follow it?
  bool follows(Trend trend, std::size_t begin, std::size_t end) const {
    constexpr std::size_t stretch = 1024;  // between two chances to give up
    for (std::size_t at = begin; at < end; at += stretch) {
      if (!stretch_follows(trend, at, std::min({at + stretch, end, count_ - 1}))) return false;
      if (any_special(at, std::min(at + stretch, end))) return false;
    }
    return true;
  }

  /// Is one of keys [begin, end) a key that the order cannot store?
  bool any_special(std::size_t begin, std::size_t end) const {
    if constexpr (Order::has_special) {
      Key special = 0;
      for (std::size_t i = begin; i < end; ++i) {
        special = static_cast<Key>(special | order_.special(keys_[i]));
      }
      return special >> Order::top != 0;
    } else {
      return begin > end;
    }
  }

 private:
  Bits bits(std::size_t i) const { return order_.masked(order_.enter(keys_[i])); }

  bool stretch_follows(Trend trend, std::size_t begin, std::size_t end) const {
    if constexpr (SimdTrend<Order>::exists) {
      if (order_.wanted == static_cast<Bits>(~Bits{0})) {
        const auto turn = turn_of(order_);
        return trend == Trend::rising ? never_fall(keys_ + begin, end - begin, turn)
                                      : always_fall(keys_ + begin, end - begin, turn);
      }
    }
    const TrendOf now = *this;
    Bits against = 0;  // as wide as the keys, so that compilers use SIMD
    if (trend == Trend::rising) {
      for (std::size_t i = begin; i < end; ++i) {
        against |= static_cast<Bits>(now.bits(i) > now.bits(i + 1));
      }
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        against |= static_cast<Bits>(now.bits(i) <= now.bits(i + 1));
      }
    }
    return against == 0;
  }

  Order order_;
  const Key* keys_;
  std::size_t count_;
};

/// Is every element that comes in order where it belongs?
template <class Level>
bool stay_in_place(const Level& level) {
  const auto& source = level.source;
  const auto& sink = level.sink;
  if (!sink.leaves_keys && source.keys != sink.keys) return false;
  if constexpr (Level::with_values) {
    return !source.makes_indices && source.values == sink.values;
  } else {
    return true;
  }
}

/// Puts elements that follow a trend where they belong: elements [begin, end) of the source.
template <class Level>
void follow_trend(const Level& level, Trend trend, std::size_t begin, std::size_t end) {
  const auto& source = level.source;
  const auto& sink = level.sink;
  const std::size_t last = level.range.end - 1;
  const bool rises = trend == Trend::rising;
  const auto put = [=](const auto* from, auto* to) {
    if (from == to && rises) return;
    for (std::size_t i = begin; i < end; ++i) {
      if (from != to) {
        to[rises ? i : last - i] = from[i];
      } else if (i < last - i) {
        std::swap(to[i], to[last - i]);
      }
    }
  };
  if (!sink.leaves_keys) put(source.keys, sink.keys);
  if constexpr (Level::with_values) {
    if (!source.makes_indices) {
      put(source.values, sink.values);
    } else {
      for (std::size_t i = begin; i < end; ++i) sink.values[rises ? i : last - i] = source.value(i);
    }
  }
}

/// Proves the trend in blocks that no other thread has claimed; the verdict is `escaped` where there is none.
template <class Level>
void prove_trend(const Level& level, Trend trend) {
  const TrendOf of(level.order, level.source.keys, level.range.end);
  level.for_each_block([&](std::size_t begin, std::size_t end) {
    if (!of.follows(trend, begin, end)) level.judge(Level::State::escaped);
  });
}

template <class Level>
struct ProveTrend {
  Level level;
  Trend trend;
  void operator()(std::size_t) const { prove_trend(level, trend); }
};

template <class Level>
struct FollowTrend {
  Level level;
  Trend trend;
  void operator()(std::size_t) const {
    level.for_each_block(
        [&](std::size_t begin, std::size_t end) { follow_trend(level, trend, begin, end); });
  }
};

}  // namespace kradix::impl
