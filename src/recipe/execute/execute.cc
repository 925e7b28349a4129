#include "recipe/execute/thread_executor.h"
#include "recipe/execute/thread_trace.h"

#include "base/ids.h"

namespace sooth {

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
  SymbolicProgram out;
  CodeTable code(program);
  Sharing sharing(index, trace, options.detours);
  sharing.set_copied(out.copied);
  RangeMap<bool> reached;
  for (const Reach& reach : trace.reaches) {
    reached.assign(reach.begin, reach.begin + (reach.length - 1), true);
  }
  Cases cases(sharing, out.expressions, out.recorded, options.initial);
  SharedExecution execution{code, index, trace, sharing, reached, options, out, options.detours ? &cases : nullptr};
  for (std::uint32_t thread = 0; thread < index.thread_count(); ++thread) {
    out.threads.push_back(ThreadExecutor(execution, thread, std::move(by_thread[thread])).run());
    for (const SymbolicAccess& access : out.threads.back().accesses) {
      if (access.written != kNoExpr && !out.expressions.is_constant(access.written)) {
        execution.computed[access.event] = true;
      }
    }
  }
  return out;
}

}  // namespace sooth
