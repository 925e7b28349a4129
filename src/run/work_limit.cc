#include "run/work_limit.h"

#include <csignal>
#include <iterator>

namespace sooth {
namespace {

// Those that ask for an end, and those that would bring one and leave temporary folders behind.
constexpr std::size_t kEnds = 3;  // the first: who sends one of them again has no patience
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU};

std::atomic<bool> stop_asked{false};
std::atomic<int> first_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "set from a signal handler");

struct sigaction previous[std::size(kSignals)];

void on_signal(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal, std::memory_order_relaxed);
  stop_asked.store(true, std::memory_order_relaxed);
}

}  // namespace

WorkLimit::WorkLimit(std::chrono::milliseconds budget, Now now) : now_(now), start_(now()), budget_(budget) {
  stop_asked.store(false);
  first_signal.store(0);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN) {  // nohup: whoever started us does not want us to end
      struct sigaction action {};
      action.sa_handler = on_signal;
      action.sa_flags = static_cast<int>(i < kEnds ? SA_RESTART | SA_RESETHAND : SA_RESTART);
      ::sigaction(kSignals[i], &action, nullptr);
    }
  }
}

WorkLimit::~WorkLimit() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], &previous[i], nullptr);
  }
}

std::chrono::milliseconds WorkLimit::elapsed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(now_() - start_);
}

double WorkLimit::spent() const {
  return budget_.count() == 0 ? 0 : static_cast<double>(elapsed().count()) / static_cast<double>(budget_.count());
}

bool WorkLimit::out_of_time(double share) const {
  return budget_.count() != 0 && static_cast<double>(elapsed().count()) >= share * static_cast<double>(budget_.count());
}

std::chrono::steady_clock::time_point WorkLimit::end() const {
  return budget_.count() == 0 ? std::chrono::steady_clock::time_point::max() : start_ + budget_;
}

int WorkLimit::signal() { return first_signal.load(std::memory_order_relaxed); }

const std::atomic<bool>& WorkLimit::interrupt() { return stop_asked; }

}  // namespace sooth
