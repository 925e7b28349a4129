// A parser of header lines with a state machine. Another thread makes it strict; errors are counted without the lock.
//
// In a serial run the parser is done before it becomes strict, so no line is an error.
#include <cctype>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

namespace {

enum class State { kName, kColon, kValue, kEnd, kError };

class Parser {
 public:
  void be_strict() {
    std::lock_guard<std::mutex> guard(mutex_);
    strict_ = true;
  }

  void line(const std::string& text) {
    bool strict = false;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      strict = strict_;
    }
    State state = State::kName;
    for (const char c : text) {
      state = next(state, c, strict);
      if (state == State::kError) {
        ++errors_;  // RACE(errors)
        return;
      }
    }
    ++lines_;
  }

  int errors() const { return errors_; }  // RACE(errors)
  int lines() const { return lines_; }

 private:
  static State next(State state, char c, bool strict) {
    switch (state) {
      case State::kName:
        if (c == ':') {
          return State::kColon;
        }
        return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' ? State::kName : State::kError;
      case State::kColon:
        if (c == ' ') {
          return State::kValue;
        }
        return strict ? State::kError : State::kValue;
      case State::kValue: return c == '\n' ? State::kEnd : State::kValue;
      case State::kEnd:
      case State::kError: return State::kError;
    }
    return State::kError;
  }

  std::mutex mutex_;
  bool strict_ = false;
  int errors_ = 0;
  int lines_ = 0;
};

}  // namespace

int main() {
  Parser parser;
  int seen = 0;
  std::thread reading([&] {
    parser.line("Host: example\n");
    parser.line("Accept:all\n");
  });
  std::thread control([&] {
    parser.be_strict();
    seen = parser.errors();
  });
  reading.join();
  control.join();
  std::cout << parser.lines() << " lines, " << seen << " errors seen\n";
}
