#include "recipe/judge/recorded_run.h"

#include <algorithm>
#include <utility>

#include "race/witness_text.h"

namespace sooth {

struct RecordedRun::Making {
  Making(const DeepProgram& program, const FirstContents& first) : ops(program), memory(first) {}

  ConcreteOps ops;
  ConcreteMemory memory;
  Generations generations;
  std::vector<ConcreteThread> threads;
};

RecordedRun::RecordedRun(const DeepProgram& program, const TraceView& trace, RunObserver* observer)
    : program_(program),
      trace_(trace),
      tapes_(make_tapes(trace)),
      calls_(trace.reaches),
      first_(program),
      extents_(tapes_.size()),
      logs_(tapes_.size()) {
  Making making(program, first_);
  making_ = &making;
  observer_ = observer;
  for (std::size_t t = 0; t < tapes_.size(); ++t) {
    making.threads.emplace_back(program, making.ops, trace_, tapes_[t], logs_[t], true);
    making.threads.back().set_observer(observer);
    extents_[t].events = tapes_[t].events.size();
  }
  for (std::uint32_t id = 0; id < trace.events.size(); ++id) {
    const Event& e = trace.events[id];
    first_stretch_.push_back(stretches_.size());
    if (e.op == Op::kAlloc) {
      making.generations.alloc(e);
    }
    if ((is_access(e.op) || e.op == Op::kFree || e.op == Op::kAlloc) && e.size != 0) {
      making.generations.resolve(e, stretches_);
    }
    first_stretch_.push_back(stretches_.size());
    if (is_access(e.op)) {
      note_user(id);
    }
    execute(id);
    first_stretch_.pop_back();
  }
  first_stretch_.push_back(stretches_.size());
  // What threads did behind their last events: another run may leave its path there.
  for (std::size_t t = 0; t < tapes_.size(); ++t) {
    if (extents_[t].events == tapes_[t].events.size()) {
      static_cast<void>(making.threads[t].next());
    }
  }
  making_ = nullptr;
  observer_ = nullptr;
}

std::optional<ConcreteBytes> RecordedRun::recorded(std::uint32_t event) const {
  const Event& e = trace_.events[event];
  if (trace_.values.empty() || e.size == 0 || trace_.values[event].size != e.size) {
    return std::nullopt;
  }
  const Value& value = trace_.values[event];
  const std::uint64_t words[] = {value.low, value.high};
  return from_words(words, e.size);
}

std::span<const Seen> RecordedRun::seen(std::uint32_t event) const {
  const Runs* runs = runs_.find(event);
  return runs != nullptr ? std::span(seen_).subspan(runs->first, runs->count) : std::span<const Seen>();
}

void RecordedRun::note_user(std::uint32_t event) {
  const std::uint32_t own = raw(trace_.events[event].thread) + 1;
  for (const Stretch& stretch : stretches(event)) {
    for (std::uint64_t granule = stretch.begin / 8; granule <= (stretch.begin + (stretch.size - 1)) / 8; ++granule) {
      std::uint32_t& user = users_[stretch.allocated ? 1 : 0][granule];
      user = user == 0 || user == own ? own : kManyUsers;
    }
  }
}

void RecordedRun::stop(std::uint32_t thread, std::size_t events, std::string why) {
  extents_[thread] = {events, std::move(why)};
}

void RecordedRun::execute(std::uint32_t event) {
  const Event& e = trace_.events[event];
  ConcreteThread& thread = making_->threads[raw(e.thread)];
  const Extent& extent = extents_[raw(e.thread)];
  const bool stopped = thread.position() >= extent.events;
  if (!stopped && !ConcreteThread::is_passive(e.op)) {
    static_cast<void>(thread.next());  // what it does in front of the event comes first
  }
  if (observer_ != nullptr) {
    observer_->happens(event);
  }
  if (stopped || ConcreteThread::is_passive(e.op)) {
    thread.take_event();
  } else {
    execute_code(event, thread);
  }
  if (thread.position() > extent.events && is_access(e.op)) {
    // Its code does not explain it.
    if (is_read(e.op)) {
      read(event, recorded(event));
    }
    if (is_write(e.op)) {
      write(event, std::nullopt);
    }
  } else if (e.op == Op::kFree) {
    write(event, std::nullopt);
  }
}

std::string RecordedRun::mismatch(const Event& e, const ConcreteStep& step) const {
  if (step.kind == ConcreteStep::Kind::kEnd) {
    return "its record ends before its events do";
  }
  const std::string place = program_.site(*step.at).label;
  if (step.kind == ConcreteStep::Kind::kFence) {
    return e.op == Op::kFence ? "" : "the code is at a fence at " + place;
  }
  if (!ConcreteThread::may_be(step, e.op)) {
    return "the code does something else at " + place;
  }
  if (step.size != e.size || (step.address && *step.address != e.object)) {
    return "the code accesses other bytes at " + place;
  }
  return "";
}

// The next event of a thread whose code has explained all before it.
void RecordedRun::execute_code(std::uint32_t event, ConcreteThread& thread) {
  const Event& e = trace_.events[event];
  const std::uint32_t number = raw(e.thread);
  const std::size_t position = thread.position();
  const ConcreteStep step = thread.next();
  if (step.kind == ConcreteStep::Kind::kStuck) {
    stop(number, position, step.why);
  } else if (step.kind != ConcreteStep::Kind::kForeign) {
    if (std::string why = mismatch(e, step); !why.empty()) {
      stop(number, position, std::move(why));
    }
  }
  thread.take_event();
  if (extents_[number].events == position) {
    return;
  }
  if (step.kind != ConcreteStep::Kind::kAccess) {
    thread.finish();
    if (is_access(e.op)) {
      if (is_read(e.op)) {
        read(event, recorded(event));
      }
      if (is_write(e.op)) {
        write(event, std::nullopt);
      }
    }
    return;
  }
  ConcreteBytes bytes;
  if (is_read(e.op)) {
    std::optional<ConcreteBytes> told = recorded(event);
    bytes = read(event, told ? told : thread.take_words(e.size));
    const std::optional<Op> outcome = thread.outcome(step, bytes, e.op);
    if (outcome && *outcome != e.op) {
      stop(number, position, "the compare-exchange at " + program_.site(*step.at).label + " ends another way");
      return;
    }
  }
  const std::optional<ConcreteThread::Written> written = thread.finish(bytes, e.op);
  if (!is_write(e.op) || !written) {
    return;
  }
  const std::optional<ConcreteBytes> told = e.op == Op::kAtomicRmw ? std::nullopt : recorded(event);
  for (std::size_t i = 0; told && i < told->size(); ++i) {
    const ConcreteByte& computed = written->bytes[i];
    if (computed.value != ((*told)[i].value & ~computed.unknown)) {
      stop(number, position, "the code writes another value at " + program_.site(*step.at).label);
      return;
    }
  }
  write(event, written->bytes);
}

// `told`: what it read, by the record.
ConcreteBytes RecordedRun::read(std::uint32_t event, const std::optional<ConcreteBytes>& told) {
  const bool reached = calls_.reaches(trace_.events[event]);
  ConcreteBytes bytes;
  std::vector<Seen> seen;
  std::uint16_t surprises = reached ? 0xffff : 0;
  bool is_news = false;  // nobody has written that before, as far as is known
  for (const Stretch& stretch : stretches(event)) {
    for (std::uint32_t i = 0; i < stretch.size; ++i) {
      const std::size_t index = bytes.size();
      MemoryCell cell = making_->memory.read(stretch.allocated, stretch.begin + i);
      const std::uint32_t writer = cell.when == 0 ? Seen::kNobody : cell.when - 1;
      if (!seen.empty() && seen.back().writer == writer) {
        ++seen.back().size;
      } else {
        seen.push_back({writer, 1});
      }
      if (told) {
        const ConcreteByte found = (*told)[index];
        is_news = is_news || !cell.seen || cell.content != found;
        if (!cell.seen) {
          first_.learn(stretch.allocated, stretch.begin + i, found.value);
        } else if (cell.content != found) {
          surprises = static_cast<std::uint16_t>(surprises | (1u << std::min<std::size_t>(index, 15)));
        }
        cell.content = found;
      }
      cell.seen = true;
      making_->memory.write(stretch.allocated, stretch.begin + i, cell);
      bytes.push_back(cell.content);
    }
  }
  if (observer_ != nullptr && told && is_news) {
    observer_->contains(trace_.events[event].object, bytes);
  }
  if (surprises != 0) {
    surprises_[event] = surprises;
  }
  if (surprises != 0 || !told) {
    runs_[event] = {seen_.size(), seen.size()};
    seen_.insert(seen_.end(), seen.begin(), seen.end());
  }
  return bytes;
}

// What the record says, else what was computed, else something that nobody knows.
void RecordedRun::write(std::uint32_t event, const std::optional<ConcreteBytes>& computed) {
  const Event& e = trace_.events[event];
  const bool has_record = e.op == Op::kWrite || e.op == Op::kAtomicStore;
  std::optional<ConcreteBytes> bytes = has_record ? recorded(event) : std::nullopt;
  if (!bytes) {
    bytes = computed;
  }
  if (observer_ != nullptr && bytes) {
    observer_->contains(e.object, *bytes);
  } else if (observer_ != nullptr && e.op != Op::kFree) {
    observer_->contains_something(e.object, e.size);
  }
  std::size_t index = 0;
  for (const Stretch& stretch : stretches(event)) {
    if (!bytes) {
      making_->memory.cover(stretch, event + 1);
      continue;
    }
    for (std::uint32_t i = 0; i < stretch.size; ++i, ++index) {
      making_->memory.write(stretch.allocated, stretch.begin + i, {(*bytes)[index], false, true, event + 1});
    }
  }
}

}  // namespace sooth
