#include "recipe/judge/check_machine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "race/witness_text.h"

namespace sooth {
namespace {

constexpr std::uint32_t kMaxStepsBeside = 10'000;   // that a witness does not name
constexpr std::uint64_t kMaxBytesBeside = 1 << 24;  // of one step

std::string hex(std::uint64_t number) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[number % 16]);
    number /= 16;
  } while (number != 0);
  return "0x" + text;
}

// Little-endian; nothing when a bit is unknown or there are more than 8 bytes.
std::optional<std::uint64_t> number_of(const ConcreteBytes& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= 8 || bytes[i].unknown != 0) {
      return std::nullopt;
    }
    number |= std::uint64_t{bytes[i].value} << (8 * i);
  }
  return number;
}

}  // namespace

CheckMachine::CheckMachine(const RecordedRun& run)
    : run_(run), ops_(run.program()), memory_(run.first_contents()), copied_(run.tapes().size()) {
  for (std::uint32_t t = 0; t < run.tapes().size(); ++t) {
    threads_.emplace_back(run.program(), ops_, run.trace(), run.tapes()[t], run.log(t), false);
    threads_.back().set_memory_guard(
        [this, t](const std::vector<std::uint64_t>& pointers) { return visible_change(t, pointers); });
    threads_.back().set_block_size([this](std::uint64_t address) -> std::optional<std::uint64_t> {
      const Placed* block = allocated_.find(address);
      return block != nullptr && block->begin == address ? std::optional(block->last - block->begin + 1) : std::nullopt;
    });
  }
}

Status CheckMachine::cannot(std::uint32_t event, const std::string& why) const {
  return Status::bad_input(event_text(run_.trace(), event) + " cannot happen: " + why);
}

Status CheckMachine::execute(std::uint32_t event, const std::optional<std::uint64_t>& claimed) {
  const Event& e = run_.trace().events[event];
  ConcreteThread& thread = threads_[raw(e.thread)];
  const RecordedRun::Extent& extent = run_.extent(raw(e.thread));
  if (thread.left_at() != nullptr) {
    return cannot(event, "its thread has left its recorded path");
  }
  if (ConcreteThread::is_passive(e.op)) {
    thread.take_event();
  } else if (thread.position() < extent.events) {
    SOOTH_RETURN_IF_ERROR(execute_code(event, thread, claimed));
  } else {
    if (!thread.is_trusted()) {
      return cannot(event, "the code of its thread cannot be executed so far (" + extent.why +
                               "), and it has read something else before");
    }
    thread.take_event();
    SOOTH_RETURN_IF_ERROR(execute_foreign(event));
  }
  if (e.op == Op::kAlloc) {
    note_alloc(event);
  }
  return check_calls(event);
}

Status CheckMachine::execute_code(std::uint32_t event, ConcreteThread& thread,
                                  const std::optional<std::uint64_t>& claimed) {
  const Event& e = run_.trace().events[event];
  const ConcreteStep step = thread.next();
  SOOTH_RETURN_IF_ERROR(fits(event, step, thread));
  thread.take_event();
  if (step.kind == ConcreteStep::Kind::kForeign) {
    thread.finish();
    return execute_foreign(event);
  }
  if (step.kind != ConcreteStep::Kind::kAccess) {
    thread.finish();
    return {};
  }
  ReadBack got;
  if (is_read(e.op)) {
    std::optional<ConcreteBytes> told = run_.recorded(event);
    Result<ReadBack> result = read(event, told ? told : thread.take_words(e.size), false);
    if (!result.ok()) {
      return result.status();
    }
    got = std::move(*result);
    if (claimed) {
      SOOTH_RETURN_IF_ERROR(check_claim(event, got, *claimed));
    }
    const std::optional<Op> outcome = thread.outcome(step, got.bytes, e.op);
    if (outcome ? *outcome != e.op : !(thread.is_trusted() && got.as_recorded)) {
      return cannot(event, "the compare-exchange ends another way than in the recorded run");
    }
    copied_[raw(e.thread)] = got.differs;
    thread.set_trusted(thread.is_trusted() && got.as_recorded);
  }
  const std::optional<ConcreteThread::Written> written = thread.finish(got.bytes, e.op);
  if (!written) {
    return {};
  }
  const std::optional<ConcreteBytes> told = e.op == Op::kAtomicRmw ? std::nullopt : run_.recorded(event);
  std::vector<bool> changed(written->bytes.size(), !thread.is_trusted() && !written->as_recorded);
  const bool copies =
      !told && copied_[raw(e.thread)].size() == changed.size() && e.op == Op::kWrite && !written->as_recorded;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (told) {
      changed[i] = written->bytes[i] != (*told)[i];
    } else if (copies) {
      changed[i] = copied_[raw(e.thread)][i];
    }
  }
  write(event, written->bytes, changed);
  return {};
}

