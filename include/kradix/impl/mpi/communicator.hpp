// A communicator of our own beside the caller's: made once for each, gone with it.
#pragma once

#include <Kokkos_Core.hpp>
#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <mpi.h>
#include <typeindex>
#include <typeinfo>

#include "kradix/impl/mpi/check.hpp"

namespace kradix::impl::mpi {

/// A duplicate of the caller's communicator, so that no message of ours meets one of the caller's, and
/// what is expensive to make anew for every call.
class Communicator {
 public:
  explicit Communicator(MPI_Comm parent) {
    check(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
    // Codes come back to us instead of ending the program.
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    find_node();
  }
  ~Communicator() {
    kept_.clear();
    int finalized = 0;
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) MPI_Comm_free(&comm_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// The one of this communicator. Collective when it is met first.
  static Communicator& of(MPI_Comm parent) {
    void* found = nullptr;
    int there = 0;
    check(MPI_Comm_get_attr(parent, key(), &found, &there), "MPI_Comm_get_attr");
    if (there) return *static_cast<Communicator*>(found);
    auto made = std::make_unique<Communicator>(parent);
    check(MPI_Comm_set_attr(parent, key(), made.get()), "MPI_Comm_set_attr");
    all()[made.get()] = made.get();
    return *made.release();
  }

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  template <class Act>
  void for_others(const Act& act) const {
    for (int rank = 0; rank < size_; ++rank) {
      if (rank != rank_) act(rank);
    }
  }
  /// Ranks that share memory, where they are consecutive and equally many everywhere, else 1.
  int node_size() const { return node_size_; }

  /// Something of type T that lives as long as this, or until Kokkos::finalize.
  template <class T>
  T& keep() {
    std::any& place = kept_[std::type_index(typeid(T))];
    if (!place.has_value()) place = std::make_shared<T>();
    return *std::any_cast<std::shared_ptr<T>&>(place);
  }
  template <class T>
  void drop() {
    kept_.erase(std::type_index(typeid(T)));
  }

 private:
  static std::map<Communicator*, Communicator*>& all() {
    static std::map<Communicator*, Communicator*> communicators;
    return communicators;
  }

  static int key() {
    static const int made = [] {
      int fresh = MPI_KEYVAL_INVALID;
      check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &fresh, nullptr),
            "MPI_Comm_create_keyval");
      // Views that are kept must not outlive Kokkos.
      Kokkos::push_finalize_hook([] {
        for (const auto& [communicator, same] : all()) communicator->kept_.clear();
      });
      return fresh;
    }();
    return made;
  }

  static int forget(MPI_Comm, int, void* communicator, void*) {
    auto* const ours = static_cast<Communicator*>(communicator);
    all().erase(ours);
    delete ours;
    return MPI_SUCCESS;
  }

  void find_node() {
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
          "MPI_Comm_split_type");
    int place = 0;
    int mates = 1;
    check(MPI_Comm_rank(node, &place), "MPI_Comm_rank");
    check(MPI_Comm_size(node, &mates), "MPI_Comm_size");
    check(MPI_Comm_free(&node), "MPI_Comm_free");
    int range[2] = {-mates, mates};
    int regular = place == rank_ % mates && size_ % mates == 0;
    check(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
    check(MPI_Allreduce(MPI_IN_PLACE, &regular, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
    node_size_ = regular && -range[0] == range[1] ? mates : 1;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int node_size_ = 1;
  std::map<std::type_index, std::any> kept_;
};

}  // namespace kradix::impl::mpi
