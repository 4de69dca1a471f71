// The parts that need no messages: the search played by one process for many ranks, cutting of
// messages, choices, sizes beyond 32 bits.
#include <gtest/gtest.h>
#include <map>

#include "kradix/impl/mpi/agreement.hpp"
#include "kradix/impl/mpi/arrived_tiles.hpp"
#include "kradix/impl/mpi/cell_ranges.hpp"
#include "kradix/impl/mpi/halves.hpp"
#include "kradix/impl/mpi/plan.hpp"
#include "kradix/impl/mpi/splitters.hpp"
#include "kradix/impl/mpi/spread_first.hpp"
#include "kradix/impl/mpi/transport.hpp"
#include "support/inputs.hpp"
#include "support/keys.hpp"

namespace {

using namespace kradix::impl::mpi;

/// How often each key occurs on each of some ranks.
template <class Bits>
using Counts = std::vector<std::map<Bits, std::uint64_t>>;

template <class Bits>
std::uint64_t total_of(const std::map<Bits, std::uint64_t>& counts) {
  std::uint64_t sum = 0;
  for (const auto& [key, count] : counts) sum += count;
  return sum;
}

/// Searches on all ranks at once; places[rank][cut].
template <class Bits>
std::vector<std::vector<std::uint64_t>> search_all(const Counts<Bits>& ranks, int key_bits,
                                                   const std::vector<std::uint64_t>& targets,
                                                   int* rounds = nullptr) {
  std::uint64_t total = 0;
  Bits all_set = static_cast<Bits>(~Bits{0}), some_set = 0;
  for (const auto& rank : ranks) {
    total += total_of(rank);
    for (const auto& [key, count] : rank) all_set &= key, some_set |= key;
  }
  std::vector<SplitterSearch<Bits>> searches;
  for (const auto& rank : ranks) {
    searches.emplace_back(key_bits, total, total_of(rank), targets);
    searches.back().leave_out_constant_bits(all_set, all_set ^ some_set);
  }
  while (!searches[0].done()) {
    const Window w = searches[0].window();
    const auto prefixes = searches[0].prefixes();
    std::vector<std::vector<std::uint64_t>> local(ranks.size());
    std::vector<std::uint64_t> global(prefixes.size() * 256, 0);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      local[r].assign(prefixes.size() * 256, 0);
      for (const auto& [key, count] : ranks[r]) {
        const int above = w.shift + w.width;
        const Bits prefix =
            above >= static_cast<int>(8 * sizeof(Bits)) ? Bits{0} : static_cast<Bits>(key >> above);
        const auto found = std::find(prefixes.begin(), prefixes.end(), prefix);
        if (found == prefixes.end()) continue;
        const auto slot = static_cast<std::size_t>(found - prefixes.begin());
        const auto digit = static_cast<std::size_t>(key >> w.shift & ((Bits{1} << w.width) - 1));
        local[r][slot * 256 + digit] += count;
        global[slot * 256 + digit] += count;
      }
    }
    for (std::size_t r = 0; r < ranks.size(); ++r)
      searches[r].refine(global.data(), local[r].data());
  }
  if (rounds) *rounds = searches[0].rounds();
  std::vector<std::vector<std::uint64_t>> places(ranks.size());
  std::vector<std::uint64_t> equal(targets.size(), 0);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t c = 0; c < targets.size(); ++c) {
      const Cut<Bits>& cut = searches[r].cuts()[c];
      places[r].push_back(elements_left(cut, equal[c]));
      equal[c] += cut.local_equal;
    }
  }
  return places;
}

/// The same by walking through all keys in order.
template <class Bits>
std::vector<std::vector<std::uint64_t>> walk(const Counts<Bits>& ranks,
                                             const std::vector<std::uint64_t>& targets) {
  std::map<Bits, int> keys;
  for (const auto& rank : ranks)
    for (const auto& [key, count] : rank) keys[key] = 0;
  std::vector<std::vector<std::uint64_t>> places(ranks.size(),
                                                 std::vector<std::uint64_t>(targets.size(), 0));
  for (std::size_t c = 0; c < targets.size(); ++c) {
    std::uint64_t left = targets[c];
    for (const auto& [key, unused] : keys) {
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        const auto found = ranks[r].find(key);
        const std::uint64_t here = found == ranks[r].end() ? 0 : std::min(left, found->second);
        places[r][c] += here;
        left -= here;
      }
    }
  }
  return places;
}

