// sooth trace cat, sooth trace convert: the same trace in another form.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/trace_commands.h"
#include "cli/trace_output.h"
#include "trace/reader.h"
#include "trace/tools/copy.h"

namespace sooth {
namespace {

struct CatOptions {
  std::string trace;
  std::uint64_t from = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
};

// Cuts a stretch of events out of a trace and numbers it from 0.
class Slicer {
 public:
  Slicer(std::uint64_t from, std::uint64_t count)
      : from_(from),
        to_(count > std::numeric_limits<std::uint64_t>::max() - from ? std::numeric_limits<std::uint64_t>::max()
                                                                     : from + count) {}

  CopyStep cut(const Batch& batch) {
    const std::uint64_t first = raw(batch.first);
    const std::uint64_t end = first + batch.events.size();
    const std::uint64_t begin = std::clamp(from_, first, end);
    const std::size_t skip = begin - first;
    const std::size_t length = std::clamp(to_, begin, end) - begin;
    Batch part;
    part.first = EventId{begin < from_ ? 0 : begin - from_};
    part.events = batch.events.subspan(skip, length);
    part.values = batch.values.empty() ? batch.values : batch.values.subspan(skip, length);
    part.stacks = batch.stacks.empty() ? batch.stacks : batch.stacks.subspan(skip, length);
    cut_columns(batch);
    part.branches = branches_;
    part.reaches = reaches_;
    return {part, end >= to_};
  }

 private:
  bool inside(EventId id) const { return raw(id) >= from_ && raw(id) < to_; }

  void cut_columns(const Batch& batch) {
    branches_.clear();
    for (Branch branch : batch.branches) {
      if (inside(branch.before)) {
        branch.before = EventId{raw(branch.before) - from_};
        branches_.push_back(branch);
      }
    }
    reaches_.clear();
    for (Reach reach : batch.reaches) {
      if (inside(reach.call)) {
        reach.call = EventId{raw(reach.call) - from_};
        reaches_.push_back(reach);
      }
    }
  }

  const std::uint64_t from_;
  const std::uint64_t to_;
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
};

Status run_cat(const CatOptions& options) {
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(options.trace, {.columns = kAllColumns});
  if (!reader.ok()) {
    return reader.status();
  }
  const OutputOptions to_stdout{.path = "-", .format = "std", .force = false};
  const Result<std::unique_ptr<OutputTrace>> output = OutputTrace::create(to_stdout, (*reader)->info());
  if (!output.ok()) {
    return output.status();
  }
  Slicer slicer(options.from, options.count);
  std::uint64_t events = 0;
  const auto cut = [&](const Batch& batch, const Tables&) -> Result<CopyStep> {
    events = raw(batch.first) + batch.events.size();
    return slicer.cut(batch);
  };
  SOOTH_RETURN_IF_ERROR(copy_trace(**reader, (*output)->writer(), cut));
  if (options.from > events) {
    return Status::usage(options.trace + ": --from " + std::to_string(options.from) + " is behind the end: there are " +
                         std::to_string(events) + " events");
  }
  return (*output)->commit();
}

struct ConvertOptions {
  std::string trace;
  OutputOptions output;
};

Status run_convert(const ConvertOptions& options) {
  const Result<std::unique_ptr<TraceReader>> reader = open_trace(options.trace, {.columns = kAllColumns});
  if (!reader.ok()) {
    return reader.status();
  }
  const Result<std::unique_ptr<OutputTrace>> output = OutputTrace::create(options.output, (*reader)->info());
  if (!output.ok()) {
    return output.status();
  }
  Progress progress("converting", (*output)->is_stdout() ? Progress::none() : Progress::terminal());
  const auto pass_on = [&](const Batch& batch, const Tables&) -> Result<CopyStep> {
    progress.update(raw(batch.first), (*reader)->bytes_read(), (*reader)->bytes_total());
    return CopyStep{batch, false};
  };
  SOOTH_RETURN_IF_ERROR(copy_trace(**reader, (*output)->writer(), pass_on));
  progress.clear();
  if ((*reader)->info().incomplete) {
    std::fprintf(stderr, "sooth: note: %s is incomplete; the copy is what there is of it, as a whole trace\n",
                 options.trace.c_str());
  }
  return (*output)->commit();
}

}  // namespace

void add_trace_cat(CLI::App& trace, CommandResult& result) {
  CLI::App* command = trace.add_subcommand("cat", "Print a trace as STD text");
  const auto options = std::make_shared<CatOptions>();
  command->add_option("TRACE", options->trace, "The trace to read")->required();
  add_count_option(*command, "--from", options->from, "Number of the first event to print");
  add_count_option(*command, "--count", options->count, "How many events to print")->default_str("all");
  command->callback([options, &result] { result = answer(run_cat(*options)); });
}

void add_trace_convert(CLI::App& trace, CommandResult& result) {
  CLI::App* command =
      trace.add_subcommand("convert", "Copy a trace with all its columns into STD text or a trace directory");
  const auto options = std::make_shared<ConvertOptions>();
  command->add_option("IN", options->trace, "The trace to read")->required();
  command->add_option("OUT,-o,--output", options->output.path, "The trace to make (\"-\": text on standard output)")
      ->required();
  add_output_options(*command, "--to,--format", options->output);
  command->callback([options, &result] { result = answer(run_convert(*options)); });
}

}  // namespace sooth
