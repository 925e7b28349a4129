// Freed memory that is handed out again, by every function that does, is another variable.
#include <stdlib.h>

#include "harness.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
volatile int sum;

static void uses(volatile int* block, int size) {
  for (int i = 0; i < size; ++i) block[i] = i;
  for (int i = 0; i < size; ++i) sum = sum + block[i];
}

static void work() {
  pthread_mutex_lock(&mutex);
  for (int size = 1; size < 40; size += 3) {
    int bytes = size * static_cast<int>(sizeof(int));
    auto* block = static_cast<int*>(malloc(static_cast<size_t>(bytes)));
    uses(block, size);
    block = static_cast<int*>(realloc(block, static_cast<size_t>(2 * bytes)));
    uses(block, 2 * size);
    free(block);
    block = static_cast<int*>(calloc(static_cast<size_t>(size), sizeof(int)));
    uses(block, size);
    free(block);
    block = static_cast<int*>(aligned_alloc(64, 64));
    uses(block, 16);
    free(block);
    int* array = new int[static_cast<size_t>(size)];
    uses(array, size);
    delete[] array;
  }
  pthread_mutex_unlock(&mutex);
}

int main() { run_threads(work, work); }
