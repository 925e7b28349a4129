#include "cli/recording_options.h"

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "cli/numbers.h"
#include "trace/stream_format.h"

namespace sooth {

void add_recording_options(CLI::App& command, RecordingOptions& options) {
  const std::map<std::string, Scheduling> schedules = {{"os", Scheduling::kFree}, {"serial", Scheduling::kSerial}};
  command
      .add_option("--schedule", options.scheduling,
                  "os: threads run as they would alone. serial: one at a time, slower; the recording is exact")
      ->transform(CLI::Transformer(schedules, CLI::ignore_case))
      ->type_name("os|serial")
      ->default_str("os");
  add_count_option(command, "--seed", options.seed, "Which thread is next in a serial run; equal seeds give equal runs");
  command
      .add_option_function<std::string>(
          "--exclude",
          [&options](const std::string& pattern) {
            if (pattern.empty() || pattern.find(',') != std::string::npos) {
              throw CLI::ValidationError("--exclude", "a pattern is not empty and has no comma; give the option several times");
            }
            options.exclude.push_back(pattern);
          },
          "Do not record accesses of the files (program, libraries) that match, like */libfoo.so*; may be repeated")
      ->type_name("PATTERN")
      ->trigger_on_parse();
}

void add_recording_filter(CLI::App& command, const std::string& name, RecordingOptions& options) {
  std::vector<std::string> filters = {"repeat", "off"};
  filters.insert(filters.end(), std::begin(stream::kFilterNames) + 1, std::end(stream::kFilterNames));
  command
      .add_option(name, options.filter,
                  "repeat: leave out accesses that their thread has just recorded from the same place. off: record all. tree, "
                  "tree:hb, tree:strict: leave out more; hybrid, hb, wcp find the same in what is left")
      ->check(CLI::IsMember(filters))
      ->type_name("repeat|off|tree|tree:hb|tree:strict")
      ->capture_default_str();
}

}  // namespace sooth
