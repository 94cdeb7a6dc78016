// Which sets of kernels an x86 processor, and its operating system, can run.
#pragma once

#include "serape/compiler.hpp"

#if SERAPE_X86

#include <cstdint>

#if !defined(_MSC_VER)
#include <cpuid.h>
#endif

namespace serape {

class Processor {
  public:
    Processor() {
        if (registers_of(0, 0).eax < 7) {
            return;
        }
        const Registers basic = registers_of(1, 0);
        const bool keeps_vectors = bit(basic.ecx, 27) && (kept_by_system() & 0x06) == 0x06;
        const bool popcnt = bit(basic.ecx, 23);
        const Registers more = registers_of(7, 0);
        avx2 = keeps_vectors && popcnt && bit(more.ebx, 5) && bit(more.ebx, 8);  // and bmi2
        const bool f_dq_bw_vl = bit(more.ebx, 16) && bit(more.ebx, 17) && bit(more.ebx, 30) && bit(more.ebx, 31);
        const bool keeps_wide = keeps_vectors && (kept_by_system() & 0xe6) == 0xe6;
        avx512 = avx2 && keeps_wide && f_dq_bw_vl && bit(more.ecx, 14);  // and vpopcntdq
    }

    bool avx2 = false;
    bool avx512 = false;

  private:
    struct Registers {
        std::uint32_t eax, ebx, ecx, edx;
    };
    static bool bit(std::uint32_t value, int place) { return (value >> place & 1) != 0; }

    static Registers registers_of(std::uint32_t leaf, std::uint32_t part) {
#if defined(_MSC_VER)
        int found[4];
        __cpuidex(found, static_cast<int>(leaf), static_cast<int>(part));
        return {static_cast<std::uint32_t>(found[0]), static_cast<std::uint32_t>(found[1]),
                static_cast<std::uint32_t>(found[2]), static_cast<std::uint32_t>(found[3])};
#else
        Registers found{};
        __cpuid_count(leaf, part, found.eax, found.ebx, found.ecx, found.edx);
        return found;
#endif
    }

    // The registers that the operating system keeps for a process.
    static std::uint64_t kept_by_system() {
#if defined(_MSC_VER) && !defined(__clang__)
        return _xgetbv(0);
#else
        std::uint32_t low = 0, high = 0;
        asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        return std::uint64_t{high} << 32 | low;
#endif
    }
};

}  // namespace serape

#endif
