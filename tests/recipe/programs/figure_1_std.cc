// Figure 1 of RECIPE as one would write it in C++: with std::thread and std::cout. The numbers are those of the paper. In the recorded run the first thread comes first,
// and line 7 is not executed.
//
// FOUND(e1_e4): mcm recipe:s recipe
// FOUND(e3_e4): mcm recipe:s recipe
// FOUND(e2_e5): recipe:s recipe       y = 3 decides the branch as y = 5 does
// FOUND(e2_e7): recipe                y = 0 does not
#include <iostream>
#include <thread>

namespace {

int x = 0, y = 0;

void print(int number) { std::cout << "number " << number << std::endl; }

void thread1() {
  y = 3;  // 1 RACE(e1_e4)
  x = 1;  // 2 RACE(e2_e5) RACE(e2_e7)
  y = 5;  // 3 RACE(e3_e4)
}

void thread2() {
  std::cout << "looking" << '\n';
  if (y > 2) {     // 4 RACE(e1_e4) RACE(e3_e4)
    print(1 / x);  // 5 RACE(e2_e5)
  } else {
    print(2 / x);  // 7 RACE(e2_e7)
  }
}

}  // namespace

int main() {
  std::thread t1(thread1), t2(thread2);
  t1.join();
  t2.join();
  std::cout << "done" << std::endl;
}