template <class Bits>
void compare(const Counts<Bits>& ranks, int key_bits) {
  std::uint64_t total = 0;
  for (const auto& rank : ranks) total += total_of(rank);
  std::vector<std::uint64_t> targets;
  for (std::uint64_t i = 0; i <= 7; ++i)
    targets.push_back(total / 7 * i + (i == 7 ? total % 7 : 0));
  targets.insert(targets.begin() + 3, targets[3]);
  EXPECT_EQ(search_all(ranks, key_bits, targets), walk(ranks, targets));
}

TEST(MpiSearch, FindsTheCutsOfAnyCounts) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Counts<std::uint32_t> ranks(1 + seed % 5);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (std::uint64_t i = 0; i < seed * 7 % 60; ++i) {
        const std::uint64_t random = inputs::mix(seed * 1000 + r * 100 + i);
        const std::uint32_t key = static_cast<std::uint32_t>(random >> (seed % 3 == 0 ? 60 : 32));
        ranks[r][key & 0x3ffff] += 1 + random % (seed % 2 ? 1 : 1000);
      }
    }
    compare(ranks, 18);
  }
}

TEST(MpiSearch, CountsBeyond32Bits) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  Counts<std::uint64_t> ranks(3);
  ranks[0] = {{5, huge}, {~std::uint64_t{0}, 3 * huge + 1}};
  ranks[1] = {{5, 7 * huge + 3}, {6, 1}};
  ranks[2] = {{5, huge - 1}, {std::uint64_t{1} << 63, std::uint64_t{1} << 33}};
  compare(ranks, 64);
}

TEST(MpiSearch, WideKeys) {
#ifdef KRADIX_HAVE_INT128
  using Wide = kradix::impl::uint128;
  Counts<Wide> ranks(2);
  for (std::uint64_t i = 0; i < 200; ++i)
    ranks[i % 2][Wide{inputs::mix(i)} << 64 | inputs::mix(i % 20)] += i;
  compare(ranks, 128);
#endif
}

TEST(MpiSearch, ConstantBitsCostNoRounds) {
  Counts<std::uint64_t> ranks(2);
  for (std::uint64_t i = 0; i < 256; ++i) ranks[i % 2][0x5500000000330000u + (i << 24)] = 10;
  int rounds = 0;
  const auto places = search_all(ranks, 64, {1285}, &rounds);
  EXPECT_LE(rounds, 2);
  EXPECT_EQ(places[0][0] + places[1][0], 1285u);
  Counts<std::uint64_t> equal(3);
  for (auto& rank : equal) rank[42] = 100;
  EXPECT_EQ(search_all(equal, 64, {50, 150}, &rounds),
            (std::vector<std::vector<std::uint64_t>>{{50, 100}, {0, 50}, {0, 0}}));
  EXPECT_EQ(rounds, 0);
}

TEST(MpiMessages, AreCutAndStaggered) {
  std::byte* const base = nullptr;
  const std::uint64_t large = (std::uint64_t{5} << 31) + 7;  // beyond what an int counts
  const std::vector<Piece> pieces{{0, base, large}, {2, base + large, 10}, {3, base, 0}};
  const Messages out(pieces, 1, 4, true, std::size_t{1} << 30);
  ASSERT_EQ(out.count(), 12u);
  EXPECT_EQ(out[0].piece.rank, 2);  // the nearest partner first
  EXPECT_EQ(out[0].step, 1);
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < out.count(); ++i) {
    EXPECT_EQ(out[i].piece.data, base + sum);
    EXPECT_LE(out[i].piece.bytes, std::uint64_t{1} << 30);
    sum += out[i].piece.bytes;
  }
  EXPECT_EQ(sum, large);
  EXPECT_EQ(out.end_of_step(0, 1), 1u);
  EXPECT_EQ(out.end_of_step(1, 3), 12u);
  const Messages in({{0, base, 1}, {2, base, 1}}, 1, 4, false, 1);
  EXPECT_EQ(in[0].piece.rank, 0);  // what 0 sends to its right neighbour
  EXPECT_EQ(in[1].step, 3);
}

