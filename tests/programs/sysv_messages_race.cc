// Through a System V message queue: the message is written after it was handed over.
// TSAN: skip, it does not know this way
#include <sys/ipc.h>
#include <sys/msg.h>

#include "harness.h"

int queue;
struct Letter {
  long type;
  char text[8];
};
int message;

static void sender() {
  Letter letter = {1, "go"};
  msgsnd(queue, &letter, sizeof letter.text, 0);
  message = 1;  // RACE(a)
}

static void receiver() {
  Letter letter;
  msgrcv(queue, &letter, sizeof letter.text, 0, 0);
  message = 2;  // RACE(a)
}

int main() {
  queue = msgget(IPC_PRIVATE, 0600);
  run_threads(sender, receiver);
  msgctl(queue, IPC_RMID, nullptr);
}
