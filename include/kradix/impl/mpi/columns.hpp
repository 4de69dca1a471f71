// Keys and any number of value arrays as they move through a distributed sort: gathered, partitioned,
// sorted together on one rank.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/histograms.hpp"
#include "kradix/impl/mpi/partition.hpp"
#include "kradix/impl/mpi/place_of.hpp"
#include "kradix/impl/mpi/search.hpp"
#include "kradix/impl/stage.hpp"
#include "kradix/sort.hpp"

namespace kradix::impl::mpi {

template <class View>
using element_of = typename View::non_const_value_type;

/// A value moves as one word where a word has its size.
template <class T>
struct MovedAs {
  using type = T;
};
template <class T>
  requires(has_value_word(sizeof(T)))
struct MovedAs<T> {
  using type = value_word<sizeof(T)>;
};
template <class T>
using moved_as = typename MovedAs<T>::type;

/// to[i] = from[index[i]]. Enqueued.
template <class ExecutionSpace, class T, class Index>
void gather_all(const ExecutionSpace& exec, const std::string& label, const T* from,
                const Index* index, T* to, std::size_t count) {
  Kokkos::parallel_for(
      label + "Gather",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(exec, 0, count),
      Gather<T, Index>{from, index, to});
}

/// A new view of numbers from `first` on. Enqueued.
template <class Indices, class ExecutionSpace>
Indices number(const ExecutionSpace& exec, const std::string& label, const char* name,
               std::size_t count, std::uint64_t first = 0) {
  const Indices indices(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label + name), count);
  Kokkos::parallel_for(
      label + "NumberGlobally",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(exec, 0, count),
      NumberGlobally{first, indices.data()});
  return indices;
}
template <class ExecutionSpace>
auto make_index(const ExecutionSpace& exec, const std::string& label, std::size_t count) {
  using Index = Kokkos::View<std::uint64_t*, typename ExecutionSpace::memory_space>;
  return number<Index>(exec, label, "index", count);
}

/// Sorts keys in place, and says where each came from. Enqueued.
template <class ExecutionSpace, class Keys>
auto sort_index(const ExecutionSpace& exec, const kradix::Options& options, const Keys& keys) {
  const auto index = make_index(exec, std::string(options.label) + "::mpi::", keys.extent(0));
  kradix::sort_by_key(exec, keys, index, options);
  return index;
}

/// Puts arrays in the order of an index, each in its own place, through an array like the widest.
template <class ExecutionSpace, class Index, class... Values>
void follow_index(const ExecutionSpace& exec, const std::string& label, const Index& index,
                  const Values&... values) {
  const std::size_t count = index.extent(0);
  const std::size_t widest = std::max({sizeof(element_of<Values>)...});
  const Kokkos::View<std::byte*, typename ExecutionSpace::memory_space> gathered(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label + "gathered"), count * widest);
  const auto move = [&](const auto& array) {
    using T = element_of<std::remove_cvref_t<decltype(array)>>;
    gather_all(exec, label, array.data(), index.data(), reinterpret_cast<T*>(gathered.data()),
               count);
    copy_bytes(exec, reinterpret_cast<std::byte*>(array.data()), gathered.data(),
               count * sizeof(T));
  };
  (move(values), ...);
  exec.fence(label + "fence before the index goes");
}

/// Sorts one rank's keys with all their values. One value array travels with the keys, several move once
/// each through a sorted index: then n indices and n elements of the widest array are temporary.
template <class ExecutionSpace, class Keys, class... Values>
void sort_together(const ExecutionSpace& exec, const kradix::Options& options, const Keys& keys,
                   const Values&... values) {
  if constexpr (sizeof...(Values) == 0) {
    kradix::sort(exec, keys, options);
  } else if constexpr (sizeof...(Values) == 1) {
    kradix::sort_by_key(exec, keys, values..., options);
  } else {
    const auto index = sort_index(exec, options, keys);
    follow_index(exec, std::string(options.label) + "::mpi::", index, values...);
  }
}

/// The caller's arrays on this rank, contiguous; and, in scratch, a second copy of each in the order in
/// which they are sent.
template <class ExecutionSpace, class Keys, class... Values>
class Columns {
 public:
  using Key = element_of<Keys>;
  using KeyWord = key_word<Key>;
  static constexpr std::size_t value_arrays = sizeof...(Values);

