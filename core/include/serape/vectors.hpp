// Short vectors: those of GCC and Clang where they are, a plain twin elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "serape/compiler.hpp"

namespace serape {

// The plain twin: an array with the operators that the kernels use, each lane by itself.
template <class T, std::size_t lanes>
struct alignas(sizeof(T) * lanes) PlainVector {
    T lane[lanes];

    T& operator[](std::size_t k) { return lane[k]; }
    const T& operator[](std::size_t k) const { return lane[k]; }

    template <class Operation>
    static PlainVector each(const PlainVector& a, const PlainVector& b, const Operation& operation) {
        PlainVector out;
        for (std::size_t k = 0; k < lanes; ++k) {
            out.lane[k] = static_cast<T>(operation(a.lane[k], b.lane[k]));
        }
        return out;
    }
    static PlainVector all(T value) {
        PlainVector out;
        for (T& k : out.lane) {
            k = value;
        }
        return out;
    }

    friend PlainVector operator+(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](T x, T y) { return x + y; });
    }
    friend PlainVector operator-(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](T x, T y) { return x - y; });
    }
    friend PlainVector operator*(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](T x, T y) { return x * y; });
    }
    friend PlainVector operator&(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](T x, T y) { return x & y; });
    }
    friend PlainVector operator|(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](T x, T y) { return x | y; });
    }
    friend PlainVector operator^(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](T x, T y) { return x ^ y; });
    }
    PlainVector operator~() const {
        return each(*this, *this, [](T x, T) { return ~x; });
    }
    friend PlainVector operator+(const PlainVector& a, T b) { return a + all(b); }
    friend PlainVector operator-(const PlainVector& a, T b) { return a - all(b); }
    friend PlainVector operator*(const PlainVector& a, T b) { return a * all(b); }
    friend PlainVector operator*(T a, const PlainVector& b) { return all(a) * b; }
    PlainVector& operator+=(const PlainVector& other) { return *this = *this + other; }
    PlainVector& operator-=(const PlainVector& other) { return *this = *this - other; }
    PlainVector& operator&=(const PlainVector& other) { return *this = *this & other; }
    PlainVector& operator|=(const PlainVector& other) { return *this = *this | other; }
    PlainVector& operator^=(const PlainVector& other) { return *this = *this ^ other; }
};

#if SERAPE_EXTENSIONS
#define SERAPE_VECTOR(type, lanes) type __attribute__((vector_size(sizeof(type) * (lanes))))
#else
#define SERAPE_VECTOR(type, lanes) ::serape::PlainVector<type, lanes>
#endif

}  // namespace serape
