// Figure 4 of RECIPE with lines 4 and 5 in the other order: whoever finds o2 in `y` finds it filled. No branch depends on `y`, and so an analysis that let line 6 read
// any value would have line 7 read o2.f at any time. It does not: in front of line 5, line 6 reads o1.
//
// FOUND(e3_e6): mcm recipe:s recipe
// FOUND(e4_e6): mcm recipe:s recipe
#include <cstdio>
#include <thread>

namespace {

struct Object {
  int f = 0;
};
Object o1, o2;
Object* y = &o1;

void thread1() {
  y = &o1;   // 3 RACE(e3_e6)
  o2.f = 5;  // 5
  y = &o2;   // 4 RACE(e4_e6)
}

void thread2() {
  Object* z = y;  // 6 RACE(e3_e6) RACE(e4_e6)
  int w = z->f;   // 7
  std::printf("%d\n", w);
}

}  // namespace

int main() {
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
}
