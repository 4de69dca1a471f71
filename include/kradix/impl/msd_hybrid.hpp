// Two sweeps and a finish: a stable sort that moves elements three times whatever the width of the keys.
//
// Least-significant-digit sweeps over the topmost varying digits alone, as many as leave runs that fit a
// team's scratch, then one finish of each run in scratch. A sample chooses on the device; where it finds
// no such digits the same launches sweep over all digits, and the sort is a Onesweep. Keys in order, or in
// reverse, are found out by the read that otherwise counts digits; few kinds of keys are counted and made anew.
//
// After Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs" (SIGMOD 2017), who
// partition from the most significant digit and finish small buckets locally; the sweeps are those of
// Onesweep (Adinets and Merrill, 2022), which this file includes.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>
#include <utility>

#include "kradix/impl/device/cells.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/count_kinds.hpp"
#include "kradix/impl/device/count_runs.hpp"
#include "kradix/impl/device/deal_keys.hpp"
#include "kradix/impl/device/expand_kinds.hpp"
#include "kradix/impl/device/finish_cells.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/finish_gathered.hpp"
#include "kradix/impl/device/finish_gathered_cells.hpp"
#include "kradix/impl/device/finish_numbered.hpp"
#include "kradix/impl/device/finish_ranges.hpp"
#include "kradix/impl/device/gather_in_order.hpp"
#include "kradix/impl/device/gather_tiles.hpp"
#include "kradix/impl/device/glance.hpp"
#include "kradix/impl/device/label_kinds.hpp"
#include "kradix/impl/device/look_at_floats.hpp"
#include "kradix/impl/device/mend_tiles.hpp"
#include "kradix/impl/device/numbered_tiles.hpp"
#include "kradix/impl/device/range_tiles.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/sort_by_splitters.hpp"
#include "kradix/impl/device/take_out_keys.hpp"
#include "kradix/impl/onesweep.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Of more keys some cells of 16 samples each would be too long for scratch by chance.
inline std::size_t most_split(std::size_t chunk) {
  return Route::cells * (chunk / 3);
}

/// When a finish is worth while, for sorts of so many elements.
inline RouteRule route_rule(const Plan& plan) {
  RouteRule rule = RouteRule::of_chunks(plan.chunk);
  rule.samples_from = least_to_sample(plan.passes);
  // A pair that a glance sees stands for a key or two up to here.
  rule.glance_to = std::max(std::size_t{1} << 24, rule.samples_from - 1);
  rule.heavy_from = std::size_t{1} << (plan.value_bytes > 0 ? 21 : 22);
  if (plan.passes > 0)
    rule.spread_from = least_spread_bytes / static_cast<std::size_t>(plan.passes);
  rule.alone = RouteRule::of_chunks(plan.crowded_chunk).run;
  if (plan.chunk > plan.crowded_chunk) rule.close_of_all = 1.9f;
  if (has_room_for_long_tiles) rule.split_to = most_split(plan.crowded_chunk);
  if (plan.key_bytes <= 4) {
    // Of keys that come a few times each a finish takes longer than the sweeps it saves. So many pairs of a glance are the same
    // where each comes once or twice; with values more of them are still worth it.
    rule.most_same = static_cast<std::uint32_t>(
        (std::size_t{plan.value_bytes > 0 ? 3u : 1u} << 22) / std::max<std::size_t>(plan.count, 1));
    if (plan.value_bytes == 0) rule.same_of_all = 3;
    // A cell of fewer keys is as long to count by value.
    if (plan.count < std::size_t{1} << 28) rule.alike_counted = 1.5f;
    rule.pieces_from = std::size_t{3} << 24;
    if (plan.value_bytes == 0) rule.gather_from = std::size_t{1} << 25;
  } else if (plan.waits) {
    rule.split_from = std::size_t{1} << 24;  // others do not pay for it
  }
  // Of long keys with values, what a usual finish gives up is sooner sorted than swept.
  if (plan.value_bytes > 0 && plan.key_bytes > 4 && plan.chunk == plan.crowded_chunk)
    rule.meets_from = ~std::size_t{0};
  if (plan.key_bytes == 8) rule.by_value_from = least_to_finish(plan.passes);
  if (plan.value_bytes > 0) rule.by_value_alike = 3;
  // Where the host waits nothing is launched for it that is not wanted, but of few pairs it saves less than it takes where it is
  // tried in vain; where it does not wait, others pay for four launches.
  const bool short_keys = plan.key_bytes <= 4;
  if (plan.waits) {
    rule.gather_from = plan.value_bytes == 0 ? most_dealt(static_cast<std::size_t>(plan.key_bytes))
                       : plan.numbered > 0   ? least_tried
                                             : std::size_t{1} << (short_keys ? 24 : 23);
  } else if (plan.value_bytes > 0) {
    rule.gather_from = std::size_t{1} << (short_keys ? 27 : 26);
  }
  return rule;
}

struct MsdHybridScratch {
  OnesweepScratch sweeps;
  Slot kinds;      ///< or labels
  Slot cells;      ///< if keys may be spread twice; the sums of their tiles and their counts follow
  Slot gathering;  ///< if keys may be gathered, what must be zero
  Slot dealing;    ///< likewise, if they may be dealt out
  Slot ranging;    ///< or sorted by bins of a short range
  Slot met;        ///< if samples of all teams meet
  Slot in_tiles, runs, in_windows;  ///< and their tables
  Slot range_tiles;                 ///< and that of a short range
  Slot heavy;                       ///< a glance may write them beside those who clear all before
  Slot by_value;  ///< if floats may be swept so: that is true of it and of what follows
  Slot sampled;   ///< kinds
  Slot route;
  Slot dealt;      ///< if keys may be dealt out, and a glance writes it as well
  Slot range;      ///< likewise, if they may be of a short range
  Slot splitting;  ///< if keys may be spread by splitters, with what else must be zero
  Slot splitters;  ///< then, and the samples that they are chosen from
  Slot pieces;     ///< if floats may be spread by pieces, and what else is known of their cells
  Slot chunks;  ///< may lie over the look-back's words, which are done with when chunks are listed
  HostBoard* board = nullptr;  ///< if the host waits for what the device chooses

  std::size_t most_chunks = 0;  ///< of each list

  /// Of keys that spread evenly, or in which many are alike.
  static ChunkShape chunk_shape(const Plan& plan, bool crowded) {
    const std::size_t chunk = crowded ? plan.crowded_chunk : plan.chunk;
    const int sweeps = RouteRule::of_chunks(chunk).least_sweeps(plan.count);
    return ChunkShape::of(chunk, plan.count, plan.count >> (sweeps * digit_bits));
  }

