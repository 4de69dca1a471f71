// The table of contenders.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "peers/bin_sort.hpp"
#include "peers/cub.hpp"
#include "peers/cub_segmented.hpp"
#include "peers/kokkos.hpp"
#include "peers/kokkos_kernels.hpp"
#include "peers/kradix.hpp"
#include "peers/library.hpp"
#include "peers/std.hpp"
#include "peers/thrust.hpp"
#include "support/task.hpp"

namespace bench {

template <template <class> class... Peer>
struct PeerList {};

/// Everyone, ours first. A peer is one line here; which tasks, builds and cases it is for, its own
/// file says.
using AllPeers = PeerList<KradixSort,                                       //
                          CubWith32BitCount,                                //
                          CubWith64BitCount,                                //
                          NewerCubWith32BitCount,                           //
                          NewerCubWith64BitCount,                           //
                          CubSegmented,                                     //
                          CubSegmentedRadix,                                //
                          ThrustSort,                                       //
                          ThrustStableSort,                                 //
                          KokkosSort,                                       //
                          KokkosBinSort,                                    //
                          KokkosKernelsBitonic,                             //
                          KokkosKernelsRadix,                               //
                          StdSort,                                          //
                          StdStableSort,                                    //
                          LibraryPeer<library::StdPar>::Sort,               //
                          LibraryPeer<library::BoostBlockIndirect>::Sort,   //
                          LibraryPeer<library::BoostParallelStable>::Sort,  //
                          LibraryPeer<library::BoostSpreadsort>::Sort,      //
                          LibraryPeer<library::Ips4o>::Sort,                //
                          LibraryPeer<library::Vqsort>::Sort,               //
                          LibraryPeer<library::X86SimdSort>::Sort,          //
                          LibraryPeer<library::X86SimdSortOpenMp>::Sort>;

template <class Peer, class Visitor>
void visit_peer(const Case& what, Visitor& visitor) {
  if constexpr (Peer::takes_part) {
    if (Peer::takes(what)) visitor.template operator()<Peer>();
  }
}

/// Calls visitor.operator()<Peer<Task>>() for everyone who takes part.
template <class Task, class Visitor, template <class> class... Peer>
void visit_peers(const Case& what, Visitor& visitor, PeerList<Peer...>) {
  (visit_peer<Peer<Task>>(what, visitor), ...);
}

template <class Task>
struct Entrant {
  std::string name;
  bool stable;
  std::unique_ptr<Contender<Task>> contender;
  double spent = 0;                                           ///< seconds measured so far
  double quickest = std::numeric_limits<double>::infinity();  ///< seconds of any run so far
  std::string wrong{};                                        ///< what was wrong with its result
};

/// Who takes part in a case, ready to run.
template <class Task>
struct Entrants {
  const Case& what;
  std::vector<Entrant<Task>> list;
  bool want_spares = false;

  explicit Entrants(const Case& what) : what(what) { visit_peers<Task>(what, *this, AllPeers{}); }

  template <class Peer>
  void operator()() {
    if (!what.peers && !list.empty()) return;
    list.push_back({Peer::name(), Peer::stable, std::make_unique<Peer>(what)});
    want_spares |= Peer::wants_spares;
  }
};

/// Their names, without taking any memory.
struct Names {
  std::vector<std::string> list;

  template <class Peer>
  void operator()() {
    list.push_back(Peer::name());
  }
};

}  // namespace bench
