// Keys, and values, are spread into cells before they travel, and put in order where they arrive.
//
// So what a local sort would do first is what says who gets which keys, and what it would do then goes on while keys arrive. Cells
// are of equal width in value (sample sort's buckets, Frazer and McKellar, "Samplesort", 1970, of keys of which a sample tells that
// they spread evenly), and each falls into parts that fit a team's scratch. Where a cut between ranks lies need not be searched
// for: both sides get its cell. Keys alone are spread in no order; with values they keep the order of (rank, index) all the way.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/mpi/cell_ranges.hpp"
#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/even_cells.hpp"
#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/layout.hpp"
#include "kradix/impl/mpi/place_of.hpp"
#include "kradix/impl/mpi/plan.hpp"
#include "kradix/impl/mpi/search.hpp"
#include "kradix/impl/mpi/shown_runs.hpp"
#include "kradix/impl/mpi/spread_cells.hpp"
#include "kradix/impl/mpi/sweep_cells.hpp"
#include "kradix/impl/scratch.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl::mpi {

/// Words of which codes are all there is to know, so that nobody can tell in which order equal ones come.
template <class Codec>
inline constexpr bool may_spread_first = [] {
  using Key = typename Codec::key_type;
  return std::is_unsigned_v<Key> && (sizeof(Key) == 4 || sizeof(Key) == 8) &&
         Codec::tells_all_keys_apart;
}();

/// Words that may travel with them.
template <class Value>
inline constexpr bool may_travel_spread = std::is_same_v<Value, NoValue> || sizeof(Value) == 4 ||
                                          sizeof(Value) == 8;

/// Of other keys and values.
struct NoSpread {
  template <class... Any>
  explicit NoSpread(const Any&...) {}
  static std::size_t gaps() { return 0; }
  void list(ScratchList&) {}
};

template <class Codec>
struct TakeSamples {
  const typename Codec::key_type* keys;
  Codec codec;
  SamplePlaces places;
  typename Codec::bits_type* taken;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    taken[i] = codec.encode(keys[places.of(i)]);
  }
};

constexpr double deviations_by_chance = 6;

/// Are no more of the samples in any of some dozen stretches of what cells hold than a little more than chance makes of it?
template <class Bits>
bool lie_evenly(const std::vector<Bits>& samples, const EvenCells<Bits>& cells) {
  constexpr std::uint32_t most_stretches = 32;
  const auto stretches = EvenCells<Bits>::between(cells.least, cells.greatest, most_stretches, 0);
  if (!stretches.exist()) return false;
  std::array<std::uint32_t, most_stretches> of_stretch{};
  for (const Bits code : samples) ++of_stretch[stretches.part_of(code)];
  const double expected = static_cast<double>(samples.size()) / stretches.parts;
  const auto most = static_cast<double>(*std::max_element(of_stretch.begin(), of_stretch.end()));
  return most <= 1.1 * expected + deviations_by_chance * std::sqrt(expected);
}

/// Do samples spread so evenly that parts of cells will hardly be longer than expected? They lie so, no more pairs of them are in one
/// part than a little more than chance makes of it (where there are many parts, in one of some that lie far apart: then what tells is
/// as soon looked up), and hardly any are the same.
template <class Bits>
bool spread_evenly(const std::vector<Bits>& samples, const EvenCells<Bits>& cells) {
  constexpr std::uint32_t most_apart = 1 << 16, most_compared = 1 << 13;
  const std::uint32_t apart = std::min(std::bit_floor(cells.parts), most_apart);
  std::vector<std::uint8_t> seen(apart, 0);
  std::vector<Bits> last_seen(most_compared, 0);
  std::uint64_t pairs = 0, alike = 0;
  for (const Bits code : samples) {
    const std::uint32_t part = cells.part_of(code);
    std::uint8_t& here = seen[part & (apart - 1)];
    pairs += here;
    here += here < 255 ? 1 : 0;
    Bits& before = last_seen[part & (most_compared - 1)];
    alike += code != 0 && code == before ? 1 : 0;
    before = code;
  }
  const auto all = static_cast<double>(samples.size()), parts = static_cast<double>(cells.parts);
  // One of so many is in as many parts as others, or in one more.
  const double fewer = cells.parts / apart, with_more = cells.parts % apart;
  const double squares = apart * fewer * fewer + with_more * (2 * fewer + 1);
  const double expected = all * all / 2 * squares / (parts * parts);
  return static_cast<double>(alike) <= 2 + 6 * all * all / 2 / cells.codes() &&
         static_cast<double>(pairs) <=
             1.2 * expected + deviations_by_chance * std::sqrt(expected) + 1 &&
         lie_evenly(samples, cells);
}

