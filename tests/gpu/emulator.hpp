// Runs kernels on the CPU: each thread of a block is a fibre, and the fibres take turns. One block runs at a time.
//
// A fibre runs until it waits for the others of its warp or block. So the order is always the same, and a kernel that
// waits where not all can arrive ends with an error instead of hanging.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __restrict__
#define __launch_bounds__(...)

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};
struct float4 {
    float x, y, z, w;
};
struct Dimensions {
    unsigned x = 1, y = 1, z = 1;
};
inline Dimensions blockIdx, gridDim, blockDim, threadIdx;

namespace emulated {

enum class Waits { nothing, for_warp, for_block, done };

struct Fibre {
    ucontext_t context;  // to start it
    jmp_buf place;       // to go on
    bool started = false;
    std::unique_ptr<char[]> stack;
    Waits waits = Waits::nothing;
};
constexpr std::size_t stack_bytes = 256 << 10;
constexpr unsigned lanes = 32;

inline std::vector<Fibre> fibres;
inline jmp_buf scheduler;
inline ucontext_t unused;
inline unsigned current = 0;
inline std::function<void()> body;
inline std::vector<std::uint64_t> exchanged;  // by thread

inline void start() {
    body();
    fibres[current].waits = Waits::done;
    _longjmp(scheduler, 1);
}

inline void wait(Waits what) {
    const unsigned self = current;
    fibres[self].waits = what;
    if (_setjmp(fibres[self].place) == 0) {
        _longjmp(scheduler, 1);
    }
}

// Runs a fibre until it waits. Switches but for the first are jumps: they need no call of the system.
inline void go_on(Fibre& fibre) {
    if (_setjmp(scheduler) == 0) {
        if (fibre.started) {
            _longjmp(fibre.place, 1);
        }
        fibre.started = true;
        setcontext(&fibre.context);
    }
}

// Lets those of [begin, end) go on who wait for this, if all wait or are done.
inline bool release(unsigned begin, unsigned end, Waits what) {
    bool any = false;
    for (unsigned k = begin; k < end; ++k) {
        if (fibres[k].waits == what) {
            any = true;
        } else if (fibres[k].waits != Waits::done) {
            return false;
        }
    }
    for (unsigned k = begin; any && k < end; ++k) {
        if (fibres[k].waits == what) {
            fibres[k].waits = Waits::nothing;
        }
    }
    return any;
}

inline void run_block(unsigned threads) {
    fibres.resize(std::max<std::size_t>(fibres.size(), threads));
    exchanged.assign(threads, 0);
    for (unsigned k = 0; k < threads; ++k) {
        Fibre& fibre = fibres[k];
        if (!fibre.stack) {
            fibre.stack.reset(new char[stack_bytes]);
        }
        getcontext(&fibre.context);
        fibre.context.uc_stack.ss_sp = fibre.stack.get();
        fibre.context.uc_stack.ss_size = stack_bytes;
        fibre.context.uc_link = &unused;
        fibre.waits = Waits::nothing;
        fibre.started = false;
        makecontext(&fibre.context, start, 0);
    }
    while (true) {
        bool ran = false, all_done = true;
        for (unsigned k = 0; k < threads; ++k) {
            if (fibres[k].waits == Waits::nothing) {
                current = k;
                threadIdx.x = k;
                go_on(fibres[k]);
                ran = true;
            }
            all_done = all_done && fibres[k].waits == Waits::done;
        }
        if (all_done) {
            return;
        }
        bool released = false;
        for (unsigned k = 0; k < threads; k += lanes) {
            released |= release(k, std::min(k + lanes, threads), Waits::for_warp);
        }
        released |= release(0, threads, Waits::for_block);
        if (!ran && !released) {
            std::fprintf(stderr, "the threads of a block wait for each other\n");
            std::abort();
        }
    }
}

template <class Value>
Value from_lane(Value value, unsigned lane) {
    static_assert(sizeof(Value) <= sizeof(std::uint64_t));
    const unsigned self = current;
    std::memcpy(&exchanged[self], &value, sizeof(Value));
    wait(Waits::for_warp);
    Value other;
    std::memcpy(&other, &exchanged[self / lanes * lanes + lane % lanes], sizeof(Value));
    wait(Waits::for_warp);
    threadIdx.x = self;
    return other;
}

template <class... Arguments>
void launch(void (*kernel)(Arguments...), unsigned x, unsigned y, unsigned threads, void** arguments) {
    gridDim = {x, y, 1};
    blockDim = {threads, 1, 1};
    std::size_t place = 0;
    const std::tuple<Arguments...> given{*static_cast<std::remove_reference_t<Arguments>*>(arguments[place++])...};
    body = [&] { std::apply(kernel, given); };
    for (unsigned j = 0; j < y; ++j) {
        for (unsigned i = 0; i < x; ++i) {
            blockIdx = {i, j, 0};
            run_block(threads);
        }
    }
}

}  // namespace emulated

