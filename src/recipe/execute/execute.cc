#include "recipe/execute/thread_executor.h"
#include "recipe/execute/thread_trace.h"

#include "base/ids.h"

namespace sooth {

namespace {

// Executes all threads, one after the other.
SymbolicProgram execute_threads(SharedExecution& execution, const std::vector<std::vector<DeepRecord>>& records) {
  SymbolicProgram& out = execution.program;
  for (std::uint32_t thread = 0; thread < execution.index.thread_count(); ++thread) {
    out.threads.push_back(ThreadExecutor(execution, thread, records[thread]).run());
    for (const SymbolicAccess& access : out.threads.back().accesses) {
      if (access.written != kNoExpr && !out.expressions.is_constant(access.written)) {
        execution.computed[access.event] = true;
      }
    }
  }
  return std::move(out);
}

}  // namespace

Result<SymbolicProgram> execute_symbolically(const DeepProgram& program, const TraceIndex& index,
                                             const TraceView& trace, std::span<const DeepRecord> records,
                                             const ExecuteOptions& options) {
  if (trace.values.empty()) {
    return Status::bad_input(
        "the trace has no values, so its code cannot be executed again; record it with --schedule serial");
  }
  std::vector<std::vector<DeepRecord>> by_thread(index.thread_count());
  for (const DeepRecord& record : records) {
    if (raw(record.thread) >= by_thread.size()) {
      by_thread.resize(raw(record.thread) + 1);  // a thread without events
    }
    by_thread[raw(record.thread)].push_back(record);
  }
  CodeTable code(program);
  Sharing sharing(index, trace, options.detours);
  RangeMap<bool> reached;
  for (const Reach& reach : trace.reaches) {
    reached.assign(reach.begin, reach.begin + (reach.length - 1), true);
  }
  std::vector<std::shared_ptr<const Overlay>> overlays;
  SymbolicProgram out;
  // Where a thread leaves its path because of what another one does that has left its own is only known when all have
  // been executed once.
  for (const bool is_last : {false, true}) {
    SymbolicProgram made;
    made.copied = std::move(out.copied);
    sharing.set_copied(made.copied);
    Cases cases(sharing, made.expressions, made.recorded, options.initial);
    SharedExecution execution{
        code, index, trace, sharing, reached, options, made, options.detours ? &cases : nullptr, overlays};
    out = execute_threads(execution, by_thread);
    overlays = std::move(execution.found_overlays);
    if (is_last || overlays.empty()) {
      break;
    }
  }
  return out;
}

}  // namespace sooth