  static MsdHybridScratch list(const Plan& plan, const LookBackShape& most, ScratchList& list) {
    return MsdHybridScratch::list(plan, most, list, route_rule(plan));
  }
  static MsdHybridScratch list(const Plan& plan, const LookBackShape& most, ScratchList& list,
                               const RouteRule& rule) {
    MsdHybridScratch scratch;
    const bool may_spread = plan.value_bytes == 0 &&
                            plan.count >= std::min(rule.spread_from, rule.pieces_from) &&
                            plan.count <= Cells::most_keys;
    const bool may_split = plan.value_bytes == 0 && plan.key_bytes == 8 &&
                           plan.count >= rule.split_from && plan.count <= rule.split_to;
    const std::size_t splitting = may_split ? sizeof(SplitterState) : 0;
    const Gathering shape = gathering_of(plan, rule);
    const std::size_t gathering = shape.exists() ? sizeof(GatherState) : 0;
    const bool may_deal = dealing_of(plan).exists();
    const std::size_t dealing = may_deal ? sizeof(DealState) : 0;
    const std::size_t dealt = may_deal ? sizeof(DealTerms) : 0;
    const std::size_t ranging = plan.ranged > 0 ? sizeof(RangeState) : 0;
    const std::size_t range = plan.ranged > 0 ? sizeof(RangeTerms) : 0;
    const std::size_t met = plan.count >= rule.meets_from ? MetSamples::bytes : 0;
    const bool may_be_by_value = plan.key_bytes >= 4 && plan.key_bytes <= 8 &&
                                 plan.count >= rule.by_value_from &&
                                 (plan.value_bytes > 0 || plan.count < rule.pieces_from);
    const std::size_t by_value = may_be_by_value ? sizeof(ValueSweeps<std::uint64_t>) : 0;
    const std::size_t cells =
        may_spread ? (Cells::count + TileSums::words) * sizeof(std::uint64_t) +
                         Cells::count * sizeof(Cells::Counter) + sizeof(Suffixes::State)
                   : 0;
    const std::size_t kinds =
        plan.value_bytes > 0 ? sizeof(Labels<std::uint64_t>) : sizeof(Kinds<std::uint64_t>);
    constexpr std::size_t heavy = sizeof(HeavyKinds<std::uint64_t>);
    constexpr std::size_t sampled = most_sampled_kinds * sizeof(std::uint64_t);
    scratch.sweeps =
        OnesweepScratch::list(plan, most, list, 2, 1,
                              kinds + heavy + cells + splitting + gathering + dealing + ranging +
                                  met + by_value + dealt + range + sampled + sizeof(Route));
    scratch.kinds = {scratch.sweeps.counts.offset + scratch.sweeps.extra, kinds};
    scratch.cells = {scratch.kinds.offset + kinds, cells};
    scratch.splitting = {scratch.cells.offset + cells, splitting};
    scratch.gathering = {scratch.splitting.offset + splitting, gathering};
    scratch.dealing = {scratch.gathering.offset + gathering, dealing};
    scratch.ranging = {scratch.dealing.offset + dealing, ranging};
    scratch.met = {scratch.ranging.offset + ranging, met};
    scratch.heavy = {scratch.met.offset + met, heavy};
    scratch.by_value = {scratch.heavy.offset + heavy, by_value};
    scratch.dealt = {scratch.by_value.offset + by_value, dealt};
    scratch.range = {scratch.dealt.offset + dealt, range};
    scratch.sampled = {scratch.range.offset + range, sampled};
    scratch.route = {scratch.sampled.offset + sampled, sizeof(Route)};
    if (may_split) {
      scratch.splitters =
          list.add(SplitterRows::words + SplitterRows::most_shown, sizeof(std::uint64_t));
    }
    if (may_spread && plan.key_bytes <= 8 && plan.count >= rule.pieces_from)
      scratch.pieces = add_pieces(plan, list, rule);
    if (shape.exists()) {
      scratch.in_tiles = list.add(GatherTables::words_in_tiles(shape), sizeof(std::uint16_t));
      scratch.runs = list.add(GatherTables::first_runs(shape), sizeof(FirstRun));
      scratch.in_windows = list.add(GatherTables::words_in_windows(shape), sizeof(std::uint16_t));
    }
    if (plan.ranged > 0)
      scratch.range_tiles =
          list.add(Ranging::words(plan.count, plan.ranged), sizeof(std::uint16_t));
    scratch.most_chunks = std::max<std::size_t>(
        {chunk_shape(plan, false).chunks(plan.count), chunk_shape(plan, true).chunks(plan.count),
         may_spread || may_split ? std::size_t{Cells::count} : std::size_t{0},
         shape.exists() ? std::size_t{shape.bins()} * shape.chunks : std::size_t{0}});
    const std::size_t chunk_words = 2 * scratch.most_chunks;
    const bool fits = chunk_words * sizeof(std::uint64_t) <= scratch.sweeps.words.bytes;
    scratch.chunks = fits ? scratch.sweeps.words : list.add(chunk_words, sizeof(std::uint64_t));
    return scratch;
  }

  static Dealing dealing_of(const Plan& plan) {
    return plan.dealt > 0 ? Dealing::of(plan.count, plan.dealt_bin) : Dealing{};
  }
  /// Of keys of 4 bytes, all 16 bits that two digits leave.
  static bool leaves_suffixes(const Plan& plan, const RouteRule& rule) {
    return plan.key_bytes == 4 && plan.value_bytes == 0 && plan.count >= rule.values_from;
  }
  /// Keys with their indices, in one word each.
  static Gathering gathering_of_numbered(const Plan& plan, const RouteRule& rule) {
    if (plan.numbered == 0 || plan.count < rule.gather_from) return {};
    const Gathering shape = Gathering::of(plan.count, plan.numbered, plan.chunk);
    constexpr int counted_bits = PackedCounters<2>::index_bits;
    return shape.exists() && NumberedSplit<counted_bits>::fits(shape) ? shape : Gathering{};
  }
  static Gathering gathering_of(const Plan& plan, const RouteRule& rule) {
    if (plan.gathered == 0 || plan.count < rule.gather_from) return {};
    const Gathering numbered = gathering_of_numbered(plan, rule);
    if (numbered.exists()) return numbered;
    if (leaves_suffixes(plan, rule)) {
      return Gathering::of_suffixes(plan.count, plan.gathered);
    }
    return Gathering::of(plan.count, plan.gathered, plan.chunk, plan.value_bytes > 0);
  }

