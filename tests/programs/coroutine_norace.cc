// A coroutine goes on in another thread, and its frame is handed over under a lock.
// OUTPUT: 10
#include <coroutine>
#include <cstdio>
#include <mutex>

#include "harness.h"

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

std::mutex mutex;
std::coroutine_handle<> next;
int result, finished;

struct Elsewhere {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    std::lock_guard<std::mutex> guard(mutex);
    next = handle;
  }
  void await_resume() {}
};

static Task add(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += i;
    co_await Elsewhere();
  }
  std::lock_guard<std::mutex> guard(mutex);
  result = sum;
  finished = 1;
}

static void resume() {
  for (;;) {
    std::coroutine_handle<> handle;
    {
      std::lock_guard<std::mutex> guard(mutex);
      if (finished != 0) return;
      handle = next;
      next = nullptr;
    }
    if (handle != nullptr)
      handle.resume();
    else
      sched_yield();
  }
}

int main() {
  add(5);
  run_threads(resume, resume);
  std::printf("%d\n", result);
}
