#include "run/runs_apart.h"

#include <algorithm>

#include "launch/controlled_run.h"
#include "launch/program_path.h"
#include "launch/reaching_out.h"
#include "report/describe.h"

namespace sooth {
namespace {

bool end_alike(const RunOutcome& a, const RunOutcome& b) {
  return !a.cancelled && !b.cancelled && !a.timed_out && !b.timed_out && a.end.status == b.end.status &&
         a.end.signal == b.end.signal && a.log.state == b.log.state;
}

// Why name spaces of its own are nothing for this program; empty: they are.
std::string why_not(const ApartJob& job, const Isolation& isolation, const WorkLimit& limit) {
  const Result<ControlledProgram> program = ControlledProgram::prepare(job.words);
  if (!program.ok()) {
    return program.status().message();
  }
  ControlledRunOptions how;
  how.timeout = job.timeout;
  how.max_output = 64 << 10;
  how.cancel = &WorkLimit::interrupt();
  how.give_up_at = limit.end();
  how.input = job.input;
  RunPlan plan;
  plan.strategy = "random";
  plan.seed = 1;
  const Result<RunOutcome> outside = program->run(plan, how);
  how.isolation = &isolation;
  const Result<RunOutcome> inside = outside.ok() ? program->run(plan, how) : outside;
  if (!inside.ok()) {
    return inside.status().message();
  }
  if (are_alike(*outside, *inside)) {
    return "";
  }
  // Is it the name spaces, or is no run like the one before?
  how.isolation = nullptr;
  const Result<RunOutcome> again = program->run(plan, how);
  if (!again.ok()) {
    return again.status().message();
  }
  return could_be_third(*outside, *again, *inside) ? "" : "the program does something else in name spaces of its own";
}

}  // namespace

bool are_alike(const RunOutcome& a, const RunOutcome& b) {
  return end_alike(a, b) && a.output_hash == b.output_hash && a.log.scheduling_points == b.log.scheduling_points;
}

bool could_be_third(const RunOutcome& a, const RunOutcome& b, const RunOutcome& third) {
  // Whoever gives up early, because something is not there, does far less.
  constexpr std::uint64_t kFarLess = 2;
  return end_alike(a, b) && end_alike(a, third) &&
         (a.output_hash != b.output_hash || a.output_hash == third.output_hash) &&
         a.log.scheduling_points != b.log.scheduling_points &&
         third.log.scheduling_points * kFarLess >= std::min(a.log.scheduling_points, b.log.scheduling_points);
}

RunsApart keep_runs_apart(const ApartJob& job, const WorkLimit& limit) {
  const Result<std::string> path = find_program(job.words.front());
  const std::vector<std::string> calls = path.ok() ? calls_that_reach_out(*path) : std::vector<std::string>();
  if (calls.empty() || job.jobs <= 1) {
    return {job.jobs, "", std::nullopt};
  }
  const std::string because =
      ", because the program calls " + listed(calls) + ", and runs that overlap might disturb each other";
  Result<Isolation> isolation = Isolation::probe();
  const std::string objection = isolation.ok() ? why_not(job, *isolation, limit) : isolation.status().message();
  if (!objection.empty()) {
    return {
        1,
        "one after the other" + because + "; each in name spaces of its own would not do: " + objection + " (--jobs)",
        std::nullopt};
  }
  return {job.jobs, "each in network and file name spaces of its own" + because + " (--jobs)", std::move(*isolation)};
}

}  // namespace sooth
