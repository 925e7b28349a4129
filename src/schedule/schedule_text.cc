// Schedule files as text, there and back. schedule_file.h shows one.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "schedule/schedule_file.h"
#include "schedule/strategy.h"

namespace sooth {
namespace {

using control::Plan;
using control::RunState;
using control::Stretch;
using control::StretchEnd;

constexpr std::string_view kFirstWords = "sooth schedule ";
constexpr std::string_view kVersion = "1";

constexpr std::array<std::string_view, control::kStretchEndCount> kStretchEnds = {
    "preempted", "blocked", "yielded", "outside", "taken", "postponed", "ended", "spun", "run-ended"};
constexpr std::array<std::string_view, 5> kRunStates = {"not-started", "stopped", "ended", "deadlocked", "diverged"};

struct Letter {
  char letter;
  std::uint32_t bit;
};
constexpr Letter kKinds[] = {{'r', control::kReads},
                             {'w', control::kWrites},
                             {'a', control::kAtomics},
                             {'l', control::kAcquires},
                             {'f', control::kFirstAcquires}};
constexpr Letter kSites[] = {{'1', 1},
                             {'2', 2},
                             {'s', control::kSecondSection},
                             {'b', control::kSectionBetween},
                             {'e', control::kEitherSection}};

struct FlagName {
  std::string_view name;
  std::uint32_t bit;
};
constexpr FlagName kFlags[] = {{"real-time", control::kRealTime},
                               {"every-access", control::kEveryAccess},
                               {"every-free", control::kEveryFree},
                               {"spurious-wakes", control::kSpuriousWakes},
                               {"c11-memory", control::kWeakMemory}};

// --- printing

template <std::size_t N>
std::string letters(std::uint32_t bits, const Letter (&table)[N]) {
  std::string text;
  for (const Letter& each : table) {
    if ((bits & each.bit) != 0) {
      text += each.letter;
    }
  }
  return text;
}

// One line whatever it is; for people, so nobody needs it back.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text;
}

// The name of a module in one line, from which unescaped() gets it back. "-" is the program itself.
std::string escaped(const std::string& module) {
  if (module.empty()) {
    return "-";
  }
  std::string text = module == "-" ? "\\" : "";
  for (const char c : module) {
    text += c == '\\' ? "\\\\" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : std::string(1, c);
  }
  return text;
}

std::string unescaped(std::string_view text) {
  if (text == "-") {
    return {};
  }
  std::string module;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    const char c = escape ? text[++i] : text[i];
    module += escape && c == 'n' ? '\n' : escape && c == 'r' ? '\r' : c;
  }
  return module;
}

std::string plan_line(const RunPlan& plan) {
  switch (plan.plan) {
    case Plan::kStrategy: return "plan strategy " + plan.strategy + "\n";
    case Plan::kDirected: return "plan directed\n";
    case Plan::kStretches:
    case Plan::kChoices: break;
  }
  return "plan stretches " + plan.strategy + "\n";
}

std::string run_line(const Stretch& stretch) {
  std::string line = "run " + std::to_string(stretch.thread) + " " + std::to_string(stretch.events) + "+";
  line += stretch.accesses == control::kAnyAccesses ? "*" : std::to_string(stretch.accesses);
  line += " " + std::string(kStretchEnds[static_cast<std::size_t>(stretch.end)]);
  line += " " + (stretch.hash == 0 ? "-" : hex_digits(stretch.hash, 8));
  return line + (stretch.timed_out != 0 ? " timed-out\n" : "\n");
}

std::string site_line(const SiteCode& site) {
  return "site " + letters(site.sites, kSites) + " " + letters(site.kinds, kKinds) + " " + escaped(site.module) + " " +
         hexadecimal(site.begin) + " " + hexadecimal(site.end) + "\n";
}

// --- parsing

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

