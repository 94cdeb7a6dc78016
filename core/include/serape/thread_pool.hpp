// A pool of threads that wait for work: starting a thread takes as long as a small screen.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace serape {

class ThreadPool {
  public:
    static ThreadPool& shared();  // the pool of this process

    // Calls work(0) here and work(1) … work(count) on threads of the pool; work must not throw. Returns when all calls
    // are done. Returns false, and calls nothing, while another run is in progress: threads would be too many.
    bool run(std::size_t count, const std::function<void(std::size_t)>& work);

  private:
    ThreadPool() = default;
    void serve(std::size_t number);

    std::mutex in_use_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    std::condition_variable done_;
    std::size_t threads_ = 0;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::size_t wanted_ = 0;
    std::atomic<std::size_t> left_{0};
    std::atomic<std::uint64_t> round_{0};
};

}  // namespace serape
