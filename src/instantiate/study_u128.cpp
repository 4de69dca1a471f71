#define KRADIX_IMPL_INSTANTIATES
#include "kradix/impl/run_study.hpp"

#ifdef KRADIX_HAVE_INT128
namespace kradix::impl {
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_STUDY, uint128)
}
#endif
