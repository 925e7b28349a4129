// Waits in calls of the system that nobody wraps, for a thread that sleeps meanwhile: file locks, and the semaphores and messages of System V.
// OUTPUT: locked, raised, told
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

#include "harness.h"

char name[] = "/tmp/sooth-system-waits-XXXXXX";
int semaphores, messages;

struct Message {
  long kind;
  char text[8];
};

static void lock_file() {
  int fd = open(name, O_RDWR);
  for (int i = 0; i < 2; ++i) {
    flock(fd, LOCK_EX);
    usleep(500);
    flock(fd, LOCK_UN);
  }
  close(fd);
}

static void lower() {
  sembuf operation = {0, -1, 0};
  semop(semaphores, &operation, 1);
  Message message;
  msgrcv(messages, &message, sizeof message.text, 0, 0);
}

static void raise_later() {
  usleep(500);
  sembuf operation = {0, 1, 0};
  semop(semaphores, &operation, 1);
  usleep(500);
  Message message = {1, "x"};
  msgsnd(messages, &message, sizeof message.text, 0);
}

int main() {
  close(mkstemp(name));
  run_threads(lock_file, lock_file);
  unlink(name);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  messages = msgget(IPC_PRIVATE, 0600);
  run_threads(lower, raise_later);
  semctl(semaphores, 0, IPC_RMID);
  msgctl(messages, IPC_RMID, nullptr);
  puts("locked, raised, told");
}
