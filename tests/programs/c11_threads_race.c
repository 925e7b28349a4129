// C11 threads: the write is made after the mutex is unlocked.
// TSAN: skip, it does not know thrd_create
// OUTPUT: 4
#include <stdio.h>
#include <threads.h>

mtx_t mutex;
cnd_t condition;
once_flag flag = ONCE_FLAG_INIT;
tss_t key;
int value, ready, table, destroyed;

static void make_table(void) {
  table = 1;
}

static void destroy(void* pointer) {
  destroyed += *(int*)pointer;
}

static int waiter(void* argument) {
  (void)argument;
  call_once(&flag, make_table);
  tss_set(key, &table);
  mtx_lock(&mutex);
  while (ready == 0) {
    cnd_wait(&condition, &mutex);
  }
  mtx_unlock(&mutex);
  value = 1;  // RACE(a)
  return table;
}

static int signaller(void* argument) {
  (void)argument;
  call_once(&flag, make_table);
  mtx_lock(&mutex);
  ready = 1;
  cnd_broadcast(&condition);
  mtx_unlock(&mutex);
  value = 2;  // RACE(a)
  return table + 1;
}

int main(void) {
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  tss_create(&key, destroy);
  thrd_t threads[2];
  thrd_create(&threads[0], waiter, NULL);
  thrd_create(&threads[1], signaller, NULL);
  int results[2];
  thrd_join(threads[0], &results[0]);
  thrd_join(threads[1], &results[1]);
  printf("%d\n", results[0] + results[1] + destroyed);
}