/// Do samples of each rank, so many, tell that its keys lie in order already, in either direction, and among those of others? Then a
/// local sort is hardly more than a copy. (Keys that all go to one other rank are not worth it: their link takes longest.)
template <class Bits>
bool lie_in_order(const std::vector<Bits>& samples, const std::vector<std::size_t>& of_rank) {
  std::vector<std::pair<Bits, Bits>> ends;
  auto begin = samples.begin();
  for (const std::size_t count : of_rank) {
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    if (!std::is_sorted(begin, end) && !std::is_sorted(begin, end, std::greater<>{})) return false;
    if (count > 0) ends.push_back(std::minmax(*begin, *(end - 1)));
    begin = end;
  }
  std::sort(ends.begin(), ends.end());
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i].first < ends[i - 1].second) return true;
  }
  return false;
}

/// How much more than by chance alone the keys of cells vary from one cell to the next: so many times as much where each key comes
/// so many times, wherever it lies, which no sample of a few thousand keys sees, but all parts feel. (The cells at the ends may be but
/// begun.)
inline double vary_more_than_by_chance(const std::vector<std::uint64_t>& counts) {
  constexpr std::size_t ends = 3;
  if (counts.size() < 4 * ends) return 1;
  double squares = 0, keys = 0;
  for (std::size_t i = ends; i + ends + 1 < counts.size(); ++i) {
    const double here = static_cast<double>(counts[i]), next = static_cast<double>(counts[i + 1]);
    squares += (next - here) * (next - here);
    keys += here;
  }
  return keys > 0 ? squares / 2 / keys : 1;
}

template <class ExecutionSpace, class Codec, class Value>
class SpreadFirst {
 public:
  using Place = PlaceOf<typename Codec::key_type, Value>;
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Space = typename ExecutionSpace::memory_space;

  SpreadFirst(const ExecutionSpace& exec, const Communicator& comm, const Codec& codec,
              const Layout& layout, const char* label)
      : exec_(exec),
        comm_(comm),
        codec_(codec),
        layout_(layout),
        label_(std::string(label) + "::mpi::") {}

  /// Elements that must find room behind as many as this rank has, where they are spread to: for as many cells as there may be, of
  /// which the last may be but begun.
  std::size_t gaps() const {
    const std::uint64_t all = layout_.before[static_cast<std::size_t>(comm_.rank())];
    const double of_cell = static_cast<double>(all) / most_cells;
    return static_cast<std::size_t>(most_cells * room_for(of_cell) - all + all / 64) + tile_size;
  }
  void list(ScratchList& scratch) {
    samples_slot_ = scratch.add(samples_of(comm_.rank()), sizeof(Bits));
    next_slot_ = scratch.add(most_cells + found_words + begin_words, sizeof(std::uint64_t));
    if constexpr (with_values) {
      const auto count = layout_.before[static_cast<std::size_t>(comm_.rank())];
      queue_.list(scratch, Into::Tiles::of(count).tiles(), 1);
    }
  }

