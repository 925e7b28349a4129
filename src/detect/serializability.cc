#include "detect/serializability.h"

#include <algorithm>
#include <utility>

namespace sooth {
namespace {

// Who sends and who receives what goes through the object; objects of different kinds may have equal numbers.
std::uint64_t message_key(const Event& e) {
  const bool condition = is_condition_op(e.op);
  return e.object * (kObjectKindCount + 1) + (condition ? kObjectKindCount : raw(object_kind(e.op)));
}

}  // namespace

Serializability::ThreadState& Serializability::state(ThreadId thread) {
  if (raw(thread) >= threads_.size()) {
    threads_.resize(raw(thread) + 1);
  }
  return threads_[raw(thread)];
}

std::uint64_t Serializability::block_of(ThreadId thread) const {
  return is_open(thread) ? threads_[raw(thread)].number : 0;
}

void Serializability::consume(const AccessRecord& record, bool is_block) {
  const Event& e = record.event;
  if (e.op == Op::kEnter && is_block) {
    return enter(record);
  }
  if (!begun_) {
    return;
  }
  state(e.thread).acts = true;
  switch (e.op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFree: return access(record);
    case Op::kAlloc: return memory_.allocate(e.object, std::max<std::uint64_t>(e.size, 1));
    case Op::kAcquire: return acquire(record);
    case Op::kRelease: return release(record);
    case Op::kExit:
      if (is_block) {
        exit(record);
      }
      return;
    case Op::kEnd:
      if (is_open(e.thread)) {
        end_block(e.thread, record);
      }
      return;
    case Op::kFork:
    case Op::kJoin:
    case Op::kNotify:
    case Op::kWait:
    case Op::kBarrierArrive:
    case Op::kBarrierLeave:
    case Op::kSemPost:
    case Op::kSemWait:
    case Op::kHappensBefore:
    case Op::kHappensAfter:
    case Op::kCondNotify:
    case Op::kCondWait: return synchronise(record);
    case Op::kFence:
    case Op::kBegin:
    case Op::kEnter:
    case Op::kCallBegin:
    case Op::kCallEnd:
    case Op::kMisuse:
    case Op::kAcquireFailed: return;
  }
}

void Serializability::finish() {
  while (!open_.empty()) {
    const ThreadId thread = open_.front();
    end_block(thread, state(thread).learnt);
  }
}

void Serializability::enter(const AccessRecord& record) {
  begun_ = true;
  ThreadState& me = state(record.event.thread);
  me.acts = true;
  if (me.depth++ > 0) {
    return;
  }
  me.begin = me.clock[record.event.thread] + 1;
  me.clock.set(record.event.thread, me.begin);
  me.first = me.learnt = record;
  me.reported = false;
  me.number = ++blocks_;
  open_.push_back(record.event.thread);
}

void Serializability::exit(const AccessRecord& record) {
  ThreadState& me = state(record.event.thread);
  if (me.depth > 1) {
    --me.depth;
  } else if (me.depth == 1) {
    end_block(record.event.thread, record);
  }
}

// Lines 30 to 41: who comes after the beginning comes after all of it.
void Serializability::end_block(ThreadId thread, const AccessRecord& last) {
  open_.erase(std::find(open_.begin(), open_.end(), thread));
  ThreadState& me = state(thread);
  me.depth = 0;
  const Epoch beginning(thread, me.begin);
  const VectorClock known = me.clock;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (ThreadId(i) != thread && threads_[i].clock.knows(beginning)) {
      learn(ThreadId(i), known, last, threads_[i].learnt);
    }
  }
  const std::unordered_set<SentId> knowing = std::exchange(state(thread).knows_it, {});
  for (const SentId id : knowing) {
    if (sent_[id].clock.knows(beginning)) {
      sent_[id].clock.join(known);
      register_with_open(id);
    }
  }
}

void Serializability::learn(ThreadId thread, const VectorClock& clock, const AccessRecord& from,
                            const AccessRecord& at) {
  ThreadState& me = state(thread);
  if (me.depth > 0 && !me.reported && clock.knows(Epoch(thread, me.begin))) {
    me.reported = true;
    AtomicityCandidate violated{.first = me.first, .other = from, .second = at};
    violated.observed = violated.declared = true;
    report_(violated);
  }
  me.clock.join(clock);
  me.learnt = at;
}

void Serializability::learn(SentId from, const AccessRecord& at) {
  if (from != kNothing && sent_[from].by.event.thread != at.event.thread) {
    learn(at.event.thread, sent_[from].clock, sent_[from].by, at);
  }
}

void Serializability::register_with_open(SentId id) {
  for (const ThreadId thread : open_) {
    ThreadState& block = threads_[raw(thread)];
    if (sent_[id].clock.knows(Epoch(thread, block.begin))) {
      block.knows_it.insert(id);
    }
  }
}

