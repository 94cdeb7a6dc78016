// The plain twins of what GCC and Clang have of their own.
#include <cmath>
#include <cstdint>

#include "harness.hpp"
#include "serape/vectors.hpp"
#include "serape/wide.hpp"

namespace {

using namespace serape;
using namespace serape::testing;

#if defined(__SIZEOF_INT128__)

using Builtin = unsigned __int128;

Builtin builtin(PlainWide number) {
    return Builtin{static_cast<std::uint64_t>(number >> 64)} << 64 | static_cast<std::uint64_t>(number);
}

PlainWide plain(Builtin number) {
    return (PlainWide{static_cast<std::uint64_t>(number >> 64)} << 64) + PlainWide{static_cast<std::uint64_t>(number)};
}

// Numbers of all lengths, so that carries and small divisors occur.
Builtin any_number(Random& random) {
    const Builtin whole = Builtin{random()} << 64 | random();
    return whole >> below(random, 128);
}

const Case wide("numbers of 128 bits have a plain twin", [] {
    Random random(1);
    for (int round = 0; round < 20'000; ++round) {
        const Builtin a = any_number(random), b = any_number(random);
        const auto shift = static_cast<int>(below(random, 128));
        std::uint64_t by = random() >> (1 + below(random, 63));
        by += by == 0;
        check(builtin(plain(a)) == a);
        check(builtin(plain(a) + plain(b)) == a + b);
        check(builtin(plain(a) * plain(b)) == a * b);
        check(builtin(plain(a) / by) == a / by);
        check(builtin(plain(a) << shift) == a << shift);
        check(builtin(plain(a) >> shift) == a >> shift);
        check((plain(a) == plain(b)) == (a == b));
        check_equal(static_cast<std::int64_t>(plain(a)), static_cast<std::int64_t>(a));
        const long double number = std::ldexp(static_cast<long double>(random()), static_cast<int>(below(random, 60)));
        check(builtin(PlainWide{number}) == static_cast<Builtin>(number));
    }
});

#endif

#if defined(__GNUC__) || defined(__clang__)

template <class T, std::size_t lanes>
struct Pair {
    T value __attribute__((vector_size(sizeof(T) * lanes)));
    PlainVector<T, lanes> twin;
    Pair(T (*draw)(Random&), Random& random) {
        for (std::size_t k = 0; k < lanes; ++k) {
            value[k] = twin[k] = draw(random);
        }
    }
};

template <class Vector, class Twin>
void check_lanes(const Vector& found, const Twin& twin) {
    static_assert(sizeof found == sizeof twin);
    for (std::size_t k = 0; k < sizeof(Twin) / sizeof(twin[0]); ++k) {
        check(found[k] == twin[k]);
    }
}

template <class T, std::size_t lanes>
void check_sums(T (*draw)(Random&)) {
    Random random(2);
    for (int round = 0; round < 200; ++round) {
        Pair<T, lanes> a(draw, random);
        const Pair<T, lanes> b(draw, random);
        const T one = draw(random);
        check_lanes(a.value + b.value, a.twin + b.twin);
        check_lanes(a.value - b.value, a.twin - b.twin);
        check_lanes(a.value * b.value, a.twin * b.twin);
        check_lanes(a.value + one, a.twin + one);
        check_lanes(a.value - one, a.twin - one);
        check_lanes(a.value * one, a.twin * one);
        check_lanes(one * a.value, one * a.twin);
        a.value += b.value;
        a.twin += b.twin;
        check_lanes(a.value, a.twin);
        a.value -= one * b.value;
        a.twin -= one * b.twin;
        check_lanes(a.value, a.twin);
    }
}

template <class T, std::size_t lanes>
void check_bits(T (*draw)(Random&)) {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
        Pair<T, lanes> a(draw, random);
        const Pair<T, lanes> b(draw, random);
        check_lanes(a.value & b.value, a.twin & b.twin);
        check_lanes(a.value | b.value, a.twin | b.twin);
        check_lanes(a.value ^ ~b.value, a.twin ^ ~b.twin);
        a.value |= b.value;
        a.twin |= b.twin;
        a.value ^= ~b.value;
        a.twin ^= ~b.twin;
        a.value &= b.value;
        a.twin &= b.twin;
        check_lanes(a.value, a.twin);
    }
}

const Case vectors("short vectors have a plain twin", [] {
    check_sums<double, 8>([](Random& random) { return uniform(random) - 0.5; });
    check_sums<float, 16>([](Random& random) { return static_cast<float>(uniform(random)); });
    check_bits<std::uint64_t, 8>([](Random& random) { return std::uint64_t{random()}; });
    check_bits<std::uint16_t, 16>([](Random& random) { return static_cast<std::uint16_t>(random()); });
});

#endif

}  // namespace
