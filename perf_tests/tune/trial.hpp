// Sorts with other numbers than those of the tuning tables. Everything that knows how the library puts a
// sort together is in this file.
#pragma once

#include <functional>
#include <string>

#include "kradix/impl/blocked_radix.hpp"
#include "kradix/impl/counting.hpp"
#include "kradix/impl/four_kernel.hpp"
#include "kradix/impl/msd_hybrid.hpp"
#include "kradix/impl/small_msd.hpp"
#include "support/task.hpp"
#include "tune/candidates.hpp"

namespace tune {

using bench::Space;
using kradix::Algorithm;
namespace impl = kradix::impl;

/// One set of numbers, and the sort that has them.
template <class Key, class Value>
struct Trial {
  std::string numbers;  ///< as they stand in the table
  bool present;         ///< are they what the table holds?
  std::size_t scratch_bytes;
  std::function<void(const Space&, Key*, Value*, std::byte*)> sort;
};

inline std::string text_of(const TeamShape& shape) {
  return "{" + std::to_string(shape.threads) + ", " + std::to_string(shape.items) +
         (shape.teams > 0 ? ", " + std::to_string(shape.teams) : "") + "}";
}
inline std::string text_of(const LookBackShape& shape) {
  return "{" + std::to_string(shape.slot_bits) + ", " + std::to_string(shape.reach) + ", " +
         std::to_string(shape.group_bits) + "}";
}

template <class Value>
inline constexpr std::size_t bytes_of = std::is_same_v<Value, impl::NoValue> ? 0 : sizeof(Value);

/// A forced algorithm's plan with these shapes, and where its scratch memory lies.
template <class Key, class Value>
struct Layout {
  kradix::Plan plan;
  impl::ScratchList list;
  impl::Slot keys_other, values_other;

  Layout(const Space& exec, std::size_t count, Algorithm algorithm, TeamShape sweep,
         TeamShape finish)
      : Layout(exec, count, algorithm, [&](impl::Machine& machine) {
          machine.sweep = sweep;
          machine.finish = finish;
        }) {}

  /// `change` gives the machine other numbers than the tables'.
  template <class Change>
  Layout(const Space& exec, std::size_t count, Algorithm algorithm, const Change& change) {
    impl::Problem problem;
    problem.count = count;
    problem.key_bytes = sizeof(Key);
    problem.key_bits = 8 * sizeof(Key);
    problem.value_bytes = bytes_of<Value>;
    problem.integral = true;
    problem.told_apart = bytes_of<Value> == 0;
    problem.forced = algorithm;
    impl::Machine machine = impl::machine_of(exec, sizeof(Key), bytes_of<Value>, sizeof(Key));
    change(machine);
    plan = impl::make_plan(problem, machine);
    keys_other = list.add(count, sizeof(Key));
    values_other = list.add(bytes_of<Value> > 0 ? count : 0, bytes_of<Value>);
  }

