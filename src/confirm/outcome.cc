#include "confirm/outcome.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "race/finding.h"

namespace sooth {
namespace {

constexpr std::size_t kMaxWords = 200;

// What a line contains in which something other than the program itself says that it is wrong.
constexpr std::string_view kComplaints[] = {
    "Assertion `",             // assert()
    "Assertion '",             // _GLIBCXX_ASSERTIONS
    "terminate called",        // std::terminate of libstdc++
    "libc++abi: terminating",  // ... and of libc++
    "pure virtual method called",
    "runtime error: ",  // UndefinedBehaviorSanitizer
    "ERROR: AddressSanitizer",
    "ERROR: LeakSanitizer",
    "WARNING: MemorySanitizer",
    "*** stack smashing detected",
    "*** buffer overflow detected",
    "double free or corruption",
    "free(): ",
    "malloc(): ",
    "realloc(): ",
    "munmap_chunk(): ",
    "corrupted size vs. prev_size",
    "corrupted double-linked list",
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const std::string_view line = text.substr(0, end); line.find_first_not_of(" \t\r") != line.npos) {
      lines.push_back(line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string shortened(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(begin);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
    line.remove_suffix(1);
  }
  return line.size() <= kMaxWords ? std::string(line) : std::string(line.substr(0, kMaxWords)) + "...";
}

}  // namespace

std::string complaint_in(std::string_view errors) {
  const std::vector<std::string_view> lines = lines_of(errors);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool complains = std::any_of(std::begin(kComplaints), std::end(kComplaints), [&](std::string_view mark) {
      return lines[i].find(mark) != std::string_view::npos;
    });
    if (complains) {
      const bool explained = i + 1 < lines.size() && lines[i + 1].find("what():") != std::string_view::npos;
      return shortened(lines[i]) + (explained ? " " + shortened(lines[i + 1]) : "");
    }
  }
  return "";
}

const ProcessLog* deadlocked_process(const RunLog& log) {
  const auto found = std::find_if(log.processes.begin(), log.processes.end(),
                                  [](const ProcessLog& each) { return !each.deadlock.empty(); });
  return found == log.processes.end() ? nullptr : &*found;
}

Outcome classify(const RunOutcome& run) {
  Outcome outcome;
  outcome.last_words = complaint_in(run.errors);
  outcome.complained = !outcome.last_words.empty();
  if (run.timed_out) {
    outcome.kind = Outcome::Kind::kHung;
  } else if (run.log.state == control::RunState::kDeadlocked || deadlocked_process(run.log) != nullptr) {
    // What the first process makes of a child that was ended in its deadlock is its own matter.
    outcome.kind = Outcome::Kind::kDeadlocked;
  } else if (run.end.signal != 0) {
    outcome.kind = Outcome::Kind::kKilled;
    outcome.number = run.end.signal;
  } else {
    outcome.number = run.end.status;
  }
  if (outcome.failed() && outcome.last_words.empty()) {
    const std::vector<std::string_view> lines = lines_of(run.errors);
    outcome.last_words = lines.empty() ? "" : shortened(lines.back());
  }
  return outcome;
}

bool was_delayed(const RunLog& log) {
  return !log.processes.empty() && log.processes.front().longest_delay > kUsualDelay;
}

bool was_woken_for_no_reason(const RunLog& log) {
  return !log.processes.empty() && log.processes.front().longest_delay == control::kSpurious;
}

std::string Outcome::describe() const {
  std::string text;
  switch (kind) {
    case Kind::kExited: text = "exit status " + std::to_string(number); break;
    case Kind::kKilled: text = "killed by " + ProgramEnd{.status = 0, .signal = number}.describe(); break;
    case Kind::kDeadlocked: return "a deadlock";
    case Kind::kHung: text = "a hang"; break;
  }
  text += last_words.empty() ? "" : " after \"" + last_words + "\"";
  return text + (difference.empty() ? "" : std::string(kButIt) + difference);
}

double chance_of(std::uint64_t failures, std::uint64_t runs, std::uint64_t other_failures, std::uint64_t other_runs) {
  const auto log_choose = [](double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  };
  const auto n = static_cast<double>(runs), m = static_cast<double>(other_runs);
  const std::uint64_t all = failures + other_failures;
  double chance = 0;
  for (std::uint64_t here = failures; here <= std::min(all, runs); ++here) {
    const std::uint64_t there = all - here;
    if (there <= other_runs) {
      chance += std::exp(log_choose(n, static_cast<double>(here)) + log_choose(m, static_cast<double>(there)) -
                         log_choose(n + m, static_cast<double>(all)));
    }
  }
  return std::min(chance, 1.0);
}

std::uint64_t Baseline::ended_like(const Outcome& outcome) const {
  return static_cast<std::uint64_t>(std::count_if(outcomes_.begin(),
                                                  outcomes_.begin() + static_cast<std::ptrdiff_t>(runs()),
                                                  [&](const Outcome& each) { return each.same_end(outcome); }));
}

}  // namespace sooth