TEST(MpiMessages, WhatLeadsToAnAlignedPlaceGoesByItself) {
  EXPECT_EQ(bytes_to_alignment(0), 16u);
  EXPECT_EQ(bytes_to_alignment(15), 1u);
  EXPECT_EQ(bytes_to_alignment(17), 15u);
  std::byte* const base = nullptr;
  const std::uint64_t large = (std::uint64_t{2} << 20) + 5;
  const std::vector<Piece> pieces{{0, base, large, 12}, {0, base + large, 100, 12}};
  const Messages aligned(pieces, 0, 1, true, std::size_t{1} << 20, /*by_nccl=*/true);
  ASSERT_EQ(aligned.count(), 4u);
  EXPECT_EQ(aligned[0].piece.bytes, 12u);
  EXPECT_EQ(aligned[1].piece.data, base + 12);
  EXPECT_EQ(aligned[1].piece.bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(aligned[2].piece.bytes, large - 12 - (std::uint64_t{1} << 20));
  EXPECT_EQ(aligned[3].piece.bytes, 100u);  // not worth a message
  EXPECT_EQ(Messages(pieces, 0, 1, true, std::size_t{1} << 21).count(), 3u);
  EXPECT_EQ(Messages({{0, base, large, 12}}, 0, 1, true, 5, true)[0].piece.bytes, 5u);
}

/// In three, whose sizes are alike whether the piece is a little more or less than a power of two; each but the first from an
/// aligned place on.
TEST(MpiMessages, AreOfNoSizeThatSlowsNcclDown) {
  std::byte* const base = nullptr;
  constexpr std::uint64_t size = std::uint64_t{1} << 27;
  for (const std::uint64_t bytes : {size - 9000, size - 8, size, size + 8, 2 * size + 9000}) {
    const Messages out({{0, base, bytes, 8}}, 0, 1, true, std::size_t{1} << 30, true);
    ASSERT_EQ(out.count(), 4u) << bytes;
    EXPECT_EQ(out[0].piece.bytes, 8u);
    std::uint64_t sum = 8;
    for (std::size_t i = 1; i < 4; ++i) {
      EXPECT_EQ(out[i].piece.data, base + sum);
      EXPECT_EQ(sum % aligned_bytes, 8u);
      EXPECT_NEAR(static_cast<double>(out[i].piece.bytes), static_cast<double>(bytes) / 3, 2000);
      sum += out[i].piece.bytes;
    }
    EXPECT_EQ(sum, bytes);
  }
  for (const std::uint64_t bytes : {size / 2, size / 4 * 3, size / 4 * 5, 4 * size}) {
    EXPECT_EQ(Messages({{0, base, bytes}}, 0, 1, true, std::size_t{1} << 30, true).count(), 1u);
  }
  EXPECT_EQ(Messages({{0, base, size}}, 0, 1, true, std::size_t{1} << 30).count(), 1u);
}

TEST(MpiLayout, SizesAndTargets) {
  EXPECT_EQ(balanced_size(10, 4, 0), 3u);
  EXPECT_EQ(balanced_size(10, 4, 2), 2u);
  EXPECT_EQ(balanced_size(2, 4, 3), 0u);
  Layout layout;
  const std::uint64_t huge = std::uint64_t{3} << 32;
  layout.after = {huge, 0, huge + 1};
  layout.total = 2 * huge + 1;
  EXPECT_EQ(layout.begins(), (std::vector<std::uint64_t>{0, huge, huge, 2 * huge + 1}));
  EXPECT_EQ(targets_of(layout, 1), (std::vector<std::uint64_t>{huge, huge}));
  EXPECT_EQ(targets_of(layout, 2),
            (std::vector<std::uint64_t>{huge / 2, huge, huge, huge, huge + huge / 2 + 1}));
}

/// Of a run whose elements are numbered, what has left early and what is missing, put where it belongs, is the whole.
TEST(MpiPlan, WhatLeavesEarlyIsCompleted) {
  int fitting = 0, others = 0;
  for (const std::uint64_t size : {0u, 5u, 320u, 3200u}) {
    const std::uint64_t early_begin = 1000, slack = EarlyPart::slack(size);
    const std::uint64_t places[] = {0,
                                    early_begin - slack - 1,
                                    early_begin - slack,
                                    early_begin - 1,
                                    early_begin,
                                    early_begin + size / 2,
                                    early_begin + size,
                                    early_begin + size + 1,
                                    early_begin + size + slack,
                                    early_begin + size + slack + 1,
                                    9000};
    for (const std::uint64_t begin : places) {
      for (const std::uint64_t end : places) {
        if (end < begin) continue;
        const EarlyPart part{{early_begin, early_begin + size}, {begin, end}};
        const std::uint64_t nothing = ~std::uint64_t{0};
        std::vector<std::uint64_t> room(
            static_cast<std::size_t>(part.fits() ? EarlyPart::room(size) : end - begin), nothing);
        const std::uint64_t at = part.fits() ? part.begin_in_room() : 0;
        ASSERT_LE(at + (end - begin), room.size());
        for (std::uint64_t i = 0; part.fits() && i < size; ++i) room[slack + i] = early_begin + i;
        for (const Stretch& missing : part.missing()) {
          for (std::uint64_t i = missing.begin; i < missing.end; ++i) {
            std::uint64_t& place = room[at + (i - begin)];
            EXPECT_EQ(place, nothing) << "sent twice";
            place = i;
          }
        }
        for (std::uint64_t i = begin; i < end; ++i) EXPECT_EQ(room[at + (i - begin)], i);
        ++(part.fits() ? fitting : others);
      }
    }
  }
  EXPECT_GT(fitting, 50);
  EXPECT_GT(others, 50);
}

/// What CUDA makes of it, with what Kokkos adds, ends where a large page does.
TEST(MpiPlan, MemoryThatOthersMapIsWholePages) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2095104}, std::size_t{2095105},
                                  std::size_t{2097152}, (std::size_t{1} << 31) + 138240}) {
    EXPECT_GE(whole_pages(bytes), bytes);
    EXPECT_LT(whole_pages(bytes), bytes + (std::size_t{1} << 21));
    for (const std::size_t of_kokkos : {0, 128, 2048}) {
      EXPECT_EQ((whole_pages(bytes) + of_kokkos + 4095) / 4096 % 512, 0u) << bytes;
    }
  }
}

