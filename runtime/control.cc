#include "runtime/control.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "runtime/benign.h"
#include "runtime/loaded_code.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/signals.h"
#include "runtime/turn.h"
#include "runtime/weak.h"

namespace sooth::rt::controlled {

using sooth::control::ControlHeader;
using sooth::control::LogHeader;
using sooth::control::LogRecord;
using sooth::control::Plan;
using sooth::control::RecordKind;
using sooth::control::RunState;
using sooth::control::SiteRange;
using sooth::control::WakeChoice;

uptr boring_[kBoringEntries];

namespace {

u8* file_ = nullptr;        // the control file, mapped so that writing to it is our own business
LogHeader* log_ = nullptr;  // shared with everybody; nullptr: there is none
u64 log_capacity_ = 0;
u16 process_ = 0;
u64 hash_ = 0;
u64 operations_ = 0;

// The code of a site where it is in memory; empty while its module is not loaded.
struct LoadedRange {
  uptr begin, end;
};
LoadedRange* loaded_ = nullptr;

struct KnownModule {
  uptr begin, end, bias;
  const char* path;  // nullptr: the program itself
  bool excluded;
  bool is_logged;
};
constexpr u32 kMaxModules = 1024;
KnownModule* modules_ = nullptr;
u32 module_count_ = 0;

// Objects of kStep records: granules of memory and the like, numbered. Open addressing; 0: free.
struct NumberedObject {
  u64 key;
  u64 number;
};
constexpr u32 kObjectEntries = 1u << 20;
NumberedObject* objects_ = nullptr;
u64 object_count_ = 0;

// A whole file in memory, or nullptr. Writes reach the file when it is `shared`.
u8* map_whole(const char* path, bool shared, u64& bytes) {
  long fd = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), (shared ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) return nullptr;
  long size = sys_call(SYS_lseek, fd, 0, 2 /* SEEK_END */);
  long r =
      size <= 0 ? -1 : sys_call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
  sys_call(SYS_close, fd);
  bytes = static_cast<u64>(size);
  return r < 0 && r > -4096 ? nullptr : reinterpret_cast<u8*>(r);
}

template <typename T>
T* table(u32 offset) {
  return reinterpret_cast<T*>(file_ + offset);
}

template <typename T>
bool is_inside(u64 offset, u64 count, u64 bytes) {
  return count == 0 || (offset % alignof(T) == 0 && offset <= bytes && count * sizeof(T) <= bytes - offset);
}

// Terminated before the end of the file.
bool is_text(u64 offset, u64 bytes) {
  while (offset < bytes && file_[offset] != 0) ++offset;
  return offset < bytes;
}

bool is_valid(u64 bytes) {
  if (bytes < sizeof(ControlHeader)) return false;
  const ControlHeader& h = header();
  StrategySpec spec;
  if (h.magic != sooth::control::kControlMagic || h.bytes > bytes || h.plan > Plan::kChoices ||
      !is_text(h.strategy, h.bytes) || !parse_strategy(strategy_text(), spec) ||
      !is_inside<SiteRange>(h.ranges, h.range_count, h.bytes) ||
      !is_inside<sooth::control::Stretch>(h.stretches, h.stretch_count, h.bytes) ||
      !is_inside<sooth::control::ThreadOrigin>(h.threads, h.thread_count, h.bytes) ||
      !is_inside<sooth::control::MemoryChoice>(h.older, h.older_count, h.bytes) ||
      !is_inside<u16>(h.choices, h.choice_count, h.bytes) ||
      !is_inside<WakeChoice>(h.choices + h.choice_count * sizeof(u16), h.wake_count, h.bytes)) {
    return false;
  }
  for (u32 i = 0; i < h.range_count; ++i)
    if (!is_text(table<SiteRange>(h.ranges)[i].module, h.bytes)) return false;
  for (u32 i = 0; i < h.thread_count; ++i) table<sooth::control::ThreadOrigin>(h.threads)[i].reserved = 0;
  return true;
}

void open_log() {
  const char* path = environment(sooth::control::kLogVariable);
  if (path == nullptr) return;
  u64 bytes = 0;
  log_ = reinterpret_cast<LogHeader*>(map_whole(path, true, bytes));
  if (log_ == nullptr || bytes < sizeof(LogHeader) || log_->magic != sooth::control::kLogMagic) {
    warn("cannot use the log ", path);
    log_ = nullptr;
    return;
  }
  log_capacity_ = (bytes - sizeof(LogHeader)) / sizeof(LogRecord);
  if (log_->capacity < log_capacity_) log_capacity_ = log_->capacity;
}

// Another process of the run.
void begin_process() {
  process_ = log_ == nullptr ? 0 : static_cast<u16>(__atomic_fetch_add(&log_->processes, 1, __ATOMIC_ACQ_REL));
  hash_ = 0;
  operations_ = 0;
  set_state(RunState::kRunning);
}

void mix(u64 what) {
  u64 mixed = (hash_ ^ what) * 0x9e3779b97f4a7c15;
  hash_ = mixed ^ mixed >> 29;
}

const char* file_name(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

// `wanted` is a path or a file name.
bool is_named(const char* path, const char* wanted) {
  return text_equal(path, wanted) || (file_name(wanted) == wanted && text_equal(file_name(path), wanted));
}

// A module that was met for the first time: where the sites in it are.
const KnownModule* add_module(uptr pc) {
  LoadedCode code;
  if (module_count_ == kMaxModules || !find_loaded_code(pc, code)) return nullptr;
  const char* name = code.name;
  bool is_program = name == nullptr;
  char path[512];
  if (is_program) {
    long n = sys_call(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(path),
                      sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    name = path;
  }
  uptr bias = code.bias;
  modules_[module_count_] = {code.begin, code.end, bias, code.name, is_excluded_path(name), false};
  for (u32 i = 0; i < header().range_count; ++i) {
    const SiteRange& range = table<SiteRange>(header().ranges)[i];
    const char* wanted = table<char>(range.module);
    if ((is_program && *wanted == 0) || is_named(name, wanted)) loaded_[i] = {bias + range.begin, bias + range.end};
  }
  return &modules_[module_count_++];
}

const KnownModule* module_of(uptr pc) {
  for (u32 i = 0; i < module_count_; ++i)
    if (pc >= modules_[i].begin && pc < modules_[i].end) return &modules_[i];
  return add_module(pc);
}

// The number of the module, which is in the log from here on.
u32 log_module(const KnownModule* m) {
  if (m == nullptr) return sooth::control::kNone;
  u32 number = static_cast<u32>(m - modules_);
  if (m->is_logged) return number;
  modules_[number].is_logged = true;
  constexpr u32 kPart = 3 * sizeof(u64);
  for (const char* p = m->path == nullptr ? "" : m->path;; p += kPart) {
    char part[kPart] = {};
    u32 length = 0;
    while (length < kPart && p[length] != 0) {
      part[length] = p[length];
      ++length;
    }
    u64 words[3];
    __builtin_memcpy(words, part, sizeof part);
    log(RecordKind::kModule, number, words[0], words[1], words[2]);
    if (length < kPart) return number;
  }
}

// Whether an access, of which the caller has filled in the rest, is at a site. `is_near`: some range has it, of
// whatever kind.
bool find_site(uptr pc, SiteAccess& access, bool& is_near) {
  is_near = false;
  bool found = false;
  for (u32 i = 0; i < header().range_count; ++i) {
    if (pc < loaded_[i].begin || pc >= loaded_[i].end) continue;
    is_near = true;
    const SiteRange& range = table<SiteRange>(header().ranges)[i];
    if (!is_meant(range.kinds, access.kinds)) continue;
    if (!found) access.range = i;
    found = true;
    access.sites |= range.sites;
  }
  return found;
}

SiteAccess access_of(const KnownModule* m, uptr pc, uptr address, u32 bytes, u32 kinds) {
  return {address, m == nullptr ? pc : pc - m->bias, bytes, kinds, 0, 0};
}

// In front of an access that may be one of the pair.
void approach(Thread* t, uptr pc, uptr address, u32 bytes, u32 kinds) {
  const KnownModule* m = module_of(pc);
  SiteAccess access = access_of(m, pc, address, bytes, kinds);
  bool is_near;
  if (find_site(pc, access, is_near)) turn::approach(t, access);
}

bool is_ignored(const Thread* t, uptr address, bool is_write) {
  return (t->special & (is_write ? kIgnoreWrites : kIgnoreReads)) != 0 ||
         ((t->special & kIgnoreMemory) != 0 && is_ignored_memory(address));
}

// Which operations and accesses at sites came right behind which of another thread at the same object, by where they are in
// the code: what a run shows that others do not. Both tables are exact until they are full; then orders are lost.
struct LastAt {
  u64 key;  // of the object; 0: free
  uptr pc;
  u64 hash;  // of what was done there so far
  u32 thread;
  bool writes;
};
constexpr u32 kLastEntries = 1u << 14, kOrderEntries = 1u << 13, kMostProbes = 32;
LastAt* lasts_ = nullptr;
u64* orders_ = nullptr;
u64* own_orders_ = nullptr;  // of one thread: they must not crowd out the others

// An event at an object whose order matters: not of threads, calls or fences.
bool sees_orders(Op op) { return is_atomic(op) || op == Op::kAcquire; }

bool is_new_order(u64* orders, u64 key) {
  u32 at = static_cast<u32>(key * 0x9e3779b97f4a7c15 >> 40) & (kOrderEntries - 1);
  for (u32 probes = 0; probes < kMostProbes; ++probes, at = (at + 1) & (kOrderEntries - 1)) {
    if (orders[at] == key) return false;
    if (orders[at] != 0) continue;
    orders[at] = key;
    return true;
  }
  return false;
}

// The thread has the turn.
void note_order(Thread* t, uptr pc, uptr object, bool writes) {
  if (turn::has_goals()) turn::observe(t, module_offset(pc), object, writes);
  u32 thread = t->id;
  if (log_ == nullptr || process_ != 0 || has_flag(sooth::control::kLogPoints)) return;
  if (lasts_ == nullptr) {
    lasts_ = static_cast<LastAt*>(map_memory(kLastEntries * sizeof(LastAt)));
    orders_ = static_cast<u64*>(map_memory(2 * kOrderEntries * sizeof(u64)));
    own_orders_ = orders_ + kOrderEntries;
    if (lasts_ == nullptr || orders_ == nullptr) fatal("out of memory for the orders of a run");
  }
  u64 key = object / sooth::control::kGranule + 1;
  u32 at = static_cast<u32>(key * 0x9e3779b97f4a7c15 >> 40) & (kLastEntries - 1);
  u32 probes = 0;
  while (lasts_[at].key != 0 && lasts_[at].key != key && probes++ < kMostProbes) at = (at + 1) & (kLastEntries - 1);
  LastAt& last = lasts_[at];
  if (last.key != 0 && last.key != key) return;
  bool is_own = last.thread == thread;
  if (last.key != 0 && (last.writes || writes) && (!is_own || last.pc != pc) &&
      is_new_order(is_own ? own_orders_ : orders_, (last.pc * 0x9e3779b97f4a7c15) ^ pc))
    log(RecordKind::kOrder, thread, module_offset(last.pc), module_offset(pc),
        u64{last.writes} | u64{writes} << 1 | u64{last.thread} << 32);
  // Sums do not depend on the order of what is at other objects.
  u64 hash = last.key == 0 ? 0 : last.hash;
  log_->order_hash -= hash;
  hash = (hash ^ (module_offset(pc) << 20 | thread)) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 29;
  log_->order_hash += hash;
  // A look does not hide what it looked at.
  if (last.key == 0 || writes || !last.writes)
    last = {key, pc, hash, thread, writes};
  else
    last.hash = hash;
}

constexpr u64 kUnknownObject = ~u64{0};

u64 number_of_object(u64 key, bool adds) {
  if (objects_ == nullptr) objects_ = static_cast<NumberedObject*>(map_memory(kObjectEntries * sizeof(NumberedObject)));
  if (objects_ == nullptr) fatal("out of memory for the objects of steps");
  u32 at = static_cast<u32>(key * 0x9e3779b97f4a7c15 >> 40) & (kObjectEntries - 1);
  for (u32 probes = 0; probes < kObjectEntries; ++probes, at = (at + 1) & (kObjectEntries - 1)) {
    if (objects_[at].key == 0 && !adds) return kUnknownObject;
    if (objects_[at].key == 0) objects_[at] = {key, object_count_++};
    if (objects_[at].key == key) return objects_[at].number;
  }
  fatal("too many objects for the log of steps");
}
u64 number_of_object(u64 key) { return number_of_object(key, true); }

}  // namespace

bool start() {
  const char* path = environment(sooth::control::kControlVariable);
  if (path == nullptr) return false;
  u64 bytes = 0;
  file_ = map_whole(path, false, bytes);
  if (file_ == nullptr || !is_valid(bytes)) {
    warn("cannot use the control file ", path, ": threads run as they would alone");
    file_ = nullptr;
    return false;
  }
  modules_ = static_cast<KnownModule*>(map_memory(kMaxModules * sizeof(KnownModule)));
  loaded_ = static_cast<LoadedRange*>(map_memory((header().range_count + 1) * sizeof(LoadedRange)));
  if (modules_ == nullptr || loaded_ == nullptr) fatal("out of memory for the sites of the pair");
  open_log();
  begin_process();
  StrategySpec spec;
  parse_strategy(strategy_text(), spec);
  turn::set_strategy(spec, header().seed);
  weak_run::start();
  return true;
}

void restart_after_fork() {
  begin_process();
  for (u32 i = 0; i < module_count_; ++i) modules_[i].is_logged = false;  // each process tells its own
  weak_run::start();
}

const ControlHeader& header() { return *reinterpret_cast<const ControlHeader*>(file_); }
Plan plan() {
  Plan p = header().plan;
  return process_ != 0 && p == Plan::kStretches ? Plan::kStrategy : p;
}
const char* strategy_text() { return table<const char>(header().strategy); }
bool has_sites() { return header().range_count != 0; }
bool has_other_processes() { return log_ == nullptr || __atomic_load_n(&log_->processes, __ATOMIC_ACQUIRE) > 1; }

StretchFollower make_stretch_follower() {
  const ControlHeader& h = header();
  return {table<sooth::control::Stretch>(h.stretches), h.stretch_count, table<sooth::control::ThreadOrigin>(h.threads),
          h.thread_count, has_sites()};
}

ChoiceFollower make_choice_follower() {
  const ControlHeader& h = header();
  return {table<u16>(h.choices), process_ == 0 ? h.choice_count : 0};
}

u32 chosen_place(u32 thread, u32 number) {
  const ControlHeader& h = header();
  const auto* wakes = table<WakeChoice>(h.choices + h.choice_count * static_cast<u32>(sizeof(u16)));
  for (u32 i = 0; i < h.wake_count && process_ == 0; ++i)
    if (wakes[i].thread == thread && wakes[i].number == number) return wakes[i].place;
  return 0;
}

const sooth::control::MemoryChoice* older(u32& count) {
  count = process_ == 0 ? header().older_count : 0;
  return table<sooth::control::MemoryChoice>(header().older);
}

void begin_thread(Thread* t) {
  t->special |= kControlled | kStopped | kSerialMode | (has_flag(sooth::control::kEveryAccess) ? kEachAccess : 0) |
                (weak_run::is_on() ? kWeak : 0);
  t->special &= ~(kWatched | kQuiet | kStill);
  // Only strategies change threads anywhere; they draw the first quantum at the first access.
  if (plan() != Plan::kStrategy)
    t->quantum = header().quantum != 0 ? header().quantum : static_cast<u32>(options.quantum);
  t->progress = Progress{};
  t->progress.origin = t->quantum;
  t->spin.stop();
}

void finish(Thread* t) {
  turn::end_run(t);
  if (process_ == 0 && log_ != nullptr && log_->state == RunState::kRunning) set_state(RunState::kEnded);
}

void log(RecordKind kind, u32 thread, u64 a, u64 b, u64 c) {
  if (log_ == nullptr) return;
  u64 at = __atomic_fetch_add(&log_->count, 1, __ATOMIC_ACQ_REL);
  if (at >= log_capacity_) return;
  LogRecord& record = reinterpret_cast<LogRecord*>(log_ + 1)[at];
  record.process = process_;
  record.thread = thread;
  record.a = a;
  record.b = b;
  record.c = c;
  // Last: a record without a kind was not finished.
  __atomic_store_n(reinterpret_cast<u16*>(&record.kind), static_cast<u16>(kind), __ATOMIC_RELEASE);
}

void log_external(u32 thread, sooth::control::External what) {
  log(RecordKind::kExternal, thread, static_cast<u64>(what));
}

u64 variable_offset(uptr address) {
  for (u32 i = 0; i < module_count_; ++i) {
    const KnownModule& m = modules_[i];
    if (m.path == nullptr && address >= m.begin && address < m.end && address - m.bias < 0xffffffffu)
      return address - m.bias + 1;
  }
  return 0;
}

void log_race(u32 thread, const SiteAccess& access, RecordKind kind, bool goes_first) {
  log(kind, thread, access.offset, access.range | variable_offset(access.address) << 32,
      access.bytes | u64{access.kinds} << 32 | u64{goes_first} << 40);
}

// A free of a large block: it is about what somebody has touched there. False: that is too much.
static bool log_large_free(u32 id, u64 what, u64 first, u64 last) {
  using sooth::control::kGranule;
  constexpr u64 kMostGranules = 64, kLongest = 1 << 17;
  u64 numbers[kMostGranules], count = 0;
  if (last - first >= kLongest) return false;
  for (u64 granule = first; granule <= last; ++granule) {
    u64 number = number_of_object(granule + 1, false);
    if (number == kUnknownObject) continue;
    if (count == kMostGranules) return false;
    numbers[count++] = number;
  }
  what = (what & 0xffff) | count * kGranule << 32;
  for (u64 i = 0; i < count; ++i) log(RecordKind::kStep, id, what, numbers[i], numbers[i]);
  if (count == 0) log(RecordKind::kStep, id, what, 1, 0);
  return true;
}

void log_step(const Thread* t, u32 id, Op op, uptr pc, uptr object, u64 bytes, u64 flags) {
  using sooth::control::kGranule;
  constexpr u64 kMostGranules = 64;
  const KnownModule* m = pc == 0 ? nullptr : module_of(pc);
  Position position = position_of(t);
  constexpr u64 kMost = 0xffffffffu;
  log(RecordKind::kStepAt, id, m == nullptr ? pc : pc - m->bias, position.events << 32 | log_module(m),
      (position.accesses < kMost ? position.accesses : kMost) | variable_offset(object) << 32);
  bool writes = !is_access(op) || is_write(op);
  u64 what = static_cast<u64>(op) | u64{writes} << 8 | flags | (object % kGranule) << 16 | bytes << 32;
  if (op == Op::kFence && weak_run::is_on()) return log(RecordKind::kStep, id, what, 1, 0);
  u64 first = object / kGranule, last = (object + bytes - 1) / kGranule;
  if (bytes == 0 || last - first >= kMostGranules) {
    if (op == Op::kFree && bytes != 0 && log_large_free(id, what, first, last)) return;
    return log(RecordKind::kStep, id, (what & 0xffff) | 1 << 9);
  }
  // Neighbours that were met one after the other are one record.
  u64 begin = number_of_object(first + 1), end = begin;
  for (u64 granule = first + 1; granule <= last; ++granule) {
    u64 number = number_of_object(granule + 1);
    if (number != end + 1) {
      log(RecordKind::kStep, id, what, begin, end);
      begin = number;
    }
    end = number;
  }
  log(RecordKind::kStep, id, what, begin, end);
}

void log_also(u32 id, Op op, uptr object) {
  u64 number = number_of_object(object / sooth::control::kGranule + 1);
  log(RecordKind::kStep, id, static_cast<u64>(op) | 1 << 8 | sooth::control::kWholeGranules, number, number);
}

void log_frame(u32 thread, uptr pc) {
  const KnownModule* m = module_of(pc);
  u32 module = log_module(m);
  log(RecordKind::kFrame, thread, m == nullptr ? pc : pc - m->bias, module);
}

void set_state(RunState state) {
  if (log_ != nullptr && process_ == 0)
    __atomic_store_n(reinterpret_cast<u32*>(&log_->state), static_cast<u32>(state), __ATOMIC_RELEASE);
}

void publish_counts(u64 hook_calls, u64 scheduling_points) {
  if (log_ == nullptr || process_ != 0) return;
  __atomic_store_n(&log_->hook_calls, hook_calls, __ATOMIC_RELAXED);
  __atomic_store_n(&log_->scheduling_points, scheduling_points, __ATOMIC_RELAXED);
}

u64 module_offset(uptr pc) {
  const KnownModule* m = module_of(pc);
  return m == nullptr ? pc : pc - m->bias;
}

bool is_in_program(uptr pc) {
  const KnownModule* m = module_of(pc);
  return m != nullptr && m->path == nullptr;
}

void modules_changed() {
  module_count_ = 0;
  zero_memory(loaded_, header().range_count * sizeof(LoadedRange));
  zero_memory(boring_, sizeof boring_);
}

void thread_created(u32 id, u32 parent, u32 child) {
  log(RecordKind::kThread, id, parent, child);
  // Up to its first own point it does nothing that others could see.
  if (has_flag(sooth::control::kLogPoints)) log(RecordKind::kStep, id, static_cast<u64>(Op::kBegin), 1, 0);
  turn::thread_created(id, parent, child);
}

u32 operations_hash() {
  u32 folded = static_cast<u32>(hash_ ^ hash_ >> 32);
  return folded == 0 ? 1 : folded;
}

void passes_point(Thread* t) {
  ++t->progress.calls;
  mix(u64{t->id} << 40 | u64{0xff} << 32);
}

u64 operations() { return operations_; }

// It counts as a write to all of the block, which the caller has not given back yet.
static void before_free(Thread* t, uptr pc, uptr block, u64 size) {
  const KnownModule* m = has_flag(sooth::control::kEveryFree) ? module_of(pc) : nullptr;
  bool is_point = has_flag(sooth::control::kEveryFree) && (m == nullptr || !m->excluded);
  if (is_point) {
    turn::step_access(t, {Op::kFree, pc, block, size});
    while (t->quantum <= 1) turn::preempt(t);
  }
  if (has_sites()) approach(t, pc, block, static_cast<u32>(size), sooth::control::kWrites);
  if (is_point) --t->quantum;  // it is done
}

// Not what another thread can wait for. Atomics tell by themselves when they have changed something.
static bool is_quiet(Op op) { return is_lock_op(op) || is_access(op) || op == Op::kFence || op == Op::kCondWait; }

void operation(Thread* t, uptr pc, Op op, u64 object, u64 size) {
  turn::hold(t);
  if (op == Op::kFree && t->busy == 0) before_free(t, pc, object, size);
  if (weak_run::is_on()) weak_run::happened(t, op, object, size);
  if (!sooth::control::is_operation(op)) return;
  if (SOOTH_UNLIKELY(any_ignored_memory())) t->special |= kIgnoreMemory;
  Progress& p = t->progress;
  p.calls += p.origin - t->quantum;
  p.origin = t->quantum;
  ++p.events;
  if (op != Op::kAcquireFailed) ++operations_;  // who tries in vain brings nobody forward
  mix(u64{t->id} << 40 | static_cast<u64>(op) << 32 | (p.events & 0xffffffff));
  if (op != Op::kAtomicLoad && op != Op::kAtomicRmw) t->spin.stop();
  if (!is_quiet(op)) t->special &= ~kQuiet;
  if (!is_access(op) && op != Op::kFence && op != Op::kAcquireFailed) t->special &= ~kStill;
  if (sees_orders(op)) note_order(t, pc, object, !is_access(op) || is_write(op));
  turn::operation_done(t);
}

void approach_atomic(Thread* t, uptr pc, Op op, uptr address, u32 bytes) {
  if (!has_sites()) return;
  u32 kinds = sooth::control::kAtomics;
  if (is_read(op)) kinds |= sooth::control::kReads;
  if (is_write(op)) kinds |= sooth::control::kWrites;
  approach(t, pc, address, bytes, kinds);
}

void approach_acquire(Thread* t, uptr pc, uptr lock) {
  u32 kinds = t->held_count != 0 ? sooth::control::kAcquires : sooth::control::kFirstAcquires;
  if (has_sites() && t->busy == 0) approach(t, pc, lock, 1, kinds);
}

void access_slowly(Thread* t, uptr address, uptr pc, Op op, u32 bytes) {
  turn::hold(t);
  heed(t);
  bool writes = op == Op::kWrite;
  const KnownModule* m = module_of(pc);
  bool counts = !is_ignored(t, address, writes) && (m == nullptr || !m->excluded);
  SiteAccess access = access_of(m, pc, address, bytes, writes ? sooth::control::kWrites : sooth::control::kReads);
  bool is_near;
  bool at_site = find_site(pc, access, is_near) && counts;
  if (!is_near && (m == nullptr || !m->excluded)) boring_entry(pc) = pc;
  // What follows must be the same whether or not the fast way was taken before: only the quantum says when others get
  // their chance.
  bool is_point = counts && ((t->special & kEachAccess) != 0 || (at_site && plan() == Plan::kStrategy));
  if (is_point) turn::step_access(t, {op, pc, address, bytes});
  if (writes && (address < t->stack_begin || address >= t->stack_end)) t->special &= ~(kQuiet | kStill);
  bool spins = false;
  if (counts && (t->special & kWatched) != 0) {
    if (writes)
      t->spin.writes(address);
    else
      spins = t->spin.reads(address, pc);
    if (!t->spin.is_watching()) t->special &= ~kWatched;
  }
  if (spins) turn::spun(t);
  while (t->quantum <= 1) turn::preempt(t);
  --t->quantum;
  t->progress.origin -= counts ? 0 : 1;
  if (writes && weak_run::is_on()) weak_run::before_write(address, bytes);
  if (!at_site) return;
  note_order(t, pc, address, writes);
  // In front of the access again.
  --t->progress.origin;
  turn::approach(t, access);
  ++t->progress.origin;
}

}  // namespace sooth::rt::controlled
