// Samples of all teams meet in a table: of two that are drawn from all, how often do keys agree in so many topmost bits? Those
// of one team make too few pairs to tell where there are many keys.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace kradix::impl {

/// Where keys that agree in those bits have a word each, with their number; all zero at first.
struct MetSamples {
  static constexpr std::size_t slots = std::size_t{1} << 18, bytes = slots * sizeof(std::uint64_t);
  /// Of a team's sample that agree: more of them make pairs enough among themselves.
  static constexpr int most = 16;

  std::uint64_t* words;  ///< null: nobody is met

  /// So many samples that agree are added. Returns how many pairs they make with those of other teams.
  template <class Bits>
  KOKKOS_FUNCTION std::uint32_t add(Bits agree, int samples) const {
    constexpr std::uint64_t of_count = 0xffff;
    constexpr std::size_t near = 128;
    const std::uint64_t mixed = mix(agree);
    const std::uint64_t word = (mixed & ~of_count) != 0 ? mixed & ~of_count : of_count + 1;
    const auto many = static_cast<std::uint64_t>(samples);
    for (std::size_t probe = 0; probe < near; ++probe) {
      std::uint64_t* const at = words + ((mixed + probe) & (slots - 1));
      const std::uint64_t found =
          Kokkos::atomic_compare_exchange(at, std::uint64_t{0}, word | many);
      if (found == 0) return 0;
      if ((found & ~of_count) != word) continue;
      return static_cast<std::uint32_t>((Kokkos::atomic_fetch_add(at, many) & of_count) * many);
    }
    return 0;
  }

 private:
  template <class Bits>
  KOKKOS_FUNCTION static std::uint64_t mix(Bits bits) {
    auto mixed = static_cast<std::uint64_t>(bits);
    if constexpr (sizeof(Bits) > sizeof(std::uint64_t)) {
      mixed ^= static_cast<std::uint64_t>(bits >> 64) * 0xd6e8feb86659fd93u;
    }
    mixed = (mixed + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
  }
};

}  // namespace kradix::impl
