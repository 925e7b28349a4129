// Where reports go: one file per format, one row per format in sink.cc.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "race/finding.h"

namespace sooth {

struct SinkOptions {
  bool color = false;
  bool verbose = false;        // text: with stacks, witnesses and where things come from
  std::uint32_t width = 0;     // text: columns of the terminal; 0: lines may be as long as they like
  bool stats = false;          // with the figures of --stats (text only; JSON always has them)
  bool deterministic = false;  // without measured times, the only fields that differ between equal runs
  bool sources = true;         // html: with the lines of the source around what it names
  std::string_view version;    // of this tool, for formats that name it; may be empty
  // As exit_code_for() takes it; JUnit's tests fail for the same findings.
  std::optional<Rung> fail_on = Rung::kPredicted;
};

// `write` prints the whole report, findings in the order in which they stand. It fails only when the report cannot be
// expressed; whether `out` took the bytes is for the caller to check. Whatever bytes the names in a report hold, JSON
// and SARIF are valid UTF-8 and the formats for people contain no control characters but their own.
struct SinkInfo {
  std::string_view name;  // as in --format
  std::string_view summary;
  Status (*write)(const Report& report, const SinkOptions& options, std::ostream& out);
};

// In the order of --help.
std::span<const SinkInfo> sinks();
// nullptr when there is no such format.
const SinkInfo* find_sink(std::string_view name);

// One per file; the rows of sink.cc.
Status write_text(const Report& report, const SinkOptions& options, std::ostream& out);
Status write_tsan(const Report& report, const SinkOptions& options, std::ostream& out);
Status write_gcc(const Report& report, const SinkOptions& options, std::ostream& out);
Status write_json(const Report& report, const SinkOptions& options, std::ostream& out);
Status write_sarif(const Report& report, const SinkOptions& options, std::ostream& out);
Status write_junit(const Report& report, const SinkOptions& options, std::ostream& out);
Status write_markdown(const Report& report, const SinkOptions& options, std::ostream& out);
// Reads the source files that the report names, as they are now.
Status write_html(const Report& report, const SinkOptions& options, std::ostream& out);

}  // namespace sooth
