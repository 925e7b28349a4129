// A logger with levels. The level is atomic; what was written is counted in a plain variable.
//
// In a serial run the level is raised before the worker logs anything.
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

namespace {

enum Level { kDebug, kInfo, kWarning, kError };

class Logger {
 public:
  void set_level(Level level) { level_.store(level); }

  void log(Level level, const char* format, ...) __attribute__((format(printf, 3, 4))) {
    if (level < level_.load()) {
      return;
    }
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(stderr, "%s: %s\n", name(level), text);
    ++written_;  // RACE(written)
  }

  bool is_quiet() const { return written_ == 0; }  // RACE(written)

 private:
  static const char* name(Level level) {
    static const char* const kNames[] = {"debug", "info", "warning", "error"};
    return kNames[level];
  }

  std::atomic<int> level_{kInfo};
  int written_ = 0;
};

}  // namespace

int main() {
  Logger logger;
  bool quiet = false;
  int sum = 0;
  std::thread control([&] {
    logger.set_level(kError);
    quiet = logger.is_quiet();
  });
  std::thread worker([&] {
    for (int i = 1; i <= 3; ++i) {
      sum += i;
      logger.log(kInfo, "step %d, sum %d", i, sum);
    }
  });
  control.join();
  worker.join();
  std::cout << sum << ' ' << quiet << '\n';
}
