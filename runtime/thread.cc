#include "runtime/thread.h"

#include <pthread.h>
#include <sys/mman.h>

#include "runtime/calls.h"
#include "runtime/control.h"
#include "runtime/locks.h"
#include "runtime/modules.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"
#include "runtime/tree.h"
#include "runtime/turn.h"

namespace sooth::rt {

__thread Thread* self_ = nullptr;

namespace {

ThreadInfo* infos_ = nullptr;  // kMaxThreads of them, touched when used
SpinLock infos_lock_;
SpinLock free_lock_;
Thread* free_threads_ = nullptr;

constexpr std::size_t kFramesBytes = (kMaxFrames + 1) * sizeof(Frame);
constexpr std::size_t kValuesBytes = 2 * stream::kSlots * sizeof(u64);

Thread* make_thread() {
  auto* t = static_cast<Thread*>(map_memory(sizeof(Thread)));
  auto* frames = static_cast<Frame*>(map_memory(kFramesBytes));
  auto* values = recorder.serial ? static_cast<u64*>(map_memory(kValuesBytes)) : nullptr;
  if (t == nullptr || frames == nullptr || (recorder.serial && values == nullptr)) {
    if (t != nullptr) unmap_memory(t, sizeof(Thread));
    if (frames != nullptr) unmap_memory(frames, kFramesBytes);
    if (values != nullptr) unmap_memory(values, kValuesBytes);
    return nullptr;
  }
  t->values = values;
  t->bottom = t->frames = t->top = t->low = t->written = t->placed = frames;
  t->stream = new_stream();
  t->generation = module_generation();
  t->tree = tree::make();
  attend(t);  // the first chunk
  return t;
}

Thread* take_free_thread() {
  SpinGuard guard(free_lock_);
  Thread* t = free_threads_;
  if (t != nullptr) free_threads_ = t->next_free;
  return t;
}

void find_stack(Thread* t) {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  t->stack_begin = reinterpret_cast<uptr>(begin);
  t->stack_end = t->stack_begin + size;
}

}  // namespace

ThreadInfo& thread_info(u32 id) { return infos_[id]; }
u32 thread_count() { return __atomic_load_n(&recorder.control->threads, __ATOMIC_ACQUIRE); }

u32 new_thread_id(Thread* creator, uptr pc) {
  if (infos_ == nullptr) infos_ = static_cast<ThreadInfo*>(map_memory(stream::kMaxThreads * sizeof(ThreadInfo)));
  if (infos_ == nullptr) fatal("out of memory for the table of threads");
  u32 id = __atomic_fetch_add(&recorder.control->threads, 1, __ATOMIC_ACQ_REL);
  if (id >= stream::kMaxThreads) {
    stop_recording(stream::StopReason::kTooManyThreads);
    return stream::kMaxThreads - 1;
  }
  infos_[id] = {0, pc, static_cast<u32>(ThreadState::kRunning), creator == nullptr ? 0 : creator->id, 0};
  if (creator != nullptr) {
    write_event(creator, pc, Shape::of(Op::kFork), id);
    if (recorder.controlled) controlled::thread_created(id, creator->id, infos_[creator->id].children++);
  }
  return id;
}

Thread* new_thread() {
  Thread* t = take_free_thread();
  return t != nullptr ? t : make_thread();
}

void give_back(Thread* t) {
  SpinGuard guard(free_lock_);
  t->next_free = free_threads_;
  free_threads_ = t;
}

void attach_thread(Thread* t, u32 id) {
  t->id = id;
  t->quantum = 1;
  t->special = (recorder.serial ? kSerialMode : 0) | (recorder.drop_repeats || recorder.serial ? 0 : kKeepRepeats) |
               (t->special & kStopped);
  if (recorder.locks_only) t->special |= kIgnoreReads | kIgnoreWrites;
  if (recorder.controlled) controlled::begin_thread(t);
  t->frames = t->top = t->low = t->written = t->placed = t->bottom;
  t->ignore_reads = t->ignore_writes = t->ignore_sync = 0;
  t->held_count = 0;
  t->handlers = 0;
  t->in_unsafe_call = t->waits_for_signals = t->handles_crash = false;
  t->stepped_at = 0;
  t->call_frame = nullptr;
  t->call_count = 0;
  find_stack(t);
  // A handler that interrupts us runs when the stream has said whose it is.
  Busy busy(t);
  self_ = t;
  // The turn record comes first: what follows belongs to it.
  if (id == 0)
    turn::start(t);
  else
    turn::enter(t);
  write_thread_switch(t, id, false);
  // A thread begins and ends where it was created.
  uptr pc = infos_[id].created_at != 0 ? infos_[id].created_at : kNoSite;
  write_event(t, pc, Shape::of(Op::kBegin), 0);
  write_thread_pointer(t);
  // Code that is left out did not allocate it.
  if (recorder.watches_calls && code_kind(pc) != CodeKind::kRecorded) pc = kNoSite;
  // Not the stack of the main thread: it is not used again, and grows.
  if (id != 0 && t->stack_end > t->stack_begin)
    write_event(t, pc, Shape::sized(Op::kAlloc), t->stack_begin, t->stack_end - t->stack_begin);
}

void detach_thread() {
  Thread* t = self_;
  if (t == nullptr) return;
  // A handler runs before the end of the thread or, unrecorded, after it: what waits for this thread must not run in
  // the next one.
  HandlersBlocked blocked(t);
  ThreadInfo& info = infos_[t->id];
  calls::thread_ends(t);
  write_event(t, info.created_at != 0 ? info.created_at : kNoSite, Shape::of(Op::kEnd), 0);
  u32 detached = __atomic_load_n(&info.state, __ATOMIC_RELAXED) & kDetachedBit;
  __atomic_store_n(&info.state, static_cast<u32>(ThreadState::kEnded) | detached, __ATOMIC_RELEASE);
  self_ = nullptr;
  turn::finish(t);
  give_back(t);
}

void set_thread_handle(u32 id, u64 handle) { __atomic_store_n(&infos_[id].handle, handle, __ATOMIC_RELEASE); }

u32 find_thread(u64 handle) {
  SpinGuard guard(infos_lock_);
  for (u32 id = thread_count(); id-- > 0;) {
    if (__atomic_load_n(&infos_[id].handle, __ATOMIC_ACQUIRE) != handle) continue;
    u32 state = __atomic_load_n(&infos_[id].state, __ATOMIC_ACQUIRE);
    if ((state & ~kDetachedBit) == static_cast<u32>(ThreadState::kJoined)) continue;
    return id;
  }
  return ~0u;
}

void restart_threads_after_fork(Thread* t) {
  infos_lock_.reset();
  free_lock_.reset();
  // The parent's other threads are not here; their memory stays behind, as that of their stacks does.
  free_threads_ = nullptr;
  drop_chunk(t);
  infos_ = static_cast<ThreadInfo*>(map_memory(stream::kMaxThreads * sizeof(ThreadInfo)));
  zero_memory(t->slots, sizeof t->slots);
  if (recorder.serial) {
    zero_memory(t->following, sizeof t->following);
    zero_memory(t->remembered, sizeof t->remembered);
    t->context = 0;
  }
  zero_memory(t->repeats, sizeof t->repeats);
  t->epoch = 0;
  if (t->tree != nullptr) tree::forget(t->tree);
  t->last_ticket = 0;
  t->pending_slot = t->deferred_slot = 0;
  t->pending_without_value = false;
  t->left_out = 0;
  t->sequence = 0;
  if (!recording() || infos_ == nullptr) {
    self_ = nullptr;
    return;
  }
  t->stream = new_stream();
  t->low = t->written = t->bottom;
  t->special |= kStackChanged;
  t->id = new_thread_id(nullptr, 0);
  attend(t);
  if (recorder.controlled) controlled::begin_thread(t);
  restart_locks_after_fork(t);
  turn::start(t);
  write_thread_switch(t, t->id, false);
  write_event(t, kNoSite, Shape::of(Op::kBegin), 0);
  for (u32 i = 0; i < t->held_count; ++i)
    write_event(t, kNoSite, Shape::with_flags(Op::kAcquire, t->held[i].shared ? kShared : 0), t->held[i].lock);
  calls::resume_after_fork(t);
}

void switch_to_thread_id(Thread* t, u32 id) {
  write_thread_switch(t, id, true);
  t->id = id;
}

}  // namespace sooth::rt
