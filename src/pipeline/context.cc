#include "pipeline/context.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "pipeline/heap_names.h"
#include "trace/text/std_syntax.h"

namespace sooth {
namespace {

constexpr std::size_t kMostLocks = 16;   // of which it is counted how often they are held
constexpr std::size_t kMostHolders = 8;  // of the address of one block

Origin make_origin(const AccessRecord& record, const Tables& tables) {
  Origin origin;
  origin.thread = tables.thread_name(record.event.thread);
  origin.event = record.id;
  origin.site = tables.site(record.event.site);
  for (const SiteId frame : tables.frames(record.stack)) {
    origin.stack.push_back(tables.site(frame));
  }
  return origin;
}

// The first byte that both accesses of a race touch.
std::uint64_t first_common_byte(const Finding& race) {
  return std::max(race.accesses.front().address, race.accesses.back().address);
}

// Those that are told by their address.
std::set<std::uint64_t> nameless_locks(const Finding& finding) {
  std::set<std::uint64_t> locks;
  for (const Access& access : finding.accesses) {
    for (const std::string& held : access.locks) {
      if (held.starts_with("0x")) {
        locks.insert(std::strtoull(held.c_str(), nullptr, 16));
      }
    }
    if (object_kind(access.op) == ObjectKind::kLock && access.variable.empty()) {
      locks.insert(access.address);
    }
  }
  return locks;
}

void add_thread(const AccessRecord& fork, Finding& finding, const Tables& tables) {
  std::vector<ThreadContext>& threads = finding.context.threads;
  Origin created = make_origin(fork, tables);
  const bool known = std::any_of(threads.begin(), threads.end(),
                                 [&](const ThreadContext& thread) { return thread.created.event == created.event; });
  if (!known) {
    threads.push_back({tables.describe(ObjectKind::kThread, fork.event.object), std::move(created)});
  }
}

void add_lock(std::uint64_t number, const AccessRecord& acquire, Finding& finding, const Tables& tables) {
  std::vector<LockContext>& locks = finding.context.locks;
  const bool known =
      std::any_of(locks.begin(), locks.end(), [&](const LockContext& lock) { return lock.address == number; });
  if (!known) {
    locks.push_back({tables.describe(ObjectKind::kLock, number), number, make_origin(acquire, tables)});
  }
}

}  // namespace

void ForkLog::add(const AccessRecord& fork, const Tables& tables) {
  const std::uint64_t child = fork.event.object;
  if (child >= tables.thread_count()) {
    return;
  }
  if (child >= place_.size()) {
    place_.resize(child + 1);
  }
  ids_.push_back(raw(fork.id));
  by_.push_back(raw(fork.event.thread));
  sites_.push_back(raw(fork.event.site));
  stacks_.push_back(raw(fork.stack));
  place_[child] = static_cast<std::uint32_t>(ids_.size());
}

void ForkLog::consume(const Batch& batch, const Tables& tables) {
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    if (batch.events[i].op == Op::kFork) {
      add({batch.events[i], batch.id(i), 0, kNoLocks, batch.stack(i)}, tables);
    }
  }
}

std::optional<AccessRecord> ForkLog::of(ThreadId thread) const {
  if (raw(thread) >= place_.size() || place_[raw(thread)] == 0) {
    return std::nullopt;
  }
  const std::size_t place = place_[raw(thread)] - 1;
  AccessRecord record;
  record.event.op = Op::kFork;
  record.event.object = raw(thread);
  record.event.thread = ThreadId(by_[place]);
  record.event.site = SiteId(sites_[place]);
  record.id = EventId{ids_[place]};
  record.stack = StackId(stacks_[place]);
  return record;
}

ContextCollector::ContextCollector(const std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    EventId last{};
    for (std::size_t k = 0; k < finding.accesses.size(); ++k) {
      const Access& access = finding.accesses[k];
      if (!access.executed) {
        continue;
      }
      stops_.push_back({access.event, i, k, access.op, access.address, false, {}, {}});
      last = std::max(last, access.event);
    }
    const bool is_use_after_free = finding.misuse == MisuseKind::kUseAfterFree;
    if ((finding.kind == FindingKind::kRace || is_use_after_free) && !finding.accesses.empty()) {
      bytes_.push_back({.address = first_common_byte(finding), .until = last, .finding = i});
    }
    for (const std::uint64_t lock : nameless_locks(finding)) {
      bytes_.push_back({.address = lock, .until = last, .finding = i, .is_lock = true});
    }
  }
  std::stable_sort(stops_.begin(), stops_.end(), [](const Stop& a, const Stop& b) { return a.event < b.event; });
  std::stable_sort(bytes_.begin(), bytes_.end(), [](const Byte& a, const Byte& b) { return a.address < b.address; });
}

