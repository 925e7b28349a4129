// Figure 2 of Sen: Race Directed Random Testing of Concurrent Programs (PLDI 2008). The numbers are those of the paper;
// the argument is the number of statements in front of statement 8. ERROR is the exit status 3.
//
// As in the paper, statement 10 is done at the beginning: its thread is the first to start.
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

int x = 0;
std::mutex L;
volatile int work = 0;
bool error = false;

void thread1(int statements) {
  L.lock();
  for (int i = 0; i < statements; ++i) {
    work = i;  // 2 to 6
  }
  L.unlock();
  if (x == 0) {  // 8
    error = true;
  }
}

void thread2() {
  x = 1;  // 10
  L.lock();
  work = 0;  // 12
  L.unlock();
}

}  // namespace

int main(int argc, char** argv) {
  const int statements = argc > 1 ? std::atoi(argv[1]) : 5;
  std::thread second(thread2);
  std::thread first(thread1, statements);
  first.join();
  second.join();
  return error ? 3 : 0;
}
