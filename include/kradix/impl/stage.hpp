// From the caller's views to contiguous words and back.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kradix/impl/scratch.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// A view's elements as words: where they lie if they are contiguous and aligned as the word is,
/// else in a scratch array that `pack` fills and `unpack` empties.
template <class View, class Word>
class Staged {
 public:
  using Value = typename View::non_const_value_type;
  using ExecutionSpace = typename View::execution_space;
  static_assert(sizeof(Value) == sizeof(Word) && std::is_trivially_copyable_v<Value>);

  explicit Staged(const View& view) : view_(view) {
    const bool contiguous = view.extent(0) < 2 || view.stride(0) == 1;
    const bool aligned = reinterpret_cast<std::uintptr_t>(view.data()) % alignof(Word) == 0;
    packs_ = !(contiguous && aligned);
  }

  bool packs() const { return packs_; }
  void list(ScratchList& scratch) {
    if (packs_) slot_ = scratch.add(view_.extent(0), sizeof(Word));
  }

  /// The words, for reading; for writing too unless the view is const.
  Word* words(std::byte* base) const {
    if (packs_) return slot_.template in<Word>(base);
    return reinterpret_cast<Word*>(const_cast<Value*>(view_.data()));
  }

  template <class Exec>
  void pack(const Exec& exec, std::byte* base, const char* label) const {
    if (packs_) copy(exec, std::string(label) + "::stage::Pack", Pack{view_, packed(base)});
  }
  template <class Exec>
  void unpack(const Exec& exec, std::byte* base, const char* label) const {
    if (packs_) copy(exec, std::string(label) + "::stage::Unpack", Unpack{packed(base), view_});
  }

  struct Pack {
    View from;
    Value* to;
    KOKKOS_FUNCTION void operator()(std::size_t i) const { to[i] = from(i); }
  };
  struct Unpack {
    const Value* from;
    View to;
    KOKKOS_FUNCTION void operator()(std::size_t i) const { to(i) = from[i]; }
  };

 private:
  Value* packed(std::byte* base) const { return slot_.template in<Value>(base); }

  template <class Exec, class Functor>
  void copy(const Exec& exec, const std::string& label, const Functor& functor) const {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::size_t>>(exec, 0, view_.extent(0)),
        functor);
  }

  View view_;
  bool packs_;
  Slot slot_;
};

/// An array in scratch, written as a view is.
template <class T>
struct Contiguous {
  T* data;
  KOKKOS_FUNCTION T& operator()(std::size_t i) const { return data[i]; }
};

/// Values of a size that no word has do not travel: once the index is sorted, they move once.
template <class View, class Index, class To>
struct GatherValues {
  View from;
  const Index* index;
  To to;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to(i) = from(index[i]); }
};
template <class View>
struct ReturnValues {
  using Value = typename View::non_const_value_type;
  const Value* from;
  View to;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to(i) = from[i]; }
};

}  // namespace kradix::impl