/// Cuts between ranks stay, and ranges lie between them in any case.
TEST(MpiPlan, RangesLieBetweenRanks) {
  using Places = std::vector<std::uint64_t>;
  EXPECT_EQ(with_ranges({10, 30}, {3, 99, 12, 99, 31}, 2, 50), (Places{3, 10, 12, 30, 31}));
  EXPECT_EQ(with_ranges({10, 30}, {13, 0, 8, 0, 90}, 2, 50), (Places{10, 10, 10, 30, 50}));
  EXPECT_EQ(with_ranges({0, 0}, {5, 5, 5, 5, 5}, 2, 0), (Places{0, 0, 0, 0, 0}));
  EXPECT_EQ(with_ranges({7}, {1, 2, 7, 8, 9}, 3, 9), (Places{1, 2, 7, 8, 9}));
}

/// Every code between the ends lies in the part that begins at or before it and ends at or behind it; parts follow each other.
template <class Bits>
void expect_parts_hold_codes(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(sizeof(Bits)) + " bytes");
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto random = [&](std::uint64_t n) { return inputs::mix(seed + 1000 * i + n); };
    constexpr auto last = static_cast<Bits>(~Bits{0});
    const int width = static_cast<int>(1 + random(0) % (8 * sizeof(Bits)));
    const auto span = static_cast<Bits>(kradix::impl::low_mask<Bits>(width) - random(1) % 3);
    const auto least =
        i % 3 == 0 || span == last ? Bits{0} : static_cast<Bits>(random(2) % (last - span) + i % 2);
    const auto greatest = static_cast<Bits>(least + span);
    const auto parts = static_cast<std::uint32_t>(1 + random(3) % (1u << random(4) % 20));
    const int part_bits = static_cast<int>(random(5) % 10);
    const auto cells = EvenCells<Bits>::between(least, greatest, parts, part_bits);
    EXPECT_EQ(cells.exist(), span / 16 >= parts);
    if (!cells.exist()) continue;
    EXPECT_LE(cells.parts, parts);
    EXPECT_GE(std::uint64_t{cells.cells()} << part_bits, cells.parts);
    EXPECT_EQ(cells.first_of(0), least);
    EXPECT_EQ(cells.last_of(cells.parts - 1), greatest);
    EXPECT_TRUE(cells.holds(least) && cells.holds(greatest));
    EXPECT_EQ(cells.holds(static_cast<Bits>(least - 1)), least == 0 && greatest == last);
    EXPECT_EQ(cells.holds(static_cast<Bits>(greatest + 1)), least == 0 && greatest == last);
    for (std::uint64_t n = 0; n < 50; ++n) {
      const auto code = static_cast<Bits>(
          n == 0   ? least
          : n == 1 ? greatest
                   : least + random(10 + n) % (std::uint64_t{span} + (span < last ? 1 : 0)));
      const std::uint32_t part = cells.part_of(code);
      ASSERT_LT(part, cells.parts);
      EXPECT_LE(cells.first_of(part), code);
      EXPECT_GE(cells.last_of(part), code);
      EXPECT_EQ(cells.part_of(cells.first_of(part)), part);
      EXPECT_EQ(cells.part_of(cells.last_of(part)), part);
      if (part > 0) {
        EXPECT_EQ(cells.last_of(part - 1) + 1, cells.first_of(part));
      }
    }
  }
}
TEST(MpiPlan, PartsOfCellsHoldTheirCodes) {
  const std::uint64_t seed = keys::fresh_seed();
  expect_parts_hold_codes<std::uint32_t>(seed);
  expect_parts_hold_codes<std::uint64_t>(seed);
}

