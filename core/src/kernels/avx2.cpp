#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>

#include "serape/kernels.hpp"

namespace serape::avx2 {
namespace {
#include "kernels.inl"
}  // namespace

extern const Kernels set;
const Kernels set = make("avx2", 2.5, 2.0, 200.0);
}  // namespace serape::avx2
