#include <array>
#include <atomic>

#include "processor.hpp"
#include "serape/kernels.hpp"

namespace serape {

namespace plain {
extern const Kernels set;
}
#if defined(SERAPE_X86_KERNELS)
namespace avx2 {
extern const Kernels set;
}
namespace avx512 {
extern const Kernels set;
}
#endif

namespace {

struct Available {
    std::array<const Kernels*, 3> sets{};
    std::size_t count = 0;

    Available() {
        sets[count++] = &plain::set;
#if defined(SERAPE_X86_KERNELS)
        const Processor processor;
        if (processor.avx2) {
            sets[count++] = &avx2::set;
        }
#if defined(SERAPE_AVX512_KERNELS)
        if (processor.avx512) {
            sets[count++] = &avx512::set;
        }
#endif
#endif
    }
};

const Available& available() {
    static const Available found;
    return found;
}

std::atomic<const Kernels*>& current() {
    static std::atomic<const Kernels*> chosen{available().sets[available().count - 1]};
    return chosen;
}

}  // namespace

const Kernels& kernels() {
    return *current().load(std::memory_order_relaxed);
}

std::span<const Kernels* const> available_kernels() {
    return {available().sets.data(), available().count};
}

bool select_kernels(std::string_view name) {
    for (const Kernels* set : available_kernels()) {
        if (set->name == name) {
            current().store(set, std::memory_order_relaxed);
            return true;
        }
    }
    return false;
}

}  // namespace serape