TEST(MpiPlan, ASampleTellsWhetherKeysSpreadEvenly) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto even = [&](const auto& code_of, std::uint32_t parts) {
    std::vector<std::uint32_t> samples(8192);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = code_of(inputs::mix(seed + i));
    const auto [least, greatest] = std::minmax_element(samples.begin(), samples.end());
    return spread_evenly(samples, EvenCells<std::uint32_t>::between(*least, *greatest, parts, 3));
  };
  for (const std::uint32_t parts : {100u, 10000u, 260000u}) {
    EXPECT_TRUE(even([](std::uint64_t r) { return static_cast<std::uint32_t>(r); }, parts));
    EXPECT_TRUE(
        even([](std::uint64_t r) { return 1000u + static_cast<std::uint32_t>(r >> 36); }, parts));
    // Half as dense in half of the range; most in a tenth of it; products; few values; most parts empty.
    EXPECT_FALSE(even(
        [](std::uint64_t r) { return static_cast<std::uint32_t>(r) >> (r >> 40) % 2; }, parts));
    EXPECT_FALSE(even(
        [](std::uint64_t r) {
          return (r >> 40) % 5 == 0 ? static_cast<std::uint32_t>(r)
                                    : static_cast<std::uint32_t>(r) / 10;
        },
        parts));
    EXPECT_FALSE(
        even([](std::uint64_t r) { return static_cast<std::uint32_t>((r & 0xffff) * (r >> 48)); },
             parts));
  }
  EXPECT_FALSE(
      even([](std::uint64_t r) { return static_cast<std::uint32_t>(r % 1000) << 22; }, 260000));
  EXPECT_FALSE(
      even([](std::uint64_t r) { return static_cast<std::uint32_t>(r) & ~(7u << 15); }, 131072));
}

TEST(MpiPlan, ASampleTellsWhetherManyKeysAreAlike) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (const std::uint64_t values : {std::uint64_t{1} << 18, std::uint64_t{1} << 20}) {
    std::vector<std::uint64_t> samples(8192);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = inputs::mix(seed + inputs::mix(seed + i) % values);
    }
    const auto cells = EvenCells<std::uint64_t>::between(0, ~std::uint64_t{0}, 260000, 9);
    EXPECT_FALSE(spread_evenly(samples, cells)) << values << " values";
  }
}

/// By how many copies of each there are, wherever they lie, not by how dense keys are here or there.
TEST(MpiPlan, CellsTellHowOftenKeysCome) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr std::size_t cells = 500;
  for (const std::uint64_t copies : {1, 2, 10}) {
    for (const bool is_steep : {false, true}) {
      std::vector<std::uint64_t> counts(cells, 0);
      for (std::uint64_t i = 0; i < 500000 / copies; ++i) {
        const std::uint64_t random = inputs::mix(seed + i);
        std::uint64_t cell = (random >> 32) % cells;
        if (is_steep && (random & 0xffff) % cells > 400 + cell / 5) cell = cells - 1 - cell;
        counts[cell] += copies;
      }
      const auto expected = static_cast<double>(copies);
      EXPECT_NEAR(vary_more_than_by_chance(counts), expected, 0.5 * expected);
    }
  }
  EXPECT_EQ(vary_more_than_by_chance({5, 0, 7}), 1);
  EXPECT_EQ(vary_more_than_by_chance(std::vector<std::uint64_t>(40, 0)), 1);
}

