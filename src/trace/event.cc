#include "trace/event.h"

namespace sooth {

ObjectKind object_kind(Op op) {
  switch (op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kAlloc:
    case Op::kFree: return ObjectKind::kMemory;
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kAcquireFailed:
    case Op::kMisuse: return ObjectKind::kLock;
    case Op::kNotify:
    case Op::kWait:
    case Op::kCondNotify:
    case Op::kCondWait: return ObjectKind::kSignal;
    case Op::kBarrierArrive:
    case Op::kBarrierLeave: return ObjectKind::kBarrier;
    case Op::kSemPost:
    case Op::kSemWait: return ObjectKind::kSemaphore;
    case Op::kFork:
    case Op::kJoin: return ObjectKind::kThread;
    case Op::kHappensBefore:
    case Op::kHappensAfter: return ObjectKind::kMessage;
    case Op::kEnter:
    case Op::kExit: return ObjectKind::kFunction;
    case Op::kCallBegin:
    case Op::kCallEnd: return ObjectKind::kCall;
    case Op::kFence:
    case Op::kBegin:
    case Op::kEnd: return ObjectKind::kNone;
  }
  return ObjectKind::kNone;
}

ObjectKind object_kind(const Event& event) {
  const bool leak = event.op == Op::kMisuse && event.size == raw(MisuseKind::kThreadLeak);
  return leak ? ObjectKind::kThread : object_kind(event.op);
}

std::string_view op_name(Op op) {
  switch (op) {
    case Op::kRead: return "read";
    case Op::kWrite: return "write";
    case Op::kAtomicLoad: return "atomic load";
    case Op::kAtomicStore: return "atomic store";
    case Op::kAtomicRmw: return "atomic rmw";
    case Op::kFence: return "fence";
    case Op::kAcquire: return "acquire";
    case Op::kRelease: return "release";
    case Op::kNotify: return "notify";
    case Op::kWait: return "wait";
    case Op::kBarrierArrive: return "barrier arrive";
    case Op::kBarrierLeave: return "barrier leave";
    case Op::kSemPost: return "semaphore post";
    case Op::kSemWait: return "semaphore wait";
    case Op::kFork: return "fork";
    case Op::kJoin: return "join";
    case Op::kBegin: return "begin";
    case Op::kEnd: return "end";
    case Op::kAlloc: return "alloc";
    case Op::kFree: return "free";
    case Op::kHappensBefore: return "happens before";
    case Op::kHappensAfter: return "happens after";
    case Op::kEnter: return "enter";
    case Op::kExit: return "exit";
    case Op::kCallBegin: return "call begin";
    case Op::kCallEnd: return "call end";
    case Op::kMisuse: return "misuse";
    case Op::kAcquireFailed: return "failed acquire";
    case Op::kCondNotify: return "condition notify";
    case Op::kCondWait: return "condition wait";
  }
  return "unknown";
}

std::string_view memory_order_name(MemoryOrder order) {
  switch (order) {
    case MemoryOrder::kNotAtomic: return "";
    case MemoryOrder::kRelaxed: return "relaxed";
    case MemoryOrder::kConsume: return "consume";
    case MemoryOrder::kAcquire: return "acquire";
    case MemoryOrder::kRelease: return "release";
    case MemoryOrder::kAcqRel: return "acq_rel";
    case MemoryOrder::kSeqCst: return "seq_cst";
  }
  return "unknown";
}

std::string_view misuse_kind_name(MisuseKind kind) {
  switch (kind) {
    case MisuseKind::kDoubleLock: return "double_lock";
    case MisuseKind::kUnlockUnlocked: return "unlock_unlocked";
    case MisuseKind::kUnlockWrongThread: return "unlock_wrong_thread";
    case MisuseKind::kDestroyLocked: return "destroy_locked";
    case MisuseKind::kInvalidUse: return "invalid_use";
    case MisuseKind::kReadUnlockBad: return "bad_read_unlock";
    case MisuseKind::kThreadLeak: return "thread_leak";
    case MisuseKind::kReadLockBad: return "bad_read_lock";
    case MisuseKind::kDestroy: return "destroy";
    case MisuseKind::kSignalUnsafe: return "signal_unsafe";
    case MisuseKind::kSignalErrno: return "signal_errno";
    case MisuseKind::kUseAfterFree: return "use_after_free";
  }
  return "unknown";
}

std::string_view object_kind_name(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kNone: return "nothing";
    case ObjectKind::kMemory: return "variable";
    case ObjectKind::kLock: return "lock";
    case ObjectKind::kSignal: return "signal";
    case ObjectKind::kBarrier: return "barrier";
    case ObjectKind::kSemaphore: return "semaphore";
    case ObjectKind::kThread: return "thread";
    case ObjectKind::kMessage: return "message";
    case ObjectKind::kFunction: return "function";
    case ObjectKind::kCall: return "call";
  }
  return "unknown";
}

}  // namespace sooth
