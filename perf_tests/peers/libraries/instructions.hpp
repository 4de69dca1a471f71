// Some sources here are compiled for the instructions of the machine that builds them.
#pragma once

namespace bench::library {

/// Has this machine the instructions for vectors that the including source was compiled for?
static inline bool has_instructions_of_this_source() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
#ifdef __AVX2__
  if (!__builtin_cpu_supports("avx2")) return false;
#endif
#ifdef __BMI2__
  if (!__builtin_cpu_supports("bmi2")) return false;
#endif
#ifdef __FMA__
  if (!__builtin_cpu_supports("fma")) return false;
#endif
#ifdef __AVX512F__
  if (!__builtin_cpu_supports("avx512f")) return false;
#endif
#ifdef __AVX512DQ__
  if (!__builtin_cpu_supports("avx512dq")) return false;
#endif
#ifdef __AVX512VL__
  if (!__builtin_cpu_supports("avx512vl")) return false;
#endif
#ifdef __AVX512VBMI2__
  if (!__builtin_cpu_supports("avx512vbmi2")) return false;
#endif
#endif
  return true;
}

}  // namespace bench::library