/// A rank's cells are those that have its places, no more; its ranges are those cells in order.
TEST(MpiPlan, SamplesTellThatRanksAreInOrder) {
  const std::vector<std::uint32_t> samples{1, 5, 5, 9, 8, 7, 2, 3, 3};
  EXPECT_TRUE(lie_in_order(samples, {4, 3, 2}));
  EXPECT_TRUE(lie_in_order(samples, {4, 0, 3, 1, 1}));
  EXPECT_FALSE(lie_in_order(samples, {5, 2, 2}));
  EXPECT_FALSE(lie_in_order(samples, {4, 5}));
  // None among those of others, as of a whole in reverse order.
  const std::vector<std::uint32_t> apart{9, 8, 8, 5, 6, 6, 3, 2, 1};
  EXPECT_FALSE(lie_in_order(apart, {3, 3, 3}));
  EXPECT_TRUE(lie_in_order(apart, {4, 2, 3}));
}

/// Tiles have every element of a rank's cells once, in the order of cell, rank and place.
void expect_tiles_of(const CellRanges& plan, int rank, std::size_t tile_size) {
  const ArrivedTiles tiles(plan, rank, tile_size);
  for (int range = 0; range < plan.ranges(); ++range) {
    std::size_t at = tiles.first_of_range(range);
    const std::size_t first = at;
    EXPECT_LE(tiles.of_range(range), ArrivedTiles::most(plan, rank, range, tile_size));
    for (std::uint32_t cell = plan.first(rank, range); cell < plan.end(rank, range); ++cell) {
      const std::size_t chain = at;
      for (int from = 0; from < plan.ranks(); ++from) {
        std::uint64_t next = plan.begin(from, cell) - plan.begin_from(from, rank, range);
        const std::uint64_t end = next + plan.keys(from, cell);
        while (next < end) {
          const ArrivedTile& tile = tiles.all().at(at++);
          EXPECT_EQ(tile.begin, next);
          EXPECT_EQ(tile.cell, cell - plan.first(rank, range));
          EXPECT_EQ(tile.chain, chain - first);
          EXPECT_EQ(tile.rank, from);
          EXPECT_LE(tile.size, tile_size);
          next += tile.size;
        }
        EXPECT_EQ(next, end);
      }
      for (std::size_t i = chain; i < at; ++i) EXPECT_EQ(tiles.all()[i].is_last, i + 1 == at);
    }
    EXPECT_EQ(at - first, tiles.of_range(range));
  }
}

TEST(MpiPlan, RanksGetTheCellsOfTheirPlaces) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (std::uint64_t i = 0; i < 400; ++i) {
    const auto random = [&](std::uint64_t n) { return inputs::mix(seed + 100000 * i + n); };
    const std::size_t ranks = 1 + random(0) % 6, cells = 1 + random(1) % 40;
    const int ranges = static_cast<int>(1 + random(2) % 9);
    std::vector<std::uint64_t> counts(ranks * cells), begins;
    Layout layout;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      counts[c] = random(10 + c) % 4 == 0 ? 0 : random(10 + c) % 1000;
      begins.push_back((c % cells == 0 ? 0 : begins.back() + counts[c - 1]) + random(3000 + c) % 3);
      layout.total += counts[c];
    }
    std::uint64_t left = layout.total;
    for (std::size_t r = 0; r < ranks; ++r) {
      layout.after.push_back(r + 1 == ranks              ? left
                             : random(5000 + r) % 3 == 0 ? 0
                                                         : random(6000 + r) % (left + 1));
      left -= layout.after.back();
    }
    const CellRanges plan(counts, begins, layout, ranges);
    ASSERT_EQ(plan.cells(), cells);
    const auto places = layout.begins();
    for (int rank = 0; rank < static_cast<int>(ranks); ++rank) {
      const std::uint64_t begin = places[static_cast<std::size_t>(rank)];
      const std::uint64_t end = places[static_cast<std::size_t>(rank) + 1];
      const std::uint32_t first = plan.first(rank, 0), behind = plan.first(rank, ranges);
      std::uint64_t keys = 0;
      for (int range = 0; range < ranges; ++range) {
        EXPECT_LE(plan.first(rank, range), plan.end(rank, range));
        for (int from = 0; from < static_cast<int>(ranks); ++from) {
          const std::uint64_t span = plan.span_from(from, rank, range);
          std::uint64_t end_of_span = plan.begin_from(from, rank, range);
          for (std::uint32_t c = plan.first(rank, range); c < plan.end(rank, range); ++c) {
            EXPECT_EQ(plan.begin(from, c), begins[static_cast<std::size_t>(from) * cells + c]);
            keys += plan.keys(from, c);
            end_of_span = plan.begin(from, c) + plan.keys(from, c);
          }
          EXPECT_EQ(plan.begin_from(from, rank, range) + span, end_of_span);
        }
        EXPECT_EQ(plan.keys_of_range(rank, range),
                  plan.place(plan.end(rank, range)) - plan.place(plan.first(rank, range)));
      }
      EXPECT_EQ(keys, plan.place(behind) - plan.place(first));
      expect_tiles_of(plan, rank, 1 + random(7000) % 400);
      if (begin == end) {
        EXPECT_EQ(first, behind);
        continue;
      }
      EXPECT_LE(plan.place(first), begin);
      EXPECT_GT(plan.place(first + 1), begin);
      EXPECT_GE(plan.place(behind), end);
      EXPECT_LT(plan.place(behind - 1), end);
    }
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
      std::uint64_t keys = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(plan.keys(static_cast<int>(rank), cell), counts[rank * cells + cell]);
        keys += counts[rank * cells + cell];
      }
      EXPECT_EQ(keys, plan.place(cell + 1) - plan.place(cell));
      EXPECT_EQ(keys, plan.counts_of_all()[cell]);
    }
  }
}

