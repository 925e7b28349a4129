#include "run/analyze_source.h"

#include <algorithm>
#include <utility>

#include "launch/engine.h"
#include "launch/unseen_libraries.h"
#include "pipeline/filters.h"
#include "pipeline/registry.h"
#include "report/library_atomics.h"
#include "report/sources.h"
#include "run/plain_accesses.h"

namespace sooth {
namespace {

constexpr std::string_view kChain[] = {"hb",  "wcp", "syncp",    "hybrid",    "hybrid:hard",
                                       "ipa", "mcm", "deadlock", "atomicity", "misuse"};
// For traces with calls that were not recorded.
constexpr std::string_view kCallAnalysis = "rdit";
// For exact traces that come with the code of the program.
constexpr std::string_view kDeepAnalysis = "recipe";

Result<bool> is_deep(const std::string& path) {
  const auto reader = open_trace(path, {kDeep});
  if (!reader.ok()) {
    return reader.status();
  }
  const TraceInfo& info = (*reader)->info();
  return info.exact && (info.columns & kDeep) != 0;
}

Result<bool> has_calls(const std::string& path) {
  auto reader = open_trace(path, {kReaches});
  if (!reader.ok()) {
    return std::move(reader).status();
  }
  if (((*reader)->info().columns & kReaches) == 0) {
    return false;
  }
  for (;;) {
    const Result<Batch> batch = (*reader)->next();
    if (!batch.ok()) {
      return batch.status();
    }
    if (batch->empty()) {
      return false;
    }
    if (std::any_of(batch->events.begin(), batch->events.end(),
                    [](const Event& e) { return e.op == Op::kCallBegin; })) {
      return true;
    }
  }
}

// What the user has said of libraries of the program: the report stands on it.
void note_stateless(const StatelessLibraries& stateless, const std::vector<std::string>& loaded, Report& report) {
  for (const std::string& name : stateless.named()) {
    const auto library = std::find_if(loaded.begin(), loaded.end(), [&](const std::string& file) {
      const std::string* by = stateless.name_for(file);
      return by != nullptr && *by == name;
    });
    report.notes.push_back(
        library == loaded.end()
            ? "the program has loaded no library `" + name + "` that is not instrumented (--stateless)"
            : *library +
                  " is taken to keep nothing between calls, as --stateless says: what it orders by memory of its "
                  "own is not taken into account");
  }
  report.stateless = stateless.named();
}

}  // namespace

Result<TraceSource> open_source(const std::string& path, ColumnSet columns) {
  Result<std::unique_ptr<TraceReader>> reader = open_trace(path, {columns});
  if (!reader.ok()) {
    return std::move(reader).status();
  }
  // The same tables come out of it: ids of sites and stacks mean the same.
  const auto again = [path, columns] {
    return open_trace(path, {static_cast<ColumnSet>((columns & ~(kValues | kDeep)) | kStacks)});
  };
  return TraceSource{path, std::move(*reader), again, [path] { return DeepProgram::load(path); },
                     [path, columns] { return open_trace(path, {columns}); }};
}

Status check_source(const TraceSource& source, const std::vector<const DetectorInfo*>& detectors) {
  Status allowed = check_recorded_filter(source.reader->info().filtered, detectors);
  return allowed.ok() ? Status() : std::move(allowed).prefixed(source.name);
}

Result<Report> analyze_source(TraceSource& source, AnalysisOptions options, const SourceKnowledge& known) {
  options.user_code = known.identity.user_code;
  options.reopen = source.reopen;
  options.read_again = source.read_again;
  options.deep_program = source.deep_program;
  options.stateless_functions = [&] { return functions_of(known.stateless, source.name); };
  Result<Report> report = analyze_trace(*source.reader, options);
  if (!report.ok()) {
    // What is wrong with the file names it already; what is wrong with an event does not.
    const bool named = report.status().message().starts_with(source.name);
    return named ? std::move(report).status() : std::move(report).status().prefixed(source.name);
  }
  report->trace = source.name;
  note_sources(*report);
  Identifier identifier(known.identity);
  identifier.know_files(source.reader->tables().sites());
  identifier.identify(*report);
  drop_races_of_library_atomics(*report);
  UnseenLibraries libraries = unseen_libraries(source.name);
  note_stateless(known.stateless, libraries.loaded, *report);
  if (!libraries.is_plain_program) {
    std::erase_if(libraries.may_order, [&](const std::string& name) { return known.stateless.contains(name); });
  }
  if (libraries.is_plain_program) {
    judge_plain_accesses(*report);
  }
  // Under Valgrind everything is seen.
  const bool sees_all = libraries.is_plain_program && engine() == Engine::kValgrind;
  const std::vector<std::string> unseen = sees_all ? std::vector<std::string>() : libraries.may_order;
  for (Finding& finding : report->findings) {
    if (finding.kind != FindingKind::kMisuse || finding.misuse == MisuseKind::kDestroy) {
      // Others have happened, whatever is in order.
      finding.uninstrumented = unseen;
    }
  }
  return report;
}

Result<std::string> analyses_for(const std::string& path) {
  const Result<bool> calls = has_calls(path);
  if (!calls.ok()) {
    return calls.status();
  }
  std::string names;
  const auto add = [&names](std::string_view name) { names += (names.empty() ? "" : ",") + std::string(name); };
  for (const std::string_view name : kChain) {
    if (!*calls || find_detector(name)->with_calls) {
      add(name);
    }
  }
  if (*calls) {
    add(kCallAnalysis);
  }
  const Result<bool> deep = is_deep(path);
  if (!deep.ok()) {
    return deep.status();
  }
  if (*deep) {
    add(kDeepAnalysis);
  }
  return names;
}

}  // namespace sooth
