// `sooth witness check`: judges the witnesses of a report again, from outside, with nothing but the report and the
// trace.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "race/trace_store.h"
#include "race/witness.h"
#include "race/witness_summary.h"
#include "recipe/judge/check.h"
#include "recipe/opaque/opaque_calls.h"
#include "recipe/witness_report.h"
#include "report/describe.h"
#include "report/json.h"
#include "report/utf8.h"
#include "trace/reader.h"

namespace sooth {
namespace {

struct WitnessFlags {
  std::string report;
  std::string trace;
  std::uint64_t max_events = 200'000'000;
};

// Of the trace that the report names: `sooth run` may have found more in other recordings.
bool claims_a_witness(const Finding& finding) {
  return finding.witness && finding.witness->checked && !finding.recorded_under;
}

// The number of events that the witnesses need: up to the last one that a report names.
std::uint64_t events_needed(const Report& report) {
  std::uint64_t needed = 0;
  for (const Finding& finding : report.findings) {
    needed = std::max(needed, claims_a_witness(finding) ? raw(events_named(finding)) : 0);
  }
  return needed;
}

// Reports are UTF-8 whatever names the program uses; how many replacement characters stand for damage does not
// matter.
std::string as_reported(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const Utf8Character c = first_character(name);
    const std::string_view shown = c.valid ? name.substr(0, c.bytes) : kReplacementCharacter;
    if (shown != kReplacementCharacter || !text.ends_with(kReplacementCharacter)) {
      text += shown;
    }
    name.remove_prefix(c.bytes);
  }
  return text;
}

// What the report says an event is must be what the trace says.
Status check_access(const Access& access, const TraceStore& store) {
  const TraceView view = store.view();
  const std::string event = "event " + std::to_string(raw(access.event));
  if (raw(access.event) >= view.events.size()) {
    return Status::bad_input(event + " is not in the trace, which has " + std::to_string(view.events.size()) +
                             " events");
  }
  const Event& e = view.events[raw(access.event)];
  const auto compare = [&](const std::string& what, const std::string& reported, const std::string& traced) {
    return as_reported(reported) == as_reported(traced)
               ? Status()
               : Status::bad_input("the report says that " + event + " has the " + what + " `" + reported +
                                   "`, in the trace it has `" + traced + "`");
  };
  SOOTH_RETURN_IF_ERROR(compare("operation", std::string(op_name(access.op)), std::string(op_name(e.op))));
  SOOTH_RETURN_IF_ERROR(compare("thread", access.thread, store.tables().thread_name(e.thread)));
  SOOTH_RETURN_IF_ERROR(compare("site", access.site.label, store.tables().site(e.site).label));
  return access.size == 0 ? Status() : compare("size", std::to_string(access.size), std::to_string(e.size));
}

bool has_values(const Finding& finding) { return claims_a_witness(finding) && finding.witness->values.has_value(); }

// The code of the recorded program, which judges witnesses with other values than the recorded ones. Made when the
// first one comes.
class CodeJudge {
 public:
  CodeJudge(std::string recording, const TraceStore& store, StatelessLibraries stateless)
      : recording_(std::move(recording)), store_(store), stateless_(std::move(stateless)) {}

  Status check(const Finding& finding, std::vector<EventId> order) {
    const Result<ValueWitness> witness = restore(*finding.witness, std::move(order));
    if (!witness.ok()) {
      return witness.status();
    }
    SOOTH_RETURN_IF_ERROR(check_next(finding, *witness));
    if (!judge_) {
      Result<DeepProgram> program = DeepProgram::load(recording_);
      if (!program.ok()) {
        return std::move(program).status();
      }
      program_ = std::make_unique<DeepProgram>(std::move(*program));
      trace_ = std::make_unique<CallTrace>(*program_, store_.view(), functions_of(stateless_, recording_));
      Result<ValueJudge> judge = ValueJudge::make(*program_, trace_->view(), trace_->put_in());
      if (!judge.ok()) {
        return std::move(judge).status();
      }
      judge_ = std::make_unique<ValueJudge>(std::move(*judge));
    }
    return judge_->check(trace_->renumbered(*witness));
  }

 private:
  // The report shows the accesses of the witness.
  static Status check_next(const Finding& finding, const ValueWitness& witness) {
    for (const NextAccess& next : witness.next) {
      const bool shown = std::any_of(finding.accesses.begin(), finding.accesses.end(), [&](const Access& access) {
        return next.event ? access.executed && access.event == *next.event
                          : !access.executed && next.unexecuted && access.address == next.unexecuted->object &&
                                access.op == next.unexecuted->op && access.size == next.unexecuted->size;
      });
      if (!shown) {
        return Status::bad_input("the accesses of the finding are not those that are next in its witness");
      }
    }
    return {};
  }

