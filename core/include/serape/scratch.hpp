// Memory for what is made and thrown away many thousand times a second: freed blocks are kept for the next.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <new>
#include <vector>

#include "serape/aligned.hpp"

namespace serape {

// Blocks of one thread, by size: powers of two from 64 bytes to 1 MiB; 32 MiB of them at most.
class ScratchPool {
  public:
    ScratchPool() = default;
    ScratchPool(const ScratchPool&) = delete;
    ScratchPool& operator=(const ScratchPool&) = delete;
    ~ScratchPool() {
        for (const std::vector<void*>& kept : kept_) {
            for (void* block : kept) {
                release(block);
            }
        }
    }

    void* take(std::size_t bytes) {
        const std::size_t at = place(bytes);
        if (at >= sizes) {
            return fresh(bytes);
        }
        std::vector<void*>& kept = kept_[at];
        if (kept.empty()) {
            return fresh(std::size_t{1} << (at + smallest));
        }
        void* block = kept.back();
        kept.pop_back();
        held_ -= std::size_t{1} << (at + smallest);
        return block;
    }

    void give_back(void* block, std::size_t bytes) {
        const std::size_t at = place(bytes);
        const std::size_t size = std::size_t{1} << (at + smallest);
        if (at < sizes && held_ + size <= most_held) {
            kept_[at].push_back(block);
            held_ += size;
        } else {
            release(block);
        }
    }

    static ScratchPool& mine() {
        thread_local ScratchPool pool;
        return pool;
    }

  private:
    static constexpr std::size_t smallest = 6;
    static constexpr std::size_t sizes = 15;
    static constexpr std::size_t most_held = std::size_t{32} << 20;

    static std::size_t place(std::size_t bytes) {
        const auto width = static_cast<std::size_t>(std::bit_width(bytes > 0 ? bytes - 1 : 0));
        return width > smallest ? width - smallest : 0;
    }
    static void* fresh(std::size_t bytes) { return ::operator new(bytes, std::align_val_t{line_bytes}); }
    static void release(void* block) { ::operator delete(block, std::align_val_t{line_bytes}); }

    std::array<std::vector<void*>, sizes> kept_;
    std::size_t held_ = 0;  // bytes
};

template <class T>
struct ScratchAllocator {
    using value_type = T;
    ScratchAllocator() = default;
    template <class U>
    ScratchAllocator(const ScratchAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(ScratchPool::mine().take(n * sizeof(T))); }
    void deallocate(T* p, std::size_t n) { ScratchPool::mine().give_back(p, n * sizeof(T)); }
    template <class U>
    void construct(U* p) {  // nothing: what is resized is written to before it is read
        ::new (static_cast<void*>(p)) U;
    }
    template <class U, class Value>
    void construct(U* p, const Value& value) {
        ::new (static_cast<void*>(p)) U(value);
    }
    template <class U>
    bool operator==(const ScratchAllocator<U>&) const {
        return true;
    }
};

// Lines of uninitialised memory.
template <class T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace serape
