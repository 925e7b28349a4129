#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <utility>

#include "cli/numbers.h"

namespace sooth {
namespace {

constexpr double kQuietSeconds = 1.0;
constexpr double kRedrawSeconds = 0.1;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Screen Progress::terminal() {
  return ::isatty(STDERR_FILENO) != 0 ? Screen{&std::cerr, steady_seconds} : none();
}

Progress::Progress(std::string verb, Screen screen, std::string unit)
    : verb_(std::move(verb)), screen_(std::move(screen)), unit_(std::move(unit)) {
  if (screen_.out != nullptr) {
    start_ = screen_.seconds();
    next_draw_ = start_ + kQuietSeconds;
  }
}

void Progress::update(std::uint64_t events, std::uint64_t done, std::uint64_t total) {
  if (screen_.out == nullptr) {
    return;
  }
  const double now = screen_.seconds();
  if (now >= next_draw_) {
    next_draw_ = now + kRedrawSeconds;
    const double share = total == 0 ? -1 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
    draw(events, now - start_, share);
  }
}

void Progress::draw(std::uint64_t events, double elapsed, double share) {
  std::string line = "\r" + verb_;
  if (share >= 0) {
    char percent[16];
    std::snprintf(percent, sizeof percent, " %d%%", static_cast<int>(share * 100));
    line += percent;
  }
  line += " " + short_count(static_cast<double>(events)) + " " + unit_ + ", " +
          short_count(static_cast<double>(events) / elapsed) + " " + unit_ + "/s";
  if (share > 0) {
    line += ", " + short_duration(elapsed * (1 - share) / share) + " left";
  }
  *screen_.out << line << "\x1b[K" << std::flush;  // and nothing behind it
  shown_ = true;
}

void Progress::clear() {
  if (std::exchange(shown_, false)) {
    *screen_.out << "\r\x1b[K" << std::flush;
  }
}

}  // namespace sooth
