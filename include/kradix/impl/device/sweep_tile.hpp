// The one kernel of a Onesweep pass: a team ranks a tile, learns by look-back where its bins go on, and
// scatters the tile through scratch.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/look_back.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tiling.hpp"

namespace kradix::impl {

/// Short keys are faster with a team for each tile.
template <class Key>
inline constexpr bool teams_stay = sizeof(Key) > 4;

/// Teams that stay for more than one tile make a pass with nothing to do cost only its launch, which
/// matters most where there are many; teams that go on (`GoesOn`) to the passes after it make all of these cost one. What passes move (`MovedKeys`) nobody
/// else sees before the last of them.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape,
          class TileLookBack = LookBack<ExecutionSpace>,
          bool Stays = teams_stay<typename Codec::key_type>, class MovedKeys = Moved<Codec>,
          bool GoesOn = false>
struct SweepTile {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr std::size_t widest = sizeof(Key) > sizeof(Value) ? sizeof(Key) : sizeof(Value);
  static constexpr int threads = Shape.threads, items = Shape.items, teams = Shape.teams;
  static constexpr int tile_size = threads * items;
  using Tiles = Tiling<tile_size>;
  static constexpr int groups = threads / L::width;
  static constexpr int bins_per_thread = threads >= bin_count ? 1 : bin_count / threads;
  static constexpr bool stays = is_host_space<ExecutionSpace> || Stays;
  static_assert(stays || !GoesOn);
  using Moving = MovedKeys;
  static_assert(tile_size <= 0xffff && items % (with_values ? 4 : 2) == 0 &&
                bin_count % bins_per_thread == 0);
  static_assert(tile_size <= LookBackWord::most >> LookBackShape{}.portion_bits);

  SortBuffers<Key, Value> buffers;
  Codec codec;
  Tiles tiling;  ///< of all elements
  const PassTable* passes;
  const std::uint64_t* bins;  ///< [row][bin]: first places
  std::uint64_t* ticket;      ///< tiles taken: teams may start in any order, tiles may not
  TileLookBack look_back;
  int pass;  ///< or the first of those that teams go on to, which is not the first of all
  /// Not zero where the first pass has met special keys (null: nobody knows).
  std::uint64_t* special = nullptr;
  std::uint64_t* done = nullptr;  ///< tiles of each of these passes

  /// Where an element of a sorted tile lies in scratch. Bins of one size start a multiple of that apart:
  /// keys whose digits cycle would all meet in one bank, did not every 32nd place stay empty. (Elements
  /// of 8 bytes and more do not suffer.)
  template <class T>
  static constexpr bool pads = L::width > 1 && sizeof(T) <= 4;
  template <class T>
  static constexpr int padded_size = pads<T> ? tile_size + tile_size / 32 : tile_size;
  template <class T>
  KOKKOS_FUNCTION static constexpr std::uint32_t padded(std::uint32_t place) {
    return pads<T> ? place + place / 32 : place;
  }
  /// The same of places that a team goes through side by side: the item's part is a constant.
  template <class T>
  KOKKOS_FUNCTION static std::uint32_t padded(int thread, int item) {
    static_assert(!pads<T> || threads % 32 == 0);
    constexpr std::uint32_t step = padded<T>(threads);
    return padded<T>(static_cast<std::uint32_t>(thread)) + static_cast<std::uint32_t>(item) * step;
  }

  /// The pass at hand, if teams go on: in registers it would have others spilled.
  struct AtHand {
    int pass;
    std::uint32_t drawn, swept;  ///< the next tile; tiles of this team
    TileLookBack look_back;
    PassTable passes;  ///< a copy: after each wait for others what lies in memory is far again
  };
  struct WithAtHand {
    AtHand at_hand;
  };
  struct Nothing {};
  struct NoBins {};

  /// Bins that take many steps to find are found once, of all keys of a thread: those of a sorted tile lie in scratch.
  static constexpr bool finds_bins =
      requires(const Codec& codec, const Key* keys, std::uint32_t* bins) {
    codec.template of<items, threads>(0, keys, bins);
  };
  struct BinsOfSorted {
    std::uint8_t bin[tile_size];
  };
  struct BinsOfThread {
    std::uint32_t bin[items / 4];
    KOKKOS_FUNCTION std::uint32_t bin_of(int item) const { return bin_among(bin, item); }
  };

