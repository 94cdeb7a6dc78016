#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "serape/kernels.hpp"
#include "serape/vectors.hpp"

namespace serape::plain {
namespace {
#include "kernels.inl"
}  // namespace

extern const Kernels set;
const Kernels set = make("plain", plain_costs);
}  // namespace serape::plain
