// Calls into a library that is not instrumented keep threads apart, which no event tells: through a pointer, through pointers in memory, through what the
// library remembers, and by what it writes. mcm does not know of them; each of its races here is a false alarm.
//
// OUTSIDE: library.c
// FOUND(given): mcm
// FOUND(chain): mcm
// FOUND(kept): mcm
// FOUND(set): mcm
// FOUND(state): mcm
// FOUND(list): mcm
#include <cstdarg>
#include <cstdio>
#include <thread>

struct box {
  int** where;
};

extern "C" {
int outside_get(const int* p);
void outside_set(int* p, int value);
int outside_open(const box* box);
void outside_keep(int* p);
int outside_kept();
void outside_post();
int outside_posted();
int outside_first(va_list* list);
}

namespace {

int given = 0, for_given = 0;
int* inner = nullptr;
box outer{&inner};
int for_chain = 0;
int kept = 0, for_kept = 0;
int set = 0, for_set = 0;
int for_state = 0;
int listed = 0, for_list = 0;

// Of several arguments, those that it does not name.
int first_of(int count, ...) {
  va_list list;
  va_start(list, count);
  const int result = outside_first(&list);
  va_end(list);
  return result;
}

void thread1() {
  for_given = 1;  // RACE(given)
  given = 1;
  for_chain = 1;  // RACE(chain)
  *inner = 1;
  for_kept = 1;  // RACE(kept)
  kept = 1;
  for_set = 1;  // RACE(set)
  outside_set(&set, 1);
  for_state = 1;  // RACE(state)
  outside_post();
  for_list = 1;  // RACE(list)
  listed = 1;
}

void thread2() {
  int sum = 0;
  if (outside_get(&given) != 0) {
    sum += for_given;  // RACE(given)
  }
  if (outside_open(&outer) != 0) {
    sum += for_chain;  // RACE(chain)
  }
  if (outside_kept() != 0) {
    sum += for_kept;  // RACE(kept)
  }
  if (outside_get(&set) != 0) {
    sum += for_set;  // RACE(set)
  }
  if (outside_posted() != 0) {
    sum += for_state;  // RACE(state)
  }
  if (first_of(1, &listed) != 0) {
    sum += for_list;  // RACE(list)
  }
  std::printf("%d\n", sum);
}

}  // namespace

int main() {
  inner = new int(0);
  outside_keep(&kept);
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
  delete inner;
}
