// Commands as text in one slot: "SET n" or "QUIT". Whoever finds a command executes it.
//
// In a serial run the slot holds "QUIT" when the second thread looks.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

struct Slot {
  std::mutex mutex;
  char text[32] = "SET 5";

  void put(const char* command) {
    std::lock_guard<std::mutex> guard(mutex);
    std::strncpy(text, command, sizeof text - 1);
  }
  void get(char* copy, std::size_t size) {
    std::lock_guard<std::mutex> guard(mutex);
    std::snprintf(copy, size, "%s", text);
  }
};

int limit = 10;

bool execute(const char* command) {
  char word[16] = {};
  const char* blank = std::strchr(command, ' ');
  const std::size_t length = blank != nullptr ? static_cast<std::size_t>(blank - command) : std::strlen(command);
  if (length >= sizeof word) {
    return false;
  }
  std::memcpy(word, command, length);
  if (std::strcmp(word, "SET") == 0 && blank != nullptr) {
    char* end = nullptr;
    const long value = std::strtol(blank + 1, &end, 10);
    if (*end == '\0' && value > 0) {
      limit = static_cast<int>(value);  // RACE(limit)
    }
    return true;
  }
  return std::strcmp(word, "QUIT") != 0;
}

}  // namespace

int main() {
  Slot slot;
  int seen = 0;
  bool more = false;
  std::thread client([&] {
    slot.put("QUIT");
    seen = limit;  // RACE(limit)
  });
  std::thread server([&] {
    char command[32];
    slot.get(command, sizeof command);
    more = execute(command);
  });
  client.join();
  server.join();
  std::cout << seen << ' ' << more << '\n';
}
