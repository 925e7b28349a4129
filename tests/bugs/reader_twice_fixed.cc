// The same, and only the outer function takes the lock.
#include <pthread.h>

#include <thread>

pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
int rows = 3;
int total;

int count_rows_locked() { return rows; }

void add_up() {
  pthread_rwlock_rdlock(&lock);
  for (int i = 0; i < count_rows_locked(); ++i) {
    total += i;
  }
  pthread_rwlock_unlock(&lock);
}

void add_row() {
  pthread_rwlock_wrlock(&lock);
  ++rows;
  pthread_rwlock_unlock(&lock);
}

int main() {
  std::thread reader(add_up);
  std::thread writer(add_row);
  reader.join();
  writer.join();
}
