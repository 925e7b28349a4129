// sooth trace drop: a trace without some of its events.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "cli/trace_commands.h"
#include "cli/trace_output.h"
#include "trace/check/validator.h"
#include "trace/for_each_batch.h"
#include "trace/reader.h"
#include "trace/tools/copy.h"
#include "trace/tools/drop.h"
#include "trace/tools/hide_sync.h"

namespace sooth {
namespace {

struct TraceDropOptions {
  std::string trace;
  DropOptions drop;
  std::vector<std::string> kinds;
  bool functions_with_sync = false;
  OutputOptions output;
};

// Watches both sides: the dropper relies on a well-formed trace, and the user on the same afterwards.
class CheckedDropper {
 public:
  explicit CheckedDropper(const DropOptions& options) : dropper_(options) {}

  Result<CopyStep> step(Batch batch, const Tables& tables) {
    // Values are not compared: they were when the trace was checked, and in the copy reads miss dropped writes.
    const std::span<const Value> values = std::exchange(batch.values, {});
    SOOTH_RETURN_IF_ERROR(before_.consume(batch, tables));
    batch.values = values;
    Batch rest = dropper_.filter(batch, tables);
    if (malformed_.ok()) {
      Batch without_values = rest;
      without_values.values = {};
      malformed_ = after_.consume(without_values, tables);
    }
    return CopyStep{rest, false};
  }

  const DropCounts& counts() const { return dropper_.counts(); }
  // What is wrong with the copy, or ok.
  const Status& malformed() const { return malformed_; }