void ContextCollector::consume(const Batch& batch, const Tables& tables) {
  begun_.resize(std::max(begun_.size(), tables.thread_count()));
  for (std::size_t i = 0; i < batch.events.size() && !done(); ++i) {
    step(batch, i, tables);
  }
}

void ContextCollector::step(const Batch& batch, std::size_t i, const Tables& tables) {
  const Event& e = batch.events[i];
  const auto record = [&] { return AccessRecord{e, batch.id(i), 0, kNoLocks, batch.stack(i)}; };
  const bool right_behind_begin = begun_count_ > 0 && begun_[raw(e.thread)];
  if (right_behind_begin) {
    begun_[raw(e.thread)] = false;
    --begun_count_;
  }
  switch (e.op) {
    case Op::kAcquire:
      if (held_.acquire(e) && first_acquires_.find(e.object) == nullptr) {
        first_acquires_[e.object] = record();
      }
      break;
    case Op::kRelease: held_.release(e); break;
    case Op::kFork: forks_.add(record(), tables); break;
    case Op::kAlloc: allocate(record(), right_behind_begin); break;
    case Op::kBegin:
      begun_[raw(e.thread)] = true;
      ++begun_count_;
      break;
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw: count_access(e); break;
    case Op::kFence:
    case Op::kNotify:
    case Op::kWait:
    case Op::kBarrierArrive:
    case Op::kBarrierLeave:
    case Op::kSemPost:
    case Op::kSemWait:
    case Op::kJoin:
    case Op::kEnd:
    case Op::kFree:
    case Op::kHappensBefore:
    case Op::kHappensAfter:
    case Op::kEnter:
    case Op::kExit:
    case Op::kCallBegin:
    case Op::kCallEnd:
    case Op::kMisuse:
    case Op::kCondNotify:
    case Op::kCondWait:
    case Op::kAcquireFailed: break;
  }
  if (!blocks_.empty() && !batch.values.empty() && is_access(e.op) && batch.values[i].size == e.size) {
    note_words(e, batch.id(i), batch.values[i], tables);
  }
  if (batch.id(i) == stops_[next_].event) {
    stop(e);
  }
}

void ContextCollector::allocate(const AccessRecord& alloc, bool right_behind_begin) {
  const Event& e = alloc.event;
  auto byte = std::lower_bound(bytes_.begin(), bytes_.end(), e.object,
                               [](const Byte& b, std::uint64_t address) { return b.address < address; });
  for (; byte != bytes_.end() && byte->address - e.object < e.size; ++byte) {
    if (alloc.id < byte->until) {
      byte->alloc = alloc;
      byte->stack = right_behind_begin && e.size >= kSmallestStack;
      byte->owner.reset();
      byte->holders.clear();
      std::uint64_t& size = blocks_[e.object];
      size = std::max<std::uint64_t>(size, e.size);
    }
  }
}

// Pointers are words; two of them may be written at once, as begin and end of a vector are.
void ContextCollector::note_words(const Event& access, EventId id, const Value& value, const Tables& tables) {
  const std::uint64_t words[] = {value.low, value.high};
  Event word = access;
  word.size = sizeof(std::uint64_t);
  for (std::size_t at = 0; (at + 1) * word.size <= access.size && at < std::size(words); ++at) {
    word.object = access.object + at * word.size;
    if (is_write(access.op) && !holders_.empty()) {
      holders_.erase(word.object);
    }
    if (blocks_.contains(words[at])) {
      note_pointer(word, id, words[at], tables);
    }
  }
}

// Names in the library's own code say nothing to the user, and a guard has the address of a lock only because somebody
// locks it: what the lock is the first member of is not called by that.
bool names_no_block(const NamedPart& part, const Tables& tables) {
  const std::string& type = tables.variables().types()[raw(part.type)].name;
  const auto guards = [&](std::string_view guard) { return type.starts_with(guard); };
  return part.name.starts_with("__") || part.function.starts_with("std::") ||
         part.function.starts_with("__gnu_cxx::") || guards("std::unique_lock<") || guards("std::shared_lock<") ||
         guards("std::lock_guard<") || guards("std::scoped_lock<");
}

