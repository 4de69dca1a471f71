// How words are turned to their order by a few steps that vectors have.
#pragma once

#include <cstdint>

namespace kradix::impl {

/// How an order stores a word: some bits are changed, others where the topmost one is set, then a number is added and bits
/// are changed again.
template <class Word>
struct WordTurn {
  Word top = 0, other = 0, add = 0, flip = 0;
  bool changes() const { return (top | other | add | flip) != 0; }
};

}  // namespace kradix::impl
