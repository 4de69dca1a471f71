#define KRADIX_IMPL_INSTANTIATES
#include "kradix/impl/instantiate.hpp"

namespace kradix::impl {
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_VALUES, , run_in_teams, std::uint64_t, false)
}
