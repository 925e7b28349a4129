#include "cli/tsan_options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "report/baseline.h"
#include "report/files.h"
#include "report/sink.h"

namespace sooth {

namespace {

constexpr std::string_view kWithoutEffect[] = {
#define SOOTH_TSAN_FLAG(name, instead) #name,
#define SOOTH_COMMAND_FLAG(name, meaning)
#include "launch/tsan_flags.inc"
#undef SOOTH_COMMAND_FLAG
#undef SOOTH_TSAN_FLAG
};

bool means_nothing(std::string_view name) {
  return std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), name) != std::end(kWithoutEffect);
}

// As processes end: the low eight bits. Nothing when it is no number.
std::optional<std::uint8_t> parse_status(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(static_cast<std::uint8_t>(number)) : std::nullopt;
}

}  // namespace

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
    } else if (name == "exitcode") {
      options.exit_code = parse_status(value);
    } else if (name == "report_bugs") {
      options.report_bugs = value != "0" && value != "false" && value != "no";
    } else if (means_nothing(name) && std::find(options.without_effect.begin(), options.without_effect.end(), name) ==
                                          options.without_effect.end()) {
      options.without_effect.emplace_back(name);
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