  /// What the partition moves with the keys: nothing, the values, or an index through which they follow.
  struct Travels {
    template <class... Ts>
    struct First {
      using type = NoValue;
    };
    template <class T>
      requires(has_value_word(sizeof(T)))
    struct First<T> {
      using type = value_word<sizeof(T)>;
    };
    template <class T, class... More>
      requires(sizeof...(More) > 0 || !has_value_word(sizeof(T)))
    struct First<T, More...> {
      using type = std::uint64_t;
    };
    using type = typename First<element_of<Values>...>::type;
  };
  using Value = typename Travels::type;
  static constexpr bool by_index = value_arrays > 1 ||
                                   (!has_value_word(sizeof(element_of<Values>)) || ...);
  /// Can all be partitioned in one pass?
  static constexpr bool partitions = Partition<ExecutionSpace, KeyWord, Value>::exists;

  Columns(const ExecutionSpace& exec, const Keys& keys, const Values&... values)
      : exec_(exec),
        count_(keys.extent(0)),
        staged_keys_(keys),
        staged_values_(values...),
        partition_(exec, keys.extent(0)) {}

  std::size_t count() const { return count_; }

  /// Scratch for `sent` (a second copy of everything, with room for `gaps` elements more) and, with it, for a partition.
  void list(ScratchList& scratch, bool sent, bool partitioned, std::size_t gaps = 0) {
    staged_keys_.list(scratch);
    std::apply([&](auto&... staged) { (staged.list(scratch), ...); }, staged_values_);
    if (sent) {
      sent_keys_ = scratch.add(count_ + gaps, sizeof(Key));
      std::size_t at = 0;
      ((sent_values_[at++] = scratch.add(count_ + gaps, sizeof(element_of<Values>))), ...);
    }
    if (partitioned) {
      if (by_index) index_ = scratch.add(count_, sizeof(std::uint64_t));
      partition_.list(scratch);
    }
  }

  void pack(std::byte* base, const char* label) {
    base_ = base;
    staged_keys_.pack(exec_, base, label);
    std::apply([&](const auto&... staged) { (staged.pack(exec_, base, label), ...); },
               staged_values_);
    keys_ = staged_keys_.words(base);
    set_columns(staged_keys_.words(base), std::index_sequence_for<Values...>{}, false);
  }

  const KeyWord* keys() const { return keys_; }
  KeyWord* spare_keys() const { return sent_keys_.in<KeyWord>(base_); }

  /// All elements as they came, and where the second copy goes.
  PlaceOf<KeyWord, Value> given() const { return {const_cast<KeyWord*>(keys_), given_values()}; }
  PlaceOf<KeyWord, Value> spare() const { return {spare_keys(), spare_values()}; }

  /// What is sent now of keys, and of what travels with them.
  const KeyWord* sending_keys() const { return reinterpret_cast<const KeyWord*>(columns_[0].send); }
  const Value* sending_values() const {
    if constexpr (value_arrays == 0) {
      return nullptr;
    } else {
      return reinterpret_cast<const Value*>(columns_[1].send);
    }
  }

  /// Puts the second copy in the order of the bounds reached. Enqueued.
  template <class Codec>
  void partition(const Codec& codec, const BoundsOf<Codec>& bounds, const char* label) {
    partition_all(codec, bounds, label, std::index_sequence_for<Values...>{});
    set_columns(spare_keys(), std::index_sequence_for<Values...>{}, true);
  }

  /// Puts `count` elements of the second copy, from `begin` on, in order. Enqueued.
  void sort(const kradix::Options& options, std::size_t begin, std::size_t count) {
    sort_to_sent(options, begin, count, std::index_sequence_for<Values...>{});
  }
  /// All are, and the second copy is sent.
  void take_sorted() {
    keys_ = spare_keys();
    set_columns(spare_keys(), std::index_sequence_for<Values...>{}, true);
  }

  /// Puts other arrays in order, of keys, then of values. Enqueued.
  template <class T, class... Ts>
  void sort_to(const kradix::Options& options, T* keys_out, Ts*... values_out) {
    sort_all(options, 0, count_, reinterpret_cast<Key*>(keys_out),
             std::index_sequence_for<Values...>{},
             reinterpret_cast<moved_as<element_of<Values>>*>(values_out)...);
  }

  /// What is sent now, to be received in these arrays: of keys, then of values.
  template <class... Ts>
  std::vector<Column> to(Ts*... arrays) const {
    std::vector<Column> columns(columns_.begin(), columns_.end());
    std::size_t at = 0;
    ((columns[at++].receive = reinterpret_cast<std::byte*>(arrays)), ...);
    return columns;
  }