 private:
  static Slot add_pieces(const Plan& plan, ScratchList& list, const RouteRule& rule) {
    using Arrays = PieceArrays<std::uint32_t>;
    const std::size_t words = plan.key_bytes == 4 ? Arrays::room_for_least + rule.wide : 0;
    return list.add(sizeof(Pieces) + words * sizeof(std::uint32_t), 1);
  }
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, TeamShape FinishShape,
          TeamShape AloneShape, TeamShape RangeShape>
class MsdHybrid {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Sweeps = Onesweep<ExecutionSpace, Codec, Value, Shape>;
  static constexpr TeamShape step_with = count_shape<ExecutionSpace>();
  static constexpr TeamShape glance_with = glance_shape<ExecutionSpace>();
  static constexpr bool may_have_ranges = impl::may_be_ranged<ExecutionSpace, Codec, Value>;
  using Glance = impl::Glance<ExecutionSpace, Codec, glance_with.threads,
                              Sweeps::may_sweep_by_value, may_have_ranges>;
  static constexpr TeamShape sample_with = sample_shape<ExecutionSpace>();
  /// Floats alone, and those that may be swept by value.
  static constexpr bool are_floats_alone =
      may_be_looked_at<Codec> && std::is_same_v<Value, NoValue>;
  static constexpr bool may_look = are_floats_alone || Sweeps::may_sweep_by_value;
  static constexpr bool may_cut =
      are_floats_alone && (may_be_cut<ExecutionSpace, Codec> || may_be_cut_by_value<Codec>);
  using Look = std::conditional_t<may_look,
                                  LookAtFloats<ExecutionSpace, Codec, sample_with.threads>, NoLook>;
  using Sample = SampleRuns<ExecutionSpace, Codec, sample_with.threads, Look>;
  using List = ListChunks<ExecutionSpace, Codec, step_with.threads, Sweeps::may_sweep_by_value>;
  using Finish = FinishChunk<ExecutionSpace, Codec, Value, FinishShape>;
  static constexpr bool is_long = FinishShape.round() > AloneShape.round();
  static constexpr TeamShape look_up_with = look_up_shape<ExecutionSpace>(sizeof(Key));
  static constexpr TeamShape take_out_with = take_out_shape<ExecutionSpace>(sizeof(Key));
  using Rest = CrowdedOrMend<ExecutionSpace, Codec, Value, AloneShape>;
  static_assert(is_long || 3 * FinishShape.round() <= 4 * Rest::Mend::tile);
  using Ranges = FinishRanges<ExecutionSpace, Codec, Value, RangeShape>;
  using Runs = CountRuns<ExecutionSpace, Codec, RangeShape.threads>;
  static constexpr TeamShape count_cells_with = count_cells_shape<ExecutionSpace>();
  static constexpr TeamShape cells_with = finish_cells_shape<ExecutionSpace>();
  static constexpr TeamShape gather_with =
      gather_shape<ExecutionSpace>(sizeof(Key), std::is_same_v<Value, NoValue> ? 0 : sizeof(Value));

 public:
  MsdHybrid(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
            const SortBuffers<Key, Value>& buffers, const MsdHybridScratch& scratch,
            std::byte* base, const char* label)
      : plan_(plan),
        codec_(codec),
        buffers_(buffers),
        sweeps_(exec, plan, codec, buffers, scratch.sweeps, base,
                std::string(label) + "::msd_hybrid::"),
        route_(scratch.route.in<Route>(base)),
        kinds_(scratch.kinds.in<std::byte>(base)),
        heavy_(scratch.heavy.in<HeavyKinds<Key>>(base)),
        cells_(scratch.cells.bytes > 0 ? scratch.cells.in<std::uint64_t>(base) : nullptr),
        splitting_(scratch.splitting.bytes > 0 ? scratch.splitting.in<SplitterState>(base)
                                               : nullptr),
        by_value_(scratch.by_value.bytes > 0 && may_sweep_by_value(plan)
                      ? scratch.by_value.in<ValueSweeps<Key>>(base)
                      : nullptr),
        pieces_(scratch.pieces.bytes > 0 ? scratch.pieces.in<Pieces>(base) : nullptr),
        tables_{scratch.gathering.in<GatherState>(base), scratch.in_tiles.in<std::uint16_t>(base),
                scratch.runs.in<FirstRun>(base), scratch.in_windows.in<std::uint16_t>(base)},
        dealing_(scratch.dealing.bytes > 0 ? scratch.dealing.in<DealState>(base) : nullptr),
        dealt_(scratch.dealt.bytes > 0 ? scratch.dealt.in<DealTerms>(base) : nullptr),
        ranging_(scratch.ranging.bytes > 0 ? scratch.ranging.in<RangeState>(base) : nullptr),
        range_(scratch.range.bytes > 0 ? scratch.range.in<RangeTerms>(base) : nullptr),
        range_tiles_(scratch.range_tiles.in<std::uint16_t>(base)),
        met_{scratch.met.bytes > 0 ? scratch.met.in<std::uint64_t>(base) : nullptr},
        splitters_(splitting_ != nullptr ? scratch.splitters.in<Bits>(base) : nullptr),
        sampled_(scratch.sampled.in<Key>(base)),
        kept_(scratch.heavy.bytes + scratch.by_value.bytes + scratch.dealt.bytes +
              scratch.range.bytes + scratch.sampled.bytes + scratch.route.bytes),
        lists_(ChunkLists::of(scratch.chunks.in<std::uint64_t>(base), scratch.most_chunks, route_)),
        board_(scratch.board) {}

  void sort(const RouteRule& rule) {
    const bool kinds = may_look_for_kinds(rule), heavy = may_take_out(rule);
    const bool spreads = may_spread(rule);
    choose(rule);
    if (heavy && !with_values) take_out_keys();
    if (may_gather() && board_ == nullptr) sort_tiles(rule, {});
    if (spreads) count_cells(rule);
    sweeps_.count(route_, heavy_, counting_kinds(), ranking_kinds(), by_value_, board_);
    // Meanwhile the first pass runs, which hardly any sort does without, unless it may be as long until its teams have left.
    const bool goes_ahead = !spreads && plan_.tiles <= most_unasked_tiles;
    KnownRoute known;
    if (!goes_ahead) known = sweeps_.wait(route_, board_);
    const bool by_cells = spreads && known.spreads_by_cells();
    const bool labels = kinds && with_values;
    const int first_labels = glances_only(rule) ? 1 : Labels<Key>::most_sweeps;
    const auto sweep_labels = [&](int from, int to) {
      if (from < to) take_out_or_sweep_by_labels(from, to);
    };
    if (labels && known.takes_out_or_labels()) {
      sweep_labels(0, std::max(known.sweeps_by_labels(first_labels), 1));
    }
    if (by_cells) place_cells(rule);
    sweeps_.sweep_first(route_, arrays(rule), known);
    if (goes_ahead) known = sweeps_.wait(route_, board_);
    if (labels && known.is_known())
      sweep_labels(first_labels, known.sweeps_by_labels(Labels<Key>::most_sweeps));
    if (may_try(known)) {
      if (succeeds(rule, known)) return;
      tries_ = false;
      sort(rule);
      return;
    }
    sweeps_.sweep_others(known);
    if (by_value_ != nullptr && known.sweeps_by_value()) sweeps_.sweep_by_value(by_value_);
    if (by_cells) spread_within(rule);
    if constexpr (may_write_cells) {
      if (may_leave_suffixes(rule) && known.spreads_so(Route::to_values)) finish_cells<false>(rule);
    }
    if constexpr (may_cut && PieceArrays<Bits>::leave_suffixes) {
      if (may_be_by_pieces(rule) && known.spreads_so(Route::pieces_to_values))
        finish_cells<true>(rule);
    }
    const bool splits = may_split(rule) && known.splits();
    if (splits) sort_by_splitters();
    if (may_gather() && known.gathers()) gather(rule, known.is_known());
    const bool settles_apart = heavy && !glances_only(rule);
    finish(rule, !settles_apart, known, splits);
    if (settles_apart && sweeps_.settles(known)) settle_expand_or_merge();
  }