// Whoever holds the address of a block has had it made, mostly: the pointer of a vector to its elements. What has a
// local variable for a while and a lasting one then is known by the lasting one. A lasting one that is only read got the
// address when nothing was recorded.
void ContextCollector::note_pointer(const Event& access, EventId id, std::uint64_t value, const Tables& tables) {
  if (!is_write(access.op) && tables.named_range(ObjectKind::kMemory, access.object) == nullptr) {
    return;
  }
  const std::optional<NamedPart> owner = tables.find_variable(access.object, access.size, id);
  if (!owner.has_value()) {
    note_holder(access.object, value, id);
    return;
  }
  if (names_no_block(*owner, tables)) {
    return;
  }
  const std::uint64_t size = blocks_.at(value);
  auto byte = std::lower_bound(bytes_.begin(), bytes_.end(), value,
                               [](const Byte& b, std::uint64_t address) { return b.address < address; });
  for (; byte != bytes_.end() && byte->address - value < size; ++byte) {
    const bool better = !byte->owner.has_value() || (!byte->owner->function.empty() && owner->function.empty());
    if (byte->alloc.has_value() && byte->alloc->event.object == value && better && id < byte->until) {
      byte->owner = owner;
    }
  }
}

void ContextCollector::note_holder(std::uint64_t holder, std::uint64_t value, EventId id) {
  holders_[holder] = value;
  const std::uint64_t size = blocks_.at(value);
  auto byte = std::lower_bound(bytes_.begin(), bytes_.end(), value,
                               [](const Byte& b, std::uint64_t address) { return b.address < address; });
  for (; byte != bytes_.end() && byte->address - value < size; ++byte) {
    if (byte->alloc.has_value() && byte->alloc->event.object == value && id < byte->until &&
        byte->holders.size() < kMostHolders) {
      byte->holders.push_back(holder);
    }
  }
}

// Of a local variable that had no name when it got the address, if it still has it.
std::optional<NamedPart> ContextCollector::owner_of(const Byte& byte, const Tables& tables) const {
  if (byte.owner.has_value()) {
    return byte.owner;
  }
  for (const std::uint64_t holder : byte.holders) {
    const auto held = holders_.find(holder);
    if (held == holders_.end() || held->second != byte.alloc->event.object) {
      continue;
    }
    std::optional<NamedPart> owner = tables.find_variable(holder, sizeof(std::uint64_t), byte.until);
    if (owner.has_value() && !names_no_block(*owner, tables)) {
      return owner;
    }
  }
  return std::nullopt;
}

// Which locks are held where the bytes of races are touched.
void ContextCollector::count_access(const Event& e) {
  if (bytes_.empty() || e.object > bytes_.back().address || e.object + e.size <= bytes_.front().address) {
    return;
  }
  auto byte = std::lower_bound(bytes_.begin(), bytes_.end(), e.object,
                               [](const Byte& b, std::uint64_t address) { return b.address < address; });
  for (; byte != bytes_.end() && byte->address - e.object < e.size; ++byte) {
    if (byte->is_lock) {
      continue;
    }
    ++byte->accesses;
    for (const HeldLock& lock : held_.of(e.thread)) {
      if (byte->holding.size() < kMostLocks || byte->holding.contains(lock.lock)) {
        ++byte->holding[lock.lock];
      }
    }
  }
}

void ContextCollector::explain_habit(const Byte& byte, Finding& finding, const Tables& tables) const {
  const auto most = std::max_element(byte.holding.begin(), byte.holding.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != byte.holding.end()) {
    finding.context.habit = {tables.describe(ObjectKind::kLock, most->first), most->second, byte.accesses};
  }
}

// Several findings may name one event.
void ContextCollector::stop(const Event& event) {
  for (const EventId now = stops_[next_].event; next_ < stops_.size() && stops_[next_].event == now; ++next_) {
    Stop& stop = stops_[next_];
    if (event.op != stop.op || event.object != stop.object) {
      continue;
    }
    stop.reached = true;
    stop.thread = event.thread;
    for (const HeldLock& lock : held_.of(event.thread)) {
      stop.locks.push_back(lock.lock);
    }
    if (object_kind(event) == ObjectKind::kLock) {
      stop.locks.push_back(event.object);
    }
  }
}

