// Maps, strings and shared pointers: almost every access is to memory that one thread allocated for itself, and blocks
// go from one to the other through the allocator all the time.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex guard;
std::map<int, std::shared_ptr<std::string>> registry;  // of all threads, under `guard`

void work(int thread, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::map<int, std::string> own;
    for (int i = 0; i < 40; ++i) {
      own[(i * 7919 + thread) % 101] = "value " + std::to_string(i) + " of round " + std::to_string(round);
    }
    auto longest = std::make_shared<std::string>();
    for (const auto& [key, text] : own) {
      if (text.size() > longest->size()) {
        *longest = text;
      }
    }
    const std::lock_guard<std::mutex> lock(guard);
    registry[(thread * 31 + round) % 64] = longest;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 500;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(work, i, rounds);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("%zu\n", registry.size());
}
