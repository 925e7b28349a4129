#include "report/sink.h"

namespace sooth {
namespace {

constexpr SinkInfo kSinks[] = {
    {"text", "for people", write_text},
    {"tsan", "the shape of ThreadSanitizer's reports, for tools that read those", write_tsan},
    {"gcc", "file:line:column: warning: ..., for editors", write_gcc},
    {"json", "everything, for programs (docs/report.schema.json)", write_json},
    {"sarif", "SARIF 2.1.0, for code scanning services", write_sarif},
    {"junit", "JUnit XML, for CI services: a test for each finding", write_junit},
    {"markdown", "a summary for a comment on a pull request", write_markdown},
    {"html", "one page with source and drawings of the witnesses, for a browser", write_html},
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
