// Keys alone of few kinds, however far apart, are counted and written anew, not moved.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "kradix/impl/device/team.hpp"
#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/buckets.hpp"
#include "kradix/impl/host/kind_table.hpp"

namespace kradix::impl {

/// Kinds in order, with the first place of each and the end.
template <class Stored>
struct SortedKinds {
  static constexpr std::size_t most = std::size_t{1} << 11;
  /// Of memory, whatever the kinds.
  static constexpr std::size_t bytes = most * (2 * sizeof(std::uint64_t) + sizeof(Stored));

  std::uint64_t* start;
  Stored* kinds;
  std::size_t count;

  static SortedKinds in(std::byte* memory) {
    auto* const start = reinterpret_cast<std::uint64_t*>(memory);
    return {start, reinterpret_cast<Stored*>(start + 2 * most), 0};
  }
  std::size_t values() const { return count; }
  Stored key(std::size_t value) const { return kinds[value]; }

  /// False, and nothing is of use, if there are too many.
  template <class Order, class Table>
  bool take(const Order& order, const Table& table) {
    if (table.used >= most) return false;
    std::uint64_t* const counts = start + most;
    count = 0;
    for (std::size_t slot = 0; slot < Table::slots; ++slot) {
      if (table.counts[slot] != 0) kinds[count++] = order.enter(table.keys[slot]);
    }
    std::sort(kinds, kinds + count);
    for (std::size_t slot = 0; slot < Table::slots; ++slot) {
      if (table.counts[slot] == 0) continue;
      const Stored* const at =
          std::lower_bound(kinds, kinds + count, order.enter(table.keys[slot]));
      counts[at - kinds] = table.counts[slot];
    }
    std::exclusive_scan(counts, counts + count, start, std::uint64_t{0});
    start[count] = count == 0 ? 0 : start[count - 1] + counts[count - 1];
    return true;
  }
};

/// Each thread counts blocks by a table of its own; the verdict is `escaped` where there are too many kinds.
template <class ExecutionSpace, class Level>
struct CountFewKinds {
  using Key = typename Level::Key;
  using Table = KindTable<Key>;

  Level level;
  BenchSite benches;

  static Table table_of(const BenchSite& benches, std::size_t thread) {
    return Table::in(reinterpret_cast<std::byte*>(benches.bench<typename Level::Rec>(thread).a));
  }

  void operator()(const TeamMember<ExecutionSpace>& team) const {
    Table table = table_of(benches, static_cast<std::size_t>(team.league_rank()));
    table.clear();
    level.for_each_block([&](std::size_t begin, std::size_t end) {
      if (!count(table, begin, end)) level.judge(Level::State::escaped);
    });
  }

  /// False if a kind is one too many, or one that the order cannot store.
  bool count(Table& table, std::size_t begin, std::size_t end) const {
    const Key* const keys = level.source.keys;
    const Table quick = table;  // of which nothing else changes meanwhile
    for (std::size_t i = begin; i < end; ++i) {
      const Key key = keys[i];
      if (quick.add_at_home(key) || !table.add(key, 1)) continue;
      if (table.used > Table::most || is_special(key)) return false;
    }
    return true;
  }

  bool is_special([[maybe_unused]] Key key) const {
    if constexpr (Level::OrderType::has_special) {
      return level.order.special(key) >> (8 * sizeof(Key) - 1) != 0;
    }
    return false;
  }
};

}  // namespace kradix::impl
