// The report as JSON, there and back. docs/report.schema.json is the format; docs/reports.md explains it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "race/finding.h"

namespace sooth {

inline constexpr std::string_view kReportSchema = "sooth-report/1";

// The inverse of write_json (report/sink.h): a report whose names are valid UTF-8 comes back equal. Fields that
// this version does not know are ignored, absent ones have their default. `path` is for the sentences that tell what
// is wrong and where; any bytes may be thrown at it.
Result<Report> parse_report(std::string_view text, const std::string& path);

// The report in the file `path`, or on standard input for "-".
Result<Report> read_report(const std::string& path);

}  // namespace sooth