 private:
  KeyOrder<Codec> order() const {
    return {buffers_.keys.in, plan_.count, codec_,
            sweeps_.digits(), with_values, equal_keys_differ(codec_, sweeps_.digits())};
  }
  SweepChoices sweep_choices(const RouteRule& rule) const {
    return SweepChoices::of(rule.least_sweeps(plan_.count), plan_.passes);
  }
  ChooseRoute choosing(const RouteRule& rule) const {
    const auto samples = static_cast<float>(Sample::samples);
    const std::size_t teams = Sample::teams(plan_.count);
    const float all_samples = static_cast<float>(teams) * samples;
    return {plan_.count,
            sweeps_.digits(),
            rule,
            sweep_choices(rule),
            samples,
            static_cast<float>(teams) * samples * (samples - 1) / 2,
            met_.words != nullptr ? all_samples * (all_samples - 1) / 2 : 0,
            static_cast<int>(sizeof(Key)) + plan_.value_bytes,
            Finish::Wide::word_bits,
            value_bits(),
            may_spread(rule),
            may_split(rule),
            may_gather(),
            may_gather() && MsdHybridScratch::leaves_suffixes(plan_, rule),
            piece_bits(rule),
            cell_bits(rule),
            Rest::Crowded::Passes::may_have_kinds,
            buffers_.keys.in_place(),
            with_values,
            route_};
  }
  Glance glance(const RouteRule& rule) const {
    return {order(),
            choosing(rule),
            glances_only(rule),
            kinds_to_sample(rule, true),
            by_value_,
            may_deal() ? dealt_ : nullptr,
            MsdHybridScratch::dealing_of(plan_).bins,
            may_range() ? range_ : nullptr,
            ranging()};
  }

  void choose(const RouteRule& rule) {
    using Clear = typename Sweeps::template Clear<glance_with.threads>;
    const GlanceAtKeys<Glance, Clear> at_keys{
        glance(rule), sweeps_.template clearing<glance_with.threads>(kept_)};
    sweeps_.template launch<glance_with>("GlanceAtKeys", at_keys.teams(), at_keys.scratch_bytes(),
                                         at_keys);
    if (glances_only(rule)) return;
    const auto kinds = kinds_to_sample(rule, false);
    sweeps_.template launch<sample_with>("SampleRuns",
                                         Sample::teams(plan_.count) + (kinds.wanted() ? 1 : 0),
                                         Sample::scratch_bytes(),
                                         Sample{order(), sweep_choices(rule), kinds, met_,
                                                shown(rule), look(rule), route_, choosing(rule)});
  }
  Look look(const RouteRule& rule) const {
    if constexpr (may_look) {
      return {codec_,
              may_be_by_pieces(rule) ? pieces_ : nullptr,
              piece_bits(rule),
              PieceArrays<Bits>::leave_suffixes ? Suffixes::most_bits : 0,
              by_value_ != nullptr ? &by_value_->cells : nullptr,
              static_cast<float>(plan_.count),
              rule.by_value_alike};
    } else {
      return {};
    }
  }
  /// In memory of splitters, of cells that are not counted yet, or of keys that have not moved.
  Bits* shown(const RouteRule& rule) const {
    if (may_split(rule)) return shown();
    if (by_value_ != nullptr) return reinterpret_cast<Bits*>(buffers_.keys.other);
    return may_be_by_pieces(rule) ? reinterpret_cast<Bits*>(cells_) : nullptr;
  }

  bool may_label_twice(const RouteRule& rule) const {
    return board_ != nullptr && plan_.count >= rule.label_twice_from;
  }
  /// By a team that takes a glance, or by one of those that take samples. Where a glance tells, labels have one digit, if others would
  /// pay for a second.
  typename Sample::Kinds kinds_to_sample(const RouteRule& rule, bool at_a_glance) const {
    static_assert(glance_with.threads == sample_with.threads);
    const bool wanted = may_look_for_kinds(rule) && at_a_glance == glances_only(rule);
    return {order(),
            wanted ? sampled_ : nullptr,
            wanted && may_take_out(rule) ? heavy_ : nullptr,
            with_values,
            at_a_glance && with_values && !may_label_twice(rule) ? bin_count : most_sampled_kinds,
            choosing(rule).least_listed_share(plan_.passes)};
  }

  /// Few keys are either swept and finished, or swept over all digits.
  bool glances_only(const RouteRule& rule) const { return plan_.count < rule.samples_from; }

  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  using Kinds = std::conditional_t<with_values, Labels<Key>, impl::Kinds<Key>>;
  /// Of labelled keys the sample must hold all kinds, so it is seen whether any two of them are equal.
  static constexpr bool knows_kinds = with_values ? may_be_listed<Codec> : may_be_kind<Codec>;
  static constexpr bool takes_heavy = may_be_taken_out<Codec, with_values>;

  /// Keys are made again from their kinds, so a kind must be all there is to know of a key.
  bool may_look_for_kinds(const RouteRule& rule) const {
    return knows_kinds && plan_.count >= rule.kinds_from &&
           (with_values || !equal_keys_differ(codec_, sweeps_.digits()));
  }
  bool may_take_out(const RouteRule& rule) const {
    return takes_heavy && may_look_for_kinds(rule) && plan_.count >= rule.heavy_from &&
           all_bits_count(plan_);
  }

  /// Keys are made again from their codes, if that is all there is to know of a key.
  static constexpr bool may_count = !with_values && knows_kinds && invertible_codec<Codec>;
  static constexpr bool may_write_cells = may_have_suffixes<Codec> && !with_values;
  int value_bits() const {
    return may_count && !equal_keys_differ(codec_, sweeps_.digits()) ? Runs::most_bits : 0;
  }

