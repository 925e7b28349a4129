// One thread sleeps (or waits for a condition, or a lock, with a time-out) and another works meanwhile: whether the
// sleeper sees the beginning, the middle or the end of that is up to the schedule. The clock never shows a time before
// the deadline.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static std::atomic<int> done;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static const char* how = "sleep";
static int seen = -1;

static timespec now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time;
}
static void* sleeper(void*) {
  timespec end = now();
  end.tv_nsec += 1'000'000;
  if (end.tv_nsec >= 1'000'000'000) end.tv_nsec -= 1'000'000'000, ++end.tv_sec;
  if (std::strcmp(how, "sleep") == 0) {
    usleep(1000);
  } else if (std::strcmp(how, "condition") == 0) {
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &end);
    pthread_mutex_unlock(&mutex);
  } else {
    pthread_mutex_timedlock(&held, &end);
  }
  seen = done;
  timespec after = now();
  if (after.tv_sec < end.tv_sec || (after.tv_sec == end.tv_sec && after.tv_nsec < end.tv_nsec)) std::abort();
  return nullptr;
}
static void* worker(void*) {
  for (int i = 0; i < 5; ++i) done = i;
  return nullptr;
}

int main(int argc, char** argv) {
  if (argc > 1) how = argv[1];
  pthread_mutex_lock(&held);
  pthread_t a, b;
  pthread_create(&a, nullptr, sleeper, nullptr);
  pthread_create(&b, nullptr, worker, nullptr);
  pthread_join(a, nullptr);
  pthread_join(b, nullptr);
  std::printf("%d\n", seen);
}