TEST(MpiPlan, ChoicesFollowTheModel) {
  Situation s;
  s.ranks = 4;
  s.total = std::uint64_t{1} << 30;
  s.element_bytes = 8;
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 1);  // hosts
  s.on_host = false;
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 4);
  EXPECT_EQ(choose_ranges(s, 7, Work::automatic), 7);
  EXPECT_EQ(choose_work(s, 4, Work::automatic), Work::partition_first);
  EXPECT_EQ(choose_work(s, 4, Work::sort_first), Work::sort_first);
  EXPECT_EQ(choose_ranges(s, 0, Work::sort_first), 1);
  s.merges = true;
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 1);
  EXPECT_EQ(choose_ranges(s, 0, Work::partition_first), 4);
  EXPECT_EQ(choose_work(s, 1, Work::automatic), Work::sort_first);
  EXPECT_EQ(choose_work(s, 4, Work::automatic), Work::partition_first);
  EXPECT_EQ(choose_work(s, 1, Work::partition_first), Work::partition_first);
  s.beside = true;  // what arrives is merged beside it
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 6);
  EXPECT_EQ(choose_work(s, 6, Work::automatic), Work::sort_first);
  EXPECT_EQ(choose_ranges(s, 0, Work::partition_first), 4);
  EXPECT_EQ(choose_work(s, 4, Work::partition_first), Work::partition_first);
  s.halves = true;  // … but what is sent would have to be copied for others to fetch
  EXPECT_EQ(choose_work(s, 6, Work::automatic), Work::sort_first);
  EXPECT_EQ(choose_work(s, 6, Work::sort_halves), Work::sort_halves);
  s.kept = true;
  EXPECT_EQ(choose_work(s, 6, Work::automatic), Work::sort_first);  // nor do others fetch
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 6);
  s.fetches = true;
  EXPECT_EQ(choose_work(s, 8, Work::automatic), Work::sort_halves);
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 8);
  EXPECT_EQ(choose_work(s, 6, Work::sort_first), Work::sort_first);
  EXPECT_EQ(choose_ranges(s, 0, Work::sort_first), 6);
  const int ranks = s.ranks;
  s.ranks = 2;
  EXPECT_EQ(choose_work(s, 8, Work::automatic), Work::sort_halves);
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 16);
  EXPECT_EQ(choose_ranges(s, 0, Work::sort_first), 1);  // both runs become one as they are read
  s.kept = false;
  EXPECT_EQ(choose_ranges(s, 0, Work::sort_halves), 16);
  EXPECT_EQ(choose_ranges(s, 0, Work::sort_first), 6);
  s.kept = true;
  s.ranks = 5;  // ten runs
  EXPECT_EQ(choose_work(s, 6, Work::automatic), Work::sort_first);
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 6);
  s.ranks = 9;  // too many runs to merge
  EXPECT_EQ(choose_work(s, 8, Work::sort_halves), Work::sort_first);
  s.ranks = ranks;
  s.element_bytes = 4;
  EXPECT_EQ(choose_work(s, 8, Work::automatic), Work::sort_first);
  s.element_bytes = 8;
  s.total = std::uint64_t{1} << 27;
  EXPECT_EQ(choose_work(s, 2, Work::automatic), Work::sort_first);
  EXPECT_FALSE(spreads_first(s, Work::spread_first));  // no keys of which that can be said
  s.spreads = true;
  EXPECT_TRUE(spreads_first(s, Work::spread_first));
  EXPECT_FALSE(spreads_first(s, Work::sort_first));
  s.total = std::uint64_t{1} << 28;
  EXPECT_TRUE(spreads_first(s, Work::automatic));
  EXPECT_EQ(spread_ranges(s, 0), 6);
  EXPECT_EQ(spread_ranges(s, 3), 3);
  s.ranks = 2;
  EXPECT_EQ(spread_ranges(s, 0), 10);
  s.ranks = ranks;
  s.fetches = s.beside = false;
  EXPECT_FALSE(spreads_first(s, Work::automatic));
  s.beside = true;  // by NCCL
  EXPECT_TRUE(spreads_first(s, Work::automatic));
  s.ranks = 2;
  EXPECT_EQ(spread_ranges(s, 0), 6);
  s.ranks = 5;
  EXPECT_FALSE(spreads_first(s, Work::automatic));
  s.fetches = true;
  EXPECT_TRUE(spreads_first(s, Work::automatic));
  s.kept = false;
  EXPECT_FALSE(spreads_first(s, Work::automatic));
  s.kept = true;
  s.ranks = ranks;
  s.total = std::uint64_t{1} << 20;
  EXPECT_FALSE(spreads_first(s, Work::automatic));
  EXPECT_EQ(spread_ranges(s, 0), 1);
  s.ranks = 17;
  EXPECT_FALSE(spreads_first(s, Work::spread_first));
  s.ranks = ranks;
  s.spreads = s.halves = s.kept = s.fetches = s.beside = false;
  s.total = 1000;
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 1);
  s.ranks = 1000;
  s.total = std::uint64_t{1000000000} * 1000;
  EXPECT_EQ(choose_ranges(s, 0, Work::automatic), 1);
  EXPECT_EQ(choose_work(s, 1, Work::automatic), Work::sort_first);

  // n = 10^9 keys of 4 bytes a rank on nodes of 8, 10 µs: as computed by hand.
  s.element_bytes = 4;
  EXPECT_NEAR(one_level_seconds({}, 1e3, 4e9), 0.0989, 0.001);
  EXPECT_NEAR(one_level_seconds({}, 1e5, 4e9), 1.089, 0.01);
  EXPECT_NEAR(two_level_seconds({}, 1e5, 8, 4e9), 0.225, 0.005);
  EXPECT_EQ(choose_route(s, Route::automatic), Route::one_level);  // no nodes known
  s.node_size = 8;
  EXPECT_EQ(choose_route(s, Route::automatic), Route::one_level);
  s.ranks = 100000;
  s.total = std::uint64_t{1000000000} * 100000;
  EXPECT_EQ(choose_route(s, Route::automatic), Route::two_level);
  EXPECT_EQ(choose_route(s, Route::one_level), Route::one_level);
  s.node_size = 7;  // does not divide
  EXPECT_EQ(choose_route(s, Route::two_level), Route::one_level);
  EXPECT_GT(sample_size(8, 0.05), 8u * 6000u);
}