 private:
  template <class T>
  using Loose = mpi::Loose<T, typename ExecutionSpace::memory_space>;

  template <std::size_t... I>
  void set_columns(const KeyWord* keys, std::index_sequence<I...>, [[maybe_unused]] bool sent) {
    columns_[0] = {reinterpret_cast<const std::byte*>(keys), nullptr, sizeof(Key)};
    ((columns_[1 + I] = {sent ? sent_values_[I].template in<std::byte>(base_)
                              : reinterpret_cast<const std::byte*>(value_words<I>()),
                         nullptr, sizeof(element_of<Values>)}),
     ...);
  }

  Value* given_values() const {
    if constexpr (value_arrays == 1 && !by_index) return const_cast<Value*>(value_words<0>());
    return nullptr;
  }
  Value* spare_values() const {
    if constexpr (value_arrays == 1 && !by_index) return sent_values_[0].template in<Value>(base_);
    return nullptr;
  }

  template <std::size_t I>
  auto* value_words() const {
    return std::get<I>(staged_values_).words(base_);
  }

  template <class Codec, std::size_t... I>
  void partition_all(const Codec& codec, const BoundsOf<Codec>& bounds, const char* label,
                     std::index_sequence<I...>) {
    if constexpr (value_arrays == 0) {
      partition_.run(base_, codec, bounds, keys_, spare_keys(), nullptr, nullptr, label);
    } else if constexpr (!by_index) {
      partition_.run(base_, codec, bounds, keys_, spare_keys(), value_words<0>(),
                     sent_values_[0].template in<Value>(base_), label);
    } else {
      Value* const index = index_.in<Value>(base_);
      partition_.run(base_, codec, bounds, keys_, spare_keys(), nullptr, index, label);
      (gather<I>(index, label), ...);
    }
  }

  template <std::size_t I>
  void gather(const Value* index, const char* label) {
    using T = std::remove_pointer_t<decltype(value_words<I>())>;
    gather_all(exec_, std::string(label) + "::mpi::", value_words<I>(), index,
               sent_values_[I].template in<T>(base_), count_);
  }

  template <std::size_t... I>
  void sort_to_sent(const kradix::Options& options, std::size_t begin, std::size_t count,
                    std::index_sequence<I...> all) {
    if (count == 0) return;
    sort_all(options, begin, count, sent_keys_.in<Key>(base_) + begin, all,
             sent_values_[I].template in<moved_as<element_of<Values>>>(base_) + begin...);
  }

  template <std::size_t... I, class... Words>
  void sort_all(const kradix::Options& options, std::size_t begin, std::size_t count, Key* keys_out,
                std::index_sequence<I...>, Words*... values_out) {
    if (count == 0) return;
    const Loose<Key> sorted(keys_out, count);
    const Loose<const Key> keys(reinterpret_cast<const Key*>(keys_) + begin, count);
    if constexpr (value_arrays == 0) {
      kradix::sort(exec_, keys, sorted, options);
    } else if constexpr (value_arrays == 1) {
      (kradix::sort_by_key(exec_, keys, Loose<const Words>(value_words<I>() + begin, count), sorted,
                           Loose<Words>(values_out, count), options),
       ...);
    } else {
      const std::string label = std::string(options.label) + "::mpi::";
      copy_bytes(exec_, reinterpret_cast<std::byte*>(keys_out),
                 reinterpret_cast<const std::byte*>(keys.data()), count * sizeof(Key));
      const auto index = sort_index(exec_, options, sorted);
      (gather_all(exec_, label, value_words<I>() + begin, index.data(), values_out, count), ...);
      exec_.fence(label + "fence before the index goes");
    }
  }

  const ExecutionSpace& exec_;
  std::size_t count_;
  Staged<Keys, KeyWord> staged_keys_;
  std::tuple<Staged<Values, moved_as<element_of<Values>>>...> staged_values_;
  Slot sent_keys_, index_;
  std::array<Slot, value_arrays> sent_values_;
  Partition<ExecutionSpace, KeyWord, Value> partition_;
  std::array<Column, 1 + value_arrays> columns_;
  const KeyWord* keys_ = nullptr;
  std::byte* base_ = nullptr;
};

}  // namespace kradix::impl::mpi