  /// Keys alone that are words, and differ in all that is to know of them.
  static constexpr bool may_have_cells = !with_values && impl::may_have_cells<Codec>;
  bool may_spread(const RouteRule& rule) const {
    return may_have_cells && cells_ != nullptr && !sweeps_.keeps_order() &&
           (plan_.count >= rule.spread_from || may_be_by_pieces(rule));
  }
  bool may_be_by_pieces(const RouteRule& rule) const {
    return may_cut && pieces_ != nullptr && !glances_only(rule) && !sweeps_.keeps_order();
  }
  /// Floats, all bits of which count.
  static bool may_sweep_by_value(const Plan& plan) {
    return Sweeps::may_sweep_by_value && all_bits_count(plan);
  }
  static bool all_bits_count(const Plan& plan) {
    return plan.bits.end - plan.bits.begin == Codec::bits;
  }
  int piece_bits(const RouteRule& rule) const {
    if (by_value_ != nullptr) return Route::cell_bits;
    if (!may_be_by_pieces(rule)) return 0;
    return PieceArrays<Bits>::leave_suffixes ? rule.piece_bits(plan_.count) : Route::cell_bits;
  }
  PieceArrays<Bits> arrays(const RouteRule& rule) const {
    if constexpr (may_cut) {
      if (!may_be_by_pieces(rule)) return {};
      if constexpr (PieceArrays<Bits>::leave_suffixes) {
        auto* const least = reinterpret_cast<Bits*>(pieces_ + 1);
        return {pieces_, piece_bits(rule), least, least + PieceArrays<Bits>::room_for_least,
                rule.wide};
      }
      return {pieces_, piece_bits(rule)};
    }
    return {};
  }
  bool may_leave_suffixes(const RouteRule& rule) const {
    return may_write_cells && may_spread(rule) && plan_.count >= rule.values_from;
  }
  int cell_bits(const RouteRule& rule) const {
    return may_leave_suffixes(rule) ? Suffixes::most_bits : 0;
  }

  /// Keys alone of 8 bytes that are all there is to know of them.
  static constexpr bool may_have_splitters = !with_values && may_be_split<ExecutionSpace, Codec>;
  bool may_split(const RouteRule& rule) const {
    return may_have_splitters && splitting_ != nullptr && plan_.count >= rule.split_from &&
           plan_.count <= rule.split_to && !glances_only(rule) && !sweeps_.keeps_order();
  }
  Bits* shown() const { return splitters_ + SplitterRows::words; }
  void sort_by_splitters() {
    if constexpr (may_have_splitters) {
      using Phase = SplitterPhases::Phase;
      constexpr TeamShape count_with = split_count_shape<ExecutionSpace>();
      constexpr TeamShape spread_with = split_shape<ExecutionSpace>();
      const auto phases = SplitterPhases::of(plan_.count, spread_with.round());
      const auto run = [&]<TeamShape shape, int First, int Last>(const char* name) {
        using Split = SortBySplitters<ExecutionSpace, Codec, shape, First, Last>;
        sweeps_.template launch<shape>(
            name, std::min(phases.tiles[Last], sweeps_.template running_teams<shape>()),
            Split::scratch_bytes(),
            Split{buffers_.keys, codec_, plan_.count, route_, phases, shown(),
                  static_cast<int>(Sample::teams(plan_.count)) * Sample::shows, splitters_,
                  splitting_});
      };
      run.template operator()<count_with, Phase::sample_all, Phase::count_all>("CountBySplitters");
      run.template operator()<spread_with, Phase::spread_all, Phase::spread_all>(
          "SpreadBySplitters");
      run.template operator()<count_with, Phase::sample_bins, Phase::count_bins>(
          "CountBySplitters");
      run.template operator()<spread_with, Phase::spread_bins, Phase::spread_bins>(
          "SpreadBySplitters");
    }
  }

  /// Words that are all there is to know of keys. (Of so many that chunks are long windows are too many, as a rule.)
  static constexpr bool may_have_windows =
      !is_long && impl::may_be_gathered<ExecutionSpace, Codec, Value>;
  bool may_gather() const {
    // Whoever goes on otherwise finds keys that have changed places, and makes values that do not tell from where.
    const bool loses_places = buffers_.makes_indices && buffers_.keys.in_place();
    return may_have_windows && tables_.state != nullptr && tries_ && !loses_places &&
           (with_values || !sweeps_.keeps_order());
  }
  static constexpr bool may_have_bins =
      !is_long && !with_values && impl::may_be_dealt<ExecutionSpace, Codec>;
  bool may_deal() const {
    return may_have_bins && dealing_ != nullptr && board_ != nullptr && tries_ &&
           !sweeps_.keeps_order();
  }
  /// What may fail is launched once the host knows that it is wanted, if it waits, for others would pay for it.
  bool may_try(const KnownRoute& known) const {
    return board_ != nullptr &&
           ((may_deal() && known.deals()) || (may_gather() && known.gathers()) ||
            (may_range() && known.ranges()));
  }
  /// Waits to know that: else all elements are where a sort may begin anew.
  bool succeeds(const RouteRule& rule, const KnownRoute& known) {
    const auto told = [&](const std::uint64_t& fails) {
      return TellHost{&fails, 1, board_, board_->next()};
    };
    if (known.ranges()) {
      sort_by_range(told(ranging_->in_vain));
    } else {
      if (known.deals()) {
        deal_keys(told(dealing_->fails));
      } else {
        sort_tiles(rule, told(tables_.state->fails));
        gather(rule, /*certainly=*/true);
      }
      finish(rule, /*settles=*/false, known, /*splits=*/false);
    }
    sweeps_.wait_for(board_);
    return board_->words[0] == 0;
  }

  static constexpr TeamShape range_bin_with = range_bin_shape<ExecutionSpace>(sizeof(Value));
  bool may_range() const {
    return may_have_ranges && ranging_ != nullptr && board_ != nullptr && tries_ &&
           ranging().exists();
  }
  Ranging ranging() const {
    if (!may_have_ranges || plan_.ranged == 0) return {};
    return Ranging::of(plan_.count, plan_.ranged, static_cast<std::size_t>(range_bin_with.round()),
                       sweeps_.template running_teams<range_bin_with>());
  }
  /// In two moves, by bins of a short range.
  void sort_by_range([[maybe_unused]] const TellHost& to_host) {
    if constexpr (may_have_ranges) {
      constexpr TeamShape tile_with = range_tile_shape<ExecutionSpace>(sizeof(Value));
      using Tiles = SortTilesOfRange<ExecutionSpace, Codec, Value, tile_with>;
      using Bins = SortBinsOfRange<ExecutionSpace, Codec, Value, range_bin_with>;
      const Ranging shape = ranging();
      const RangeTables tables{ranging_, range_, range_tiles_};
      auto* const remainders = reinterpret_cast<Remainder*>(buffers_.keys.other);
      sweeps_.template launch<tile_with>("SortTilesOfRange", shape.tiles(), Tiles::scratch_bytes(),
                                         Tiles{buffers_, codec_, shape, tables, remainders});
      sweeps_.template launch<range_bin_with>(
          "SortBinsOfRange", shape.most_teams(), Bins::scratch_bytes(),
          Bins{buffers_, codec_, shape, tables, remainders, to_host});
    }
  }

