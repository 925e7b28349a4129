// Shared memory of System V is detached while another thread uses it.
// TSAN: none, it does not know that the memory goes away
#include <sys/ipc.h>
#include <sys/shm.h>

#include "harness.h"

int* segment;

static void worker() {
  segment[100] = 1;  // RACE(a)
  reach(1);
}

int main() {
  int id = shmget(IPC_PRIVATE, 4096, 0600);
  segment = static_cast<int*>(shmat(id, nullptr, 0));
  shmctl(id, IPC_RMID, nullptr);
  pthread_t thread = start(worker);
  await(1);
  shmdt(segment);  // RACE(a)
  join(thread);
}
