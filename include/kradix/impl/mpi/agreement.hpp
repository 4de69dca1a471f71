// Do all ranks ask for the same, and for sizes that fit together?
#pragma once

#include <bit>
#include <cstdint>
#include <mpi.h>
#include <string>
#include <vector>

#include "kradix/impl/check.hpp"
#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/layout.hpp"
#include "kradix/mpi/options.hpp"

namespace kradix::impl::mpi {

using kradix::mpi::OutputSizes;

/// Something that must be the same on all ranks.
struct Trait {
  const char* name;
  std::uint64_t value;
};

inline std::vector<Trait> traits_of(const kradix::mpi::Options& options) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  return {
      {"order", number(options.order)},
      {"first bit", number(options.bits.begin)},
      {"end of the bits", number(options.bits.end)},
      {"stability", number(options.stability)},
      {"kind of output sizes", number(options.sizes.kind())},
      {"bits of the splitters' epsilon", std::bit_cast<std::uint64_t>(options.splitters.epsilon())},
      {"order of work", number(options.work)},
      {"transport", number(options.transport)},
      {"route", number(options.route)},
      {"number of ranges", number(options.ranges)},
      {"node size", number(options.node_size)},
      {"message bytes", number(options.message_bytes)}};
}

/// The same call, by rank 0's account? Collective; every rank has as many traits.
inline void require_alike(const Communicator& comm, const std::vector<Trait>& traits,
                          const char* function, Verdict& verdict) {
  std::vector<std::uint64_t> root;
  for (const Trait& trait : traits) root.push_back(trait.value);
  check(MPI_Bcast(root.data(), static_cast<int>(root.size()), MPI_UINT64_T, 0, comm.get()),
        "MPI_Bcast");
  verdict.attempt([&] {
    for (std::size_t i = 0; i < traits.size(); ++i) {
      if (traits[i].value == root[i]) continue;
      refuse(("mpi::" + std::string(function)).c_str(),
             std::string("ranks differ: ") + traits[i].name + " is " +
                 std::to_string(traits[i].value) + " here and " + std::to_string(root[i]) +
                 " on rank 0");
    }
  });
}

/// What can be wrong with the options on one rank alone.
inline void check_options(const char* function, const kradix::mpi::Options& options, int key_bits,
                          int ranks) {
  const std::string name = "mpi::" + std::string(function);
  const auto refuse_with = [&](const std::string& why) { refuse(name.c_str(), why); };
  check_bits(name.c_str(), options.bits, key_bits);
  if (options.label == nullptr) refuse_with("options.label is null");
  if (options.ranges < 0) refuse_with(std::to_string(options.ranges) + " ranges");
  if (options.node_size < 0)
    refuse_with("nodes of " + std::to_string(options.node_size) + " ranks");
  constexpr std::size_t most = std::size_t{1} << 30;
  if (options.message_bytes == 0 || options.message_bytes > most) {
    refuse_with("messages of " + std::to_string(options.message_bytes) +
                " bytes, they must have 1 to " + std::to_string(most));
  }
  const double epsilon = options.splitters.epsilon();
  if (!(epsilon >= 0 && epsilon <= 1)) {
    refuse_with("epsilon " + std::to_string(epsilon) + " does not lie between 0 and 1");
  }
  if (epsilon > 0 && options.sizes.kind() != OutputSizes::Kind::balanced) {
    refuse_with("sampled splitters only balance: other output sizes need exact ones");
  }
  if (options.route == kradix::mpi::Route::two_level && options.node_size > 0 &&
      ranks % options.node_size != 0) {
    refuse_with("two levels need equal nodes: " + std::to_string(ranks) +
                " ranks are not nodes of " + std::to_string(options.node_size));
  }
}

/// Collective. Sizes that do not add up are everybody's error.
inline Layout make_layout(const Communicator& comm, std::uint64_t count,
                          const kradix::mpi::Options& options, const char* function,
                          Verdict& verdict) {
  const OutputSizes& sizes = options.sizes;
  const auto ranks = static_cast<std::size_t>(comm.size());
  constexpr std::size_t words = 3;
  const std::uint64_t mine[words] = {count, sizes.count(), options.workspace ? 1u : 0u};
  std::vector<std::uint64_t> all(words * ranks);
  check(MPI_Allgather(mine, words, MPI_UINT64_T, all.data(), words, MPI_UINT64_T, comm.get()),
        "MPI_Allgather");
  Layout layout;
  layout.kept = true;
  std::uint64_t requested = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    layout.before.push_back(all[words * r]);
    layout.total += all[words * r];
    requested += all[words * r + 1];
    layout.kept = layout.kept && all[words * r + 2] == 1;
  }
  layout.after = layout.before;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (sizes.kind() == OutputSizes::Kind::requested) layout.after[r] = all[words * r + 1];
    if (sizes.kind() == OutputSizes::Kind::balanced) {
      layout.after[r] = balanced_size(layout.total, ranks, r);
    }
  }
  verdict.attempt([&] {
    if (sizes.kind() == OutputSizes::Kind::requested && requested != layout.total) {
      refuse(("mpi::" + std::string(function)).c_str(),
             "the ranks want " + std::to_string(requested) + " elements and have " +
                 std::to_string(layout.total));
    }
  });
  return layout;
}

}  // namespace kradix::impl::mpi
