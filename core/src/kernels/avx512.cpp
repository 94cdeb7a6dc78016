#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "serape/kernels.hpp"
#include "serape/vectors.hpp"

namespace serape::avx512 {
namespace {
#include "kernels.inl"
}  // namespace

extern const Kernels set;
const Kernels set = make("avx512", avx512_costs);
}  // namespace serape::avx512
