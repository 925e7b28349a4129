// Through a POSIX message queue that both open by its name: the message is written before it is handed over.
// TSAN: skip, it does not know this way
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

#include "harness.h"

char name[64];
int message;

static void sender() {
  message = 1;
  mqd_t queue = mq_open(name, O_WRONLY);
  mq_send(queue, "go", 3, 0);
  mq_close(queue);
}

static void receiver() {
  char text[8];
  mqd_t queue = mq_open(name, O_RDONLY);
  mq_receive(queue, text, sizeof text, nullptr);
  mq_close(queue);
  message = 2;
}

int main() {
  snprintf(name, sizeof name, "/sooth-%d", getpid());
  mq_attr attributes = {};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 8;
  mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  run_threads(sender, receiver);
  mq_close(queue);
  mq_unlink(name);
}
