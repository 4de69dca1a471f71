/// Which particles are in each cell: a sort by the Morton code of the cell.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kradix/sort.hpp>

#include "grid.hpp"
#include "particles.hpp"

namespace particles {

/// The particles of a cell are order(begin) ... order(end - 1).
struct Cell {
  Index begin, end;
};

struct NumberInOrder {
  Indices order;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { order(i) = static_cast<Index>(i); }
};

struct EncodeCells {
  Grid grid;
  Vectors position;
  Kokkos::View<std::uint32_t*> codes;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    codes(i) = grid.code(position(i, 0), position(i, 1), position(i, 2));
  }
};

/// Where the sorted codes change, one cell ends and another begins. Cells that stay empty keep {0, 0}.
struct MarkCells {
  Kokkos::View<const std::uint32_t*> codes;
  Kokkos::View<Cell*> cells;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t next = i + 1;
    if (i == 0 || codes(i - 1) != codes(i)) cells(codes(i)).begin = static_cast<Index>(i);
    if (next == codes.extent(0) || codes(next) != codes(i)) {
      cells(codes(i)).end = static_cast<Index>(next);
    }
  }
};

class CellList {
 public:
  CellList(const Execution& exec, const Grid& grid, std::size_t count)
      : grid_(grid),
        codes_(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "particles::codes"), count),
        order_(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "particles::order"), count),
        cells_(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "particles::cells"),
               grid.code_count()) {}

  const Indices& order() const { return order_; }
  const Kokkos::View<Cell*>& cells() const { return cells_; }

  void build(const Execution& exec, const Vectors& position) {
    const Range all(exec, 0, codes_.extent(0));
    Kokkos::parallel_for("particles::EncodeCells", all, EncodeCells{grid_, position, codes_});
    number_in_order(exec);
    kradix::sort_by_key(exec, codes_, order_,
                        {.bits = {0, grid_.code_bits()}, .workspace = &workspace_});
    Kokkos::deep_copy(exec, cells_, Cell{0, 0});
    Kokkos::parallel_for("particles::MarkCells", all, MarkCells{codes_, cells_});
  }

  /// To be called when the particles themselves have been put in order().
  void number_in_order(const Execution& exec) {
    Kokkos::parallel_for("particles::NumberInOrder", Range(exec, 0, order_.extent(0)),
                         NumberInOrder{order_});
  }

 private:
  Grid grid_;
  Kokkos::View<std::uint32_t*> codes_;
  Indices order_;
  Kokkos::View<Cell*> cells_;
  kradix::Workspace workspace_;
};

}  // namespace particles
