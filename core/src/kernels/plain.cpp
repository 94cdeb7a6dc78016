#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "serape/kernels.hpp"

namespace serape::plain {
namespace {
#include "kernels.inl"
}  // namespace

extern const Kernels set;
const Kernels set = make("plain", plain_costs);
}  // namespace serape::plain
