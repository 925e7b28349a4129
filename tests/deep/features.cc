// All that C++ has to do with ways through the code: what tests/deep/run.py builds with --deep, records and walks through.
#include "features.h"

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

struct Announce {
  Announce() : value(std::strlen("constructor") > 3 ? 5 : 6) {}
  int value;
};
Announce announced;
thread_local int per_thread = 4;
std::mutex mutex;
int shared = 0;
std::atomic<int> counter{0};
std::atomic<long> flag{0};
jmp_buf place;

int choose(int x) {
  switch (x) {
    case 0: return 10;
    case 1:
    case 2: return 20;
    case 7: return 70;
    case 1000: return 1;
    default: return x > 3 ? -1 : -2;
  }
}

int bit_fields(Bits& bits, int x) {
  bits.low = static_cast<unsigned>(x);
  bits.high = bits.low * 100u;
  bits.tail = -x;
  return static_cast<int>(bits.low) + static_cast<int>(bits.high) + bits.tail;
}

__int128 wide(long a, long b) {
  __int128 product = static_cast<__int128>(a) * b;
  return product * product;
}

int exceptions() {
  int result = 0;
  try {
    fail_at(3);
  } catch (const std::out_of_range& error) {
    result += static_cast<int>(std::strlen(error.what()));
  }
  try {
    std::vector<int> values(3);
    result += values.at(static_cast<std::size_t>(result));
  } catch (const std::exception&) {
    result += 100;
  }
  try {
    try {
      fail_at(1);
    } catch (const std::bad_alloc&) {
      result = -1;
    }
  } catch (...) {
    result += 1000;
  }
  return result;
}

__attribute__((noinline)) void jump_back(int depth) {
  volatile int local = depth;
  if (depth == 0) longjmp(place, 7);
  jump_back(local - 1);
}

int jumps() {
  volatile int before = 3;
  const int got = setjmp(place);
  if (got == 0) jump_back(2);
  return got + before;
}

void work(int id) {
  per_thread += id;
  for (int i = 0; i < 20; ++i) {
    counter.fetch_add(1);
    const std::lock_guard<std::mutex> lock(mutex);
    shared += per_thread + i;
  }
  long expected = 0;
  flag.compare_exchange_strong(expected, id);
  flag.exchange(id);
}

int compare(const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); }

}  // namespace

int main(int argc, char**) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  std::printf("threads %d %d %d\n", shared, counter.load(), per_thread);

  for (const int x : {0, 1, 2, 7, 1000, 3, 9}) std::printf("%d ", choose(x * argc));
  Bits bits = {};
  std::printf("bits %d\n", bit_fields(bits, 5));
  const Small small = twice({argc, 1.25});
  std::printf("small %d %.3f\n", small.a, small.b);
  Big big = {};
  big.words[3] = argc;
  big = shifted(shifted(big, 1), argc);
  std::printf("big %ld %ld\n", big.words[3], big.words[19]);
  std::printf("varargs %d\n", sum_of(4, 1, 2.5, 3, 4.5));
  std::printf("inlined %d %d\n", inlined(argc), inlined(2));
  std::printf("wide %ld\n", static_cast<long>(wide(123456789L * argc, 987654321L) >> 64));
  std::printf("halves %.4Lf\n", halves(3.5L * argc));

  for (Shape* shape : {make_square(3), make_circle(2)}) {
    const std::unique_ptr<Shape> owner(shape);
    std::printf("area %d\n", owner->area(argc));
  }
  std::vector<std::function<int(int)>> functions;
  for (int i = 1; i < 4; ++i) functions.push_back([i, argc](int x) { return x * i + argc; });
  int folded = 1;
  for (const auto& function : functions) folded = function(folded);
  std::printf("lambdas %d\n", folded);

  int numbers[] = {5, 3, 9, 1, 7};
  std::qsort(numbers, 5, sizeof(int), compare);
  std::sort(std::begin(numbers), std::end(numbers), [](int a, int b) { return a > b; });
  std::printf("sorted %d %d\n", numbers[0], numbers[4]);
  char text[300];
  std::memset(text, 'x', static_cast<std::size_t>(argc) * 200);
  std::memcpy(text + 10, "hello", 6);
  char copy[300];
  std::memmove(copy, text, sizeof copy);
  std::memmove(copy + 3, copy, static_cast<std::size_t>(argc) - 1);
  std::printf("text %s %d\n", copy + 10, announced.value);
  std::printf("exceptions %d\n", exceptions());
  std::printf("jumps %d\n", jumps());
  float f = static_cast<float>(argc) / 3;
  f = f > 0.3f ? f * 2 : f;
  std::printf("float %.3f\n", static_cast<double>(f));
  return folded % 7;
}
