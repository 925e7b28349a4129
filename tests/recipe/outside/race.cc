// Calls into code that is not instrumented cannot order these: it gets at nothing that the other thread touches, keeps nothing, or the call stands on the wrong side. Other values still lead to
// races beside them, as in Figure 1 of RECIPE.
//
// OUTSIDE: library.c
// FOUND(unrelated): mcm recipe:s recipe rdit
// FOUND(before): mcm recipe:s recipe rdit
// FOUND(e1_e4): mcm recipe:s recipe rdit
// FOUND(e3_e4): mcm recipe:s recipe rdit
// FOUND(e2_e5): recipe:s recipe
// FOUND(z): mcm recipe:s recipe rdit
// FOUND(z_again): mcm recipe:s recipe rdit
// FOUND(detour): recipe                the call stands between the read and the branch that was not taken
#include <cstdio>
#include <cstdlib>
#include <thread>

extern "C" int outside_get(const int* p);

namespace {

int unrelated = 0, mine = 0;
char digits[] = "1", others[] = "2";
int x = 0, y = 0;
int before = 0, flag = 0;
int z = 0, detour = 0;

void thread1() {
  unrelated = 1;  // RACE(unrelated)
  std::atoi(digits);
  y = 3;  // RACE(e1_e4)
  x = 1;  // RACE(e2_e5)
  y = 5;  // RACE(e3_e4)
  z = 7;       // RACE(z)
  detour = 1;  // RACE(detour)
  z = 0;       // RACE(z_again)
  flag = 1;
  before = 1;  // RACE(before)
}

void thread2() {
  int sum = std::atoi(others) + outside_get(&mine) + unrelated;  // RACE(unrelated)
  if (y > 2) {                                                    // RACE(e1_e4) RACE(e3_e4)
    sum += x;                                                     // RACE(e2_e5)
  }
  const int seen = z;  // RACE(z) RACE(z_again)
  sum += outside_get(&mine);
  if (seen == 7) {
    sum += detour;  // RACE(detour)
  }
  if (outside_get(&flag) != 0) {
    sum += before;  // RACE(before)
  }
  std::printf("%d\n", sum);
}

}  // namespace

int main() {
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
}