  /// One pass and a finish.
  void deal_keys([[maybe_unused]] const TellHost& to_host) {
    if constexpr (may_have_bins) {
      constexpr TeamShape deal_with = deal_shape<ExecutionSpace>(sizeof(Key));
      constexpr TeamShape finish_with = finish_dealt_shape<ExecutionSpace>(sizeof(Key));
      using Deal = DealKeys<ExecutionSpace, Codec, deal_with>;
      using Finish = FinishDealt<ExecutionSpace, Codec, finish_with>;
      const Dealing shape = MsdHybridScratch::dealing_of(plan_);
      const DigitList all = sweeps_.digits();
      const PassTable* const passes = sweeps_.passes();
      const std::size_t teams = sweeps_.template running_teams<deal_with>();
      const std::size_t tile = Deal::tile_for(plan_.count, teams);
      sweeps_.template launch<deal_with>("DealKeys", std::min(teams, (plan_.count - 1) / tile + 1),
                                         Deal::scratch_bytes(),
                                         Deal{buffers_.keys.in, buffers_.keys.other, codec_, shape,
                                              plan_.count, tile, passes, dealing_, dealt_});
      sweeps_.template launch<finish_with>("FinishDealt", shape.bins, Finish::scratch_bytes(),
                                           Finish{{buffers_,
                                                   {codec_, dealt_},
                                                   all,
                                                   bits_between<Bits>(all.begin, all.end),
                                                   equal_keys_differ(codec_, all),
                                                   passes,
                                                   route_,
                                                   lists_},
                                                  shape,
                                                  dealing_,
                                                  to_host});
    }
  }

  /// And keys in one word with their indices, which need no order of equal ones.
  static constexpr bool may_number =
      may_have_windows && impl::may_be_numbered<ExecutionSpace, Codec, Value>;
  static constexpr TeamShape number_with = gather_shape<ExecutionSpace>(sizeof(Numbered::Word), 0);
  bool numbers(const RouteRule& rule) const {
    return may_number && MsdHybridScratch::gathering_of_numbered(plan_, rule).exists();
  }
  /// The first pass, before anything is counted: what it finds out may be that there is another way to go.
  void sort_tiles(const RouteRule& rule, const TellHost& to_host) {
    if constexpr (may_have_windows) {
      const Gathering shape = MsdHybridScratch::gathering_of(plan_, rule);
      const int otherwise = MsdHybridScratch::leaves_suffixes(plan_, rule) ? Route::to_values : 0;
      if constexpr (may_number) {
        if (numbers(rule)) {
          sort_tiles<number_with>(shape,
                                  SortTiles<ExecutionSpace, NumberedInTiles<Codec>, number_with>{
                                      numbered_tiles(shape), shape, tables_, route_},
                                  otherwise, to_host);
          return;
        }
      }
      if constexpr (with_values) {
        sort_tiles<gather_with>(shape,
                                SortTilesInOrder<ExecutionSpace, Codec, Value, gather_with>{
                                    buffers_, codec_, shape, tables_, route_},
                                otherwise, to_host);
      } else {
        sort_tiles<gather_with>(shape,
                                SortTiles<ExecutionSpace, KeysInTiles<Codec>, gather_with>{
                                    {buffers_.keys, codec_}, shape, tables_, route_},
                                otherwise, to_host);
      }
    }
  }
  template <TeamShape sort_with, class Sort>
  void sort_tiles(const Gathering& shape, const Sort& sort, int otherwise,
                  const TellHost& to_host) {
    constexpr TeamShape place_with = place_runs_shape<ExecutionSpace>();
    using Place = PlaceRuns<ExecutionSpace, place_with, Sort::Tile::span>;
    sweeps_.template launch<sort_with>("SortTiles", teams_for_tiles(shape.tiles()),
                                       Sort::scratch_bytes(), sort);
    sweeps_.template launch<place_with>("PlaceRuns", shape.bins(), Place::scratch_bytes(),
                                        Place{shape, tables_, route_, otherwise, to_host});
  }
  auto numbered_tiles(const Gathering& shape) const {
    return NumberedInTiles<Codec>::of(buffers_, codec_, shape.count, shape.tile);
  }
  template <TeamShape tile_with, class Gather>
  void gather_tiles(const Gathering& shape, const Gather& gather, bool certainly) {
    sweeps_.template launch<tile_with>("GatherTiles",
                                       certainly ? shape.rows() : teams_for_tiles(shape.rows()),
                                       Gather::scratch_bytes(), gather);
  }
  template <bool Suffixed>
  void gather_tiles_of_keys(const Gathering& shape, bool certainly) {
    gather_tiles<gather_with>(
        shape,
        GatherTiles<ExecutionSpace, KeysInTiles<Codec>, gather_with, Suffixed>{
            {buffers_.keys, codec_}, shape, tables_, route_},
        certainly);
  }
  template <TeamShape finish_with, class Chunks>
  void finish_gathered(const Gathering& shape, const Chunks& chunks) {
    sweeps_.template launch<finish_with>("FinishGathered",
                                         teams_for_chunks(std::size_t{shape.bins()} * shape.row),
                                         Chunks::scratch_bytes(), chunks);
  }
  void gather_numbered(const Gathering& shape, bool certainly) {
    gather_tiles<number_with>(shape,
                              GatherTiles<ExecutionSpace, NumberedInTiles<Codec>, number_with>{
                                  numbered_tiles(shape), shape, tables_, route_},
                              certainly);
    using Chunks = FinishNumbered<ExecutionSpace, FinishShape>;
    finish_gathered<FinishShape>(
        shape, Chunks{numbered_tiles(shape).both,
                      {buffers_.values.result, buffers_.values.other, numbered_left()},
                      {shape, tables_},
                      sweeps_.passes(),
                      route_});
  }
  /// Chunks of numbered keys that are given up.
  ChunkList numbered_left() const { return {lists_.left.words, &tables_.state->left}; }

  void gather(const RouteRule& rule, bool certainly) {
    if constexpr (may_have_windows) {
      const Gathering shape = MsdHybridScratch::gathering_of(plan_, rule);
      const PassTable* const passes = sweeps_.passes();
      if constexpr (may_number) {
        if (numbers(rule)) {
          gather_numbered(shape, certainly);
          return;
        }
      }
      if constexpr (sizeof(Key) == 4 && !with_values) {
        if (MsdHybridScratch::leaves_suffixes(plan_, rule)) {
          gather_tiles_of_keys<true>(shape, certainly);
          constexpr TeamShape cells_of = finish_gathered_shape<ExecutionSpace>();
          using Cells = FinishGatheredCells<ExecutionSpace, Codec, cells_of>;
          sweeps_.template launch<cells_of>(
              "FinishGathered",
              std::min<std::size_t>(sweeps_.template resident_teams<cells_of>(),
                                    Route::cells / Cells::batch),
              Cells::scratch_bytes(),
              Cells{buffers_.keys, codec_, {shape, tables_}, route_, lists_});
          return;
        }
      }
      if constexpr (with_values) {
        gather_tiles<gather_with>(shape,
                                  GatherTilesInOrder<ExecutionSpace, Codec, Value, gather_with>{
                                      buffers_, codec_, shape, tables_, route_},
                                  certainly);
      } else {
        gather_tiles_of_keys<false>(shape, certainly);
      }
      constexpr TeamShape finish_with = with_values ? finish_pairs_shape(FinishShape) : FinishShape;
      using Chunks = FinishGathered<ExecutionSpace, Codec, Value, finish_with>;
      const DigitList all = sweeps_.digits();
      finish_gathered<finish_with>(
          shape, Chunks{{buffers_, codec_, all, bits_between<Bits>(all.begin, all.end),
                         equal_keys_differ(codec_, all), passes, route_, lists_},
                        {shape, tables_},
                        static_cast<std::size_t>(AloneShape.round())});
    }
  }

