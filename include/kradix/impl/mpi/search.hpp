// The splitter search on all ranks: this rank's keys are counted on its device, the counts are added up.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <mpi.h>
#include <numeric>
#include <string>
#include <vector>

#include "kradix/impl/mpi/codecs.hpp"
#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/histograms.hpp"
#include "kradix/impl/mpi/splitters.hpp"
#include "kradix/impl/mpi/survey.hpp"
#include "kradix/impl/scratch.hpp"

namespace kradix::impl::mpi {

/// A rank's keys as the search sees them.
template <class Key>
struct PartOfKeys {
  const Key* data;
  std::size_t count;
  bool sorted;
  Key* spare;  ///< room for as many keys, or null
};

template <class T, class Space>
using Loose = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Copies from the device, and waits.
template <class T, class ExecutionSpace>
std::vector<T> to_host(const ExecutionSpace& exec, const T* data, std::size_t count) {
  std::vector<T> host(count);
  if (count == 0) return host;
  Kokkos::deep_copy(exec, Loose<T, Kokkos::HostSpace>(host.data(), count),
                    Loose<const T, typename ExecutionSpace::memory_space>(data, count));
  exec.fence("kradix::mpi: fence after a copy to the host");
  return host;
}

/// Enqueued: until a fence the host's must stay.
template <class T, class ExecutionSpace>
void enqueue_to_device(const ExecutionSpace& exec, T* data, const std::vector<T>& host) {
  if (host.empty()) return;
  Kokkos::deep_copy(exec, Loose<T, typename ExecutionSpace::memory_space>(data, host.size()),
                    Loose<const T, Kokkos::HostSpace>(host.data(), host.size()));
}
template <class T, class ExecutionSpace>
void to_device(const ExecutionSpace& exec, T* data, const std::vector<T>& host) {
  enqueue_to_device(exec, data, host);
  exec.fence("kradix::mpi: fence after a copy to the device");
}

/// What all ranks have, in their order; fewer than 2^31 elements together. Collective.
template <class T>
std::vector<T> gather_from_all(const Communicator& comm, const std::vector<T>& own) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const int count = static_cast<int>(own.size());
  std::vector<int> counts(ranks);
  std::vector<int> begins(ranks);
  check(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.get()), "MPI_Allgather");
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  std::vector<T> all(static_cast<std::size_t>(begins.back()) +
                     static_cast<std::size_t>(counts.back()));
  MPI_Datatype element = MPI_DATATYPE_NULL;  // so that elements are counted, not bytes
  check(MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &element),
        "MPI_Type_contiguous");
  check(MPI_Type_commit(&element), "MPI_Type_commit");
  const int code = MPI_Allgatherv(own.data(), count, element, all.data(), counts.data(),
                                  begins.data(), element, comm.get());
  check(MPI_Type_free(&element), "MPI_Type_free");
  check(code, "MPI_Allgatherv");
  return all;
}

template <class ExecutionSpace, class Codec>
class Search {
 public:
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Part = PartOfKeys<Key>;
  using Cuts = std::vector<Cut<Bits>>;

  using Parts =
      std::vector<Part>;  ///< of this rank, in the order of their indices; more than one: sorted
  /// Of each part: its own counts, and those of all ranks.
  using CutsOfParts = std::vector<Cuts>;

  /// `width` of the codec's bits count; at most `most_cuts` will be searched in `most_parts`, with
  /// `most_samples` keys of this rank as a sample.
  Search(const ExecutionSpace& exec, const Communicator& comm, const Codec& codec, int width,
         std::size_t most_cuts, std::size_t most_parts, std::size_t most_samples, const char* label)
      : exec_(exec),
        comm_(comm),
        codec_(codec),
        width_(width),
        most_cuts_(std::max<std::size_t>(most_cuts, 1)),
        most_parts_(most_parts),
        most_samples_(most_samples),
        label_(std::string(label) + "::mpi::") {}

