#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>

#include "serape/kernels.hpp"

namespace serape::avx512 {
namespace {
#include "kernels.inl"
}  // namespace

extern const Kernels set;
const Kernels set = make("avx512", 0.5, 1.0, 60.0);
}  // namespace serape::avx512