  /// What a team keeps in scratch. Counters are done with when elements come. (A base that is empty takes no room for any
  /// compiler, which host and device must agree about.)
  struct Scratch : std::conditional_t<GoesOn, WithAtHand, Nothing>,
                   std::conditional_t<finds_bins, BinsOfSorted, NoBins> {
    union {
      std::uint16_t counters[groups][bin_count];
      Key keys[padded_size<Key>];
      std::conditional_t<with_values, Value, char> values[padded_size<Value>];
    };
    std::uint64_t base[bin_count];   ///< place in the output less place in the tile
    std::uint32_t first[bin_count];  ///< first place in the tile
    std::uint32_t sums[groups];
    std::ptrdiff_t begin;  ///< of the tile, below zero where places are missing
    std::uint32_t tile;
    std::uint32_t turn;  ///< of the look-back, at the pass's first tile
    Digit digit;         ///< for the steps after the ranks: see `sweep`
    bool reads_any;      ///< keys, special ones too; likewise
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// What a thread keeps in registers. Ranks are packed by two, digits by four.
  struct Registers : std::conditional_t<finds_bins, BinsOfThread, NoBins> {
    Key key[items];
    std::uint32_t rank[items / 2];
  };
  /// This thread's tile.
  struct Tile {
    std::uint32_t index;
    std::size_t begin;
    int size;
  };

  static constexpr std::uint32_t no_tile = ~0u;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!is_idle()) sweep_all(team, *take_scratch<Scratch>(team, 1));
  }
  KOKKOS_FUNCTION bool is_idle() const { return pass >= passes->count || is_for_other(); }

  KOKKOS_FUNCTION void sweep_all(const Team& team, Scratch& scratch) const {
    if constexpr (GoesOn) {
      sweep_on(team, scratch);
    } else {
      const Digit digit = passes->digit[pass];
      while (true) {
        if (team.team_rank() == 0) take(draw(ticket), scratch);
        clear_counters(team.team_rank(), scratch);
        team.team_barrier();
        if (scratch.tile == no_tile) return;
        sweep(team, digit, scratch);
        if constexpr (!stays) return;
        team.team_barrier();
      }
    }
  }

  /// Whoever finds no tile of a pass any more waits until those are done which others have drawn.
  KOKKOS_FUNCTION void sweep_on(const Team& team, Scratch& scratch) const {
    if (team.team_rank() == 0) {
      scratch.at_hand = {pass, draw(ticket), 0, look_back, *passes};
    }
    while (true) {
      if (team.team_rank() == 0) take(scratch.at_hand.drawn, scratch);
      clear_counters(team.team_rank(), scratch);
      team.team_barrier();
      if (scratch.tile != no_tile) {
        sweep(team, scratch.at_hand.passes.digit[scratch.at_hand.pass], scratch);
        team.team_barrier();
        if (team.team_rank() == 0) draw_next(scratch.at_hand);
      } else {
        const int next = scratch.at_hand.pass + 1;
        if (next == scratch.at_hand.passes.count) return;
        std::uint32_t drawn = 0;
        if (team.team_rank() == 0) drawn = draw(ticket + (next - pass));
        Kokkos::memory_fence();
        team.team_barrier();
        if (team.team_rank() == 0) go_on(drawn, scratch.at_hand);
        team.team_barrier();
      }
    }
  }

  KOKKOS_FUNCTION static std::uint32_t draw(std::uint64_t* ticket) {
    return static_cast<std::uint32_t>(Kokkos::atomic_fetch_add(ticket, std::uint64_t{1}));
  }
  KOKKOS_FUNCTION void draw_next(AtHand& at_hand) const {
    ++at_hand.swept;
    at_hand.drawn = draw(ticket + (at_hand.pass - pass));
  }
  KOKKOS_FUNCTION void go_on(std::uint32_t drawn, AtHand& at_hand) const {
    std::uint64_t* const done_here = done + (at_hand.pass - pass);
    if (at_hand.swept > 0) Kokkos::atomic_add(done_here, std::uint64_t{at_hand.swept});
    ++at_hand.pass;
    at_hand.drawn = drawn;
    at_hand.swept = 0;
    at_hand.look_back = {at_hand.look_back.of_next_pass()};
    const Tiles tiles = at_hand.passes.takes_out ? Tiles::of(at_hand.passes.elements) : tiling;
    while (L::load(done_here) < tiles.tiles()) L::pause();
    Kokkos::memory_fence();
  }

