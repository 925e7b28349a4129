// What another thread does after it wrote what a blocked function of libc waits for.
// OUTPUT: hello
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
FILE* sink;
int value;

static void* write_line(void*) {
  fputs("hello\n", sink);
  fflush(sink);
  pthread_mutex_lock(&mutex);
  ++value;  // RACE(a)
  pthread_mutex_unlock(&mutex);
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
  int seen = value;  // RACE(a)
  pthread_join(thread, nullptr);
  puts(seen <= 1 ? word : "impossible");
}