  const std::string recording_;
  const TraceStore& store_;
  const StatelessLibraries stateless_;
  std::unique_ptr<DeepProgram> program_;
  std::unique_ptr<CallTrace> trace_;  // with the calls whose order recipe keeps
  std::unique_ptr<ValueJudge> judge_;
};

// The number of events of the witness, when all is well with the finding.
Result<std::size_t> check_finding(const Finding& finding, const TraceStore& store, CodeJudge& judge) {
  Witness witness;
  witness.kind = finding.kind;
  for (const Access& access : finding.accesses) {
    if (access.executed) {
      SOOTH_RETURN_IF_ERROR(check_access(access, store));
    } else if (!has_values(finding)) {
      return Status::bad_input("an access that was not executed needs a witness with values");
    }
    witness.next.push_back(access.event);
  }
  Result<std::vector<EventId>> order = expand(*finding.witness, store.view());
  if (!order.ok()) {
    return std::move(order).status();
  }
  if (has_values(finding)) {
    const std::size_t events = order->size();
    SOOTH_RETURN_IF_ERROR(judge.check(finding, std::move(*order)));
    return events;
  }
  witness.order = std::move(*order);
  SOOTH_RETURN_IF_ERROR(check_witness(store.view(), witness));
  return witness.order.size();
}

CommandResult check(const WitnessFlags& options) {
  Result<Report> report = read_report(options.report);
  if (!report.ok()) {
    return std::move(report).status();
  }
  const bool deep = std::any_of(report->findings.begin(), report->findings.end(), has_values);
  const ColumnSet columns = kValues | kBranches | kReaches | (deep ? kDeep : kNoColumns);
  auto reader = open_trace(options.trace, {columns});
  if (!reader.ok()) {
    return std::move(reader).status();
  }
  Result<TraceStore> store =
      load_trace(**reader, options.max_events, deep ? kWholeTrace : EventId{events_needed(*report)});
  if (!store.ok()) {
    return std::move(store).status().prefixed(options.trace);
  }
  for (const std::string& library : report->stateless) {
    std::printf("%s\n", printable("taken from the report: " + library + " keeps nothing between calls").c_str());
  }
  CodeJudge judge(options.trace, *store, StatelessLibraries(report->stateless));
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  for (const Finding& finding : report->findings) {
    if (finding.recorded_under) {
      std::printf("%s\n", printable(finding.id + ": of another recording: sooth record --schedule " +
                                    finding.recorded_under->schedule + " --seed " +
                                    std::to_string(finding.recorded_under->seed))
                              .c_str());
    }
    if (!claims_a_witness(finding)) {
      continue;
    }
    const Result<std::size_t> events = check_finding(finding, *store, judge);
    ++(events.ok() ? accepted : rejected);
    const std::string verdict = events.ok() ? "witness accepted (" + counted(*events, "event", "events") + ")"
                                            : "REJECTED: " + events.status().message();
    std::printf("%s\n", printable(finding.id + ": " + verdict).c_str());
  }
  const std::uint64_t without = report->findings.size() - accepted - rejected;
  std::printf("%s checked: %llu accepted, %llu rejected; %s without a witness.\n",
              counted(accepted + rejected, "witness", "witnesses").c_str(), static_cast<unsigned long long>(accepted),
              static_cast<unsigned long long>(rejected), counted(without, "finding", "findings").c_str());
  return rejected == 0 ? ExitCode::kOk : ExitCode::kBadInput;
}

}  // namespace

void add_witness_command(CLI::App& root, CommandResult& result) {
  CLI::App* command = root.add_subcommand("witness", "Judge the witnesses of a report again");
  command->require_subcommand(1);
  CLI::App* checker = command->add_subcommand("check", "Check every witness of a report against the trace");
  auto options = std::make_shared<WitnessFlags>();
  checker->add_option("REPORT", options->report, "A report that --format json wrote; - for standard input")
      ->required()
      ->type_name("");
  checker->add_option("TRACE", options->trace, "The trace that the report is about")->required()->type_name("");
  add_count_option(*checker, "--max-events", options->max_events,
                   "Refuse to keep more events in memory; one takes about 80 bytes");
  checker->footer(
      "Prints a line for each finding that claims a checked witness. Exit status: 65 when one of them is rejected\n"
      "or the input is malformed, else 0. docs/witnesses.md tells what a witness is.");
  checker->callback([options, &result] { result = check(*options); });
}

}  // namespace sooth
