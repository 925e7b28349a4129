// sooth trace info, sooth trace check: read a trace and say what it is.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/progress.h"
#include "cli/trace_commands.h"
#include "deep/program.h"
#include "deep/walk.h"
#include "report/describe.h"
#include "trace/check/validator.h"
#include "trace/for_each_batch.h"
#include "trace/reader.h"
#include "trace/tools/census.h"

namespace sooth {
namespace {

constexpr char kIncomplete[] = "incomplete: the program was killed, this is the prefix that it left";

struct ColumnName {
  ColumnSet column;
  const char* name;
};
constexpr ColumnName kColumnNames[] = {
    {kValues, "values"}, {kStacks, "stacks"}, {kBranches, "branches"}, {kReaches, "reaches"}, {kDeep, "deep"}};

std::vector<std::string> column_names(ColumnSet columns) {
  std::vector<std::string> names;
  for (const ColumnName& row : kColumnNames) {
    if ((columns & row.column) != 0) {
      names.emplace_back(row.name);
    }
  }
  return names;
}

// A deep recording in memory.
struct DeepTrace {
  std::vector<Event> events;
  std::vector<Value> values;
  std::vector<DeepRecord> records;

  void append(const Batch& batch) {
    events.insert(events.end(), batch.events.begin(), batch.events.end());
    values.insert(values.end(), batch.values.begin(), batch.values.end());
    records.insert(records.end(), batch.deep.begin(), batch.deep.end());
  }
};

struct InfoOptions {
  std::string trace;
  bool json = false;
};

void print_json(const InfoOptions& options, const TraceReader& reader, const TraceCensus& census) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
  for (int op = 0; op < kOpCount; ++op) {
    if (census.events_of(Op(op)) != 0) {
      kinds[std::string(op_name(Op(op)))] = census.events_of(Op(op));
    }
  }
  const TraceInfo& info = reader.info();
  const nlohmann::ordered_json json = {
      {"schema", "sooth-trace-info/1"},
      {"trace", options.trace},
      {"program", info.program},
      {"events", census.events()},
      {"threads", reader.tables().thread_count()},
      {"locks", census.locks()},
      {"variables", census.variables()},
      {"sites", reader.tables().site_count()},
      {"branches", census.branches()},
      {"deep_records", census.deep_records()},
      {"exact", info.exact},
      {"complete", !info.incomplete},
      {"stopped", info.stopped},
      {"unexplained_reads", info.unexplained_reads},
      {"filtered", info.filtered},
      {"columns", column_names(info.columns)},
      {"kinds", kinds},
  };
  // Names come from the traced program and need not be UTF-8.
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

void print_row(const std::string& label, const std::string& text) {
  std::printf("%-16s%s\n", (label + ":").c_str(), printable(text).c_str());
}

void print_text(const InfoOptions& options, const TraceReader& reader, const TraceCensus& census) {
  const TraceInfo& info = reader.info();
  std::string columns;
  for (const std::string& name : column_names(info.columns)) {
    columns += (columns.empty() ? "" : ", ") + name;
  }
  print_row("trace", options.trace);
  if (!info.program.empty()) {
    print_row("program", info.program);
  }
  print_row("events", std::to_string(census.events()));
  print_row("threads", std::to_string(reader.tables().thread_count()));
  print_row("locks", std::to_string(census.locks()));
  print_row("variables", std::to_string(census.variables()));
  print_row("sites", std::to_string(reader.tables().site_count()));
  print_row("order", info.exact ? "exact" : "not exact: consistent with synchronisation and locks only");
  print_row("whole", info.incomplete ? kIncomplete : "yes");
  if (!info.stopped.empty()) {
    print_row("stopped", info.stopped);
  }
  if (!info.filtered.empty()) {
    print_row("filtered", "by " + info.filtered + " while it was recorded: redundant accesses are not in it");
  }
  print_row("columns", columns.empty() ? "none" : columns);
  if (info.exact && (info.columns & kValues) != 0) {
    print_row("unexplained", std::to_string(info.unexplained_reads) + " reads saw what no recorded write left");
  }
  std::printf("\n%15s  %s\n", "events", "kind");
  for (int op = 0; op < kOpCount; ++op) {
    if (const std::uint64_t count = census.events_of(Op(op)); count != 0) {
      std::printf("%15llu  %s\n", static_cast<unsigned long long>(count), std::string(op_name(Op(op))).c_str());
    }
  }
  if (census.branches() != 0) {
    std::printf("%15llu  %s\n", static_cast<unsigned long long>(census.branches()), "branch (no event)");
  }
  if (census.deep_records() != 0) {
    std::printf("%15llu  %s\n", static_cast<unsigned long long>(census.deep_records()), "deep record (no event)");
  }
}

Status run_info(const InfoOptions& options) {
  const Result<std::unique_ptr<TraceReader>> reader =
      open_trace(options.trace, {.columns = kBranches | kValues | kDeep});
  if (!reader.ok()) {
    return reader.status();
  }
  TraceCensus census;
  Progress progress("counting");
  SOOTH_RETURN_IF_ERROR(for_each_batch(**reader, [&](const Batch& batch) {
    census.consume(batch);
    progress.update(census.events(), (*reader)->bytes_read(), (*reader)->bytes_total());
    return Status();
  }));
  progress.clear();
  (options.json ? print_json : print_text)(options, **reader, census);
  return {};
}

// Whether the code of each thread can be followed through the trace: not an error when not, but what RECIPE can work
// with.
Status check_deep(const std::string& path, const Tables& tables, const DeepTrace& trace) {
  const Result<DeepProgram> program = DeepProgram::load(path);
  if (!program.ok()) {
    return program.status();
  }
  std::uint64_t functions = 0;
  for (std::uint32_t module = 0; module < program->modules(); ++module) {
    functions += program->functions(module);
  }
  std::printf("%s: deep: %zu modules, %llu functions, %zu records\n", path.c_str(), program->modules(),
              static_cast<unsigned long long>(functions), trace.records.size());
  for (const ThreadWalk& walk : walk_threads(*program, trace.events, trace.values, trace.records)) {
    std::printf("%s: deep: %s: %llu instructions, %llu calls and %llu events followed, %llu events outside%s%s\n",
                path.c_str(), printable(tables.thread_name(walk.thread)).c_str(),
                static_cast<unsigned long long>(walk.instructions), static_cast<unsigned long long>(walk.calls),
                static_cast<unsigned long long>(walk.accesses), static_cast<unsigned long long>(walk.outside),
                walk.stopped.empty() ? "" : "; stopped: ", printable(walk.stopped).c_str());
  }
  return {};
}

Status run_check(const std::string& path) {
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(path, {.columns = kAllColumns | kDeep});
  if (!reader.ok()) {
    return reader.status();
  }
  TraceValidator validator;
  DeepTrace deep;
  Progress progress("checking");
  std::uint64_t events = 0;
  SOOTH_RETURN_IF_ERROR(for_each_batch(**reader, [&](Batch& batch) {
    if (!(*reader)->info().exact) {
      batch.values = {};
    }
    if (((*reader)->info().columns & kDeep) != 0) {
      deep.append(batch);
    }
    if (Status status = validator.consume(batch, (*reader)->tables()); !status.ok()) {
      return std::move(status).prefixed(path);
    }
    events += batch.events.size();
    progress.update(events, (*reader)->bytes_read(), (*reader)->bytes_total());
    return Status();
  }));
  progress.clear();
  const TraceInfo& info = (*reader)->info();
  std::printf("%s: well-formed, %llu events\n", path.c_str(), static_cast<unsigned long long>(events));
  if (info.incomplete) {
    std::printf("%s: %s\n", path.c_str(), kIncomplete);
  }
  if (!info.stopped.empty()) {
    std::printf("%s: the recording was stopped: %s\n", path.c_str(), printable(info.stopped).c_str());
  }
  if (info.unexplained_reads != 0) {
    std::printf(
        "%s: %llu unexplained reads: something that is not instrumented wrote there, and their values are left out\n",
        path.c_str(), static_cast<unsigned long long>(info.unexplained_reads));
  }
  if (!info.exact && (info.columns & kValues) != 0) {
    std::printf("%s: values were not checked: the trace is not exact\n", path.c_str());
  }
  return (info.columns & kDeep) != 0 && !info.incomplete ? check_deep(path, (*reader)->tables(), deep) : Status();
}

}  // namespace

void add_trace_info(CLI::App& trace, CommandResult& result) {
  CLI::App* command = trace.add_subcommand("info", "Count threads, locks, variables, sites and events");
  const auto options = std::make_shared<InfoOptions>();
  command->add_option("TRACE", options->trace, "The trace to read")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &result] { result = answer(run_info(*options)); });
}

void add_trace_check(CLI::App& trace, CommandResult& result) {
  CLI::App* command = trace.add_subcommand("check", "Decide whether a trace is well-formed");
  const auto path = std::make_shared<std::string>();
  command->add_option("TRACE", *path, "The trace to read")->required();
  command->footer("Names the first event that breaks the rules of docs/trace-tools.md, with exit status 65.");
  command->callback([path, &result] { result = answer(run_check(*path)); });
}

}  // namespace sooth