std::string_view take_last_word(std::string_view& line) {
  const std::size_t blank = line.rfind(' ');
  const std::string_view word = blank == std::string_view::npos ? line : line.substr(blank + 1);
  line.remove_suffix(line.size() - (blank == std::string_view::npos ? 0 : blank));
  return word;
}

template <typename T>
bool parse_number(std::string_view word, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

bool parse_offset(std::string_view word, std::uint64_t& value) {
  return word.starts_with("0x") && parse_number(word.substr(2), value, 16);
}

template <std::size_t N>
bool parse_letters(std::string_view word, const Letter (&table)[N], std::uint32_t& bits) {
  bits = 0;
  for (const char c : word) {
    const auto* found =
        std::find_if(std::begin(table), std::end(table), [c](const Letter& each) { return each.letter == c; });
    if (found == std::end(table)) {
      return false;
    }
    bits |= found->bit;
  }
  return bits != 0;
}

template <std::size_t N, typename Enum>
bool parse_name(std::string_view word, const std::array<std::string_view, N>& names, Enum& value) {
  const auto found = std::find(names.begin(), names.end(), word);
  value = static_cast<Enum>(found - names.begin());
  return found != names.end();
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Result<ScheduleFile> parse() {
    std::string_view line;
    if (!next_line(line) || !line.starts_with(kFirstWords)) {
      return Status::bad_input(path_ + ": not a schedule: it does not begin with `sooth schedule 1`");
    }
    if (line.substr(kFirstWords.size()) != kVersion) {
      return Status::bad_input(path_ + ": a schedule of version " +
                               one_line(std::string(line.substr(kFirstWords.size(), 20))) +
                               "; this sooth reads version 1");
    }
    while (next_line(line)) {
      if (ended_) {
        return error("something comes behind the line `end`");
      }
      SOOTH_RETURN_IF_ERROR(parse_line(line));
    }
    SOOTH_RETURN_IF_ERROR(check_whole());
    return std::move(schedule_);
  }

 private:
  // Mail programs end lines in their own way.
  bool next_line(std::string_view& line) {
    if (text_.empty()) {
      return false;
    }
    line = text_.substr(0, text_.find('\n'));
    text_.remove_prefix(std::min(line.size() + 1, text_.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    ++number_;
    return true;
  }

  Status error(const std::string& what) const {
    return Status::bad_input(path_ + ": line " + std::to_string(number_) + ": " + what);
  }
  Status accept(bool ok, const std::string& form) const {
    return ok ? Status() : error("not of the form `" + form + "`");
  }

  Status parse_line(std::string_view line) {
    const std::string key(take_word(line));
    const bool several = key == "site" || key == "thread" || key == "run" || key == "skip" || key == "older";
    if (!several && !seen_.insert(key).second) {
      return error("a second line `" + one_line(key.substr(0, 20)) + "`");
    }
    RunPlan& plan = schedule_.plan;
    if (key == "program") {
      schedule_.program = line;
      return {};
    }
    if (key == "outcome") {
      schedule_.outcome = line;
      return {};
    }
    if (key == "plan") {
      return parse_plan(line);
    }
    if (key == "seed") {
      return accept(parse_number(line, plan.seed), "seed NUMBER");
    }
    if (key == "quantum") {
      return accept(parse_number(line, plan.quantum), "quantum NUMBER");
    }
    if (key == "patience") {
      return accept(parse_number(line, plan.patience), "patience NUMBER");
    }
    if (key == "flags") {
      return parse_flags(line);
    }
    if (key == "site") {
      return accept(parse_site(line), "site 1|2|12 KINDS MODULE 0xBEGIN 0xEND");
    }
    if (key == "thread") {
      return accept(parse_thread(line), "thread THREAD PARENT CHILD");
    }
    if (key == "run") {
      return accept(parse_run(line), "run THREAD OPERATIONS+ACCESSES END HASH");
    }
    if (key == "skip") {
      return accept(parse_skip(line), "skip NUMBER");
    }
    if (key == "older") {
      return accept(parse_older(line), "older INDEX CHOSEN");
    }
    if (key == "end") {
      return accept(parse_end(line), "end HOW STRETCHES");
    }
    return error("`" + one_line(key.substr(0, 20)) + "` is nothing that stands in a schedule");
  }

  Status parse_plan(std::string_view line) {
    const std::string_view word = take_word(line);
    const bool named = word == "strategy" || word == "stretches";
    if (!named && word != "directed") {
      return error("a plan is `strategy TEXT`, `directed` or `stretches TEXT`");
    }
    schedule_.plan.plan = word == "strategy"   ? Plan::kStrategy
                          : word == "directed" ? Plan::kDirected
                                               : Plan::kStretches;
    StrategySpec spec;
    const std::string strategy(line);
    if (named && (strategy.find('\0') != std::string::npos || !parse_strategy(strategy.c_str(), spec))) {
      return error("the plan has no strategy that there is: serial, random or pct:D");
    }
    schedule_.plan.strategy = named ? strategy : "random";
    return accept(named || line.empty(), "plan directed");
  }

  Status parse_flags(std::string_view line) {
    while (!line.empty()) {
      const std::string_view word = take_word(line);
      const auto* flag =
          std::find_if(std::begin(kFlags), std::end(kFlags), [&](const FlagName& each) { return each.name == word; });
      if (flag == std::end(kFlags)) {
        return error("there is no flag `" + one_line(std::string(word.substr(0, 20))) + "`");
      }
      schedule_.plan.flags |= flag->bit;
    }
    return {};
  }

  bool parse_site(std::string_view line) {
    SiteCode site;
    const std::string_view which = take_word(line);
    const std::string_view kinds = take_word(line);
    const std::string_view end = take_last_word(line);
    const std::string_view begin = take_last_word(line);
    if (line.empty() || line.find('\0') != std::string_view::npos || !parse_letters(which, kSites, site.sites) ||
        !parse_letters(kinds, kKinds, site.kinds) || !parse_offset(begin, site.begin) || !parse_offset(end, site.end) ||
        site.begin >= site.end) {
      return false;
    }
    site.module = unescaped(line);
    schedule_.plan.sites.push_back(std::move(site));
    return true;
  }

  bool parse_thread(std::string_view line) {
    control::ThreadOrigin origin{};
    if (!parse_number(take_word(line), origin.thread) || !parse_number(take_word(line), origin.parent) ||
        !parse_number(take_word(line), origin.child) || !line.empty() || origin.thread == 0) {
      return false;
    }
    schedule_.plan.threads.push_back(origin);
    return true;
  }

  bool parse_run(std::string_view line) {
    Stretch stretch{};
    const bool thread = parse_number(take_word(line), stretch.thread);
    const std::string_view position = take_word(line);
    const std::size_t plus = position.find('+');
    if (!thread || plus == std::string_view::npos || !parse_number(position.substr(0, plus), stretch.events)) {
      return false;
    }
    stretch.accesses = control::kAnyAccesses;
    if (position.substr(plus + 1) != "*" && !parse_number(position.substr(plus + 1), stretch.accesses)) {
      return false;
    }
    const std::string_view end = take_word(line);
    const std::string_view hash = take_word(line);
    stretch.timed_out = line == "timed-out" ? 1 : 0;
    if (!parse_name(end, kStretchEnds, stretch.end) || (hash != "-" && !parse_number(hash, stretch.hash, 16)) ||
        (stretch.timed_out == 0 && !line.empty())) {
      return false;
    }
    schedule_.plan.stretches.push_back(stretch);
    schedule_.places.push_back(next_place_++);
    return true;
  }

  bool parse_skip(std::string_view line) {
    std::uint64_t skipped = 0;
    // The bound keeps sums from overflowing; no run has so many.
    if (!parse_number(line, skipped) || skipped == 0 || skipped >= std::uint64_t{1} << 48 ||
        next_place_ >= std::uint64_t{1} << 48) {
      return false;
    }
    next_place_ += skipped;
    return true;
  }

  bool parse_older(std::string_view line) {
    control::MemoryChoice choice{};
    if (!parse_number(take_word(line), choice.index) || !parse_number(take_word(line), choice.chosen) ||
        !line.empty() || (!schedule_.plan.older.empty() && schedule_.plan.older.back().index >= choice.index)) {
      return false;
    }
    schedule_.plan.older.push_back(choice);
    return true;
  }

  bool parse_end(std::string_view line) {
    ended_ = true;
    const std::string_view how = take_word(line);
    schedule_.open_end = line.ends_with('+');
    line.remove_suffix(schedule_.open_end ? 1 : 0);
    return parse_name(how, kRunStates, schedule_.end) && parse_number(line, schedule_.stretch_count);
  }

  Status check_whole() const {
    if (!ended_) {
      return Status::bad_input(path_ + ": the schedule is cut off: there is no line `end`");
    }
    if (!seen_.contains("plan")) {
      return Status::bad_input(path_ + ": the schedule has no line `plan`");
    }
    if (next_place_ > schedule_.stretch_count) {
      return error("it counts " + std::to_string(schedule_.stretch_count) + " stretches, but there are " +
                   std::to_string(next_place_));
    }
    if (schedule_.plan.plan == Plan::kDirected && schedule_.plan.sites.empty()) {
      return Status::bad_input(path_ + ": a directed schedule needs lines `site`");
    }
    if (!schedule_.by_seed() && schedule_.places.size() != schedule_.stretch_count) {
      return Status::bad_input(path_ + ": a schedule of stretches must list all " +
                               std::to_string(schedule_.stretch_count) + " of them");
    }
    return {};
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t number_ = 0;
  std::uint64_t next_place_ = 0;
  std::set<std::string> seen_;
  bool ended_ = false;
  ScheduleFile schedule_;
};

}  // namespace

std::string print_schedule(const ScheduleFile& schedule) {
  const RunPlan& plan = schedule.plan;
  std::string text =
      std::string(kFirstWords) + std::string(kVersion) + "\nprogram " + one_line(schedule.program) + "\n";
  if (!schedule.outcome.empty()) {
    text += "outcome " + one_line(schedule.outcome) + "\n";
  }
  text += plan_line(plan) + "seed " + std::to_string(plan.seed) + "\n";
  if (plan.quantum != 0) {
    text += "quantum " + std::to_string(plan.quantum) + "\n";
  }
  if (plan.patience != 0) {
    text += "patience " + std::to_string(plan.patience) + "\n";
  }
  std::string flags;
  for (const FlagName& each : kFlags) {
    flags += (plan.flags & each.bit) != 0 ? " " + std::string(each.name) : "";
  }
  text += flags.empty() ? "" : "flags" + flags + "\n";
  for (const SiteCode& site : plan.sites) {
    text += site_line(site);
  }
  for (const control::ThreadOrigin& origin : plan.threads) {
    text += "thread " + std::to_string(origin.thread) + " " + std::to_string(origin.parent) + " " +
            std::to_string(origin.child) + "\n";
  }
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < plan.stretches.size(); ++i) {
    const std::uint64_t place = schedule.places[i];
    text += place > next ? "skip " + std::to_string(place - next) + "\n" : "";
    text += run_line(plan.stretches[i]);
    next = place + 1;
  }
  for (const control::MemoryChoice& choice : plan.older) {
    text += "older " + std::to_string(choice.index) + " " + std::to_string(choice.chosen) + "\n";
  }
  return text + "end " + std::string(kRunStates[static_cast<std::size_t>(schedule.end)]) + " " +
         std::to_string(schedule.stretch_count) + (schedule.open_end ? "+\n" : "\n");
}

Result<ScheduleFile> parse_schedule(std::string_view text, const std::string& path) {
  return Parser(text, path).parse();
}

}  // namespace sooth
