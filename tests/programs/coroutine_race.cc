// A coroutine goes on in another thread, beside the one that began it.
#include <coroutine>

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

std::coroutine_handle<> next;
int value;

struct Elsewhere {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> handle) { next = handle; }
  void await_resume() {}
};

static Task count() {
  co_await Elsewhere();
  ++value;  // RACE(a)
}

static void resume() {
  next.resume();
  reach(1);
}

int main() {
  count();
  pthread_t thread = start(resume);
  await(1);
  ++value;  // RACE(a)
  join(thread);
}