  const std::uint64_t* split_ends() const {
    return splitting_ != nullptr ? splitting_->bins + bin_count : nullptr;
  }
  /// What is left of chunks whose bounds are known.
  void finish_uneven() {
    if constexpr (may_have_splitters && !is_long) {
      constexpr TeamShape shape = finish_shape<ExecutionSpace>(sizeof(Key), 0);
      using Uneven = FinishUneven<ExecutionSpace, Codec, shape>;
      static_assert(FinishShape.round() <= shape.round());
      sweeps_.template launch<shape>("FinishUneven", sweeps_.template running_teams<shape>(),
                                     Uneven::scratch_bytes(),
                                     Uneven{buffers_.keys, codec_, sweeps_.passes(), lists_});
    }
  }

  void count_cells(const RouteRule& rule) {
    if constexpr (may_have_cells) {
      using Count = CountCells<ExecutionSpace, Codec, count_cells_with>;
      const WideArray<const Key> keys(buffers_.keys.in, plan_.count);
      constexpr std::size_t size = Pack<Key>::size;
      constexpr std::size_t most_share = (std::size_t{1} << 31) / size;  // counters have 32 bits
      const std::size_t most = std::max(sweeps_.template running_teams<count_cells_with>(),
                                        keys.packs() / most_share + 1);
      const std::size_t teams = std::clamp<std::size_t>(plan_.count / least_counted_cells, 1, most);
      sweeps_.template launch<count_cells_with>(
          "CountCells", teams, Count::scratch_bytes(),
          Count{keys, codec_, (keys.packs() + teams - 1) / teams, route_, cell_counts(),
                arrays(rule), suffixes_state()});
    }
  }

  void place_cells(const RouteRule& rule) {
    constexpr TeamShape place_with = place_bins_shape<ExecutionSpace>();
    using Place = PlaceCells<ExecutionSpace, Codec, place_with>;
    sweeps_.template launch<place_with>("PlaceCells", Place::tiles, Place::scratch_bytes(),
                                        Place{route_,
                                              sweeps_.passes(),
                                              {cells_ + Cells::count},
                                              cell_counts(),
                                              cells_,
                                              sweeps_.bins(),
                                              arrays(rule),
                                              suffixes_state()});
  }
  Cells::Counter* cell_counts() const {
    return reinterpret_cast<Cells::Counter*>(cells_ + Cells::count + TileSums::words);
  }

  Suffixes::State* suffixes_state() const {
    return reinterpret_cast<Suffixes::State*>(cell_counts() + Cells::count);
  }

  void spread_within(const RouteRule& rule) {
    if constexpr (may_have_cells) sweeps_.spread_within(cells_, route_, arrays(rule));
  }

  /// Cells of which the second pass has left suffixes.
  template <bool ByPieces>
  void finish_cells(const RouteRule& rule) {
    using Finish = FinishCells<ExecutionSpace, Codec, cells_with, ByPieces>;
    auto* const copy = reinterpret_cast<Suffixes::Suffix*>(cell_counts());
    sweeps_.template launch<cells_with>("FinishCells", sweeps_.template running_teams<cells_with>(),
                                        Finish::scratch_bytes(),
                                        Finish{buffers_.keys,
                                               codec_,
                                               {plan_.count, copy, rule.copied},
                                               sweeps_.passes(),
                                               route_,
                                               cells_,
                                               lists_,
                                               suffixes_state(),
                                               arrays(rule)});
  }

  Kinds& kinds() const { return *reinterpret_cast<Kinds*>(kinds_); }

  /// With values: labels them, in the array that the first sweep would write.
  auto counting_kinds() const {
    if constexpr (!knows_kinds) {
      return NothingMore{};
    } else if constexpr (with_values) {
      using Label = LabelKinds<ExecutionSpace, Codec, look_up_with>;
      static_assert(finds_room<Sweeps::count_digits_with, ExecutionSpace, Label>());
      return Label{buffers_.keys.in, plan_.count, route_, sampled_, &kinds(), label_of()};
    } else {
      using Count = CountKinds<ExecutionSpace, Key, look_up_with>;
      static_assert(finds_room<Sweeps::count_digits_with, ExecutionSpace, Count>());
      return Count{{buffers_.keys.in, plan_.count}, route_, sampled_, &kinds()};
    }
  }

  void take_out_keys() {
    if constexpr (takes_heavy && !with_values) {
      using TakeOut = TakeOutKeys<ExecutionSpace, Key, take_out_with>;
      const WideArray<const Key> keys(buffers_.keys.in, plan_.count);
      sweeps_.template launch<take_out_with>(
          "TakeOutKeys",
          std::min(keys.packs() / TakeOut::step + 1,
                   sweeps_.template running_teams<take_out_with>()),
          TakeOut::scratch_bytes(),
          TakeOut{keys, route_, heavy_, sweeps_.codes_of_heavy(), buffers_.keys.other});
    }
  }

  std::uint32_t* label_of() const { return reinterpret_cast<std::uint32_t*>(buffers_.keys.other); }

  /// Where kinds of keys alone have been counted they are ranked; labels have been placed.
  auto ranking_kinds() const {
    if constexpr (knows_kinds && !with_values) {
      return RankKinds<ExecutionSpace, Codec, Sweeps::count_digits_with.threads>{
          codec_, plan_.count, &kinds()};
    } else {
      return NothingMore{};
    }
  }

  /// Values go where their kinds begin.
  void take_out_or_sweep_by_labels([[maybe_unused]] int sweep, [[maybe_unused]] int end) {
    if constexpr (knows_kinds && with_values) {
      // Keys are made again, so the first sweep may write its labels over them.
      auto* const moved = reinterpret_cast<std::uint32_t*>(buffers_.keys.result);
      sweeps_.take_out_or_sweep_by_labels(route_, heavy_, {label_of(), nullptr, moved},
                                          &kinds().passes, sweep, end, kinds().bins[0]);
    }
  }

  const Key* kinds_in_order() const {
    if constexpr (with_values) {
      return sampled_;
    } else {
      return kinds().sorted;
    }
  }

  template <int Threads>
  auto expanding(std::size_t teams) const {
    if constexpr (knows_kinds) {
      using Expand = ExpandKinds<ExecutionSpace, Key, Threads>;
      return Expand{{kinds_in_order(), kinds().first, &kinds().listed},
                    sweeps_.passes(),
                    buffers_.leaves_keys ? nullptr : buffers_.keys.result,
                    plan_.count,
                    plan_.count / Expand::width / teams + 1};
    } else {
      return NothingMore{};
    }
  }

