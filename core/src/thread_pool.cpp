#include "serape/thread_pool.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <chrono>
#include <functional>

#include "serape/compiler.hpp"

namespace serape {
namespace {

constexpr auto spin_time = std::chrono::microseconds(200);  // an idle thread waits actively this long, then sleeps

std::atomic<ThreadPool*> current{nullptr};

}  // namespace

ThreadPool& ThreadPool::shared() {
    ThreadPool* there = current.load(std::memory_order_acquire);
    if (there != nullptr) {
        return *there;
    }
#if !defined(_WIN32)
    static std::once_flag once;
    std::call_once(once, [] {
        // Threads do not survive in a forked process: it gets a pool of its own. The old pool is not freed, as one of
        // its locks may have been held at the time.
        pthread_atfork(nullptr, nullptr, [] { current.store(nullptr); });
    });
#endif
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
    while (workers_.size() < count) {
        workers_.push_back(std::make_unique<Worker>());
        std::thread(&ThreadPool::serve, this, std::ref(*workers_.back()), workers_.size()).detach();
    }
    work_ = &work;
    for (std::size_t k = 0; k < count; ++k) {
        workers_[k]->state.store(asked, std::memory_order_release);
        workers_[k]->state.notify_one();
    }
    work(0);
    for (std::size_t k = 0; k < count; ++k) {
        finish(*workers_[k]);
    }
    return true;
}

// Withdraws what was asked of a worker, or waits for it if it has begun.
void ThreadPool::finish(Worker& worker) {
    std::uint32_t state = asked;
    if (worker.state.compare_exchange_strong(state, idle, std::memory_order_acq_rel)) {
        return;
    }
    const auto started = std::chrono::steady_clock::now();
    while (worker.state.load(std::memory_order_acquire) == running) {
        if (std::chrono::steady_clock::now() - started < spin_time) {
            pause_briefly();
        } else {
            worker.state.wait(running, std::memory_order_acquire);
        }
    }
}

void ThreadPool::serve(Worker& worker, std::size_t number) {
    while (true) {
        const auto started = std::chrono::steady_clock::now();
        while (worker.state.load(std::memory_order_acquire) == idle &&
               std::chrono::steady_clock::now() - started < spin_time) {
            pause_briefly();
        }
        worker.state.wait(idle, std::memory_order_acquire);
        std::uint32_t state = asked;
        if (worker.state.compare_exchange_strong(state, running, std::memory_order_acq_rel)) {
            (*work_)(number);
            worker.state.store(idle, std::memory_order_release);
            worker.state.notify_one();
        }
    }
}

}  // namespace serape