  impl::SortBuffers<Key, Value> buffers(Key* keys, Value* values, std::byte* base) const {
    return {{keys, keys, keys_other.in<Key>(base)}, {values, values, values_other.in<Value>(base)}};
  }
};

template <class Key>
auto codec() {
  return impl::make_codec<Key>(kradix::Order::ascending);
}

/// By Onesweep with this tile and this look-back.
template <class Key, class Value, TeamShape shape>
Trial<Key, Value> sweep_trial(const Space& exec, std::size_t count, const LookBackShape& look_back,
                              const std::string& numbers, bool present) {
  Layout<Key, Value> layout(exec, count, Algorithm::onesweep, shape, {0, 0});
  const auto scratch = impl::OnesweepScratch::list(layout.plan, look_back, layout.list);
  return {numbers, present, layout.list.bytes(),
          [=](const Space& on, Key* keys, Value* values, std::byte* base) {
            impl::Onesweep<Space, impl::codec_of<Key>, Value, shape>(
                on, layout.plan, codec<Key>(), layout.buffers(keys, values, base), scratch, base,
                "tune::")
                .sort();
          }};
}

/// By Onesweep with this unordered first pass.
template <class Key, TeamShape spread>
Trial<Key, impl::NoValue> spread_trial(const Space& exec, std::size_t count, bool present) {
  constexpr TeamShape sweep = impl::sweep_shape<Space>(sizeof(Key), 0);
  Layout<Key, impl::NoValue> layout(exec, count, Algorithm::onesweep, sweep, {0, 0});
  const auto scratch = impl::OnesweepScratch::list(layout.plan, LookBackShape{}, layout.list);
  return {text_of(spread), present, layout.list.bytes(),
          [=](const Space& on, Key* keys, impl::NoValue* values, std::byte* base) {
            impl::Onesweep<Space, impl::codec_of<Key>, impl::NoValue, sweep, impl::LookBack<Space>,
                           spread>(on, layout.plan, codec<Key>(),
                                   layout.buffers(keys, values, base), scratch, base, "tune::")
                .sort();
          }};
}

/// By counting with these teams.
template <class Key, CountingShapes shapes>
Trial<Key, impl::NoValue> counting_trial(const Space& exec, std::size_t count, bool present) {
  Layout<Key, impl::NoValue> layout(exec, count, Algorithm::counting,
                                    [](impl::Machine& machine) { machine.expand = shapes.expand; });
  const auto scratch = impl::CountingScratch::list(layout.plan, layout.list);
  return {text_of(sizeof(Key) == 1 ? shapes.bytes : shapes.shorts) + text_of(shapes.expand),
          present, layout.list.bytes(),
          [=](const Space& on, Key* keys, impl::NoValue*, std::byte* base) {
            impl::Counting<Space, impl::codec_of<Key>, shapes>(
                on, layout.plan, codec<Key>(), {keys, keys, nullptr}, scratch, base, "tune")
                .sort();
          }};
}

/// By small_msd with these teams.
template <class Key, class Value, SmallShapes shapes>
Trial<Key, Value> small_trial(const Space& exec, std::size_t count, bool present) {
  Layout<Key, Value> layout(exec, count, Algorithm::small_msd, [](impl::Machine& machine) {
    machine.small = shapes.tile;
    machine.finish = shapes.finish;
    machine.most_ranked = 0;  // fewer go by these teams, too
  });
  const auto scratch = impl::SmallMsdScratch::list(layout.plan, LookBackShape{}, layout.list);
  return {text_of(shapes.tile) + text_of(shapes.finish), present, layout.list.bytes(),
          [=](const Space& on, Key* keys, Value* values, std::byte* base) {
            impl::SmallMsd<Space, impl::codec_of<Key>, Value, shapes>(
                on, layout.plan, codec<Key>(), layout.buffers(keys, values, base), scratch, base,
                "tune")
                .sort();
          }};
}

/// By blocked_radix as if caches had another size, with buckets of so many bits.
template <class Key, class Value>
Trial<Key, Value> blocks_trial(const Space& exec, std::size_t count, const BlockNumbers& numbers,
                               bool present) {
  Layout<Key, Value> layout(exec, count, Algorithm::blocked_radix, [&](impl::Machine& machine) {
    machine.cache_bytes = machine.cache_bytes * static_cast<std::size_t>(numbers.cache_eighths) / 8;
  });
  layout.plan.digit_bits = numbers.bucket_bits;
  const auto scratch = impl::BlockedRadixScratch::list(layout.plan, layout.list);
  return {"{" + std::to_string(numbers.cache_eighths) + "/8, " +
              std::to_string(numbers.bucket_bits) + "}",
          present, layout.list.bytes(),
          [=](const Space& on, Key* keys, Value* values, std::byte* base) {
            impl::BlockedRadix<Space, impl::codec_of<Key>, Value>(
                on, layout.plan, codec<Key>(), layout.buffers(keys, values, base), scratch, base,
                "tune")
                .sort();
          }};
}

/// By msd_hybrid with this finish.
template <class Key, class Value, TeamShape finish>
Trial<Key, Value> finish_trial(const Space& exec, std::size_t count, bool present) {
  constexpr TeamShape sweep = impl::sweep_shape<Space>(sizeof(Key), bytes_of<Value>);
  constexpr TeamShape range = impl::range_shape<Space>(sizeof(Key), bytes_of<Value>);
  // Its chunks must fit the shape that takes those it gives up.
  constexpr TeamShape usual = impl::alone_shape<Space>(sizeof(Key), bytes_of<Value>);
  constexpr int items = (finish.round() / usual.threads + 4) / 4 * 4;
  constexpr TeamShape alone =
      finish.round() <= usual.round() ? usual : TeamShape{usual.threads, items, 1};
  Layout<Key, Value> layout(exec, count, Algorithm::msd_hybrid, sweep, finish);
  const auto scratch = impl::MsdHybridScratch::list(layout.plan, LookBackShape{}, layout.list);
  return {text_of(finish), present, layout.list.bytes(),
          [=](const Space& on, Key* keys, Value* values, std::byte* base) {
            impl::MsdHybrid<Space, impl::codec_of<Key>, Value, sweep, finish, alone, range>(
                on, layout.plan, codec<Key>(), layout.buffers(keys, values, base), scratch, base,
                "tune")
                .sort(impl::route_rule(layout.plan));
          }};
}

/// By four_kernel with rounds of so many elements.
template <class Key, class Value>
Trial<Key, Value> round_trial(const Space& exec, std::size_t count, std::size_t round,
                              const std::string& numbers, bool present) {
  constexpr TeamShape shape = impl::team_shape<Space>();
  Layout<Key, Value> layout(exec, count, Algorithm::four_kernel, {0, 0}, {0, 0});
  if (round > 0) {
    layout.plan.round = round;
    layout.plan.tile = impl::tile_elements(count, round);
    layout.plan.tiles = (count + layout.plan.tile - 1) / layout.plan.tile;
  }
  const auto scratch = impl::FourKernelScratch::list(layout.plan, layout.list);
  return {numbers, present, layout.list.bytes(),
          [=](const Space& on, Key* keys, Value* values, std::byte* base) {
            impl::FourKernel<Space, impl::codec_of<Key>, Value, shape>(
                on, layout.plan, codec<Key>(), layout.buffers(keys, values, base), scratch, base,
                "tune")
                .sort();
          }};
}

}  // namespace tune