  /// Chooses cells by a sample. False if there are none; or if keys do not seem to spread evenly, or lie in order on each rank among those of others, unless
  /// they are spread `anyway`.
  /// Collective.
  bool choose(const Place& given, std::byte* base, bool anyway) {
    given_ = given;
    base_ = base;
    count_ = layout_.before[static_cast<std::size_t>(comm_.rank())];
    const std::vector<Bits> mine = sample();
    const std::vector<Bits> samples = gather_from_all(comm_, mine);
    if (samples.empty()) return false;
    const auto [least, greatest] = std::minmax_element(samples.begin(), samples.end());
    const Bits margin = static_cast<Bits>((*greatest - *least) / margin_part + 1);
    const auto last = low_mask<Bits>(Codec::bits);
    const Bits from = *least > margin ? static_cast<Bits>(*least - margin) : Bits{0};
    const Bits to = last - *greatest > margin ? static_cast<Bits>(*greatest + margin) : last;
    cells_ = cells_between(from, to);
    // Else this rank's keys must be counted: all of a sorted whole's lie in few cells.
    if (cells_.exist() && count_ > 0 && lie_evenly(mine, cells_)) room_ = room_of_cell(cells_);
    if (anyway || !cells_.exist()) return cells_.exist();
    std::vector<std::size_t> of_rank;
    for (int rank = 0; rank < comm_.size(); ++rank) of_rank.push_back(samples_of(rank));
    return !lie_in_order(samples, of_rank) && spread_evenly(samples, cells_);
  }

  /// To `sent`, or at first only counted. Enqueued.
  void spread(const Place& sent) {
    sent_ = sent;
    spread(room_ > 0 ? sent : Place{}, begins_of(room_), room_);
  }

