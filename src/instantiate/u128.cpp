#define KRADIX_IMPL_INSTANTIATES
#include "kradix/impl/instantiate.hpp"

namespace kradix::impl {
KRADIX_IMPL_FOR_WIDEST(KRADIX_IMPL_RUN_VALUES, extern, run_in_teams)
KRADIX_IMPL_FOR_WIDEST(KRADIX_IMPL_RUN_VALUES, , run)
}  // namespace kradix::impl
