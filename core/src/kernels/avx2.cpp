#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "serape/kernels.hpp"

namespace serape::avx2 {
namespace {
#include "kernels.inl"
}  // namespace

extern const Kernels set;
const Kernels set = make("avx2", avx2_costs);
}  // namespace serape::avx2