void ContextCollector::explain(std::vector<Finding>& findings, const Tables& tables) const {
  // What is known of half a finding may be of another trace.
  std::vector<bool> whole(findings.size(), true);
  std::vector<const Stop*> in_order;
  for (const Stop& stop : stops_) {
    whole[stop.finding] = whole[stop.finding] && stop.reached;
    in_order.push_back(&stop);
  }
  // As the finding names its accesses, whatever came first.
  std::sort(in_order.begin(), in_order.end(), [](const Stop* a, const Stop* b) {
    return std::pair(a->finding, a->access) < std::pair(b->finding, b->access);
  });
  for (const Stop* stop : in_order) {
    if (whole[stop->finding]) {
      explain_access(*stop, findings[stop->finding], tables);
    }
  }
  for (const Byte& byte : bytes_) {
    if (whole[byte.finding] && !byte.is_lock) {
      explain_memory(byte, findings[byte.finding], tables);
      explain_habit(byte, findings[byte.finding], tables);
    }
  }
  for (const Stop* stop : in_order) {
    if (whole[stop->finding]) {
      name_locks(*stop, findings[stop->finding], tables);
    }
  }
}

// Locks in local variables and in heap blocks are known once somebody looks at the trace around the finding.
// "queue.mutex of main()", because functions may have variables of the same name. Where the lock itself is what the
// finding is about, and where another one has that name, "Account.mutex at 0x5581": there may be many accounts.
std::string ContextCollector::lock_name(std::uint64_t lock, const Stop& stop, const Finding& finding,
                                        const Tables& tables) const {
  if (const std::optional<NamedPart> part = tables.find_variable(lock, 1, stop.event); part.has_value()) {
    return part->name + (part->function.empty() ? "" : " of " + part->function);
  }
  const auto byte = std::find_if(bytes_.begin(), bytes_.end(), [&](const Byte& each) {
    return each.is_lock && each.address == lock && each.finding == stop.finding;
  });
  if (byte == bytes_.end() || !byte->alloc.has_value() || byte->stack) {
    return "";
  }
  const Event& block = byte->alloc->event;
  const std::string name = heap_name(tables, tables.variables().allocated(block.site), block.size, lock - block.object,
                                     1, owner_of(*byte, tables));
  const bool is_ambiguous =
      finding.kind != FindingKind::kRace ||
      std::any_of(finding.context.locks.begin(), finding.context.locks.end(),
                  [&](const LockContext& each) { return each.lock == name && each.address != lock; });
  return name.empty() || !is_ambiguous ? name : name + " at " + hexadecimal(lock);
}

void ContextCollector::name_locks(const Stop& stop, Finding& finding, const Tables& tables) const {
  for (const std::uint64_t lock : stop.locks) {
    const std::string number = tables.describe(ObjectKind::kLock, lock);
    const std::string name = number.starts_with("0x") ? lock_name(lock, stop, finding, tables) : "";
    if (name.empty()) {
      continue;
    }
    for (Access& access : finding.accesses) {
      for (std::string& held : access.locks) {
        held = held == number ? name : held == number + " (shared)" ? name + " (shared)" : held;
      }
      if (access.address == lock && object_kind(access.op) == ObjectKind::kLock && access.variable.empty()) {
        access.variable = name;
      }
    }
    for (LockContext& known : finding.context.locks) {
      known.lock = known.address == lock ? name : known.lock;
    }
    if (finding.context.habit.has_value() && finding.context.habit->lock == number) {
      finding.context.habit->lock = name;
    }
  }
}

void ContextCollector::explain_access(const Stop& stop, Finding& finding, const Tables& tables) const {
  if (const std::optional<AccessRecord> fork = forks_.of(stop.thread)) {
    add_thread(*fork, finding, tables);
  }
  for (const std::uint64_t lock : stop.locks) {
    if (const AccessRecord* acquire = first_acquires_.find(lock)) {
      add_lock(lock, *acquire, finding, tables);
    }
  }
}