void Serializability::send(SentId& slot, const AccessRecord& record) {
  if (slot == kNothing) {
    if (free_.empty()) {
      slot = static_cast<SentId>(sent_.size());
      sent_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
  }
  sent_[slot].clock = state(record.event.thread).clock;
  sent_[slot].by = record;
  register_with_open(slot);
}

void Serializability::send_own(std::vector<SentId>& slots, const AccessRecord& record) {
  const auto own = std::find_if(slots.begin(), slots.end(),
                                [&](SentId id) { return sent_[id].by.event.thread == record.event.thread; });
  send(own == slots.end() ? slots.emplace_back(kNothing) : *own, record);
}

void Serializability::drop(SentId& id) {
  if (id != kNothing) {
    sent_[id] = {};
    free_.push_back(std::exchange(id, kNothing));
  }
}

Serializability::SentId Serializability::copy(SentId id) {
  if (id == kNothing) {
    return kNothing;
  }
  SentId made = kNothing;
  const AccessRecord by = sent_[id].by;
  send(made, by);
  sent_[made].clock = sent_[id].clock;
  register_with_open(made);
  return made;
}

// What it learns from one of its bytes, others learn from all of them.
void Serializability::access(const AccessRecord& record) {
  const Event& e = record.event;
  touched_.clear();
  const auto visit = [&](CellId id) { touched_.push_back(id); };
  if (e.op == Op::kFree) {
    memory_.free(e.object, std::max<std::uint64_t>(e.size, 1), visit);
  } else if (e.size > 0) {
    memory_.access(e.object, e.size, visit);
  }
  for (const CellId id : touched_) {
    const Cell& cell = cells_[raw(id)];
    learn(cell.write, record);
    for (std::size_t i = 0; is_write(e.op) && i < cell.reads.size(); ++i) {
      learn(cell.reads[i], record);
    }
  }
  for (const CellId id : touched_) {
    Cell& cell = cells_[raw(id)];
    if (!is_write(e.op)) {
      send_own(cell.reads, record);
      continue;
    }
    for (SentId& read : cell.reads) {
      drop(read);
    }
    cell.reads.clear();
    send(cell.write, record);
  }
}

void Serializability::acquire(const AccessRecord& record) {
  const Lock& lock = locks_[record.event.object];
  learn(lock.exclusive, record);
  if (!is_shared(record.event)) {
    for (const SentId reader : lock.shared) {
      learn(reader, record);
    }
  }
}

void Serializability::release(const AccessRecord& record) {
  Lock& lock = locks_[record.event.object];
  if (is_shared(record.event)) {
    return send_own(lock.shared, record);
  }
  // Those are known to who has it exclusively, unless it is held in both modes.
  const bool all_known = std::all_of(lock.shared.begin(), lock.shared.end(), [&](SentId id) {
    return state(record.event.thread).clock.covers(sent_[id].clock);
  });
  if (all_known) {
    for (SentId& reader : lock.shared) {
      drop(reader);
    }
    lock.shared.clear();
  }
  send(lock.exclusive, record);
}

void Serializability::synchronise(const AccessRecord& record) {
  const Event& e = record.event;
  switch (e.op) {
    case Op::kFork: {
      const ThreadId child{static_cast<std::uint32_t>(e.object)};
      const VectorClock clock = state(e.thread).clock;
      AccessRecord begins = record;
      begins.event.thread = child;
      return learn(child, clock, record, begins);
    }
    case Op::kJoin: {
      const ThreadId child{static_cast<std::uint32_t>(e.object)};
      if (!state(child).acts) {
        return;  // it has done nothing that could come before this
      }
      if (is_open(child)) {
        end_block(child, record);
      }
      const VectorClock clock = state(child).clock;
      AccessRecord ended = record;
      ended.event.thread = child;
      return learn(e.thread, clock, ended, record);
    }
    case Op::kNotify:
    case Op::kBarrierArrive:
    case Op::kSemPost:
    case Op::kHappensBefore:
    case Op::kCondNotify: return send_own(messages_[message_key(e)], record);
    default:
      for (const SentId id : messages_[message_key(e)]) {
        learn(id, record);
      }
  }
}

void Serializability::on_new_cell(CellId cell) {
  if (raw(cell) >= cells_.size()) {
    cells_.resize(raw(cell) + 1);
  }
}

void Serializability::on_split_cell(CellId from, CellId to) {
  on_new_cell(to);
  cells_[raw(to)].write = copy(cells_[raw(from)].write);
  cells_[raw(to)].reads.clear();
  for (std::size_t i = 0; i < cells_[raw(from)].reads.size(); ++i) {
    const SentId made = copy(cells_[raw(from)].reads[i]);
    cells_[raw(to)].reads.push_back(made);
  }
}

void Serializability::on_drop_cell(CellId cell) {
  Cell& dropped = cells_[raw(cell)];
  drop(dropped.write);
  for (SentId& read : dropped.reads) {
    drop(read);
  }
  dropped.reads.clear();
}

}  // namespace sooth