inline void __syncthreads() {
    const unsigned self = emulated::current;
    emulated::wait(emulated::Waits::for_block);
    threadIdx.x = self;
}
inline int __syncthreads_or(int value) {
    emulated::exchanged[emulated::current] = value != 0;
    __syncthreads();
    bool any = false;
    for (const std::uint64_t one : emulated::exchanged) {
        any = any || one != 0;
    }
    __syncthreads();
    return any;
}
inline void __syncwarp() {
    const unsigned self = emulated::current;
    emulated::wait(emulated::Waits::for_warp);
    threadIdx.x = self;
}
template <class Value>
Value __shfl_xor_sync(unsigned, Value value, unsigned mask) {
    return emulated::from_lane(value, (threadIdx.x % emulated::lanes) ^ mask);
}
template <class Value>
Value __shfl_sync(unsigned, Value value, unsigned lane) {
    return emulated::from_lane(value, lane);
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(mask, value, distance);
    }
    return value;
}
inline unsigned __ballot_sync(unsigned mask, bool value) {
    return __reduce_add_sync(mask, static_cast<unsigned>(value) << threadIdx.x % emulated::lanes);
}
template <class Value>
Value atomicAdd(Value* to, Value value) {
    const Value before = *to;
    *to += value;
    return before;
}
template <class Value>
Value atomicMin(Value* to, Value value) {
    const Value before = *to;
    *to = std::min(before, value);
    return before;
}
template <class Value>
Value atomicMax(Value* to, Value value) {
    const Value before = *to;
    *to = std::max(before, value);
    return before;
}
inline unsigned __float_as_uint(float x) {
    return std::bit_cast<unsigned>(x);
}
inline float __uint_as_float(unsigned x) {
    return std::bit_cast<float>(x);
}
inline int __ffs(int bits) {
    return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
inline int __clz(int bits) {
    return std::countl_zero(static_cast<unsigned>(bits));
}
inline int __ffsll(long long bits) {
    return bits == 0 ? 0 : std::countr_zero(static_cast<std::uint64_t>(bits)) + 1;
}
inline float __fdividef(float a, float b) {
    return a / b;
}
inline float __logf(float x) {
    return std::log(x);
}
using std::fmin;
using std::fminf;
using std::nan;
inline int __popc(unsigned bits) {
    return std::popcount(bits);
}
inline double erfcx(double x) {
    if (x < 5.0) {
        return std::exp(x * x) * std::erfc(x);
    }
    double fraction = x;  // Laplace's continued fraction
    for (int k = 200; k > 0; --k) {
        fraction = x + 0.5 * k / fraction;
    }
    return 1.0 / (fraction * std::sqrt(3.14159265358979323846));
}

// See common.cuh.
inline void count_shared_ones(int (&c)[4], uint2 low, uint2 high, uint2 b) {
    struct Words {
        std::uint64_t low, high, b;
    };
    static Words all[1024];
    const auto joined = [](uint2 two) { return (std::uint64_t{two.y} << 32) | two.x; };
    const unsigned self = threadIdx.x, lane = self % emulated::lanes, row = lane / 4, quarter = lane % 4;
    const Words* warp = all + (self - lane);
    all[self] = {joined(low), joined(high), joined(b)};
    __syncwarp();
    for (unsigned q = 0; q < 4; ++q) {
        const Words &of_a = warp[row * 4 + q], &even = warp[quarter * 8 + q], &odd = warp[quarter * 8 + 4 + q];
        c[0] += std::popcount(of_a.low & even.b);
        c[1] += std::popcount(of_a.low & odd.b);
        c[2] += std::popcount(of_a.high & even.b);
        c[3] += std::popcount(of_a.high & odd.b);
    }
    __syncwarp();
}

inline void copy_16_bytes(uint4* to, const unsigned* from, bool there) {
    *to = uint4{};
    if (there) {
        std::memcpy(to, from, sizeof(uint4));
    }
}
inline void wait_for_copies() {}
#define SHARED_BYTES(name) static uint4 name[16384]

#define EMULATE(kernel)                                                                           \
    extern "C" void launch_##kernel(unsigned x, unsigned y, unsigned threads, void** arguments) { \
        emulated::launch(kernel, x, y, threads, arguments);                                       \
    }