// Whether the step is what the event was in the recorded run.
Status CheckMachine::fits(std::uint32_t event, const ConcreteStep& step, ConcreteThread& thread) {
  const Event& e = run_.trace().events[event];
  switch (step.kind) {
    case ConcreteStep::Kind::kForeign: return {};
    case ConcreteStep::Kind::kStuck: return cannot(event, step.why);
    case ConcreteStep::Kind::kEnd: return cannot(event, "its thread is at the end");
    case ConcreteStep::Kind::kAcquire:
    case ConcreteStep::Kind::kRelease:
    case ConcreteStep::Kind::kFence:
    case ConcreteStep::Kind::kAccess: break;
  }
  if (!ConcreteThread::may_be(step, e.op)) {
    return cannot(event, "the code does something else at " + thread.place_text(*step.at));
  }
  if (step.kind != ConcreteStep::Kind::kAccess) {
    return {};
  }
  if (step.address && *step.address != e.object) {
    return cannot(event, "the code at " + thread.place_text(*step.at) + " accesses " + hex(*step.address) +
                             " now, not " + hex(e.object));
  }
  if (step.size != e.size) {
    return cannot(event, "the code at " + thread.place_text(*step.at) + " accesses " + std::to_string(step.size) +
                             " bytes now, not " + std::to_string(e.size));
  }
  return {};
}

// Code that is not executed has read what it read, so it does what it did.
Status CheckMachine::execute_foreign(std::uint32_t event) {
  const Event& e = run_.trace().events[event];
  if (is_read(e.op)) {
    const Result<ReadBack> got = read(event, run_.recorded(event), true);
    if (!got.ok()) {
      return got.status();
    }
  }
  if (e.op == Op::kFree || is_write(e.op)) {
    const bool has_record = e.op == Op::kWrite || e.op == Op::kAtomicStore;
    const std::optional<ConcreteBytes> bytes = has_record ? run_.recorded(event) : std::nullopt;
    if (bytes) {
      write(event, *bytes, std::vector<bool>(bytes->size(), false));
      return {};
    }
    writers_.push_back(event);
    for (const Stretch& stretch : run_.stretches(event)) {
      memory_.cover(stretch, static_cast<std::uint32_t>(writers_.size()));
    }
  }
  return {};
}

// `told`: what it read in the recorded run.
Result<CheckMachine::ReadBack> CheckMachine::read(std::uint32_t event, const std::optional<ConcreteBytes>& told,
                                                  bool foreign) {
  ReadBack result;
  const std::uint16_t surprises = run_.surprises(event);
  const std::span<const Seen> seen = run_.seen(event);
  std::size_t run = 0;
  std::uint32_t run_end = seen.empty() ? 0 : seen[0].size;
  for (const Stretch& stretch : run_.stretches(event)) {
    for (std::uint32_t i = 0; i < stretch.size; ++i) {
      const std::size_t index = result.bytes.size();
      MemoryCell cell = memory_.read(stretch.allocated, stretch.begin + i);
      while (run + 1 < seen.size() && index >= run_end) {
        run_end += seen[++run].size;
      }
      const bool same_writer = !seen.empty() && writer(cell) == seen[run].writer && !cell.changed;
      const bool surprise = (surprises >> std::min<std::size_t>(index, 15) & 1) != 0;
      bool same = false;
      if (surprise) {
        // Something unseen wrote it behind the last write, which must be the same, then.
        same = same_writer;
        cell.content = !same ? ConcreteByte{0, 0xff} : told ? (*told)[index] : cell.content;
      } else {
        same = told ? cell.content == (*told)[index] : same_writer;
      }
      if (same && surprise) {
        cell.seen = true;
        memory_.write(stretch.allocated, stretch.begin + i, cell);
      }
      if (!same && foreign) {
        const std::uint32_t who = writer(cell);
        return cannot(event, "its code is not executed, so it must read what it read, and it sees " +
                                 (who == Seen::kNobody  ? "no write"
                                  : who == kDetourWrite ? "a write beside the recorded path"
                                                        : "the write of event " + std::to_string(who)) +
                                 (cell.changed ? ", which wrote something else" : ""));
      }
      result.as_recorded = result.as_recorded && same;
      result.differs.push_back(!same);
      result.bytes.push_back(cell.content);
    }
  }
  return result;
}

