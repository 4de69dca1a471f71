// The classic stable radix sort in four kernels a pass: count, scan tiles, scan bins, scatter.
//
// Zagha and Blelloch (Supercomputing '91): every processor counts its share, one scan over the counts,
// bin by bin and processor by processor within a bin, gives every share its places, and every
// processor ranks and permutes its share. Here a processor is a team and its share a tile; the
// counts lie bin by bin so that the scan reads rows. It uses nothing but Kokkos, hence it is the
// fallback of every backend.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

#include "kradix/impl/device/count_and_scan.hpp"
#include "kradix/impl/device/scatter_by_splits.hpp"
#include "kradix/impl/device/scatter_serially.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/device/survey.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Scratch memory of this algorithm beside the second key and value arrays.
struct FourKernelScratch {
  Slot varying, passes, places, bins;
  std::size_t survey_teams;

  static FourKernelScratch list(const Plan& plan, ScratchList& list) {
    constexpr std::size_t most_survey_teams = 1024;  // one thread joins what they saw
    constexpr std::size_t widest_bits = 16;
    FourKernelScratch scratch;
    scratch.survey_teams = plan.tiles < most_survey_teams ? plan.tiles : most_survey_teams;
    scratch.varying = list.add(scratch.survey_teams, widest_bits);
    scratch.passes = list.add(1, sizeof(PassTable));
    scratch.places = list.add(bin_count * plan.tiles, sizeof(Place));
    scratch.bins = list.add(bin_count, sizeof(Place));
    return scratch;
  }
};

/// One sort by this algorithm. `Shape` fits its kernels to the machine.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
class FourKernel {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Scatter = typename std::conditional_t<
      Shape.serial(), std::type_identity<ScatterSerially<ExecutionSpace, Codec, Value>>,
      std::type_identity<ScatterBySplits<ExecutionSpace, Codec, Value, Shape>>>::type;

 public:
  FourKernel(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
             const SortBuffers<Key, Value>& buffers, const FourKernelScratch& scratch,
             std::byte* base, const char* label)
      : exec_(exec),
        plan_(plan),
        label_(std::string(label) + "::four_kernel::"),
        survey_teams_(scratch.survey_teams),
        varying_(scratch.varying.in<Bits>(base)),
        pass_{{buffers.keys, codec, plan.count, plan.tile, plan.tiles, plan.round,
               scratch.passes.in<PassTable>(base), scratch.places.in<Place>(base),
               scratch.bins.in<Place>(base), buffers.leaves_keys},
              buffers.values,
              buffers.makes_indices} {}

  void sort() {
    list_passes();
    // More digits may vary than do: passes beyond the device's list find nothing to do.
    for (pass_.pass = 0; pass_.pass < plan_.passes; ++pass_.pass) {
      using Count = CountTile<ExecutionSpace, Codec, Shape>;
      launch("CountTile", plan_.tiles, Count::scratch_bytes(), Count{pass_});
      launch("ScanTiles", bin_count, 0, ScanTiles<ExecutionSpace, Codec>{pass_});
      launch("ScanBins", 1, 0, ScanBins<ExecutionSpace, Codec>{pass_});
      launch("ScatterTile", plan_.tiles, Scatter::scratch_bytes(plan_.round), Scatter{pass_});
    }
    launch("Settle", plan_.tiles, 0,
           Settle<ExecutionSpace, Key, Value, Shape.threads>{pass_.buffers(), pass_.passes,
                                                             pass_.count, pass_.tile});
  }

 private:
  void list_passes() {
    using Survey = SurveyKeys<ExecutionSpace, Codec, Shape.threads>;
    const std::size_t share = (plan_.count + survey_teams_ - 1) / survey_teams_;
    launch("SurveyKeys", survey_teams_, Survey::scratch_bytes(),
           Survey{pass_.keys.in, plan_.count, share, pass_.codec, varying_});
    const Bits wanted =
        low_mask<Bits>(plan_.bits.end) & static_cast<Bits>(~low_mask<Bits>(plan_.bits.begin));
    launch("ListPasses", 1, 0,
           ListPasses<ExecutionSpace, Bits>{varying_, survey_teams_, wanted, pass_.passes});
  }

  template <class Kernel>
  void launch(const char* name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) {
    launch_teams<Shape>(exec_, label_ + name, teams, scratch_bytes, kernel);
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  std::string label_;
  std::size_t survey_teams_;
  Bits* varying_;
  ElementPass<ExecutionSpace, Codec, Value> pass_;
};

}  // namespace kradix::impl
