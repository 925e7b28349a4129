// pthread_exit() loads libgcc_s, to unwind the stack. The loader maps it where a block was that has been freed.
#include <pthread.h>
#include <stdlib.h>

// Each block is a mapping of its own, as large as the library. So many fill what other gaps there are.
enum { kBlocks = 1000, kSize = 133000 };
char* blocks[kBlocks];

static void clean_up(void* argument) {
  (void)argument;
}

static void* worker(void* argument) {
  pthread_cleanup_push(clean_up, NULL);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  pthread_exit(argument);
  pthread_cleanup_pop(0);
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < kBlocks; ++i) {
    blocks[i] = malloc(kSize);
    if (blocks[i] == NULL) return 1;
    blocks[i][0] = 1;
  }
  if (pthread_create(&thread, NULL, worker, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  return 0;
}
