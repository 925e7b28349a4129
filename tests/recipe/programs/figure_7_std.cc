// Figure 7 of RECIPE with std::thread and std::cout: threads of a merge sort start children as long as there are entries in the pool. The numbers are those of the paper. Entries are counted under two
// kinds of locks: to look at the count is `static synchronized`, to change it `synchronized` on the object of the thread, which nobody else locks. In the recorded run the first
// thread takes both entries, the second finds none, and line 5 is not executed.
//
// FOUND(e1_e9): mcm recipe:s recipe
// FOUND(e1_e11): mcm recipe:s recipe
// FOUND(e1_e5): recipe      the race of the paper: a child of the first thread looks, the second has found one entry
// FOUND(e5_e11): recipe     the second has found one entry, the first takes its other
// FOUND(e9_e9): recipe      both have found two entries
// FOUND(e9_e11): recipe
// FOUND(e11_e11): recipe
#include <iostream>
#include <mutex>
#include <thread>

namespace {

constexpr int kTotal = 5;
int alive = 3;  // the thread that has started the two, and they
std::mutex of_class;

int available() {
  std::lock_guard<std::mutex> guard(of_class);
  return kTotal - alive;  // 1 RACE(e1_e5) RACE(e1_e9) RACE(e1_e11)
}

// One that has nothing left to sort.
void child() { available(); }

void sorting() {
  std::mutex own;
  std::thread first, second;
  int y = available();  // 1, see there
  if (y == 0) {         // 2
    std::cout << "no entry left\n";
  } else if (y == 1) {  // 3
    first = std::thread(child);  // 4
    std::lock_guard<std::mutex> guard(own);
    alive++;  // 5 RACE(e1_e5) RACE(e5_e11)
  } else {
    first = std::thread(child);  // 8
    {
      std::lock_guard<std::mutex> guard(own);
      alive++;  // 9 RACE(e1_e9) RACE(e9_e9) RACE(e9_e11)
    }
    second = std::thread(child);  // 10
    std::lock_guard<std::mutex> guard(own);
    alive++;  // 11 RACE(e1_e11) RACE(e5_e11) RACE(e9_e11) RACE(e11_e11)
  }
  if (first.joinable()) {
    first.join();
  }
  if (second.joinable()) {
    second.join();
  }
}

}  // namespace

int main() {
  std::thread one(sorting), other(sorting);
  one.join();
  other.join();
  std::cout << "sorted" << std::endl;
}
