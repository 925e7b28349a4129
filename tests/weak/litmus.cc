// Runs a litmus test that is written on its command line as src/oracle/weak_memory.h says, and prints what its loads read,
// thread by thread, and the last value of each location.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstring>

static std::atomic<int> locations[4];
static int registers[8][8];
static int counts[8];
static char text[8][64];

// The order at the beginning of the text.
static std::memory_order order_of(const char* name) {
  switch (name[0]) {
    case 's': return std::memory_order_seq_cst;
    case 'a': return name[1] == 'r' ? std::memory_order_acq_rel : std::memory_order_acquire;
    default: return name[1] == 'l' ? std::memory_order_relaxed : std::memory_order_release;
  }
}

// Compilers take an order that they do not know for sequential consistency, so there is code for each.
template <std::memory_order kOrder>
static void step_with(const char* word, int* out, int& count) {
  constexpr bool kLoads = kOrder != std::memory_order_release && kOrder != std::memory_order_acq_rel;
  constexpr bool kStores = kOrder != std::memory_order_acquire && kOrder != std::memory_order_acq_rel;
  if (word[0] == 'F') {
    std::atomic_thread_fence(kOrder);
    return;
  }
  std::atomic<int>& location = locations[word[1] == 'w' ? 3 : word[1] - 'x'];
  int value = word[2] - '0';
  switch (word[0]) {
    case 'W':
      if constexpr (kStores) location.store(value, kOrder);
      break;
    case 'R':
      if constexpr (kLoads) out[count++] = location.load(kOrder);
      break;
    case 'A': out[count++] = location.fetch_add(value, kOrder); break;
    case 'E': out[count++] = location.exchange(value, kOrder); break;
    case 'C':
      switch (order_of(std::strrchr(word, '.') + 1)) {
        case std::memory_order_relaxed:
          location.compare_exchange_strong(value, word[3] - '0', kOrder, std::memory_order_relaxed);
          break;
        case std::memory_order_acquire:
          location.compare_exchange_strong(value, word[3] - '0', kOrder, std::memory_order_acquire);
          break;
        default: location.compare_exchange_strong(value, word[3] - '0', kOrder, std::memory_order_seq_cst); break;
      }
      out[count++] = value;
      break;
  }
}

static void step(const char* word, int* out, int& count) {
  switch (order_of(std::strchr(word, '.') + 1)) {
    case std::memory_order_relaxed: return step_with<std::memory_order_relaxed>(word, out, count);
    case std::memory_order_acquire: return step_with<std::memory_order_acquire>(word, out, count);
    case std::memory_order_release: return step_with<std::memory_order_release>(word, out, count);
    case std::memory_order_acq_rel: return step_with<std::memory_order_acq_rel>(word, out, count);
    default: return step_with<std::memory_order_seq_cst>(word, out, count);
  }
}

static void* run(void* argument) {
  const int who = static_cast<int>(reinterpret_cast<long>(argument));
  int count = 0;
  for (const char* word = text[who]; *word != 0; word += std::strcspn(word, " ")) {
    word += *word == ' ';
    if (*word != 0 && *word != ' ') step(word, registers[who], count);
  }
  counts[who] = count;
  return nullptr;
}

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  int threads = 0, used = 0;
  for (const char* rest = argv[1]; *rest != 0; ++threads) {
    const std::size_t length = std::strcspn(rest, "|");
    std::memcpy(text[threads], rest, length);
    rest += length + (rest[length] == '|');
  }
  for (const char* at = argv[1]; *at != 0; ++at) {
    const int number = *at >= 'x' && *at <= 'z' ? *at - 'w' : 0;
    const bool is_location = at != argv[1] && std::strchr("RWAEC", at[-1]) != nullptr;
    if (is_location && number > used) used = number;
  }
  pthread_t handles[8];
  for (long i = 0; i < threads; ++i) pthread_create(&handles[i], nullptr, run, reinterpret_cast<void*>(i));
  for (int i = 0; i < threads; ++i) pthread_join(handles[i], nullptr);
  for (int i = 0; i < threads; ++i)
    for (int k = 0; k < counts[i]; ++k) std::printf("%d ", registers[i][k]);
  std::printf("/");
  for (int i = 0; i < used; ++i) std::printf(" %d", locations[i].load());
  std::printf("\n");
}
