// Through a System V message queue: the message is written before it is handed over.
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
  message = 1;
  Letter letter = {1, "go"};
  msgsnd(queue, &letter, sizeof letter.text, 0);
}

static void receiver() {
  Letter letter;
  msgrcv(queue, &letter, sizeof letter.text, 0, 0);
  message = 2;
}

int main() {
  queue = msgget(IPC_PRIVATE, 0600);
  run_threads(sender, receiver);
  msgctl(queue, IPC_RMID, nullptr);
}
