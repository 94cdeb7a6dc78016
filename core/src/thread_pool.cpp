#include "serape/thread_pool.hpp"

#include <pthread.h>

#include <chrono>

namespace serape {
namespace {

constexpr auto spin_time = std::chrono::microseconds(200);  // an idle thread waits actively this long, then sleeps

std::atomic<ThreadPool*> current{nullptr};

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

ThreadPool& ThreadPool::shared() {
    ThreadPool* there = current.load(std::memory_order_acquire);
    if (there != nullptr) {
        return *there;
    }
    static std::once_flag once;
    std::call_once(once, [] {
        // Threads do not survive in a forked process: it gets a pool of its own. The old pool is not freed, as one of
        // its locks may have been held at the time.
        pthread_atfork(nullptr, nullptr, [] { current.store(nullptr); });
    });
    auto* fresh = new ThreadPool;  // never freed: its threads wait until the process ends
    if (current.compare_exchange_strong(there, fresh)) {
        return *fresh;
    }
    delete fresh;  // another thread was quicker
    return *there;
}

bool ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
    const std::unique_lock in_use(in_use_, std::try_to_lock);
    if (!in_use) {
        return false;
    }
    {
        const std::lock_guard lock(mutex_);
        while (threads_ < count) {
            std::thread(&ThreadPool::serve, this, threads_ + 1).detach();
            ++threads_;
        }
        work_ = &work;
        wanted_ = count;
        left_.store(count, std::memory_order_relaxed);
        round_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    work(0);
    const auto started = std::chrono::steady_clock::now();
    while (left_.load(std::memory_order_acquire) != 0) {
        if (std::chrono::steady_clock::now() - started < spin_time) {
            pause_briefly();
        } else {
            std::unique_lock lock(mutex_);
            done_.wait(lock, [&] { return left_.load(std::memory_order_acquire) == 0; });
        }
    }
    return true;
}

void ThreadPool::serve(std::size_t number) {
    std::uint64_t seen = 0;
    while (true) {
        const auto started = std::chrono::steady_clock::now();
        while (round_.load(std::memory_order_acquire) == seen &&
               std::chrono::steady_clock::now() - started < spin_time) {
            pause_briefly();
        }
        const std::function<void(std::size_t)>* work = nullptr;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
            seen = round_.load(std::memory_order_acquire);
            work = number <= wanted_ ? work_ : nullptr;
        }
        if (work == nullptr) {
            continue;
        }
        (*work)(number);
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            const std::lock_guard lock(mutex_);
            done_.notify_all();
        }
    }
}

}  // namespace serape