  void list(ScratchList& scratch) {
    seen_slot_ = scratch.add(1, sizeof(Seen));
    kept_slot_ = scratch.add(1, sizeof(std::uint64_t));
    counts_slot_ = scratch.add(most_parts_ * most_cuts_ * bin_count, sizeof(std::uint64_t));
    prefixes_slot_ = scratch.add(2 * most_cuts_, sizeof(Bits));  // or bounds
    classes_slot_ = scratch.add(most_cuts_, sizeof(std::uint32_t));
    sample_slot_ = scratch.add(most_samples_, sizeof(Bits));
  }

  /// Does a look at some neighbours tell that the whole is not sorted? Collective.
  bool sees_disorder(const Part& part, std::byte* base) {
    base_ = base;
    std::uint64_t* const found = kept_slot_.in<std::uint64_t>(base);
    std::uint64_t descents = 0;
    if (part.count > 1) {
      constexpr std::size_t samples = 2048;
      clear(found, 1);
      for_each("GlanceAtOrder", std::min(samples, part.count),
               GlanceAtOrder<Codec>{part.data, codec_, part.count, {part.count, samples}, found});
      descents = to_host(exec_, found, 1)[0];
    }
    check(MPI_Allreduce(MPI_IN_PLACE, &descents, 1, MPI_UINT64_T, MPI_SUM, comm_.get()),
          "MPI_Allreduce");
    return descents > 0;
  }

  /// Of sorted keys that nobody has read before, the first and the last tell which of the topmost bits vary. Collective.
  void survey_sorted(const Parts& parts, std::byte* base) {
    base_ = base;
    Bits all_set = low_mask<Bits>(width_), some_set = 0;
    for (const Ends& ends : ends_of_ranks(parts)) {
      if (ends.any == 0) continue;
      for (const Bits end : {joined<Bits>(ends.first), joined<Bits>(ends.last)}) {
        all_set &= end;
        some_set |= end;
      }
    }
    varying_ = low_mask<Bits>(bit_width_of(static_cast<Bits>(some_set & ~all_set)));
    all_set_ = all_set & ~varying_;
  }

  /// One read of the keys. Collective.
  void survey(const Part& part, std::byte* base) {
    base_ = base;
    to_device(exec_, seen_slot_.in<Seen>(base), {Seen{{~0ull, ~0ull}, {0, 0}, 0}});
    clear(counts(), bin_count);
    using Kernel = SurveyPart<ExecutionSpace, Codec, shape>;
    launch("SurveyPart", part.count, Kernel::scratch_bytes(), [&](std::size_t share) {
      return Kernel{
          part.data, codec_, part.count, share, first_window(width_), seen_slot_.in<Seen>(base),
          counts()};
    });
    Seen seen = to_host(exec_, seen_slot_.in<Seen>(base), 1)[0];
    first_counts_ = to_host(exec_, counts(), bin_count);
    check(MPI_Allreduce(MPI_IN_PLACE, seen.all_set, 2, MPI_UINT64_T, MPI_BAND, comm_.get()),
          "MPI_Allreduce");
    check(MPI_Allreduce(MPI_IN_PLACE, seen.some_set, 2, MPI_UINT64_T, MPI_BOR, comm_.get()),
          "MPI_Allreduce");
    check(MPI_Allreduce(MPI_IN_PLACE, &seen.descents, 1, MPI_UINT64_T, MPI_SUM, comm_.get()),
          "MPI_Allreduce");
    const Bits mask = low_mask<Bits>(width_);
    all_set_ = joined<Bits>(seen.all_set) & mask;
    varying_ = (joined<Bits>(seen.some_set) & mask) ^ all_set_;
    sorted_ = seen.descents == 0 && ranks_in_order({part});
  }

  /// Is the whole sorted as it is? (After `survey`.)
  bool sorted() const { return sorted_; }
  int rounds() const { return rounds_; }

