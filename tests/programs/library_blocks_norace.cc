// A thread blocks in a function of libc that nobody wraps, until another thread writes what it waits for.
// OUTPUT: hello, 1
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
FILE* sink;
int value;

static void* write_line(void*) {
  pthread_mutex_lock(&mutex);
  ++value;
  pthread_mutex_unlock(&mutex);
  fputs("hello\n", sink);
  fflush(sink);
  return nullptr;
}

int main() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  FILE* source = fdopen(ends[0], "r");
  sink = fdopen(ends[1], "w");
  pthread_t thread;
  pthread_create(&thread, nullptr, write_line, nullptr);
  char word[16];
  if (fscanf(source, "%15s", word) != 1) return 1;
  pthread_mutex_lock(&mutex);
  int seen = value;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, nullptr);
  printf("%s, %d\n", word, seen);
}
