// cnd_signal does not synchronise, but the mutex does, under which the message is written.
// TSAN: skip, it does not know thrd_create
#include <threads.h>

mtx_t mutex;
cnd_t condition;
int waiting, message, copy;

static int waiter(void* unused) {
  (void)unused;
  mtx_lock(&mutex);
  waiting = 1;
  cnd_wait(&condition, &mutex);
  mtx_unlock(&mutex);
  copy = message;
  return 0;
}

static int notifier(void* unused) {
  (void)unused;
  mtx_lock(&mutex);
  while (waiting == 0) {
    mtx_unlock(&mutex);
    thrd_yield();
    mtx_lock(&mutex);
  }
  message = 1;
  mtx_unlock(&mutex);
  cnd_signal(&condition);
  return 0;
}

int main(void) {
  thrd_t first, second;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  thrd_create(&first, waiter, 0);
  thrd_create(&second, notifier, 0);
  thrd_join(first, 0);
  thrd_join(second, 0);
  return 0;
}
