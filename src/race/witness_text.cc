#include "race/witness_text.h"

#include <string_view>

namespace sooth {
namespace {

std::string_view verb(Op op) {
  switch (op) {
    case Op::kRead: return "reads";
    case Op::kWrite: return "writes";
    case Op::kAtomicLoad: return "loads";
    case Op::kAtomicStore: return "stores";
    case Op::kAtomicRmw: return "updates";
    case Op::kFence: return "fences";
    case Op::kAcquire: return "acquires";
    case Op::kRelease: return "releases";
    case Op::kNotify: return "notifies";
    case Op::kWait: return "waits for";
    case Op::kBarrierArrive: return "arrives at";
    case Op::kBarrierLeave: return "leaves";
    case Op::kSemPost: return "posts";
    case Op::kSemWait: return "waits for";
    case Op::kFork: return "forks";
    case Op::kJoin: return "joins";
    case Op::kBegin: return "begins";
    case Op::kEnd: return "ends";
    case Op::kAlloc: return "allocates";
    case Op::kFree: return "frees";
    case Op::kHappensBefore: return "sends";
    case Op::kHappensAfter: return "receives";
    case Op::kEnter: return "enters";
    case Op::kExit: return "returns from";
    case Op::kCallBegin: return "calls";
    case Op::kCallEnd: return "is back from";
    case Op::kMisuse: return "misuses";
    case Op::kAcquireFailed: return "fails to acquire";
    case Op::kCondNotify: return "notifies";
    case Op::kCondWait: return "has waited for";
  }
  return "does";
}

}  // namespace

std::string thread_text(const TraceView& trace, ThreadId thread) {
  if (trace.tables != nullptr && raw(thread) < trace.tables->thread_count()) {
    return trace.tables->thread_name(thread);
  }
  return "T" + std::to_string(raw(thread));
}

std::string object_text(const TraceView& trace, const Event& e) {
  static const Tables kNoNames;
  const ObjectKind kind = object_kind(e);
  if (kind == ObjectKind::kThread) {
    return thread_text(trace, ThreadId{static_cast<std::uint32_t>(e.object)});
  }
  return (trace.tables != nullptr ? *trace.tables : kNoNames).describe(kind, e.object);
}

std::string event_text(const TraceView& trace, std::uint64_t id) {
  std::string text = "event " + std::to_string(id);
  if (id >= trace.events.size()) {
    return text;
  }
  const Event& e = trace.events[id];
  text += " (" + thread_text(trace, e.thread) + " ";
  text += verb(e.op);
  return text + (object_kind(e) == ObjectKind::kNone ? "" : " " + object_text(trace, e)) + ")";
}

}  // namespace sooth