  /// Keys that were not moved are expanded, or heavy ones and light ones merged, in the launch that also settles
  /// what was moved.
  void settle_expand_or_merge() {
    if constexpr (takes_heavy) {
      const auto merge = merging<step_with.threads>();
      sweeps_.settle(Both{expanding<step_with.threads>(sweeps_.settling_teams()), merge},
                     decltype(merge)::scratch_bytes());
    }
  }
  template <int Threads>
  auto merging() const {
    return MergeHeavy<ExecutionSpace, Codec, Value, Threads>{
        buffers_, codec_, plan_.count, route_, sweeps_.passes(), heavy_, sweeps_.codes_of_heavy()};
  }

  /// Where a glance has heavy keys taken out no finish follows, and they come back by the launch that else lists chunks, as ties do:
  /// that which sorts long runs would spill for it.
  auto merging_at_a_glance() const {
    if constexpr (takes_heavy) {
      return merging<step_with.threads>();
    } else {
      return NothingMore{};
    }
  }

  /// Chunks that the finish gives up are sorted as they may be in scratch; or, where hardly any is expected, by the
  /// launch that sorts long runs. That may settle, too, what no finish followed, and expand kinds.
  void finish(const RouteRule& rule, bool settles, const KnownRoute& known, bool splits) {
    const bool hardly_gives_up = glances_only(rule) || (known.is_known() && known.deals());
    const DigitList all = sweeps_.digits();
    const PassTable* const passes = sweeps_.passes();
    const ChunkShape shape = MsdHybridScratch::chunk_shape(plan_, false);
    const ChunkShape crowded = MsdHybridScratch::chunk_shape(plan_, true);
    const std::size_t windows = std::max(shape.windows(plan_.count), crowded.windows(plan_.count));
    const std::size_t lists = (windows + List::windows - 1) / List::windows;
    const bool merges = hardly_gives_up && may_take_out(rule);
    if (known.finishes_chunks() || (merges && known.takes_out()) ||
        (with_values && known.turns_ties_back())) {
      const auto merge = merging_at_a_glance();
      const std::size_t settling_teams = sweeps_.settling_teams();
      const auto turning = sweeps_.template turning_ties_back<step_with.threads>(settling_teams);
      sweeps_.template launch<step_with>(
          "ListChunks", merges || with_values ? std::max(lists, settling_teams) : lists,
          std::max(List::scratch_bytes(), decltype(merge)::scratch_bytes()),
          FinishOrSettle{List{buffers_.keys, codec_, plan_.count, all, shape, crowded, passes,
                              route_, lists_, cells_, AloneShape.round(), split_ends(),
                              splitters_ != nullptr ? splitters_ + bin_count : nullptr, by_value_},
                         TurnOrMerge{turning, merge, merges}, passes, merges || with_values});
    }
    // Keys that spread evenly make about as many chunks; teams come round for what is more. Where there is no
    // finish, few teams are soon gone.
    const std::size_t even = plan_.count / plan_.chunk * 5 / 4 + 1;
    const std::size_t rounds = 8 * sweeps_.template resident_teams<FinishShape>();
    const auto finish_chunks = [&]<class Kernel>(std::size_t most_teams) {
      sweeps_.template launch<FinishShape>(
          "FinishChunk", std::min({even, most_teams, shape.chunks(plan_.count)}),
          Kernel::scratch_bytes(),
          Kernel{buffers_, codec_, all, bits_between<Bits>(all.begin, all.end),
                 equal_keys_differ(codec_, all), passes, route_, lists_, AloneShape.round()});
    };
    const bool even_chunks = known.finishes_even_chunks();
    if (even_chunks) finish_chunks.template operator()<Finish>(rounds);
    if constexpr (Sweeps::may_sweep_by_value && with_values) {
      using ByValue = FinishChunk<ExecutionSpace, Codec, Value, FinishShape, /*ByValue=*/true>;
      if (by_value_ != nullptr && even_chunks && known.sweeps_by_value())
        finish_chunks.template operator()<ByValue>(rounds / 2);
    }
    const bool leaves_none = numbers(rule) && known.is_known() && known.gathers();
    if (!hardly_gives_up && !leaves_none && known.finishes_crowded_or_mends()) {
      const std::size_t teams = sweeps_.template resident_teams<AloneShape>();
      sweeps_.template launch<AloneShape>(
          "FinishCrowded", std::min(teams, crowded.chunks(plan_.count)), Rest::scratch_bytes(),
          Rest{{buffers_, codec_, all, passes, route_, lists_},
               {buffers_, codec_, plan_.count, all, passes, route_, lists_.mended()}});
    }
    if (splits) finish_uneven();
    if (!known.finishes() && !(settles && sweeps_.settles(known))) return;
    const Ranges ranges{buffers_,
                        codec_,
                        plan_.count,
                        all,
                        passes,
                        route_,
                        hardly_gives_up,
                        lists_,
                        numbers(rule) ? numbered_left() : ChunkList{}};
    const std::size_t teams = hardly_gives_up ? sweeps_.template running_teams<RangeShape>()
                                              : sweeps_.template resident_teams<RangeShape>();
    if constexpr (may_count) {
      finish_ranges(
          RangesOrRuns<Ranges, Runs>{ranges, {buffers_.keys, codec_, passes, sweeps_.bins()}},
          teams, settles);
    } else {
      finish_ranges(ranges, std::min(teams, shape.chunks(plan_.count)), settles);
    }
  }

  template <class Finishing>
  void finish_ranges(const Finishing& finishing, std::size_t teams, bool settles) {
    const Both settling{sweeps_.template settling<RangeShape.threads>(teams),
                        expanding<RangeShape.threads>(teams)};
    sweeps_.template launch<RangeShape>(
        "FinishRanges", teams, Finishing::scratch_bytes(),
        FinishOrSettle{finishing, settling, sweeps_.passes(), settles});
  }

  const Plan& plan_;
  Codec codec_;
  SortBuffers<Key, Value> buffers_;
  Sweeps sweeps_;
  Route* route_;
  std::byte* kinds_;
  HeavyKinds<Key>* heavy_;
  std::uint64_t* cells_;
  SplitterState* splitting_;
  ValueSweeps<Key>* by_value_;  ///< null: nothing is swept so
  Pieces* pieces_;
  GatherTables tables_;
  DealState* dealing_;  ///< null: keys are not dealt out
  DealTerms* dealt_;
  RangeState* ranging_;  ///< null: keys are not sorted by bins of a short range
  RangeTerms* range_;
  std::uint16_t* range_tiles_;
  bool tries_ = true;  ///< what may fail, unless that has been in vain
  MetSamples met_;
  Bits* splitters_;
  Key* sampled_;
  std::size_t kept_;  ///< bytes at the end, that need not be zero
  ChunkLists lists_;
  HostBoard* board_;  ///< null: the host does not wait
};

}  // namespace kradix::impl
