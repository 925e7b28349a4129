// Figure 4 of RECIPE with std::thread, std::cout, and a lock that has nothing to do with it. The numbers are those of the paper. What line 7 reads depends on the pointer that line 6 has read; in the
// recorded run it is o2.
//
// FOUND(e3_e6): mcm recipe:s recipe
// FOUND(e4_e6): mcm recipe:s recipe
// FOUND(e5_e7): mcm recipe:s recipe
#include <iostream>
#include <mutex>
#include <thread>

namespace {

struct Object {
  int f = 0;
};
Object o1, o2;
Object* y = &o1;
std::mutex printing;

void thread1() {
  y = &o1;   // 3 RACE(e3_e6)
  y = &o2;   // 4 RACE(e4_e6)
  o2.f = 5;  // 5 RACE(e5_e7)
}

void thread2() {
  Object* z = y;  // 6 RACE(e3_e6) RACE(e4_e6)
  int w = z->f;   // 7 RACE(e5_e7)
  std::lock_guard<std::mutex> guard(printing);
  std::cout << "f is " << w << '\n';
}

}  // namespace

int main() {
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
  std::lock_guard<std::mutex> guard(printing);
  std::cout << o1.f << std::endl;
}
