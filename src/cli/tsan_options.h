// TSAN_OPTIONS: what whoever started us wants of ThreadSanitizer's reports. `ctest -T memcheck` and other drivers ask
// for them so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "race/finding.h"

namespace sooth {

// Of the options of ThreadSanitizer those that are about reports; those about the run are the run time library's.
struct TsanOptions {
  std::string log_path;      // reports go to FILE.PID as well; empty: they do not. `stdout` and `stderr` are no files
  std::string suppressions;  // file; empty for none
  std::optional<std::uint8_t> exit_code;  // when there are findings; 0: that of the program
  bool report_bugs = true;
  std::vector<std::string> without_effect;  // flags that mean nothing here, as they were named
};

// `text` as ThreadSanitizer reads it: name=value, separated by colons, commas or blanks; a value may be in quotes. The
// last one wins.
TsanOptions parse_tsan_options(std::string_view text);

// Writes the findings of `report` that are new and stand on `fail_on` or above it to `log_path`.PID, in
// ThreadSanitizer's shape. Like ThreadSanitizer, writes no file when there are none.
Status write_tsan_log(const Report& report, std::optional<Rung> fail_on, const std::string& log_path);

}  // namespace sooth
