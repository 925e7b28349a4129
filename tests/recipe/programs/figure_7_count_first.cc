// Figure 7 of RECIPE: threads of a merge sort start children as long as there are entries in the pool. The numbers are those of the paper. Entries are counted under two
// kinds of locks: to look at the count is `static synchronized`, to change it `synchronized` on the object of the thread, which nobody else locks. In the recorded run the first
// thread takes both entries, the second finds none, and line 5 is not executed. Here an entry is counted before its child is started, not behind.
//
// FOUND(e1_e9): mcm recipe:s recipe
// FOUND(e1_e11): mcm recipe:s recipe
// FOUND(e1_e5): recipe      the race of the paper: a child of the first thread looks, the second has found one entry
// FOUND(e5_e11): recipe     the second has found one entry, the first takes its other
// FOUND(e9_e9): recipe      both have found two entries
// FOUND(e9_e11): recipe
// FOUND(e11_e11): recipe
#include <pthread.h>

#include <mutex>

namespace {

constexpr int kTotal = 5;
int alive = 3;  // the thread that has started the two, and they
std::mutex of_class;

int available() {
  std::lock_guard<std::mutex> guard(of_class);
  return kTotal - alive;  // 1 RACE(e1_e5) RACE(e1_e9) RACE(e1_e11)
}

// One that has nothing left to sort.
void* child(void*) {
  available();
  return nullptr;
}

void* sorting(void*) {
  std::mutex own;
  pthread_t children[2];
  int started = 0;
  int y = available();  // 1, see there
  if (y == 0) {         // 2
  } else if (y == 1) {  // 3
    own.lock();
    alive++;  // 5 RACE(e1_e5) RACE(e5_e11)
    own.unlock();
    pthread_create(&children[started++], nullptr, child, nullptr);  // 4
  } else {
    own.lock();
    alive++;  // 9 RACE(e1_e9) RACE(e9_e9) RACE(e9_e11)
    own.unlock();
    pthread_create(&children[started++], nullptr, child, nullptr);  // 8
    own.lock();
    alive++;  // 11 RACE(e1_e11) RACE(e5_e11) RACE(e9_e11) RACE(e11_e11)
    own.unlock();
    pthread_create(&children[started++], nullptr, child, nullptr);  // 10
  }
  for (int i = 0; i < started; i++) {
    pthread_join(children[i], nullptr);
  }
  return nullptr;
}

}  // namespace

int main() {
  pthread_t threads[2];
  pthread_create(&threads[0], nullptr, sorting, nullptr);
  pthread_create(&threads[1], nullptr, sorting, nullptr);
  pthread_join(threads[0], nullptr);
  pthread_join(threads[1], nullptr);
}
