// sooth trace gen: makes a trace that no program ever ran, for benchmarks.
#include <memory>
#include <string>

#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/trace_commands.h"
#include "cli/trace_output.h"
#include "trace/tools/generate.h"

namespace sooth {
namespace {

struct GenOptions {
  GenerateOptions generate;
  OutputOptions output;
};

// Shows how far the generator has come.
class WatchedWriter final : public TraceWriter {
 public:
  WatchedWriter(TraceWriter& writer, std::uint64_t events, Progress& progress)
      : writer_(writer), events_(events), progress_(progress) {}

  Tables& tables() override { return writer_.tables(); }
  Status append(const Batch& batch) override {
    progress_.update(raw(batch.first), raw(batch.first), events_);
    return writer_.append(batch);
  }
  Status finish() override { return writer_.finish(); }

 private:
  TraceWriter& writer_;
  const std::uint64_t events_;
  Progress& progress_;
};

// The command that makes the same trace again.
std::string command_line(const GenerateOptions& o) {
  return "sooth trace gen --events " + std::to_string(o.events) + " --threads " + std::to_string(o.threads) +
         " --locks " + std::to_string(o.locks) + " --vars " + std::to_string(o.variables) + " --sites " +
         std::to_string(o.sites) + " --nesting " + std::to_string(o.nesting) + " --racy " + std::to_string(o.racy_ppm) +
         " --turn " + std::to_string(o.turn) + " --seed " + std::to_string(o.seed);
}

Status run_gen(const GenOptions& options) {
  SOOTH_RETURN_IF_ERROR(check_options(options.generate));
  TraceInfo info;
  info.program = command_line(options.generate);
  const Result<std::unique_ptr<OutputTrace>> output = OutputTrace::create(options.output, info);
  if (!output.ok()) {
    return output.status();
  }
  Progress progress("generating", (*output)->is_stdout() ? Progress::none() : Progress::terminal());
  WatchedWriter writer((*output)->writer(), options.generate.events, progress);
  SOOTH_RETURN_IF_ERROR(generate_trace(options.generate, writer));
  return (*output)->commit();
}

}  // namespace

void add_trace_gen(CLI::App& trace, CommandResult& result) {
  CLI::App* command = trace.add_subcommand("gen", "Make a synthetic trace for benchmarks");
  const auto options = std::make_shared<GenOptions>();
  GenerateOptions& o = options->generate;
  add_count_option(*command, "--events", o.events, "Length of the trace, exactly");
  add_count_option(*command, "--threads", o.threads, "Threads; T0 forks and joins the others");
  add_count_option(*command, "--locks", o.locks, "Locks; 0: every thread keeps to variables of its own");
  add_count_option(*command, "--vars", o.variables, "Variables, of 8 bytes each");
  add_count_option(*command, "--sites", o.sites, "Program locations");
  add_count_option(*command, "--nesting", o.nesting, "Locks held at once by a thread, at most");
  add_count_option(*command, "--racy", o.racy_ppm, "Accesses per million made without the lock of their variable")
      ->type_name("PPM");
  add_count_option(*command, "--turn", o.turn, "Events of one thread before the next takes over, on average");
  add_count_option(*command, "--seed", o.seed, "Equal seeds give equal traces");
  command->add_option("-o,--output", options->output.path, "The trace to make (\"-\": text on standard output)")
      ->type_name("OUT")
      ->required();
  add_output_options(*command, "--format", options->output);
  command->footer("Counts may end in k, M or G: --events 10M.");
  command->callback([options, &result] { result = answer(run_gen(*options)); });
}

}  // namespace sooth
