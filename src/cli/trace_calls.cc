// sooth trace calls: a deep recording with its calls of code that was not recorded.
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/numbers.h"
#include "cli/trace_commands.h"
#include "cli/trace_output.h"
#include "deep/program.h"
#include "race/trace_store.h"
#include "recipe/opaque/opaque_calls.h"
#include "symbol/stateless_libraries.h"
#include "trace/reader.h"
#include "trace/tools/copy.h"
#include "trace/tools/insert_calls.h"

namespace sooth {
namespace {

struct TraceCallsOptions {
  std::string trace;
  OutputOptions output;
  std::vector<std::string> stateless;
};

Result<TraceStore> load(const std::string& path) {
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(path, {.columns = kAllColumns | kDeep});
  if (!reader.ok()) {
    return reader.status();
  }
  if (!(*reader)->info().exact || ((*reader)->info().columns & kDeep) == 0) {
    return Status::usage(path +
                         " does not tell what its program called: build the program with `sooth c++ --deep` and record "
                         "it with `sooth record --schedule serial`");
  }
  Result<TraceStore> store = load_trace(**reader, std::numeric_limits<std::uint32_t>::max() - 2, kWholeTrace);
  return store.ok() ? std::move(store) : Result<TraceStore>(std::move(store).status().prefixed(path));
}

// The places of the calls, and the names of what is called, become entries of `tables`.
std::vector<CallMark> named_marks(const std::vector<OpaqueCall>& calls, const DeepProgram& program, Tables& tables) {
  std::map<std::uint64_t, SiteId> sites;
  for (const OpaqueCall& call : calls) {
    if (const auto [site, is_new] = sites.try_emplace(call.object); is_new) {
      site->second = tables.add_site(place_of(call, program));
      tables.name_object(ObjectKind::kCall, call.object, callee_name(*call.at));
    }
  }
  std::vector<CallMark> marks = marks_of(calls);
  for (CallMark& mark : marks) {
    mark.site = sites[mark.object];
  }
  return marks;
}

Status copy_with(CallInserter& inserter, TraceReader& reader, TraceWriter& writer) {
  for (;;) {
    const Result<Batch> batch = reader.next();
    if (!batch.ok()) {
      return batch.status();
    }
    const bool is_last = batch->empty();
    const Batch rewritten = is_last ? inserter.finish() : inserter.rewrite(*batch);
    if (!rewritten.empty()) {
      SOOTH_RETURN_IF_ERROR(writer.append(rewritten));
    }
    if (is_last) {
      return {};
    }
  }
}

void print_counts(const std::vector<OpaqueCall>& calls, std::FILE* out) {
  std::size_t ranges = 0;
  for (const OpaqueCall& call : calls) {
    ranges += call.reach.size();
  }
  std::fprintf(
      out,
      "%15zu  calls put in, which reach %zu ranges\n"
      "The code of the program is not in the copy: `recipe` wants the recording, and keeps these calls' order there.\n",
      calls.size(), ranges);
}

Status run_calls(const TraceCallsOptions& options) {
  if (options.trace == "-") {
    return Status::usage("the trace is read twice: give a directory");
  }
  const Result<TraceStore> store = load(options.trace);
  if (!store.ok()) {
    return store.status();
  }
  const Result<DeepProgram> program = DeepProgram::load(options.trace);
  if (!program.ok()) {
    return program.status();
  }
  const std::vector<OpaqueCall> calls =
      find_opaque_calls(*program, store->view(), functions_of(StatelessLibraries(options.stateless), options.trace));
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(options.trace, {.columns = kAllColumns});
  if (!reader.ok()) {
    return reader.status();
  }
  TraceInfo info = (*reader)->info();
  info.columns |= kReaches;
  const Result<std::unique_ptr<OutputTrace>> output = OutputTrace::create(options.output, info);
  if (!output.ok()) {
    return output.status();
  }
  // All names there are, as the same reader gives them: what is put in comes behind.
  Tables& tables = (*output)->writer().tables();
  SOOTH_RETURN_IF_ERROR(TableCopier().copy_new(store->tables(), tables));
  CallInserter inserter(named_marks(calls, *program, tables));
  SOOTH_RETURN_IF_ERROR(copy_with(inserter, **reader, (*output)->writer()));
  SOOTH_RETURN_IF_ERROR((*output)->commit());
  print_counts(calls, (*output)->is_stdout() ? stderr : stdout);
  return {};
}

}  // namespace

void add_trace_calls(CLI::App& trace, CommandResult& result) {
  CLI::App* command =
      trace.add_subcommand("calls", "Copy a deep recording, with the calls of code that was not recorded put in");
  const auto options = std::make_shared<TraceCallsOptions>();
  command->add_option("IN", options->trace, "The recording of a program built with `sooth c++ --deep`")->required();
  command->add_option("-o,--output", options->output.path, "The trace to make (\"-\": text on standard output)")
      ->type_name("OUT")
      ->required();
  add_output_options(*command, "--format", options->output);
  add_stateless_option(*command, options->stateless);
  command->footer(
      "Code that is not instrumented may order threads by memory that it is given. With its calls in the trace,\n"
      "`sooth analyze --with rdit` keeps that order. The reach of a call is found from its arguments: blocks and\n"
      "variables, and what addresses in them lead to.");
  command->callback([options, &result] { result = answer(run_calls(*options)); });
}

}  // namespace sooth
