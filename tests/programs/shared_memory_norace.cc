// Shared memory of System V is detached when no other thread uses it any more, and attached again at the same place.
#include <sys/ipc.h>
#include <sys/shm.h>

#include "harness.h"

int* segment;

static void worker() { segment[100] = 1; }

int main() {
  int id = shmget(IPC_PRIVATE, 4096, 0600);
  segment = static_cast<int*>(shmat(id, nullptr, 0));
  join(start(worker));
  int* place = segment;
  shmdt(segment);
  segment = static_cast<int*>(shmat(id, place, 0));
  shmctl(id, IPC_RMID, nullptr);
  int seen = segment[100];
  join(start(worker));
  shmdt(segment);
  return seen == 1 ? 0 : 1;
}