  KOKKOS_FUNCTION int pass_of(const Scratch& scratch) const {
    if constexpr (GoesOn) {
      return scratch.at_hand.pass;
    } else {
      return pass;
    }
  }
  KOKKOS_FUNCTION const PassTable& passes_of(const Scratch& scratch) const {
    if constexpr (GoesOn) {
      return scratch.at_hand.passes;
    } else {
      return *passes;
    }
  }
  KOKKOS_FUNCTION const TileLookBack& look_back_of(const Scratch& scratch) const {
    if constexpr (GoesOn) {
      return scratch.at_hand.look_back;
    } else {
      return look_back;
    }
  }

  /// One thread: the tile that is swept next, if there is one.
  KOKKOS_FUNCTION void take(std::uint32_t index, Scratch& scratch) const {
    if (passes_of(scratch).takes_out) {
      const auto tiling = Tiles::of(passes_of(scratch).elements);
      take(index, tiling, scratch);
      scratch.turn = look_back_of(scratch).first_turn_of(tiling.tiles(), with_values);
    } else {
      take(index, tiling, scratch);
      scratch.turn = look_back_of(scratch).first_turn();
    }
  }
  KOKKOS_FUNCTION static void take(std::uint32_t index, const Tiles& tiling, Scratch& scratch) {
    scratch.tile = tiling.ends_before(index) ? no_tile : index;
    scratch.begin = tiling.begin_of(index);
  }

  /// One tile that is drawn elsewhere.
  KOKKOS_FUNCTION void sweep_drawn(const Team& team, std::uint32_t index, Scratch& scratch) const {
    if (team.team_rank() == 0) take(index, scratch);
    clear_counters(team.team_rank(), scratch);
    team.team_barrier();
    sweep(team, passes->digit[pass], scratch);
  }

  /// One tile, whose counters are clear.
  KOKKOS_FUNCTION void sweep(const Team& team, const Digit& digit, Scratch& scratch) const {
    const std::uint32_t index = scratch.tile;
    const std::ptrdiff_t begin = scratch.begin;
    if (begin >= 0) {
      sweep<true>(team, Tile{index, static_cast<std::size_t>(begin), tile_size}, digit, scratch);
    } else {
      sweep<false>(team, Tile{index, 0, tile_size + static_cast<int>(begin)}, digit, scratch);
    }
  }
  KOKKOS_FUNCTION TileLookBack look_back_in(const Scratch& scratch) const {
    TileLookBack here = look_back_of(scratch);
    here.start_at(scratch.turn);
    return here;
  }

  /// A full tile (`Full`) has no guards: they would serialise its memory operations.
  template <bool Full>
  KOKKOS_FUNCTION void sweep(const Team& team, const Tile& tile, const Digit& digit,
                             Scratch& scratch) const {
    const int thread = team.team_rank();
    Registers registers;
    load<Full>(thread, tile, scratch, registers);
    if constexpr (finds_bins) {
      codec.template of<items, threads>(thread, registers.key, registers.bin);
    }
    const bool reads_any = this->reads_any();
    with_reader(reads_any, digit,
                [&](const auto& reader) { rank<Full>(thread, tile, reader, scratch, registers); });
    if (thread == 0) {
      // The steps below read the digit from here, so that the compiler takes it from the keys again:
      // it would keep every item's bin instead and spill the keys.
      scratch.digit = digit;
      scratch.reads_any = reads_any;
      look_back_of(scratch).enter(tile.index);
    }
    team.team_barrier();
    publish<Full>(team, tile, scratch);
    team.team_barrier();
    with_reader(scratch.reads_any, scratch.digit, [&](const auto& reader) {
      add_group_ranks<Full>(thread, tile, reader, scratch, registers);
    });
    team.team_barrier();
    exchange_keys(scratch, registers);
    look_back_for_bases<Full>(thread, tile, scratch);
    team.team_barrier();
    if (thread == 0) look_back_of(scratch).leave(tile.index);
    if constexpr (with_values) {
      std::uint32_t bins[items / 4];
      scatter_keys<Full>(thread, tile, scratch, bins);
      scatter_values<Full>(team, tile, scratch, registers, bins);
    } else {
      scatter_keys<Full>(thread, tile, scratch, nullptr);
    }
  }

  /// The first pass, which finds out, is always one of any keys.
  KOKKOS_FUNCTION bool is_for_other() const {
    if constexpr (moves_one_of_two<Moving>) {
      return pass > 0 && (L::load(special) != 0) != Moving::of_special;
    } else {
      return false;
    }
  }
  KOKKOS_FUNCTION bool reads_any() const {
    return Moving::some_are_special && (pass == 0 || special == nullptr || L::load(special) != 0);
  }

