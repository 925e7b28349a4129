// Figure 2 of RECIPE, with the condition of its Figure 3 (i < 3): what `y` gets is computed in a loop. The numbers are those of the paper. Nobody writes x, so it
// is not raced for. With the values that the two threads compute line 6 is reached only after line 4.
//
// FOUND(e4_e5): mcm recipe:s recipe
#include <cstdio>
#include <thread>

namespace {

int x = 0, y = 0;

void thread1() {
  int s = 0;                     // 1
  for (int i = 1; i < 3; i++) {  // 2
    s += i;                      // 3
  }
  y = s;  // 4 RACE(e4_e5)
}

void thread2() {
  if (y > 2) {               // 5 RACE(e4_e5)
    std::printf("%d\n", x);  // 6
  }
}

}  // namespace

int main() {
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
}
