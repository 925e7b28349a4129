#include "cli/recording_options.h"

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "cli/numbers.h"
#include "cli/usage.h"
#include "launch/engine.h"
#include "launch/excluded_code.h"
#include "schedule/strategy.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

const std::vector<std::string> kSchedules = {"os", "serial", "random", "pct:", "pos", "surw"};

// Throws what is wrong with the value of --schedule.
void check_schedule(const std::string& text) {
  StrategySpec spec;
  if (text == "os" || (text.find('\0') == std::string::npos && parse_strategy(text.c_str(), spec))) {
    return;
  }
  const std::string advice =
      text.starts_with("pct") ? "pct takes a depth from 1 to " + std::to_string(kMaxPctDepth) +
                                    " and, if known, the number of steps of the run, like pct:3 or pct:3:1000"
      : text.starts_with("first") || text.starts_with("last")
          ? "first and last take the number of a thread, from 0, like first:2"
          : "there are os, serial, random, pct:D, pos, surw, first:N and last:N." + did_you_mean(text, kSchedules);
  throw CLI::ValidationError("--schedule", "`" + text + "` is no schedule; " + advice);
}

}  // namespace

void add_recording_options(CLI::App& command, RecordingOptions& options) {
  command
      .add_option_function<std::string>(
          "--schedule",
          [&options](const std::string& text) {
            check_schedule(text);
            options.schedule = text;
          },
          "os: threads run as they would alone. Else one at a time, slower; the recording is exact. serial: in turn. "
          "random: any that can "
          "run, at every synchronisation. pct:D: by random priorities that change D-1 times, for bugs of depth D. "
          "pos: by random priorities of what threads are about to do. surw: as random, or by how much threads still "
          "have to do if that is given. first:N, last:N: thread N runs whenever it can, or only when no other can; "
          "threads are numbered from 0 as they are created")
      ->type_name("os|serial|random|pct:D|pos|surw|first:N|last:N")
      ->default_str(options.schedule)
      ->trigger_on_parse();
  add_count_option(command, "--seed", options.seed, "What random and pct:D draw from; equal seeds give equal runs");
  command
      .add_option_function<std::string>(
          "--exclude",
          [&options](const std::string& pattern) {
            const bool function = pattern.starts_with(kFunctionPrefix);
            if (pattern.size() <= (function ? kFunctionPrefix.size() : 0) ||
                (!function && pattern.find(',') != std::string::npos)) {
              throw CLI::ValidationError("--exclude",
                                         "a pattern is not empty and has no comma; give the option several times");
            }
            options.exclude.push_back(pattern);
          },
          "Do not record accesses of the files (program, libraries) that match, like */libfoo.so*, or of functions, "
          "like func:ns::foo*; may "
          "be repeated")
      ->type_name("PATTERN|func:PATTERN")
      ->trigger_on_parse();
  command
      .add_option("--reach", options.reach,
                  "What calls of excluded code may touch. everything: any memory. touched: the blocks and variables "
                  "that they are seen to touch; "
                  "for code that is instrumented throughout. none: they order nothing, and are not recorded")
      ->check(one_of({"everything", "touched", "none"}))
      ->type_name("everything|touched|none")
      ->capture_default_str();
}

void add_engine_option(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--engine",
          [](const std::string& name) {
            Engine wanted = Engine::kHooks;
            if (engine_from_name(name, wanted)) {
              choose_engine(wanted);
            }
          },
          "hooks: what the compiler inserts for -fsanitize=thread. valgrind: any program as it is, under Valgrind. "
          "locks: the "
          "same by wrapped functions alone: no accesses (default: hooks if the program has them, else valgrind)")
      ->check(one_of({"hooks", "valgrind", "locks"}))
      ->type_name("hooks|valgrind|locks")
      ->trigger_on_parse();
}

void add_thinning_option(CLI::App& command, RecordingOptions& options) {
  add_count_option(command, "--thin-from", options.thin_from,
                   "From this size on, like 16M, a serial recording leaves out most accesses to memory that one thread "
                   "has to itself. 0: never");
}

void add_recording_filter(CLI::App& command, const std::string& name, RecordingOptions& options) {
  std::vector<std::string> filters = {"repeat", "off"};
  filters.insert(filters.end(), std::begin(stream::kFilterNames) + 1, std::end(stream::kFilterNames));
  command
      .add_option(
          name, options.filter,
          "repeat: leave out accesses that their thread has just recorded from the same place. off: record all. tree, "
          "tree:hb, tree:strict: leave out more; hybrid, hb, wcp find the same in what is left")
      ->check(one_of(filters))
      ->type_name("repeat|off|tree|tree:hb|tree:strict")
      ->capture_default_str();
}

}  // namespace sooth