  /// Of any keys, or of those that are not special.
  template <class Work>
  KOKKOS_FUNCTION void with_reader(bool of_any, const Digit& digit, const Work& work) const {
    if constexpr (Moving::some_are_special) {
      if (of_any) {
        work(Moving::reader_of_any(codec, digit));
        return;
      }
    }
    if constexpr (finds_bins) {
      work(Nothing{});
    } else {
      work(Moving::reader(codec, digit));
    }
  }

  KOKKOS_FUNCTION static void clear_counters(int thread, Scratch& scratch) {
    auto* const words = reinterpret_cast<std::uint64_t*>(scratch.counters);
    constexpr int count = sizeof(scratch.counters) / sizeof(std::uint64_t);
    for (int i = thread; i < count; i += threads) words[i] = 0;
  }

  /// Index in the tile of a thread's item: a lane group reads runs of its width.
  KOKKOS_FUNCTION static int place_of(int thread, int item) {
    const int group = thread / L::width;
    return (group * items + item) * L::width + L::lane(thread);
  }

  template <bool Full>
  KOKKOS_FUNCTION void load(int thread, const Tile& tile, const Scratch& scratch,
                            Registers& registers) const {
    const Key* const keys =
        buffers.keys.source(number_of(scratch), passes_of(scratch).all()) + tile.begin;
    const int first = place_of(thread, 0);
    const Key* const mine = keys + first;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int offset = i * L::width;
      registers.key[i] = Full || first + offset < tile.size ? mine[offset] : keys[0];
    }
    if constexpr (Moving::are_codes) {
      if (pass != 0) return;
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) registers.key[i] = Moving::encode(codec, registers.key[i]);
    }
  }

  /// Places beyond the end count as the last bin: stability keeps them behind all others.
  template <bool Full, class Reader>
  KOKKOS_FUNCTION static std::uint32_t bin_of(int thread, const Tile& tile, const Reader& reader,
                                              const Registers& registers, int item) {
    if (!Full && place_of(thread, item) >= tile.size) return bin_count - 1;
    if constexpr (finds_bins) {
      return registers.bin_of(item);
    } else {
      return reader.of(registers.key[item]);
    }
  }

  KOKKOS_FUNCTION static std::uint32_t rank_of(const Registers& registers, int item) {
    return registers.rank[item / 2] >> (16 * (item % 2)) & 0xffffu;
  }

  /// Ranks each item among those of its lane group with its digit; counts them on the way.
  template <bool Full, class Reader>
  KOKKOS_FUNCTION void rank(int thread, const Tile& tile, const Reader& reader, Scratch& scratch,
                            Registers& registers) const {
    constexpr bool looks = requires(Key key) {
      reader.is_special(key);
    };
    const int lane = L::lane(thread);
    volatile std::uint16_t* const counters = scratch.counters[thread / L::width];
    bool is_special = false;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      L::settle(registers.key[i]);
      const std::uint32_t bin = bin_of<Full>(thread, tile, reader, registers, i);
      if constexpr (looks) is_special |= reader.is_special(registers.key[i]);
      const auto same = L::template match<digit_bits>(bin);
      const int below = L::rank_in(same, lane);
      const std::uint32_t before = counters[bin];
      L::barrier();
      if (below == 0) counters[bin] = static_cast<std::uint16_t>(before + L::size_of(same));
      L::barrier();
      const std::uint32_t rank = before + below;
      registers.rank[i / 2] = i % 2 == 0 ? rank : registers.rank[i / 2] | rank << 16;
    }
    if (looks && is_special && pass == 0 && special != nullptr) L::store(special, std::uint64_t{1});
  }

  /// Adds up the groups' counters of each bin, publishes the sums, and turns the counters into the
  /// first place in the tile of each group's items.
  template <bool Full>
  KOKKOS_FUNCTION void publish(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    const TileLookBack look_back = look_back_in(scratch);
    std::uint32_t mine[bins_per_thread] = {};
    std::uint32_t sum = 0;
    if (thread * bins_per_thread < bin_count) {
      for (int b = 0; b < bins_per_thread; ++b) {
        const int bin = thread * bins_per_thread + b;
        for (int g = 0; g < groups; ++g) mine[b] += scratch.counters[g][bin];
        sum += mine[b];
        look_back.publish_own(tile.index, bin, real_count<Full>(tile, bin, mine[b]));
      }
    }
    std::uint32_t before = scan(team, sum, scratch);
    if (thread * bins_per_thread < bin_count) {
      for (int b = 0; b < bins_per_thread; ++b) {
        const int bin = thread * bins_per_thread + b;
        scratch.first[bin] = before;
        for (int g = 0; g < groups; ++g) {
          const std::uint32_t counted = scratch.counters[g][bin];
          scratch.counters[g][bin] = static_cast<std::uint16_t>(before);
          before += counted;
        }
      }
    }
  }

  /// Without the places beyond the end of a partial tile.
  template <bool Full>
  KOKKOS_FUNCTION static std::uint32_t real_count(const Tile& tile, int bin,
                                                  std::uint32_t counted) {
    if (Full || bin != bin_count - 1) return counted;
    return counted - static_cast<std::uint32_t>(tile_size - tile.size);
  }

  /// Exclusive prefix sum over the team.
  KOKKOS_FUNCTION static std::uint32_t scan(const Team& team, std::uint32_t value,
                                            Scratch& scratch) {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    std::uint32_t before = L::scan(value, lane);
    if (lane == L::width - 1) scratch.sums[group] = before + value;
    team.team_barrier();
    for (int g = 0; g < group; ++g) before += scratch.sums[g];
    return before;
  }

  template <bool Full, class Reader>
  KOKKOS_FUNCTION static void add_group_ranks(int thread, const Tile& tile, const Reader& reader,
                                              const Scratch& scratch, Registers& registers) {
    const std::uint16_t* const counters = scratch.counters[thread / L::width];
    KRADIX_UNROLL
    for (int i = 0; i < items; i += 2) {
      L::settle(registers.key[i]);
      L::settle(registers.key[i + 1]);
      const std::uint32_t low = counters[bin_of<Full>(thread, tile, reader, registers, i)];
      const std::uint32_t high = counters[bin_of<Full>(thread, tile, reader, registers, i + 1)];
      registers.rank[i / 2] += low | high << 16;
      if (i % 8 == 6) L::settle_memory();
    }
  }

  KOKKOS_FUNCTION static void exchange_keys(Scratch& scratch, const Registers& registers) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = rank_of(registers, i);
      scratch.keys[padded<Key>(place)] = registers.key[i];
      if constexpr (finds_bins) scratch.bin[place] = static_cast<std::uint8_t>(registers.bin_of(i));
    }
  }

  /// Learns how much of each bin lies in earlier tiles, publishes it with our own, sets the bases.
  template <bool Full>
  KOKKOS_FUNCTION void look_back_for_bases(int thread, const Tile& tile, Scratch& scratch) const {
    if (thread * bins_per_thread >= bin_count) return;
    const TileLookBack look_back = look_back_in(scratch);
    const std::uint64_t* const firsts = bins + passes_of(scratch).row[pass_of(scratch)] * bin_count;
    for (int b = 0; b < bins_per_thread; ++b) {
      const int bin = thread * bins_per_thread + b;
      const std::uint32_t end =
          bin + 1 < bin_count ? scratch.first[bin + 1] : static_cast<std::uint32_t>(tile_size);
      const std::uint32_t own = real_count<Full>(tile, bin, end - scratch.first[bin]);
      scratch.base[bin] = look_back.place(tile.index, bin, own, firsts[bin]) - scratch.first[bin];
    }
  }

  KOKKOS_FUNCTION int number_of(const Scratch& scratch) const {
    return passes_of(scratch).number(pass_of(scratch));
  }
  KOKKOS_FUNCTION bool is_last(const Scratch& scratch) const {
    return pass_of(scratch) == passes_of(scratch).count - 1;
  }
  KOKKOS_FUNCTION Key* destination_keys(const Scratch& scratch) const {
    const bool stay = buffers.leaves_keys && is_last(scratch) && !passes_of(scratch).finishes &&
                      !passes_of(scratch).takes_out;
    return stay ? nullptr : buffers.keys.destination(number_of(scratch), passes_of(scratch).all());
  }

  /// Codes become keys where nothing else follows. `kept` are the digits, four to a register, for values that go the
  /// same way (null without values).
  template <bool Full>
  KOKKOS_FUNCTION void scatter_keys(int thread, const Tile& tile, const Scratch& scratch,
                                    std::uint32_t* kept) const {
    with_reader(scratch.reads_any, scratch.digit, [&](const auto& reader) {
      if (Moving::are_codes && is_last(scratch)) {
        scatter_keys<Full, Moving::are_codes>(thread, tile, reader, scratch, kept);
      } else {
        scatter_keys<Full, false>(thread, tile, reader, scratch, kept);
      }
    });
  }

  template <bool Full, bool Decode, class Reader>
  KOKKOS_FUNCTION void scatter_keys(int thread, const Tile& tile, const Reader& reader,
                                    const Scratch& scratch, std::uint32_t* kept) const {
    Key* const keys_out = destination_keys(scratch);  // null: they stay behind
    // With the thread in the pointer and the item in the offset, an address costs one addition.
    Key* const out_here = keys_out + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      std::uint32_t bin = 0;
      if (Full || place < tile.size) {
        const Key key = scratch.keys[padded<Key>(thread, i)];
        if constexpr (finds_bins) {
          bin = scratch.bin[place];
        } else {
          bin = reader.of(key);
        }
        Key* const to = out_here + scratch.base[bin] + i * threads;
        if constexpr (Decode) {
          if (!with_values || keys_out) *to = Moving::decode(codec, key);
        } else {
          if (!with_values || keys_out) *to = key;
        }
      }
      if constexpr (with_values)
        kept[i / 4] = i % 4 == 0 ? bin : kept[i / 4] | bin << (8 * (i % 4));
      if (i % 4 == 3) L::settle_memory();
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION void scatter_values(const Team& team, const Tile& tile, Scratch& scratch,
                                      Registers& registers, const std::uint32_t* kept) const {
    const int thread = team.team_rank();
    exchange_values<Full>(team, tile, scratch, registers);
    Value* const out =
        buffers.values.destination(number_of(scratch), passes_of(scratch).all()) + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      const std::uint32_t bin = kept[i / 4] >> (8 * (i % 4)) & 0xffu;
      if (Full || place < tile.size)
        (out + scratch.base[bin])[i * threads] = scratch.values[padded<Value>(thread, i)];
      if (i % 4 == 3) L::settle_memory();
    }
  }

  KOKKOS_FUNCTION bool makes_indices_now() const {
    return std::is_integral_v<Value> && buffers.makes_indices && passes->number(pass) == 0;
  }

  KOKKOS_FUNCTION const Value* values_of(const Tile& tile, const Scratch& scratch) const {
    return buffers.values.source(number_of(scratch), passes_of(scratch).all()) + tile.begin;
  }

  template <bool Full>
  KOKKOS_FUNCTION void exchange_values(const Team& team, const Tile& tile, Scratch& scratch,
                                       Registers& registers) const {
    const int thread = team.team_rank();
    KRADIX_UNROLL
    for (int i = 0; i < items / 2; ++i) L::settle(registers.rank[i]);
    if (makes_indices_now()) {
      team.team_barrier();
      exchange_indices(thread, tile, scratch, registers);
      team.team_barrier();
      return;
    }
    if constexpr (Full) {
      // They load while others still read keys. (A plain array: as a member of a class its elements were spilled.)
      const Value* const mine = values_of(tile, scratch) + place_of(thread, 0);
      Value values[items];
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) values[i] = mine[i * L::width];
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        scratch.values[padded<Value>(rank_of(registers, i))] = values[i];
      }
    } else {
      team.team_barrier();
      exchange_some_values(thread, tile, scratch, registers);
    }
    team.team_barrier();
  }

  /// Of a partial tile, a few at a time: all of them in registers would have others spilled.
  KOKKOS_FUNCTION void exchange_some_values(int thread, const Tile& tile, Scratch& scratch,
                                            const Registers& registers) const {
    const Value* const in = values_of(tile, scratch);
    constexpr int batch = 8;
    KRADIX_UNROLL
    for (int begin = 0; begin < items; begin += batch) {
      Value value[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch && begin + b < items; ++b) {
        const int place = place_of(thread, begin + b);
        value[b] = in[place < tile.size ? place : 0];
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch && begin + b < items; ++b) {
        if (place_of(thread, begin + b) >= tile.size) continue;
        scratch.values[padded<Value>(rank_of(registers, begin + b))] = value[b];
      }
      L::settle_memory();
    }
  }

  KOKKOS_FUNCTION static void exchange_indices(int thread, const Tile& tile, Scratch& scratch,
                                               const Registers& registers) {
    if constexpr (std::is_integral_v<Value>) {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        scratch.values[padded<Value>(rank_of(registers, i))] =
            static_cast<Value>(tile.begin + place_of(thread, i));
      }
    }
  }
};

}  // namespace kradix::impl