Status CheckMachine::check_claim(std::uint32_t event, const ReadBack& got, std::uint64_t claimed) const {
  const std::optional<std::uint64_t> number = number_of(got.bytes);
  if (number == claimed) {
    return {};
  }
  return Status::bad_input(event_text(run_.trace(), event) + " reads " +
                           (number ? std::to_string(*number) : "something that is not known") + ", not " +
                           std::to_string(claimed));
}

void CheckMachine::write(std::uint32_t event, const ConcreteBytes& bytes, const std::vector<bool>& changed) {
  writers_.push_back(event);
  const auto when = static_cast<std::uint32_t>(writers_.size());
  std::size_t index = 0;
  for (const Stretch& stretch : run_.stretches(event)) {
    for (std::uint32_t i = 0; i < stretch.size && index < bytes.size(); ++i, ++index) {
      memory_.write(stretch.allocated, stretch.begin + i, {bytes[index], changed[index], true, when});
      if (changed[index]) {
        changed_[run_.trace().events[event].object + index] = {stretch.allocated, stretch.begin + i};
      }
    }
  }
}

void CheckMachine::note_alloc(std::uint32_t event) {
  const Event& e = run_.trace().events[event];
  const std::span<const Stretch> block = run_.stretches(event);
  if (block.empty()) {
    return;
  }
  struct Piece {
    std::uint64_t first, last;
    bool again;
  };
  std::vector<Piece> pieces;
  allocated_.for_each(e.object, e.object + (e.size - 1),
                      [&](std::uint64_t first, std::uint64_t last, const Placed* before) {
                        pieces.push_back({first, last, before != nullptr});
                      });
  for (const Piece& piece : pieces) {
    allocated_.assign(piece.first, piece.last,
                      {block[0].begin - e.object, piece.again, e.object, e.object + (e.size - 1)});
  }
}