  /// Which cells go where. False if some key lies in none; or if a cell has more keys than its parts have room for, or parts will
  /// vary too much, unless that is done `anyway`. Collective; keys have been spread when it returns.
  bool plan(int ranges, bool anyway) {
    const std::uint32_t cells = cells_.cells();
    const auto ranks = static_cast<std::size_t>(comm_.size());
    std::vector<std::uint64_t> mine = to_host(exec_, next(), most_cells + found_words);
    const std::uint64_t strays = mine[most_cells], failed = mine[most_cells + 1];
    mine.resize(cells);
    for (std::uint32_t cell = 0; cell < cells; ++cell) mine[cell] -= cell * room_;
    const bool counted = room_ == 0 || failed != 0;
    mine.push_back(counted ? 0 : room_);
    mine.push_back(strays);
    const std::size_t words = mine.size();
    std::vector<std::uint64_t> all(words * ranks);
    check(MPI_Allgather(mine.data(), static_cast<int>(words), MPI_UINT64_T, all.data(),
                        static_cast<int>(words), MPI_UINT64_T, comm_.get()),
          "MPI_Allgather");
    std::vector<std::uint64_t> counts, begins;
    bool any_strays = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::uint64_t* const its = all.data() + rank * words;
      const std::uint64_t room = its[cells];
      any_strays = any_strays || its[cells + 1] != 0;
      std::uint64_t before = 0;
      for (std::uint32_t cell = 0; cell < cells; ++cell) {
        counts.push_back(its[cell]);
        begins.push_back(room > 0 ? cell * room : before);
        before += its[cell];
      }
    }
    if (any_strays) return false;
    plan_.emplace(std::move(counts), std::move(begins), layout_, ranges);
    if (!anyway && !will_fit()) return false;
    if (counted) {
      const auto first =
          plan_->begins().begin() + comm_.rank() * static_cast<std::ptrdiff_t>(cells);
      spread(sent_, {first, first + cells}, 0);
      exec_.fence(label_ + "fence before keys are shown");
    }
    return true;
  }
  int ranges() const { return plan_->ranges(); }

  /// For what arrives, and for two ranges at a time as they are put in order.
  void list_room(ScratchList& scratch) {
    const int rank = comm_.rank();
    std::size_t arriving = 0, longest = 0;
    std::uint32_t most_parts = 0;
    for (int range = 0; range < ranges(); ++range) {
      comm_.for_others(
          [&](int from) { arriving += plan_->span_from(from, rank, range) + aligned_bytes; });
      longest = std::max<std::size_t>(longest, plan_->keys_of_range(rank, range));
      most_parts = std::max(most_parts, parts_of(range));
    }
    const std::uint32_t all = parts_before(ranges());
    arrived_slot_ = Slots::list(scratch, arriving);
    const std::size_t room = std::max(std::size_t{most_parts} * part_room, longest) + tile_size;
    for (int i = 0; i < std::min(ranges(), 2); ++i) room_slots_[i] = Slots::list(scratch, room);
    aside_slot_ = Slots::list(scratch, 2 * part_room);
    counted_slot_ = scratch.add(words_to_clear(), sizeof(std::uint32_t));
    given_slot_ = scratch.add(all, sizeof(std::uint32_t));
    places_slot_ = scratch.add(all, sizeof(std::int64_t));
    tables_slot_ = scratch.add(2 * plan_->counts().size() + plan_->cells(), sizeof(std::uint64_t));
    if constexpr (with_values) {
      std::size_t tiles = 0, most_tiles = 0;
      for (int range = 0; range < ranges(); ++range) {
        const std::size_t here = ArrivedTiles::most(*plan_, rank, range, tile_size);
        tiles += here;
        most_tiles = std::max(most_tiles, here);
      }
      tiles_slot_ = scratch.add(tiles, sizeof(ArrivedTile));
      queue_of_parts_.list(scratch, most_tiles, static_cast<std::size_t>(ranges()));
    }
  }
  void place(std::byte* base) {
    const int rank = comm_.rank();
    room_base_ = base;
    arrived_.assign(static_cast<std::size_t>(ranges() * comm_.size()), {});
    const Place arrived = arrived_slot_.in(base);
    std::uint64_t next = 0;
    for (int range = 0; range < ranges(); ++range) {
      for (int from = 0; from < comm_.size(); ++from) {
        const std::uint64_t begin = plan_->begin_from(from, rank, range);
        if (from == comm_.rank()) {
          at(from, range) = sent_.moved_on(begin);
        } else {
          next += (begin - next) % aligned_bytes;  // as far from an aligned place as there
          at(from, range) = arrived.moved_on(next);
          next += plan_->span_from(from, rank, range);
        }
      }
    }
  }
  /// What kernels look up, of all ranges: made beside what is on its way. Enqueued.
  void prepare() {
    const int rank = comm_.rank();
    const std::uint64_t mine = layout_.begins()[static_cast<std::size_t>(rank)];
    tables_ = plan_->begins();
    tables_.insert(tables_.end(), plan_->counts().begin(), plan_->counts().end());
    for (std::uint32_t cell = 0; cell < plan_->cells(); ++cell) {
      tables_.push_back(plan_->place(cell) - mine);
    }
    enqueue_to_device(exec_, tables(), tables_);
    clear(counted(0), words_to_clear());
    if constexpr (with_values) {
      tiles_ = ArrivedTiles(*plan_, rank, tile_size);
      enqueue_to_device(exec_, tiles_slot_.in<ArrivedTile>(room_base_), tiles_.all());
      queue_of_parts_.clear(exec_, room_base_);
    }
  }

  Pieces pieces(int range) {
    Pieces pieces;
    const int rank = comm_.rank();
    comm_.for_others([&](int other) {
      const std::uint64_t mine = plan_->begin_from(rank, other, range);
      const std::uint64_t its = plan_->begin_from(other, rank, range);
      add_pieces(pieces.sends, other, sent_.moved_on(mine), plan_->span_from(rank, other, range),
                 mine);
      add_pieces(pieces.receives, other, at(other, range), plan_->span_from(other, rank, range),
                 its);
    });
    return pieces;
  }

  /// What has arrived of a range, to its places of this rank's result. Enqueued; ranges in a row may be on two instances, for
  /// teams that spread and teams that finish work well side by side.
  void finish(const ExecutionSpace& exec, int range, const Place& out) {
    const std::uint32_t parts = parts_of(range);
    if (plan_->keys_of_range(comm_.rank(), range) == 0) return;
    const std::uint32_t first = plan_->first(comm_.rank(), range);
    const std::uint32_t cells = plan_->end(comm_.rank(), range) - first;
    const Place room = room_slots_[range % 2].in(room_base_);
    into_parts(exec, range, room);
    std::int64_t* const places = places_slot_.in<std::int64_t>(room_base_) + parts_before(range);
    launch<place_with>(exec, "PlaceParts", cells,
                       Beginning{cell_places() + first, counted(range), places,
                                 static_cast<int>(cells_.parts_of_cell())});
    const DigitList all{0, Codec::bits};
    const PartsToFinish<Codec, Value> to_finish{
        cells_,
        first << cells_.part_bits,
        parts,
        part_room,
        room,
        counted(range),
        places,
        out,
        static_cast<std::int64_t>(layout_.after[static_cast<std::size_t>(comm_.rank())]),
        aside_slot_.in(room_base_),
        given_slot_.in<std::uint32_t>(room_base_) + parts_before(range),
        given_count(range)};
    const typename Finish::Chunks chunks{
        {}, codec_, all, bits_between<Bits>(all.begin, all.end), false, nullptr, nullptr, {}};
    launch<finish_with>(exec, "FinishParts", std::min<std::size_t>(parts, teams_for_chunks(parts)),
                        Finish{chunks, to_finish, is_dense()});
    launch<alone_with>(exec, "FinishCrowdedParts",
                       std::min<std::size_t>(parts, running_teams_of<alone_with>(exec)),
                       FinishCrowded{{codec_, all}, to_finish});
  }

  /// Ranges whose keys were not as the sample seemed to tell are put in order by `sort(place, count)`, once all has arrived. Waits.
  template <class Sort>
  void mend(const Place& out, const Sort& sort) {
    const auto failed = to_host(exec_, this->failed(0), static_cast<std::size_t>(ranges()));
    for (int range = 0; range < ranges(); ++range) {
      if (failed[static_cast<std::size_t>(range)] != 0) sort_instead(range, out, sort);
    }
  }

 private:
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr std::size_t value_bytes = value_bytes_of<Value>;
  using Slots = PlaceSlots<Key, Value>;
  static constexpr TeamShape spread_with =
      with_values ? sweep_cells_shape<ExecutionSpace>(sizeof(Key), value_bytes)
                  : spread_cells_shape<ExecutionSpace>(sizeof(Key));
  static constexpr TeamShape place_with = count_shape<ExecutionSpace>();
  static constexpr TeamShape finish_with =
      with_values ? finish_shape<ExecutionSpace>(sizeof(Key), value_bytes)
                  : finish_parts_shape<ExecutionSpace>(sizeof(Key));
  static constexpr TeamShape alone_with = alone_shape<ExecutionSpace>(sizeof(Key), value_bytes);
  static_assert(finish_with.round() <= alone_with.round());
  using Into =
      std::conditional_t<with_values, SweepIntoCells<ExecutionSpace, Codec, Value, spread_with>,
                         SpreadIntoCells<ExecutionSpace, Codec, spread_with>>;
  using Parts =
      std::conditional_t<with_values, SweepIntoParts<ExecutionSpace, Codec, Value, spread_with>,
                         SpreadIntoParts<ExecutionSpace, Codec, spread_with>>;
  using Beginning = PlaceParts<ExecutionSpace, place_with>;
  using Finish = FinishParts<ExecutionSpace, Codec, Value, finish_with>;
  using FinishCrowded = FinishCrowdedParts<ExecutionSpace, Codec, Value, alone_with>;
  static constexpr std::size_t tile_size = Parts::tile_size;
  static constexpr std::uint32_t part_room = finish_with.round();
  static constexpr Bits margin_part = 512;
  static constexpr std::uint64_t most_samples = 2048;  ///< of a rank, on the average
  static constexpr std::size_t found_words = sizeof(FoundInCells) / sizeof(std::uint64_t);
  static constexpr std::size_t begin_words = with_values ? most_cells : 0;

  std::size_t samples_of(int rank) const {
    const std::uint64_t has = layout_.before[static_cast<std::size_t>(rank)];
    if (has == 0) return 0;
    const double share = static_cast<double>(has) / static_cast<double>(layout_.total);
    const auto all = static_cast<double>(most_samples * static_cast<std::uint64_t>(comm_.size()));
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(static_cast<std::uint64_t>(share * all), 1, has));
  }
  std::vector<Bits> sample() {
    const std::size_t samples = samples_of(comm_.rank());
    Bits* const taken = samples_slot_.in<Bits>(base_);
    if (samples > 0) {
      Kokkos::parallel_for(label_ + "TakeSamples",
                           Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, samples),
                           TakeSamples<Codec>{given_.keys, codec_, {count_, samples}, taken});
    }
    return to_host(exec_, taken, samples);
  }

  /// Keys that a part may have on the average, so that hardly any has more than there is room for.
  static constexpr std::uint64_t even_part() {
    std::uint64_t deviation = 1;  // of as many as there is room for
    while ((deviation + 1) * (deviation + 1) <= part_room) ++deviation;
    return part_room - 7 * deviation;
  }
  bool will_fit() const {
    constexpr double most = 3;  // then hardly a part is five standard deviations above the mean
    const std::vector<std::uint64_t> counts = plan_->counts_of_all();
    return *std::max_element(counts.begin(), counts.end()) <=
               std::uint64_t{cells_.parts_of_cell()} * even_part() &&
           vary_more_than_by_chance(counts) <= most;
  }
  EvenCells<Bits> cells_between(Bits from, Bits to) const {
    // A little more room, as cells differ, too.
    std::uint64_t parts = layout_.total / (even_part() - even_part() / 32) + 1;
    constexpr auto most_parts = std::uint64_t{most_cells} * most_cells;
    if (parts > most_parts && layout_.total / most_parts < even_part()) parts = most_parts;
    if (parts > most_parts) return {};
    // Each cut between ranks costs both sides a cell.
    const auto least_cells = std::uint64_t{64} * static_cast<std::uint64_t>(comm_.size());
    int part_bits = 0;
    while (parts >> part_bits > most_cells ||
           (parts >> part_bits > least_cells &&
            parts >> part_bits > std::uint64_t{3} << part_bits >> 1)) {
      ++part_bits;
    }
    return EvenCells<Bits>::between(from, to, static_cast<std::uint32_t>(parts), part_bits);
  }
  /// A little more than keys that spread evenly take, as they come: by chance, and as they may lie beyond the sample's ends.
  static std::uint64_t room_for(double keys) {
    return static_cast<std::uint64_t>(keys + keys / 128 + 6 * std::sqrt(keys)) + 1;
  }
  /// 0 if all would take more memory than there is.
  std::uint64_t room_of_cell(const EvenCells<Bits>& cells) const {
    const double share = static_cast<double>(cells.parts_of_cell()) / cells.parts;
    const std::uint64_t room = room_for(share * static_cast<double>(count_));
    return cells.cells() * room + tile_size <= count_ + gaps() ? room : 0;
  }
  std::vector<std::uint64_t> begins_of(std::uint64_t room) const {
    std::vector<std::uint64_t> begins;
    for (std::uint32_t cell = 0; cell < cells_.cells(); ++cell) begins.push_back(cell * room);
    return begins;
  }
  void spread(const Place& out, std::vector<std::uint64_t> begins, std::uint64_t room) {
    cell_begins_ = std::move(begins);
    cell_begins_.resize(most_cells + found_words, 0);
    for (std::size_t cell = 0; cell < begin_words; ++cell) {
      cell_begins_.push_back(cell_begins_[cell]);
    }
    enqueue_to_device(exec_, next(), cell_begins_);
    if (count_ == 0) return;
    const auto tiling = Into::Tiles::of(count_);
    auto* const found = reinterpret_cast<FoundInCells*>(next() + most_cells);
    if constexpr (with_values) {
      queue_.clear(exec_, base_);
      launch<spread_with>(
          exec_, "SweepIntoCells", tiling.tiles(),
          Into{given_, out, codec_, cells_, tiling, room, next() + most_cells + found_words, next(),
               found, queue_.of(base_, 0, tiling.tiles())});
    } else {
      launch<spread_with>(exec_, "SpreadIntoCells", tiling.tiles(),
                          Into{given_.keys, out.keys, codec_, cells_, tiling, room, next(), found});
    }
  }
  void into_parts(const ExecutionSpace& exec, int range, const Place& room) {
    if constexpr (with_values) {
      ArrivedElements<Place> arrived{};
      for (int from = 0; from < comm_.size(); ++from) arrived.of[from] = at(from, range);
      const std::size_t tiles = tiles_.of_range(range);
      launch<spread_with>(
          exec, "SweepIntoParts", tiles,
          Parts{arrived, tiles_slot_.in<ArrivedTile>(room_base_) + tiles_.first_of_range(range),
                codec_, cells_, part_room, room, counted(range), failed(range),
                queue_of_parts_.of(room_base_, static_cast<std::size_t>(range), tiles)});
    } else {
      const std::uint32_t first = plan_->first(comm_.rank(), range);
      const std::uint32_t cells = plan_->end(comm_.rank(), range) - first;
      ArrivedCells<Key> arrived{};
      std::uint64_t longest = 0;
      for (int from = 0; from < comm_.size(); ++from) {
        arrived.keys[from] = at(from, range).keys;
        for (std::uint32_t cell = first; cell < first + cells; ++cell) {
          longest = std::max(longest, plan_->keys(from, cell));
        }
      }
      arrived.begins = tables();
      arrived.counts = tables() + plan_->counts().size();
      arrived.ranks = static_cast<std::uint32_t>(comm_.size());
      arrived.in_all = plan_->cells();
      arrived.first = first;
      const auto tiles = static_cast<std::uint32_t>((longest + tile_size - 1) / tile_size);
      launch<spread_with>(exec, "SpreadIntoParts", std::size_t{cells} * arrived.ranks * tiles,
                          Parts{arrived, codec_, cells_, tiles, part_room, room.keys,
                                counted(range), failed(range)});
    }
  }
  /// More keys than counters of two bits hold would often share one.
  bool is_dense() const {
    constexpr double most = 0.12, counters = 65536;
    const double codes = static_cast<double>(cells_.last_of(0) - cells_.first_of(0)) + 1;
    return static_cast<double>(even_part()) > most * std::min(codes, counters);
  }

  std::uint32_t parts_before(int range) const {
    const int rank = comm_.rank();
    return (plan_->first(rank, range) - plan_->first(rank, 0)) << cells_.part_bits;
  }
  std::uint32_t parts_of(int range) const { return parts_before(range + 1) - parts_before(range); }

  template <class Sort>
  void sort_instead(int range, const Place& out, const Sort& sort) {
    const int rank = comm_.rank();
    const Place room = room_slots_[0].in(room_base_);
    const auto count = static_cast<std::int64_t>(plan_->keys_of_range(rank, range));
    Place next = room;
    for (std::uint32_t cell = plan_->first(rank, range); cell < plan_->end(rank, range); ++cell) {
      for (int from = 0; from < comm_.size(); ++from) {
        const std::uint64_t first = plan_->begin_from(from, rank, range);
        const std::uint64_t keys = plan_->keys(from, cell);
        copy(next, at(from, range).moved_on(plan_->begin(from, cell) - first), keys);
        next = next.moved_on(keys);
      }
    }
    sort(room, static_cast<std::size_t>(count));
    const auto begin = static_cast<std::int64_t>(plan_->place(plan_->first(rank, range)) -
                                                 layout_.begins()[static_cast<std::size_t>(rank)]);
    const auto places = static_cast<std::int64_t>(layout_.after[static_cast<std::size_t>(rank)]);
    const std::int64_t from = std::max<std::int64_t>(begin, 0);
    const std::int64_t to = std::min(begin + count, places);
    copy(out.moved_on(static_cast<std::uint64_t>(from)),
         room.moved_on(static_cast<std::uint64_t>(from - begin)),
         static_cast<std::uint64_t>(to - from));
  }
  void copy(const Place& to, const Place& from, std::uint64_t count) {
    const auto copy_all = [&](auto* there, const auto* here) {
      copy_bytes(exec_, reinterpret_cast<std::byte*>(there),
                 reinterpret_cast<const std::byte*>(here), count * sizeof(*here));
    };
    copy_all(to.keys, from.keys);
    if constexpr (with_values) copy_all(to.values, from.values);
  }

  template <class T>
  void clear(T* data, std::size_t count) {
    Kokkos::deep_copy(exec_, Loose<T, Space>(data, count), T{0});
  }
  template <TeamShape Shape, class Kernel>
  void launch(const ExecutionSpace& exec, const char* name, std::size_t teams,
              const Kernel& kernel) {
    launch_teams<Shape>(exec, label_ + name, teams, Kernel::scratch_bytes(), kernel);
  }

  /// Where cells begin on all ranks, how many keys they have there, and where they begin in this rank's result.
  std::uint64_t* tables() const { return tables_slot_.in<std::uint64_t>(room_base_); }
  const std::int64_t* cell_places() const {
    return reinterpret_cast<const std::int64_t*>(tables() + 2 * plan_->counts().size());
  }
  std::uint64_t* next() const { return next_slot_.in<std::uint64_t>(base_); }
  std::uint32_t* counted(int range) const {
    return counted_slot_.in<std::uint32_t>(room_base_) + parts_before(range);
  }
  std::uint32_t* failed(int range) const { return counted(ranges()) + range; }
  std::uint32_t* given_count(int range) const { return failed(ranges()) + range; }
  std::size_t words_to_clear() const {
    return parts_before(ranges()) + 2 * static_cast<std::size_t>(ranges());
  }
  Place& at(int from, int range) {
    return arrived_[static_cast<std::size_t>(range * comm_.size() + from)];
  }

  const ExecutionSpace& exec_;
  const Communicator& comm_;
  Codec codec_;
  const Layout& layout_;
  std::string label_;
  Slot samples_slot_, next_slot_;
  Slots room_slots_[2], arrived_slot_, aside_slot_;
  Slot counted_slot_, given_slot_, places_slot_, tables_slot_;
  std::byte *base_ = nullptr, *room_base_ = nullptr;
  Place given_, sent_;
  std::size_t count_ = 0;
  std::uint64_t room_ = 0;  ///< of each cell where keys are spread; 0: they are counted before
  std::vector<std::uint64_t> cell_begins_;
  EvenCells<Bits> cells_;
  std::optional<CellRanges> plan_;
  std::vector<Place> arrived_;  ///< where each rank's keys of a range lie
  std::vector<std::uint64_t> tables_;
  // Of elements that keep their order.
  Slot tiles_slot_;
  ArrivedTiles tiles_;
  TileQueueSlots<ExecutionSpace, most_cells> queue_, queue_of_parts_;
};

}  // namespace kradix::impl::mpi
