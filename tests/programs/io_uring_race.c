// What a thread writes when it has submitted something to an io_uring is not ordered by its completion.
// TSAN: skip, it does not know io_uring
// FLAGS: -luring
#include <liburing.h>
#include <pthread.h>
#include <sched.h>

static struct io_uring ring;
static int value, has_ring, done;
static volatile int copy;

static void *worker(void *argument) {
  if (has_ring) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    io_uring_prep_nop(entry);
    io_uring_submit(&ring);
  }
  value = 5;  // RACE(a)
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  return argument;
}

int main() {
  has_ring = io_uring_queue_init(8, &ring, 0) == 0;  // not everywhere is it allowed
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  struct io_uring_cqe *entry;
  if (has_ring) {
    io_uring_wait_cqe(&ring, &entry);
    io_uring_cqe_seen(&ring, entry);
  }
  while (__atomic_load_n(&done, __ATOMIC_RELAXED) == 0) sched_yield();
  copy = value;  // RACE(a)
  pthread_join(thread, 0);
  if (has_ring) io_uring_queue_exit(&ring);
  return 0;
}
