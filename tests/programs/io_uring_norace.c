// What is submitted to an io_uring comes before whoever sees that it is complete.
// TSAN: skip, it does not know io_uring
// FLAGS: -luring
// OUTPUT: 5
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static struct io_uring ring;
static int value, has_ring, told;

static void *worker(void *argument) {
  value = 5;
  if (!has_ring) {
    __atomic_store_n(&told, 1, __ATOMIC_RELEASE);
    return argument;
  }
  struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
  io_uring_prep_nop(entry);
  io_uring_submit(&ring);
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
  } else {
    while (__atomic_load_n(&told, __ATOMIC_ACQUIRE) == 0) sched_yield();
  }
  printf("%d\n", value);
  pthread_join(thread, 0);
  if (has_ring) io_uring_queue_exit(&ring);
  return 0;
}