void ContextCollector::explain_memory(const Byte& byte, Finding& finding, const Tables& tables) const {
  MemoryContext memory;
  std::uint64_t size = finding.accesses.front().size;
  for (const Access& access : finding.accesses) {
    size = std::min<std::uint64_t>(size,
                                   access.size - std::min<std::uint64_t>(byte.address - access.address, access.size));
  }
  const std::optional<NamedPart> part = tables.find_variable(byte.address, size, byte.until);
  const bool is_global = tables.named_range(ObjectKind::kMemory, byte.address) != nullptr;
  // What was the stack of a thread that has ended may be a heap block now.
  const bool is_gone = !is_global && byte.alloc.has_value() &&
                       !(byte.stack && part.has_value() && byte.alloc->event.thread == part->thread);
  if (part.has_value() && !is_gone) {
    memory.kind = is_global ? MemoryKind::kGlobal : MemoryKind::kStack;
    memory.address = part->address;
    memory.size = part->size;
    memory.offset = byte.address - part->address;
    memory.name = part->name;
    memory.function = part->function;
    memory.thread = is_global ? "" : tables.thread_name(part->thread);
    memory.part_type = part->is_bit_field ? "bit-field" : tables.variables().types()[raw(part->type)].name;
    finding.context.memory = std::move(memory);
    return;
  }
  if (byte.alloc.has_value() && !byte.stack) {
    explain_heap(byte, size, finding, tables);
    return;
  }
  if (byte.alloc.has_value()) {
    const Event& e = byte.alloc->event;
    finding.context.memory = {MemoryKind::kStack,           e.object,    e.size, byte.address - e.object, "",
                              tables.thread_name(e.thread), std::nullopt};
    return;
  }
  // A variable of a text trace that only has a name may be anything.
  const auto access = std::find_if(finding.accesses.begin(), finding.accesses.end(), [](const Access& a) {
    return !a.variable.empty() && !is_named_memory(a.address, a.size);
  });
  if (access != finding.accesses.end()) {
    memory.kind = MemoryKind::kGlobal;
    memory.name = access->variable;
    memory.address = access->address;
    memory.offset = byte.address - access->address;
    finding.context.memory = std::move(memory);
  }
}

void ContextCollector::explain_heap(const Byte& byte, std::uint64_t size, Finding& finding,
                                    const Tables& tables) const {
  const Event& e = byte.alloc->event;
  MemoryContext memory;
  memory.kind = MemoryKind::kHeap;
  memory.address = e.object;
  memory.size = e.size;
  memory.offset = byte.address - e.object;
  memory.allocated = make_origin(*byte.alloc, tables);
  const TypeId type = tables.variables().allocated(e.site);
  memory.type = tables.variables().types()[raw(type)].name;
  const std::optional<NamedPart> owner = owner_of(byte, tables);
  memory.name = heap_name(tables, type, e.size, memory.offset, size, owner);
  memory.member = heap_member(tables, type, memory.offset, size);
  memory.part_type = heap_part_type(tables, type, e.size, memory.offset, size, owner);
  for (Access& access : finding.accesses) {
    if (access.variable.empty() && is_access(access.op)) {
      access.variable = memory.name;
    }
  }
  finding.context.memory = std::move(memory);
}

Status add_context(std::vector<Finding>& findings, TraceReader& reader) {
  ContextCollector collector(findings);
  while (!collector.done()) {
    Result<Batch> batch = reader.next();
    if (!batch.ok()) {
      return std::move(batch).status();
    }
    if (batch->empty()) {
      break;
    }
    collector.consume(*batch, reader.tables());
  }
  collector.explain(findings, reader.tables());
  return {};
}

void add_context(std::vector<Finding>& findings, const Batch& beginning, const Tables& tables) {
  ContextCollector collector(findings);
  collector.consume(beginning, tables);
  collector.explain(findings, tables);
}

void add_thread_context(std::vector<Finding>& findings, const ForkLog& forks, const Tables& tables) {
  std::map<std::string, std::vector<ThreadId>> by_name;
  for (const Finding& finding : findings) {
    for (const Access& access : finding.accesses) {
      by_name.try_emplace(access.thread);
    }
  }
  for (std::size_t i = 0; i < tables.thread_count() && !by_name.empty(); ++i) {
    const auto named = by_name.find(tables.thread_name(ThreadId(i)));
    if (named != by_name.end()) {
      named->second.push_back(ThreadId(i));
    }
  }
  for (Finding& finding : findings) {
    if (!finding.context.empty()) {
      continue;
    }
    for (const Access& access : finding.accesses) {
      const auto named = by_name.find(access.thread);
      if (named->second.size() != 1) {
        continue;
      }
      if (const std::optional<AccessRecord> fork = forks.of(named->second.front())) {
        add_thread(*fork, finding, tables);
      }
    }
  }
}

std::uint64_t events_named(const std::vector<Finding>& findings) {
  std::uint64_t events = 0;
  for (const Finding& finding : findings) {
    for (const Access& access : finding.accesses) {
      events = std::max(events, access.executed ? raw(access.event) + 1 : 0);
    }
  }
  return events;
}

}  // namespace sooth
