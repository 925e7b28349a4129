// One line on the terminal that says how far a long command has come.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace sooth {

// "analyzing 45% 12.3M events, 31.0M events/s, 3 s left": shown on standard error when that is a terminal, from the
// first second on, redrawn at most ten times a second, and gone at the end. In a pipe nothing is ever printed.
// update() costs one reading of the clock: call it once per batch.
class Progress {
 public:
  struct Screen {
    std::ostream* out = nullptr;      // nullptr: nothing is shown
    std::function<double()> seconds;  // a clock that does not go back
  };
  // Standard error and the steady clock; without `out` when standard error is no terminal.
  static Screen terminal();
  static Screen none() { return {}; }

  // `verb` is what goes on: "analyzing"; `unit` is what is counted. The clock starts now.
  explicit Progress(std::string verb, Screen screen = terminal(), std::string unit = "events");
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `events` are done; so are `done` of `total` bytes or whatever measures the whole. Without a known whole (total 0)
  // neither the share nor the time left is shown.
  void update(std::uint64_t events, std::uint64_t done, std::uint64_t total);
  // Takes the line away, for example before something else is printed. A later update() shows it again.
  void clear();

 private:
  void draw(std::uint64_t events, double elapsed, double share);

  const std::string verb_;
  const Screen screen_;
  const std::string unit_;
  double start_ = 0;
  double next_draw_ = 0;
  bool shown_ = false;
};

}  // namespace sooth
