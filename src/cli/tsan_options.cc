#include "cli/tsan_options.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "report/baseline.h"
#include "report/files.h"
#include "report/sink.h"

namespace sooth {

TsanOptions parse_tsan_options(std::string_view text) {
  constexpr std::string_view kSeparators = ":, \n\t";
  TsanOptions options;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
    const std::size_t end_of_name = text.find_first_of("=:, \n\t");
    if (end_of_name == std::string_view::npos) {
      return options;
    }
    const std::string_view name = text.substr(0, end_of_name);
    text.remove_prefix(end_of_name);
    if (text.front() != '=') {
      continue;  // no value; the run time library complains
    }
    text.remove_prefix(1);
    const bool quoted = !text.empty() && (text.front() == '\'' || text.front() == '"');
    const std::string_view ends = quoted ? text.substr(0, 1) : kSeparators;
    text.remove_prefix(quoted ? 1 : 0);
    const std::string_view value = text.substr(0, text.find_first_of(ends));
    text.remove_prefix(std::min(value.size() + (quoted ? 1 : 0), text.size()));
    if (name == "log_path") {
      options.log_path = value == "stdout" || value == "stderr" ? std::string_view() : value;
    } else if (name == "suppressions") {
      options.suppressions = value;
    }
  }
}

Status write_tsan_log(const Report& report, std::optional<Rung> fail_on, const std::string& log_path) {
  Report failing;
  for (const Finding& finding : report.findings) {
    Report one;
    one.findings.push_back(finding);
    if (exit_code_for(one, fail_on) == ExitCode::kFindings) {
      failing.findings.push_back(finding);
    }
  }
  if (failing.findings.empty()) {
    return {};
  }
  std::ostringstream text;
  SOOTH_RETURN_IF_ERROR(write_tsan(failing, {}, text));
  return write_whole_file(log_path + "." + std::to_string(::getpid()), text.str());
}

}  // namespace sooth
