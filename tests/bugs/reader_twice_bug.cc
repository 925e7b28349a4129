// A lock that prefers writers lets no reader in while one waits: a thread that reads already waits for the writer then,
// and the writer for the thread.
//
// FAILS: deadlock: the inner reader stands behind the writer, which stands behind the outer one
// PREEMPTIONS: 1, of the reader between its two locks
#include <pthread.h>

#include <thread>

pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
int rows = 3;
int total;

int count_rows() {
  pthread_rwlock_rdlock(&lock);
  const int count = rows;
  pthread_rwlock_unlock(&lock);
  return count;
}

void add_up() {
  pthread_rwlock_rdlock(&lock);
  for (int i = 0; i < count_rows(); ++i) {
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
