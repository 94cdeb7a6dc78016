// A pool of threads that wait for work: starting a thread takes as long as a small screen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace serape {

class ThreadPool {
  public:
    static ThreadPool& shared();  // the pool of this process

    // Calls work(0) here, and meanwhile work(1) … work(count) on threads of the pool, each at most once: what has not
    // begun when work(0) returns is left out, as nobody should wait for a thread that is slow to wake. So work must
    // share out its pieces by itself; it must not throw. Returns when all calls are done. Returns false, and calls
    // nothing, while another run is in progress: threads would be too many.
    bool run(std::size_t count, const std::function<void(std::size_t)>& work);

  private:
    // A thread of the pool. Each has its own, so that only the threads that are wanted wake.
    struct alignas(64) Worker {
        std::atomic<std::uint32_t> state{idle};
    };
    static constexpr std::uint32_t idle = 0, asked = 1, running = 2;

    ThreadPool() = default;
    void serve(Worker& worker, std::size_t number);
    static void finish(Worker& worker);

    std::mutex in_use_;
    std::vector<std::unique_ptr<Worker>> workers_;
    const std::function<void(std::size_t)>* work_ = nullptr;  // of the run in progress
};

}  // namespace serape
