#include "report/sink.h"

namespace sooth {
namespace {

constexpr SinkInfo kSinks[] = {
    {.name = "text", .summary = "for people", .write = write_text},
    {.name = "tsan",
     .summary = "the shape of ThreadSanitizer's reports, for tools that read those",
     .write = write_tsan},
    {.name = "gcc", .summary = "file:line:column: warning: ..., for editors", .write = write_gcc},
    {.name = "json", .summary = "everything, for programs (docs/report.schema.json)", .write = write_json},
    {.name = "sarif", .summary = "SARIF 2.1.0, for code scanning services", .write = write_sarif},
    {.name = "junit", .summary = "JUnit XML, for CI services: a test for each finding", .write = write_junit},
    {.name = "markdown", .summary = "a summary for a comment on a pull request", .write = write_markdown},
    {.name = "html",
     .summary = "one page with source and drawings of the witnesses, for a browser",
     .write = write_html},
};

}  // namespace

std::span<const SinkInfo> sinks() { return kSinks; }

const SinkInfo* find_sink(std::string_view name) {
  for (const SinkInfo& info : kSinks) {
    if (info.name == name) {
      return &info;
    }
  }
  return nullptr;
}

}  // namespace sooth