// What runs unseen in a call may read all that the call reaches, so that must be as recorded from its begin to its end.
Status CheckMachine::check_calls(std::uint32_t event) {
  const TraceView& trace = run_.trace();
  if (trace.reaches.empty()) {
    return {};
  }
  const Event& e = trace.events[event];
  if (e.op == Op::kCallBegin) {
    open_calls_.push_back({raw(e.thread), e.object, event});
  } else if (e.op == Op::kCallEnd) {
    for (std::size_t i = open_calls_.size(); i-- > 0;) {
      if (open_calls_[i].thread == raw(e.thread) && open_calls_[i].object == e.object) {
        open_calls_.erase(open_calls_.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
    }
  }
  if (changed_.empty() || (e.op != Op::kCallBegin && !is_write(e.op))) {
    return {};
  }
  for (const OpenCall& call : open_calls_) {
    auto reach = std::lower_bound(trace.reaches.begin(), trace.reaches.end(), call.begin,
                                  [](const Reach& r, std::uint32_t begin) { return raw(r.call) < begin; });
    for (; reach != trace.reaches.end() && raw(reach->call) == call.begin; ++reach) {
      const auto changed = changed_.lower_bound(reach->begin);
      if (changed != changed_.end() && changed->first - reach->begin < reach->length) {
        return cannot(event, "the call of event " + std::to_string(call.begin) + " reaches " + hex(changed->first) +
                                 ", where something else was written than in the recorded run");
      }
    }
  }
  return {};
}

// Memory that a call of code that is not recorded may look at, and that is not what it was: the thread's own, and the
// blocks and variables that it gets addresses of. Empty: there is none.
std::string CheckMachine::visible_change(std::uint32_t thread, const std::vector<std::uint64_t>& pointers) const {
  for (const auto& [address, place] : changed_) {
    if (!memory_.read(place.first, place.second).changed) {
      continue;  // it has been overwritten
    }
    const std::uint64_t byte = address;
    const bool handed_over = std::any_of(pointers.begin(), pointers.end(), [&](std::uint64_t pointer) {
      const Placed* block = allocated_.find(pointer);
      const auto variable = block == nullptr ? run_.first_contents().variable_around(pointer) : std::nullopt;
      return block != nullptr ? byte >= block->begin && byte <= block->last
                              : variable && byte - variable->first < variable->second;
    });
    if (handed_over || run_.is_private(thread, place.first, place.second)) {
      return hex(address) + ", where something else is than in the recorded run";
    }
  }
  return "";
}

Status CheckMachine::arrive(std::uint32_t event) {
  const Event& e = run_.trace().events[event];
  ConcreteThread& thread = threads_[raw(e.thread)];
  const RecordedRun::Extent& extent = run_.extent(raw(e.thread));
  if (thread.position() >= extent.events) {
    return thread.is_trusted() ? Status()
                               : cannot(event, "the code of its thread cannot be executed so far (" + extent.why +
                                                   "), and it has read something else before");
  }
  const ConcreteStep step = thread.next();
  SOOTH_RETURN_IF_ERROR(fits(event, step, thread));
  if (step.kind == ConcreteStep::Kind::kAccess) {
    const std::optional<Op> outcome = thread.outcome(step, peek(run_.stretches(event)), e.op);
    if (outcome ? *outcome != e.op : !thread.is_trusted()) {
      return cannot(event, "the compare-exchange would end another way than in the recorded run");
    }
  }
  return {};
}

// Nobody knows which block is meant by an address at which the order has had several.
Result<CheckMachine::Touched> CheckMachine::resolve(std::uint64_t address, std::uint64_t size,
                                                    const llvm::Instruction& at) const {
  if (size == 0 || size > kMaxBytesBeside || address + (size - 1) < address) {
    return Status::bad_input("the access at " + run_.program().site(at).label + " beside the recorded path is of " +
                             std::to_string(size) + " bytes at " + hex(address));
  }
  Touched touched;
  bool several = false;
  allocated_.for_each(address, address + (size - 1),
                      [&](std::uint64_t first, std::uint64_t last, const Placed* placed) {
                        several = several || (placed != nullptr && placed->several);
                        touched.push_back({first + (placed != nullptr ? placed->moved : 0),
                                           static_cast<std::uint32_t>(last - first + 1), placed != nullptr});
                      });
  if (several) {
    return Status::bad_input("the access at " + run_.program().site(at).label +
                             " beside the recorded path is to memory that was allocated more than once");
  }
  return touched;
}

ConcreteBytes CheckMachine::peek(std::span<const Stretch> stretches) const {
  ConcreteBytes bytes;
  for (const Stretch& stretch : stretches) {
    for (std::uint32_t i = 0; i < stretch.size; ++i) {
      bytes.push_back(memory_.read(stretch.allocated, stretch.begin + i).content);
    }
  }
  return bytes;
}

bool CheckMachine::comes_to_event(std::uint32_t thread) {
  threads_[thread].allow_leaving();
  const ConcreteStep step = threads_[thread].next();
  return threads_[thread].left_at() == nullptr && step.kind == ConcreteStep::Kind::kForeign;
}

Result<CheckMachine::Touched> CheckMachine::arrive(const DetourEvent& claimed) {
  ConcreteThread& thread = threads_[raw(claimed.thread)];
  const std::string who = thread_text(run_.trace(), claimed.thread);
  const auto& events = run_.tapes()[raw(claimed.thread)].events;
  if (thread.position() > run_.extent(raw(claimed.thread)).events) {
    return Status::bad_input(who + " cannot leave its recorded path where its code cannot be executed");
  }
  thread.allow_leaving();
  for (std::uint32_t steps = 0; steps < kMaxStepsBeside; ++steps) {
    const ConcreteStep step = thread.next();
    if (step.kind == ConcreteStep::Kind::kStuck) {
      return Status::bad_input(who + " does not get to its next step beside the recorded path: " + step.why);
    }
    if (thread.left_at() == nullptr && step.kind == ConcreteStep::Kind::kAccess && step.address) {
      if (const Result<Touched> touched = resolve(*step.address, step.size, *step.at); touched.ok()) {
        thread.leave_by_outcome(step, peek(*touched));
      }
    }
    if (thread.left_at() == nullptr) {
      const std::string first = thread.position() < events.size()
                                    ? "first comes " + event_text(run_.trace(), events[thread.position()])
                                    : "it is at its end";
      return Status::bad_input(who + " does not leave its recorded path: " + first);
    }
    if (step.kind == ConcreteStep::Kind::kFence) {
      thread.finish();
      continue;
    }
    const bool same_place = run_.program().ref(*step.at) == claimed.at;
    if (step.kind != ConcreteStep::Kind::kAccess) {
      if (!same_place || step.op != claimed.op || *step.address != claimed.object) {
        return Status::bad_input(who + " comes to a lock at " + thread.place_text(*step.at) +
                                 " beside the recorded path, which the witness does not name");
      }
      return Touched();
    }
    Result<Touched> touched = resolve(*step.address, step.size, *step.at);
    if (!touched.ok()) {
      return touched;
    }
    const std::optional<Op> outcome = thread.outcome(step, peek(*touched), step.op);
    if (!outcome) {
      return Status::bad_input("how the compare-exchange at " + thread.place_text(*step.at) + " ends is not known");
    }
    if (same_place && *outcome == claimed.op && *step.address == claimed.object && step.size == claimed.size) {
      return touched;
    }
    SOOTH_RETURN_IF_ERROR(step_beside(raw(claimed.thread), step, *touched, *outcome));
  }
  return Status::bad_input(who + " does not come to a step beside the recorded path that the witness names");
}

Status CheckMachine::execute(const DetourEvent& claimed, const Touched& touched) {
  ConcreteThread& thread = threads_[raw(claimed.thread)];
  const ConcreteStep step = thread.next();
  if (claimed.value && is_read(claimed.op)) {
    const std::optional<std::uint64_t> number = number_of(peek(touched));
    if (number != claimed.value) {
      return Status::bad_input("the access at " + thread.place_text(*step.at) + " beside the recorded path reads " +
                               (number ? std::to_string(*number) : "something that is not known") + ", not " +
                               std::to_string(*claimed.value));
    }
  }
  return step_beside(raw(claimed.thread), step, touched, claimed.op);
}

Status CheckMachine::step_beside(std::uint32_t number, const ConcreteStep& step, const Touched& touched, Op done) {
  // What is there depends on code that is not recorded, and that code on what is written there.
  if (run_.is_reached(*step.address, step.size)) {
    return Status::bad_input("the step at " + run_.program().site(*step.at).label +
                             " beside the recorded path touches memory that a call which is not recorded may touch");
  }
  const ConcreteBytes bytes = is_read(step.op) ? peek(touched) : ConcreteBytes();
  const std::optional<ConcreteThread::Written> written = threads_[number].finish(bytes, done);
  if (!written) {
    return {};
  }
  writers_.push_back(kDetourWrite);
  const auto when = static_cast<std::uint32_t>(writers_.size());
  std::size_t index = 0;
  for (const Stretch& stretch : touched) {
    for (std::uint32_t i = 0; i < stretch.size; ++i, ++index) {
      memory_.write(stretch.allocated, stretch.begin + i, {written->bytes[index], true, true, when});
      changed_[*step.address + index] = {stretch.allocated, stretch.begin + i};
    }
  }
  return {};
}

}  // namespace sooth
