#define KRADIX_IMPL_INSTANTIATES
#include "kradix/impl/run_study.hpp"

namespace kradix::impl {
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_STUDY, std::uint8_t)
}