 private:
  TraceValidator before_;
  TraceValidator after_;
  EventDropper dropper_;
  Status malformed_;
};

// Breaks a list after commas.
std::string wrapped(std::string list) {
  constexpr std::size_t kColumns = 110;
  for (std::size_t line = 0; list.size() - line > kColumns;) {
    const std::size_t comma = list.rfind(", ", line + kColumns);
    if (comma == std::string::npos || comma < line) {
      break;
    }
    list[comma + 1] = '\n';
    line = comma + 2;
  }
  return list;
}

// To standard output, or to standard error when the trace itself goes there.
void print_counts(const DropCounts& counts, std::FILE* out) {
  const auto row = [out](std::uint64_t count, const char* what) {
    if (count != 0) {
      std::fprintf(out, "%15llu  %s\n", static_cast<unsigned long long>(count), what);
    }
  };
  std::fprintf(out, "dropped %llu of %llu events\n", static_cast<unsigned long long>(counts.dropped()),
               static_cast<unsigned long long>(counts.read));
  row(counts.by_function, "by function");
  row(counts.by_site, "by site");
  row(counts.by_kind, "by kind");
  row(counts.by_partner, "because what they close was dropped");
  row(counts.branches, "branches (no events)");
}

void print_counts(const HideSyncCounts& counts, std::FILE* out) {
  std::fprintf(out, "dropped %llu of %llu events\n%15llu  calls put in, which reach %llu ranges\n",
               static_cast<unsigned long long>(counts.dropped), static_cast<unsigned long long>(counts.read),
               static_cast<unsigned long long>(counts.calls), static_cast<unsigned long long>(counts.ranges));
}

// Reads the trace once more before it is copied: the reach of a call stands at its begin.
Result<SyncHider> scan_functions(const TraceDropOptions& options) {
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(options.trace, {.columns = kStacks});
  if (!reader.ok()) {
    return reader.status();
  }
  SyncHider hider;
  TraceValidator validator;
  SOOTH_RETURN_IF_ERROR(for_each_batch(**reader, [&](const Batch& batch) {
    if (Status valid = validator.consume(batch, (*reader)->tables()); !valid.ok()) {
      return std::move(valid).prefixed(options.trace);
    }
    hider.scan(batch, (*reader)->tables());
    return Status();
  }));
  hider.finish_scan();
  return hider;
}

// What the trace would be if functions that synchronise had not been recorded.
Status hide_sync(const TraceDropOptions& options) {
  if (options.trace == "-") {
    return Status::usage("--functions-with-sync reads the trace twice: give a file or a directory");
  }
  Result<SyncHider> hider = scan_functions(options);
  if (!hider.ok()) {
    return std::move(hider).status();
  }
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(options.trace, {.columns = kAllColumns});
  if (!reader.ok()) {
    return reader.status();
  }
  TraceInfo info = (*reader)->info();  // no access is dropped, so every read still sees what it saw
  info.columns |= kReaches;
  const Result<std::unique_ptr<OutputTrace>> output = OutputTrace::create(options.output, info);
  if (!output.ok()) {
    return output.status();
  }
  const auto step = [&](const Batch& batch, const Tables&) -> Result<CopyStep> {
    return CopyStep{hider->rewrite(batch), false};
  };
  SOOTH_RETURN_IF_ERROR(copy_trace(**reader, (*output)->writer(), step));
  SOOTH_RETURN_IF_ERROR((*output)->commit());
  print_counts(hider->counts(), (*output)->is_stdout() ? stderr : stdout);
  return {};
}

Status run_drop(TraceDropOptions& options) {
  if (options.functions_with_sync) {
    const bool alone = options.kinds.empty() && options.drop.functions.empty() && options.drop.sites.empty();
    return alone ? hide_sync(options)
                 : Status::usage("--functions-with-sync stands alone: drop the rest from what it makes");
  }
  for (const std::string& word : options.kinds) {
    const Result<KindSet> kinds = parse_kind(word);
    if (!kinds.ok()) {
      return kinds.status();
    }
    options.drop.kinds |= *kinds;
  }
  if (options.drop.kinds == 0 && options.drop.functions.empty() && options.drop.sites.empty()) {
    return Status::usage("nothing to drop: give --function, --site, --kind or --functions-with-sync");
  }
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(options.trace, {.columns = kAllColumns});
  if (!reader.ok()) {
    return reader.status();
  }
  TraceInfo info = (*reader)->info();
  // Reads still see what they saw when nothing goes but the marks around what was not recorded.
  const bool only_calls =
      options.drop.kinds == *parse_kind("call") && options.drop.functions.empty() && options.drop.sites.empty();
  info.exact = info.exact && only_calls;
  const Result<std::unique_ptr<OutputTrace>> output = OutputTrace::create(options.output, info);
  if (!output.ok()) {
    return output.status();
  }
  const bool to_stdout = (*output)->is_stdout();
  CheckedDropper dropper(options.drop);
  Progress progress("dropping", to_stdout ? Progress::none() : Progress::terminal());
  const auto step = [&](const Batch& batch, const Tables& tables) -> Result<CopyStep> {
    progress.update(raw(batch.first), (*reader)->bytes_read(), (*reader)->bytes_total());
    Result<CopyStep> rest = dropper.step(batch, tables);
    return rest.ok() ? rest : Result<CopyStep>(Status(rest.status()).prefixed(options.trace));
  };
  SOOTH_RETURN_IF_ERROR(copy_trace(**reader, (*output)->writer(), step));
  SOOTH_RETURN_IF_ERROR((*output)->commit());
  progress.clear();
  print_counts(dropper.counts(), to_stdout ? stderr : stdout);
  if (!dropper.malformed().ok()) {
    std::fflush(stdout);
    std::fprintf(stderr, "sooth: warning: the result is malformed: %s\n", dropper.malformed().message().c_str());
  }
  return {};
}

}  // namespace

void add_trace_drop(CLI::App& trace, CommandResult& result) {
  CLI::App* command = trace.add_subcommand("drop", "Copy a trace without the events of some functions, sites or kinds");
  const auto options = std::make_shared<TraceDropOptions>();
  command->add_option("IN", options->trace, "The trace to read")->required();
  command->add_option("-o,--output", options->output.path, "The trace to make (\"-\": text on standard output)")
      ->type_name("OUT")
      ->required();
  command->add_option("--function", options->drop.functions, "Drop what functions of this name do and call")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command->add_option("--site", options->drop.sites, "Drop events at this label, file or file:line")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command->add_option("--kind", options->kinds, "Drop events of this kind: r, w, acq, lock, atomic, ...")
      ->type_name("KIND")
      ->allow_extra_args(false);
  command->add_flag(
      "--functions-with-sync", options->functions_with_sync,
      "Drop locks, signals, barriers, semaphores and messages; functions that contain them become calls that\n"
      "were not recorded");
  add_output_options(*command, "--format", options->output);
  command->footer(
      "--function, --site and --kind may be repeated; an event goes when any of them matches. In a GLOB, * is\n"
      "any text and ? any character. The result is marked as not exact, unless only calls are dropped.\n" +
      wrapped("Kinds: " + kind_words() + ", and the words of STD text."));
  command->callback([options, &result] { result = answer(run_drop(*options)); });
}

}  // namespace sooth
