// A race behind as many critical sections as the argument says: with another argument a witness leads elsewhere.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
int shared = 0, guarded = 0;

void work(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard<std::mutex> guard(mutex);
    ++guarded;
  }
  shared = rounds;  // race
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  std::thread one(work, rounds), other(work, rounds);
  one.join();
  other.join();
  std::printf("%d %d\n", shared, guarded);
}