  /// Cuts with exactly `targets` elements on their left. Collective.
  CutsOfParts exact(Parts parts, std::uint64_t total, const std::vector<std::uint64_t>& targets) {
    std::vector<SplitterSearch<Bits>> searches;  // alike, but for what is of their part
    for (const Part& part : parts) {
      searches.emplace_back(width_, total, part.count, targets);
      searches.back().leave_out_constant_bits(all_set_, varying_);
    }
    const SplitterSearch<Bits>& search = searches.front();
    std::uint64_t left = ~std::uint64_t{0};  // keys that later rounds look at, on all ranks
    while (!search.done() && left > most_gathered) {
      std::vector<std::uint64_t> local;
      const bool surveyed = parts.size() == 1 && !first_counts_.empty();
      if (surveyed && search.window() == first_window(width_)) {
        local = first_counts_;
      } else {
        local = count(parts, search.prefixes(), search.window());
      }
      const std::size_t bins = local.size() / parts.size();
      std::vector<std::uint64_t> sum(bins + 1, 0);
      for (std::size_t i = 0; i < local.size(); ++i) sum[i % bins] += local[i];
      for (const Part& part : parts) sum[bins] += part.count;
      const std::vector<std::uint64_t> global = add_up(sum);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        searches[p].refine(global.data(), local.data() + p * bins);
      }
      left = global.back();
    }
    if (!search.done()) finish_together(searches, parts);
    CutsOfParts cuts;
    for (const SplitterSearch<Bits>& found : searches) cuts.push_back(found.cuts());
    return cuts;
  }

  /// Cuts at keys of a random sample of about `samples` keys of all ranks; each as near to its target as
  /// its key allows. Collective.
  Cuts sampled(const Part& part, std::uint64_t total, const std::vector<std::uint64_t>& targets,
               std::uint64_t samples) {
    const std::vector<Bits> sample = gather_sample(part, total, samples);
    Cuts cuts(targets.size());
    for (std::size_t t = 0; t < targets.size(); ++t) {
      cuts[t].target = targets[t];
      cuts[t].has_bits = targets[t] > 0 && targets[t] < total && !sample.empty();
      if (cuts[t].has_bits) {
        const double place = static_cast<double>(targets[t]) / static_cast<double>(total);
        const auto i = static_cast<std::size_t>(place * static_cast<double>(sample.size()));
        cuts[t].bits = sample[std::min(i, sample.size() - 1)];
      } else if (targets[t] > 0) {
        cuts[t].less = total;
        cuts[t].local_less = part.count;
      }
    }
    count_around(part, cuts);
    return cuts;
  }

  /// Cuts of each rank's part in `ranges`, guessed from what of that part is on the rank itself; the last is half as long, because
  /// nothing arrives while that is merged. (Those between ranks, whose places in the sorted keys are given, are among them,
  /// without a key.) Collective.
  Cuts guess_ranges(const Part& part, const std::vector<std::uint64_t>& places, int ranges) {
    const auto me = static_cast<std::size_t>(comm_.rank());
    const auto of_rank = static_cast<std::size_t>(ranges), inner = of_rank - 1;
    const std::uint64_t begin = me == 0 ? 0 : places[me - 1];
    const std::uint64_t end = me < places.size() ? places[me] : part.count;
    std::vector<Bits> own(inner, Bits{0});
    if (begin < end) {
      Bits* const taken = counts_slot_.in<Bits>(base_);
      const TakeEvenly<Codec> kernel{part.data + begin, codec_, 2 * (end - begin), 2 * of_rank - 1,
                                     taken};
      for_each("TakeEvenly", inner, kernel);
      own = to_host(exec_, taken, inner);
    }
    std::vector<Bits> all((places.size() + 1) * inner);
    const int bytes = static_cast<int>(inner * sizeof(Bits));
    check(MPI_Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm_.get()),
          "MPI_Allgather");
    Cuts cuts((places.size() + 1) * of_rank - 1);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      cuts[i].has_bits = i % of_rank < inner;
      if (cuts[i].has_bits) cuts[i].bits = all[i / of_rank * inner + i % of_rank];
    }
    return cuts;
  }

  /// How many keys of each part, all sorted, lie below each of these cuts' keys.
  std::vector<std::vector<std::uint64_t>> below(const Parts& parts, const Cuts& cuts) {
    std::vector<Bits> bounds;
    for (const Cut<Bits>& cut : cuts) bounds.push_back(cut.bits);
    Bits* const there = prefixes_slot_.in<Bits>(base_);
    enqueue_to_device(exec_, there, bounds);
    CountBelow<Codec> kernel{{}, {}, codec_, there, bounds.size(), counts()};
    list_parts(parts, kernel);
    const std::size_t all = parts.size() * bounds.size();
    for_each("CountBelow", all, kernel);
    const std::vector<std::uint64_t> found = to_host(exec_, counts(), all);
    std::vector<std::vector<std::uint64_t>> below;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      auto& of_part = below.emplace_back();
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        const bool above_all = !cuts[i].has_bits && cuts[i].target > 0;
        of_part.push_back(above_all ? parts[p].count : found[p * cuts.size() + i]);
      }
    }
    return below;
  }

  /// How many elements of each part, in sorted or partitioned order, lie left of each cut. Collective.
  std::vector<std::vector<std::uint64_t>> places(const CutsOfParts& cuts) const {
    const std::size_t count = cuts.front().size();
    std::vector<std::uint64_t> equal(count, 0);
    std::vector<std::uint64_t> before(count, 0);
    for (const Cuts& part : cuts) {
      for (std::size_t i = 0; i < count; ++i) equal[i] += part[i].local_equal;
    }
    check(MPI_Exscan(equal.data(), before.data(), static_cast<int>(count), MPI_UINT64_T, MPI_SUM,
                     comm_.get()),
          "MPI_Exscan");
    if (comm_.rank() == 0) std::fill(before.begin(), before.end(), 0);  // else undefined
    std::vector<std::vector<std::uint64_t>> places;
    for (const Cuts& part : cuts) {
      auto& of_part = places.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) {
        of_part[i] = elements_left(part[i], before[i]);
        before[i] += part[i].local_equal;
      }
    }
    return places;
  }

 private:
  static constexpr TeamShape shape = count_shape<ExecutionSpace>();

  /// So few keys are sooner brought together than counted in rounds, whose messages and copies take their time.
  static constexpr std::uint64_t most_gathered = 2048;

  /// The rounds that are left, with the keys that they look at on every rank.
  void finish_together(std::vector<SplitterSearch<Bits>>& searches, const Parts& parts) {
    std::vector<std::vector<Bits>> own;
    std::vector<Bits> own_together;
    for (const Part& part : parts) {
      auto& of_part = own.emplace_back();
      for (const Key& key : to_host(exec_, part.data, part.count)) {
        of_part.push_back(codec_.encode(key));
      }
      own_together.insert(own_together.end(), of_part.begin(), of_part.end());
    }
    const std::vector<Bits> all = gather_from_all(comm_, own_together);
    const SplitterSearch<Bits>& search = searches.front();
    while (!search.done()) {
      const std::vector<Bits> prefixes = search.prefixes();
      const Window window = search.window();
      const Slots<Bits> slots{prefixes.data(), static_cast<std::uint32_t>(prefixes.size()), window,
                              window.shift + window.width >= width_};
      const auto count = [&](const std::vector<Bits>& keys) {
        std::vector<std::uint64_t> counts(prefixes.size() * bin_count, 0);
        for (const Bits key : keys) {
          const std::uint32_t slot = slots.of(key);
          if (slot != Slots<Bits>::none) ++counts[slot];
        }
        return counts;
      };
      const std::vector<std::uint64_t> global = count(all);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        searches[p].refine(global.data(), count(own[p]).data());
      }
    }
  }

  std::uint64_t* counts() const { return counts_slot_.in<std::uint64_t>(base_); }

  void clear(std::uint64_t* words, std::size_t count) {
    Kokkos::deep_copy(exec_,
                      Loose<std::uint64_t, typename ExecutionSpace::memory_space>(words, count),
                      std::uint64_t{0});
  }

  /// `make(share)` is the kernel whose teams take so many keys each.
  template <class Make>
  void launch(const char* name, std::size_t count, std::size_t scratch_bytes, const Make& make) {
    if (count == 0) return;
    const auto resident =
        static_cast<std::size_t>(std::max(1, exec_.concurrency() / shape.threads));
    const std::size_t step = 8 * static_cast<std::size_t>(shape.threads);
    constexpr std::size_t most = std::size_t{1} << 31;  // counters of a team have 32 bits
    std::size_t share = (count + resident - 1) / resident;
    share = std::min((share + step - 1) / step * step, most);
    launch_teams<shape>(exec_, label_ + name, (count + share - 1) / share, scratch_bytes,
                        make(share));
  }

  template <class Kernel>
  static void list_parts(const Parts& parts, Kernel& kernel) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      kernel.keys[p] = parts[p].data;
      kernel.count[p] = parts[p].count;
    }
  }
  template <class Kernel>
  void for_each(const char* name, std::size_t count, const Kernel& kernel) const {
    Kokkos::parallel_for(
        label_ + name,
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(exec_, 0, count),
        kernel);
  }

  /// What the ranks' first and last keys are.
  struct Ends {
    std::uint64_t any, first[2], last[2];
  };
  std::vector<Ends> ends_of_ranks(const Parts& parts) const {
    Bits* const found = counts_slot_.in<Bits>(base_);
    TakeEnds<Codec> kernel{{}, {}, codec_, found};
    list_parts(parts, kernel);
    for_each("TakeEnds", 2 * parts.size(), kernel);
    const std::vector<Bits> ends = to_host(exec_, found, 2 * parts.size());
    Ends mine{0, {0, 0}, {0, 0}};
    Bits first{}, last{};
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (parts[p].count == 0) continue;
      first = mine.any ? std::min(first, ends[2 * p]) : ends[2 * p];
      last = mine.any ? std::max(last, ends[2 * p + 1]) : ends[2 * p + 1];
      mine.any = 1;
    }
    if (mine.any) {
      for (int w = 0; w < words_in<Bits>; ++w) {
        mine.first[w] = word_of(first, w);
        mine.last[w] = word_of(last, w);
      }
    }
    std::vector<Ends> all(static_cast<std::size_t>(comm_.size()));
    check(
        MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm_.get()),
        "MPI_Allgather");
    return all;
  }

  bool ranks_in_order(const Parts& parts) const {
    Bits highest = 0;
    for (const Ends& ends : ends_of_ranks(parts)) {
      if (ends.any == 0) continue;
      if (joined<Bits>(ends.first) < highest) return false;
      highest = joined<Bits>(ends.last);
    }
    return true;
  }

  std::vector<std::uint64_t> add_up(const std::vector<std::uint64_t>& local) {
    std::vector<std::uint64_t> global(local.size());
    check(MPI_Allreduce(local.data(), global.data(), static_cast<int>(local.size()), MPI_UINT64_T,
                        MPI_SUM, comm_.get()),
          "MPI_Allreduce");
    ++rounds_;
    return global;
  }

  /// This rank's counts of a round, part after part. Keys that later rounds need go to the spare room on the way.
  std::vector<std::uint64_t> count(Parts& parts, const std::vector<Bits>& prefixes, Window window) {
    Bits* const data = prefixes_slot_.in<Bits>(base_);
    enqueue_to_device(exec_, data, prefixes);  // which stay for the search's next step
    const bool whole = window.shift + window.width >= width_;
    const Slots<Bits> slots{data, static_cast<std::uint32_t>(prefixes.size()), window, whole};
    const std::size_t bins = prefixes.size() * bin_count;
    std::uint64_t* const kept_count = kept_slot_.in<std::uint64_t>(base_);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Part& part = parts[p];
      Key* const kept = whole ? nullptr : part.spare;
      if (kept) clear(kept_count, 1);
      count_slots(part, codec_, slots, kept, counts() + p * bins);
      if (kept) {
        const auto left = static_cast<std::size_t>(to_host(exec_, kept_count, 1)[0]);
        part = {kept, left, false, 2 * left <= part.count ? kept + left : nullptr};
      }
    }
    return to_host(exec_, counts(), parts.size() * bins);
  }

  template <class AnyCodec>
  void count_slots(const Part& part, const AnyCodec& codec,
                   const Slots<typename AnyCodec::bits_type>& slots, Key* kept,
                   std::uint64_t* counts) {
    const std::size_t all = static_cast<std::size_t>(slots.prefix_count) * bin_count;
    if (part.sorted) {
      for_each("FindRuns", all,
               FindRuns<AnyCodec>{part.data, codec, part.count, std::bit_floor(part.count), slots,
                                  counts});
      return;
    }
    clear(counts, all);
    using Kernel = CountSlots<ExecutionSpace, AnyCodec, shape>;
    const Kernel kernel{part.data, codec,  part.count, 0,
                        slots,     counts, kept,       kept_slot_.in<std::uint64_t>(base_)};
    launch("CountSlots", part.count, kernel.scratch_bytes(), [&](std::size_t share) {
      Kernel shared = kernel;
      shared.share = share;
      return shared;
    });
  }

  std::vector<Bits> gather_sample(const Part& part, std::uint64_t total, std::uint64_t samples) {
    const double part_of_all =
        total > 0 ? static_cast<double>(part.count) / static_cast<double>(total) : 0;
    const auto wanted =
        static_cast<std::size_t>(std::ceil(static_cast<double>(samples) * part_of_all));
    const std::size_t mine = std::min({wanted, part.count, most_samples_});
    Bits* const taken = sample_slot_.in<Bits>(base_);
    if (mine > 0) {
      for_each("TakeSample", mine,
               TakeSample<Codec>{part.data, codec_, part.count, mine,
                                 static_cast<std::uint64_t>(comm_.rank()) << 32, taken});
    }
    const std::vector<Bits> own = to_host(exec_, taken, mine);
    std::vector<Bits> all = gather_from_all(comm_, own);
    std::sort(all.begin(), all.end());
    return all;
  }

  /// Fills in how many keys lie below each cut's key and how many equal it, by one count of classes.
  void count_around(const Part& part, Cuts& cuts) {
    std::vector<Bits> bounds;
    for (const Bound<Bits>& bound : bounds_of(cuts)) bounds.push_back(bound.bits);
    if (bounds.empty()) return;
    const auto bound_count = static_cast<std::uint32_t>(bounds.size());
    const std::uint32_t rows = bound_count / bin_count + 1;
    std::vector<std::uint32_t> row(rows);
    std::iota(row.begin(), row.end(), 0u);
    std::uint32_t* const rows_there = classes_slot_.in<std::uint32_t>(base_);
    Bits* const bounds_there = prefixes_slot_.in<Bits>(base_);
    to_device(exec_, rows_there, row);
    to_device(exec_, bounds_there, bounds);
    count_slots(part, ClassCodec<Codec>{codec_, bounds_there, bound_count},
                {rows_there, rows, {0, digit_bits}, false}, nullptr, counts());
    const std::vector<std::uint64_t> local =
        to_host(exec_, counts(), std::size_t{rows} * bin_count);
    const std::vector<std::uint64_t> global = add_up(local);
    std::size_t reached = 0;
    Cut<Bits> here;  // what lies below the bounds reached
    for (Cut<Bits>& cut : cuts) {
      if (!cut.has_bits) continue;
      for (; reached < bounds.size() && bounds[reached] <= cut.bits; ++reached) {
        here.less += global[reached];
        here.local_less += local[reached];
      }
      cut.less = here.less;
      cut.local_less = here.local_less;
      cut.equal = global[reached];
      cut.local_equal = local[reached];
      cut.target = std::clamp(cut.target, cut.less, cut.less + cut.equal);
    }
  }

  const ExecutionSpace& exec_;
  const Communicator& comm_;
  Codec codec_;
  int width_;
  std::size_t most_cuts_, most_parts_, most_samples_;
  std::string label_;
  Slot seen_slot_, kept_slot_, counts_slot_, prefixes_slot_, classes_slot_, sample_slot_;
  std::byte* base_ = nullptr;
  std::vector<std::uint64_t> first_counts_;
  Bits all_set_ = 0, varying_ = 0;
  bool sorted_ = false;
  int rounds_ = 0;
};

}  // namespace kradix::impl::mpi