/// Of words that are merged, from memory that stays mapped, by as few ranks as were measured.
TEST(MpiPlan, WhatIsFetchedIsHidden) {
  Situation s{.ranks = 4, .total = 2, .element_bytes = 4, .kept = true};
  EXPECT_TRUE(fetching_hides(s, true));
  EXPECT_FALSE(fetching_hides(s, false));
  s.ranks = 5;
  EXPECT_FALSE(fetching_hides(s, true));
  s.ranks = 2;
  EXPECT_TRUE(fetching_hides(s, true));
  s.kept = false;
  EXPECT_FALSE(fetching_hides(s, true));
}

/// From half a GiB a rank on, of elements that take longer to travel than halves do to be sorted one after the other.
TEST(MpiPlan, HalvesPay) {
  Situation s{.ranks = 4,
              .total = std::uint64_t{1} << 28,
              .element_bytes = 8,
              .halves = true,
              .kept = true};
  EXPECT_TRUE(halves_pay(s));
  s.total -= 4;
  EXPECT_FALSE(halves_pay(s));
  s.total = std::uint64_t{1} << 32;
  s.element_bytes = 4;
  EXPECT_FALSE(halves_pay(s));
  s.element_bytes = 8;
  s.halves = false;
  EXPECT_FALSE(halves_pay(s));
  s.halves = true;
  s.ranks = 5;  // ten runs
  EXPECT_FALSE(halves_pay(s));
}

}  // namespace
