// One digit pass of an algorithm for study, as its kernels see it.
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "kradix/impl/device/code.hpp"
#include "kradix/impl/device/pass.hpp"

namespace kradix::impl {

/// Copies elements from one array to a place in another: keys, and what travels with them.
template <class Word, class Value>
struct Mover {
  const Word* keys_in;
  Word* keys_out;  ///< null: they stay behind
  const Value* values_in;
  Value* values_out;
  bool makes_indices;  ///< the value is the place moved from

  KOKKOS_FUNCTION Word key(std::size_t from) const { return keys_in[from]; }

  KOKKOS_FUNCTION void operator()(std::size_t from, Place to) const {
    if (keys_out) keys_out[to] = keys_in[from];
    move_value(from, to);
  }
  /// When the key is at hand already.
  KOKKOS_FUNCTION void operator()(std::size_t from, Place to, Word key) const {
    if (keys_out) keys_out[to] = key;
    move_value(from, to);
  }
  KOKKOS_FUNCTION void move_value([[maybe_unused]] std::size_t from,
                                  [[maybe_unused]] Place to) const {
    if constexpr (!std::is_same_v<Value, NoValue>) {
      values_out[to] = value(from);
    }
  }
  KOKKOS_FUNCTION Value value(std::size_t from) const {
    if constexpr (std::is_same_v<Value, NoValue>) {
      return {};
    } else {
      return makes_indices ? static_cast<Value>(from) : values_in[from];
    }
  }
};

/// An ElementPass whose digits are `width` bits of a code. Passes go either straight between the arrays
/// as in every sort (`straight`), or each in two steps: from the result's array (the first pass: from the
/// input) to the other one (`first_step`) and back (`second_step`).
template <class ExecutionSpace, class Word, class Value>
struct CodePass : ElementPass<ExecutionSpace, StudyCodec<Word>, Value> {
  using Team = TeamMember<ExecutionSpace>;
  using Elements = Mover<Word, Value>;

  CodeRule<Word> rule;
  const CodeRange<Word>* range;  ///< on the device
  int width;

  KOKKOS_FUNCTION CodeReader<Word> reader() const { return reader_of(this->pass); }
  KOKKOS_FUNCTION CodeReader<Word> reader_of(int pass_) const {
    return {rule, *range, pass_ * width, (1u << width) - 1};
  }

  KOKKOS_FUNCTION Elements straight() const {
    return {this->source_keys(), this->destination_keys(), this->source_values(),
            this->destination_values(), this->makes_indices_now()};
  }
  KOKKOS_FUNCTION Elements first_step() const {
    const bool first = this->pass == 0;
    return {first ? this->keys.in : this->keys.result, this->keys.other,
            first ? this->values.in : this->values.result, this->values.other,
            this->makes_indices_now()};
  }
  KOKKOS_FUNCTION Elements second_step() const {
    const bool stay = this->leaves_keys && this->pass == this->passes->count - 1;
    return {this->keys.other, stay ? nullptr : this->keys.result, this->values.other,
            this->values.result, false};
  }
};

}  // namespace kradix::impl
