// The same for C, with a library that is linked and one that is opened.
#include <complex.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int from_library(int x, int (*back)(int));

struct pair {
  long first, second;
};
struct list {
  struct list* next;
  int value;
};

static int table[64];
static struct pair pairs[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread long mine;
static struct list* head;

static struct pair swapped(struct pair p) {
  struct pair q = {p.second, p.first};
  return q;
}

struct triple {
  long first, second, third;
};
// What it gets is copied by the call. It is too long for the inlining that the kept code knows of, not for the optimiser's.
static long turned(struct triple t) {
  if (t.first > 5) t.second += table[t.first & 63];
  if (t.second > 50) t.third -= table[t.second & 63];
  if (t.third > 500) t.first ^= table[t.third & 63];
  t.second = t.second * 3 + table[(t.first + t.third) & 63];
  t.third = t.third * 5 + table[(t.first + t.second) & 63];
  table[t.first & 63] = (int)t.third;
  return t.first + t.second + t.third;
}

static int called_back(int x) { return table[x & 63] + x; }

static void* worker(void* argument) {
  long id = (long)argument;
  for (int i = 0; i < 30; ++i) {
    pthread_mutex_lock(&mutex);
    struct list* node = malloc(sizeof *node);
    node->value = (int)(id * 100 + i);
    node->next = head;
    head = node;
    pthread_mutex_unlock(&mutex);
    mine += i;
  }
  return (void*)mine;
}

static int pure_function(int x) __attribute__((const, noinline));
static int pure_function(int x) { return x * x + 1; }

static double _Complex rotate(double _Complex z) { return z * (0.5 + 0.25 * I); }

int main(int argc, char** argv) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, worker, (void*)(i + 1));
  long total = 0;
  for (int i = 0; i < 2; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    total += (long)result;
  }
  for (struct list* node = head; node != NULL;) {
    struct list* next = node->next;
    total += node->value;
    free(node);
    node = next;
  }
  printf("total %ld\n", total);
  for (int i = 0; i < 64; ++i) table[i] = i * i % 17;
  pairs[1] = swapped((struct pair){argc, 2});
  pairs[2] = pairs[1];
  printf("pairs %ld %ld\n", pairs[2].first, pairs[2].second);
  struct triple triple = {argc, argc + 1, argc + 2};
  printf("turned %ld\n", turned(triple));
  printf("library %d\n", from_library(argc + 4, called_back));
  printf("pure %d\n", pure_function(argc) + pure_function(argc) + pure_function(argc));
  int variable[argc + 5];
  for (int i = 0; i < argc + 5; ++i) variable[i] = i;
  printf("variable %d\n", variable[argc]);
  printf("complex %.3f\n", cimag(rotate(argc + 2.0 * I)));
  const char* text = "some words of text";
  int words = 1;
  for (const char* c = text; *c != 0; ++c) words += *c == ' ' ? 1 : 0;
  printf("words %d\n", words);
  if (argc > 1) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) return 9;
    int (*plugin)(int) = (int (*)(int))dlsym(library, "plugin_entry");
    printf("plugin %d\n", plugin == NULL ? -1 : plugin(argc));
    dlclose(library);
    library = dlopen(argv[1], RTLD_NOW);
    plugin = (int (*)(int))dlsym(library, "plugin_entry");
    printf("plugin %d\n", plugin(argc + 1));
  }
  return 3;
}
