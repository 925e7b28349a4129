#include "launch/environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "launch/emulator.h"
#include "launch/engine.h"
#include "launch/excluded_code.h"
#include "schedule/protocol.h"

namespace sooth {
namespace {

// Takes NAME out of the environment; returns the value it had.
std::string take(std::vector<std::string>& environment, std::string_view name) {
  std::string value;
  std::erase_if(environment, [&](const std::string& entry) {
    const bool found = entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
    if (found) {
      value = entry.substr(name.size() + 1);
    }
    return found;
  });
  return value;
}

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  take(environment, name);
  environment.push_back(name + "=" + value);
}

// One thread runs at a time, so threads of libgomp that wait by spinning take the processor from it, for milliseconds at
// each barrier. libgomp reads this before our library is there to say so; libomp is told there.
void let_waits_sleep(std::vector<std::string>& environment) {
  const bool is_set = std::any_of(environment.begin(), environment.end(),
                                  [](const std::string& entry) { return entry.starts_with("GOMP_SPINCOUNT="); });
  if (!is_set) {
    environment.emplace_back("GOMP_SPINCOUNT=0");
  }
}

// Patterns of modules.
std::string join(const std::vector<std::string>& patterns) {
  std::string text;
  for (const std::string& pattern : patterns) {
    if (!pattern.starts_with(kFunctionPrefix)) {
      text += (text.empty() ? "" : ",") + pattern;
    }
  }
  return text;
}

// Everything in `environment` that tells our library what to do is gone afterwards, and it loads `library`.
Status load_library(std::vector<std::string>& environment, const std::string& library) {
  // QEMU takes a list of settings with commas between them.
  if (library.find_first_of(emulator().has_value() ? " :," : " :") != std::string::npos) {
    return Status::usage("the dynamic linker cannot load " + library +
                         " into the program, because its path has a space, colon or comma; install sooth elsewhere");
  }
  for (const char* ours : {"SOOTH_RECORD", "SOOTH_RECORD_FDS", "SOOTH_CHUNK_LIMIT", "SOOTH_MAX_TRACE",
                           "SOOTH_THIN_FROM", "SOOTH_EXCLUDE", "SOOTH_EXCLUDE_CODE", "SOOTH_REACH",
                           control::kControlVariable, control::kLogVariable, control::kEngineVariable}) {
    take(environment, ours);
  }
  if (engine() != Engine::kHooks) {
    set(environment, control::kEngineVariable, std::string(engine_name(engine())));
    for (const auto& [name, value] : engine_environment()) {
      set(environment, name, value);
    }
  }
  const std::string preloaded = take(environment, "LD_PRELOAD");
  if (emulator().has_value()) {
    for (const auto& [name, value] : emulator_environment(library)) {
      set(environment, name, value);
    }
    return {};
  }
  set(environment, "LD_PRELOAD", preloaded.empty() ? library : library + ":" + preloaded);
  return {};
}

}  // namespace

Result<std::vector<std::string>> recording_environment(std::vector<std::string> current, const std::string& library,
                                                       const RecordingTarget& target, const RecordingOptions& options) {
  if (options.schedule != "os" && options.filter.starts_with("tree")) {
    return Status::usage("a serial recording is exact, which it is with all its events only: " + options.filter +
                         " goes with --schedule os; `sooth analyze --filter " + options.filter +
                         "` filters it afterwards");
  }
  SOOTH_RETURN_IF_ERROR(load_library(current, library));
  if (target.directory.empty()) {
    set(current, "SOOTH_RECORD_FDS",
        std::to_string(target.streams) + "," + std::to_string(target.sites) + "," + std::to_string(target.process));
    set(current, "SOOTH_CHUNK_LIMIT", std::to_string(target.chunk_limit));
  } else {
    set(current, "SOOTH_RECORD", target.directory);
  }
  set(current, "SOOTH_SCHEDULE", options.schedule);
  set(current, "SOOTH_SEED", std::to_string(options.seed));
  set(current, "SOOTH_FILTER", options.filter);
  if (options.max_bytes != 0) {
    set(current, "SOOTH_MAX_TRACE", std::to_string(options.max_bytes));
  }
  // An emulator takes memory for every page of the table that thinning has of all addresses.
  if (options.thin_from != 0 && !emulator().has_value()) {
    set(current, "SOOTH_THIN_FROM", std::to_string(options.thin_from));
  }
  if (const std::string modules = join(options.exclude); !modules.empty()) {
    set(current, "SOOTH_EXCLUDE", modules);
  }
  if (!options.exclude_code.empty()) {
    set(current, "SOOTH_EXCLUDE_CODE", options.exclude_code);
  }
  if (!options.exclude.empty()) {
    set(current, "SOOTH_REACH", options.reach);
  }
  if (options.schedule != "os") {
    let_waits_sleep(current);
  }
  return current;
}

Result<std::vector<std::string>> controlled_environment(std::vector<std::string> current, const std::string& library,
                                                        const std::string& control_file, const std::string& log_file) {
  SOOTH_RETURN_IF_ERROR(load_library(current, library));
  for (const char* recording : {"SOOTH_SCHEDULE", "SOOTH_SEED", "SOOTH_FILTER"}) {
    take(current, recording);
  }
  set(current, control::kControlVariable, control_file);
  set(current, control::kLogVariable, log_file);
  let_waits_sleep(current);
  return current;
}

std::vector<std::string> current_environment() {
  std::vector<std::string> entries;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

}  // namespace sooth
