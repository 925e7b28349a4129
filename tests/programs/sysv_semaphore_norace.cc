// Through a System V semaphore: the message is written before it is handed over.
// TSAN: skip, it does not know this way
#include <sys/ipc.h>
#include <sys/sem.h>

#include "harness.h"

int set;
int message;

static void sender() {
  message = 1;
  sembuf up = {0, 1, 0};
  semop(set, &up, 1);
}

static void receiver() {
  sembuf down = {0, -1, 0};
  semop(set, &down, 1);
  message = 2;
}

int main() {
  set = semget(IPC_PRIVATE, 1, 0600);
  run_threads(sender, receiver);
  semctl(set, 0, IPC_RMID);
}
