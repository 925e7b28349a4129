// Executes a script of steps in exactly the order in which they stand there, each in its own thread:
//
//   THREAD OPERATION OBJECT SITE
//
// Who is next is told by a counter that the recorder does not see, so that two recordings of a script differ in nothing
// but what the recorder left out. OPERATION: r w (variable), l u (mutex), R U (rwlock, reader), W V (rwlock, writer), p
// q (semaphore: post, wait), s a (atomic: store with release, load with acquire), x (atomic, relaxed), n (free the
// variable and allocate it anew), f j (thread: create, join).
#include <pthread.h>
#include <semaphore.h>

#include <sched.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#define SOOTH_UNSEEN __attribute__((no_sanitize("thread"), noinline))

namespace {

constexpr int kMaxSteps = 1 << 16;
constexpr int kObjects = 8;
constexpr int kVariables = 256;
constexpr std::size_t kSites = 512;

struct Step {
  int thread;
  char operation;
  int object;
  int site;
};
Step steps[kMaxSteps];
int count = 0;
int next_step = 0;

volatile int* variables[kVariables];
pthread_mutex_t mutexes[kObjects];
pthread_rwlock_t rwlocks[kObjects];
sem_t semaphores[kObjects];
std::atomic<int> atomics[kObjects];
pthread_t threads[kObjects];

// One function for each site.
template <std::size_t site>
void read_at(volatile int* p) {
  (void)*p;
}
template <std::size_t site>
void write_at(volatile int* p) {
  *p = 1;
}
using Access = void (*)(volatile int*);
template <std::size_t... sites>
constexpr std::array<Access, kSites> reads(std::index_sequence<sites...>) {
  return {read_at<sites>...};
}
template <std::size_t... sites>
constexpr std::array<Access, kSites> writes(std::index_sequence<sites...>) {
  return {write_at<sites>...};
}
const std::array<Access, kSites> all_reads = reads(std::make_index_sequence<kSites>());
const std::array<Access, kSites> all_writes = writes(std::make_index_sequence<kSites>());

__attribute__((noinline)) void atomic_at(char operation, std::atomic<int>& a) {
  if (operation == 's') a.store(1, std::memory_order_release);
  if (operation == 'a') (void)a.load(std::memory_order_acquire);
  if (operation == 'x') a.store(1, std::memory_order_relaxed);
}

SOOTH_UNSEEN int now() { return __atomic_load_n(&next_step, __ATOMIC_ACQUIRE); }

void* run_thread(void* number);

SOOTH_UNSEEN void perform(const Step& step) {
  const int o = step.object;
  switch (step.operation) {
    case 'r': all_reads.data()[step.site](variables[o]); break;
    case 'w': all_writes.data()[step.site](variables[o]); break;
    case 'l': pthread_mutex_lock(&mutexes[o]); break;
    case 'u': pthread_mutex_unlock(&mutexes[o]); break;
    case 'R': pthread_rwlock_rdlock(&rwlocks[o]); break;
    case 'W': pthread_rwlock_wrlock(&rwlocks[o]); break;
    case 'U':
    case 'V': pthread_rwlock_unlock(&rwlocks[o]); break;
    case 'p': sem_post(&semaphores[o]); break;
    case 'q': sem_wait(&semaphores[o]); break;
    case 'n':
      std::free(const_cast<int*>(variables[o]));
      variables[o] = static_cast<int*>(std::malloc(sizeof(int)));
      break;
    case 'f': pthread_create(&threads[o], nullptr, run_thread, reinterpret_cast<void*>(static_cast<long>(o))); break;
    case 'j': pthread_join(threads[o], nullptr); break;
    default: atomic_at(step.operation, atomics[o]); break;
  }
}

SOOTH_UNSEEN void run(int me) {
  for (int i = 0; i < count; ++i) {
    if (steps[i].thread != me) continue;
    while (now() != i) sched_yield();
    perform(steps[i]);
    __atomic_store_n(&next_step, i + 1, __ATOMIC_RELEASE);
  }
}

SOOTH_UNSEEN void* run_thread(void* number) {
  run(static_cast<int>(reinterpret_cast<long>(number)));
  return nullptr;
}

}  // namespace

SOOTH_UNSEEN int main(int argc, char** argv) {
  std::FILE* script = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
  if (script == nullptr) return 64;
  while (count < kMaxSteps && std::fscanf(script, "%d %c %d %d", &steps[count].thread, &steps[count].operation,
                                          &steps[count].object, &steps[count].site) == 4) {
    ++count;
  }
  std::fclose(script);
  for (volatile int*& variable : variables) variable = static_cast<int*>(std::malloc(sizeof(int)));
  for (int i = 0; i < kObjects; ++i) {
    pthread_mutex_init(&mutexes[i], nullptr);
    pthread_rwlock_init(&rwlocks[i], nullptr);
    sem_init(&semaphores[i], 0, 0);
  }
  run(0);
}
