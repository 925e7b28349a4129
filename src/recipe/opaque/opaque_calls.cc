#include "recipe/opaque/opaque_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include "base/ids.h"
#include "recipe/judge/recorded_run.h"
#include "recipe/judge/run_observer.h"
#include "recipe/opaque/reach_graph.h"
#include "recipe/witness/initial_memory.h"

namespace sooth {
namespace {

constexpr std::uint64_t kWord = 8;

// The run time library stands in for them: what they do to memory and threads is in the trace. Of families, what it
// does not stand in for looks at no memory of the program.
constexpr llvm::StringLiteral kRecordedFamilies[] = {
    "__tsan_", "__sooth_", "sooth_annotate_", "Annotate", "GOMP_", "omp_", "thrd_", "mtx_", "cnd_", "tss_"};
constexpr llvm::StringLiteral kRecorded[] = {"accept",        "accept4",      "bcopy",         "bzero",
                                             "call_once",     "clock_getres", "clock_gettime", "clock_nanosleep",
                                             "close",         "close_range",  "closefrom",     "connect",
                                             "dup",           "dup2",         "dup3",          "epoll_create",
                                             "epoll_create1", "epoll_ctl",    "epoll_pwait",   "epoll_wait",
                                             "eventfd",       "eventfd_read", "eventfd_write", "fgets",
                                             "fread",         "fwrite",       "getrusage",     "gettimeofday",
                                             "kill",          "madvise",      "memchr",        "memcmp",
                                             "memcpy",        "memmove",      "mempcpy",       "memrchr",
                                             "memset",        "mmap",         "mmap64",        "mprotect",
                                             "mremap",        "munmap",       "pause",         "pipe",
                                             "pipe2",         "poll",         "ppoll",         "pread",
                                             "pread64",       "pselect",      "pwrite",        "pwrite64",
                                             "raise",         "read",         "readv",         "recv",
                                             "recvfrom",      "recvmsg",      "select",        "send",
                                             "sendmsg",       "sendto",       "shutdown",      "sigaction",
                                             "signal",        "sigprocmask",  "sigqueue",      "sigsuspend",
                                             "sigtimedwait",  "sigwait",      "sigwaitinfo",   "socket",
                                             "socketpair",    "stpcpy",       "stpncpy",       "strcasecmp",
                                             "strcasestr",    "strcat",       "strchr",        "strchrnul",
                                             "strcmp",        "strcpy",       "strcspn",       "strdup",
                                             "strlen",        "strncasecmp",  "strncat",       "strncmp",
                                             "strncpy",       "strndup",      "strnlen",       "strpbrk",
                                             "strrchr",       "strspn",       "strstr",        "times",
                                             "timespec_get",  "usleep",       "wait",          "wait4",
                                             "waitpid",       "write",        "writev"};
// Of the standard libraries these keep what they are given.
constexpr llvm::StringLiteral kKeeping[] = {"putenv", "setvbuf", "setbuf", "setbuffer", "setlinebuf"};

const llvm::Function* opaque_callee(const llvm::CallBase& call) {
  return llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
}

bool is_recorded_function(const llvm::CallBase& call) {
  const llvm::Function* callee = opaque_callee(call);
  const llvm::StringRef name = callee != nullptr ? callee->getName() : llvm::StringRef();
  return llvm::is_contained(kRecorded, name) ||
         llvm::any_of(kRecordedFamilies, [&](llvm::StringRef family) { return name.starts_with(family); });
}

// Functions of the C and C++ libraries and of those that are called stateless, and assembly in the program, know what they
// are given and keep nothing for a later call.
bool keeps_nothing(const llvm::CallBase& call, const FunctionNames& stateless) {
  if (call.isInlineAsm()) {
    return true;
  }
  const llvm::Function* callee = opaque_callee(call);
  if (callee == nullptr || llvm::is_contained(kKeeping, callee->getName())) {
    return false;
  }
  const llvm::StringRef name = callee->getName();
  if (name.starts_with("_ZSt") || name.starts_with("_ZNSt") || name.starts_with("_ZNKSt") ||
      stateless.contains(std::string_view(name))) {
    return true;
  }
  const llvm::TargetLibraryInfoImpl functions{llvm::Triple(call.getModule()->getTargetTriple())};
  llvm::LibFunc known{};
  return llvm::TargetLibraryInfo(functions).getLibFunc(name, known);
}

// The bytes of memory that an event of the trace is about.
MemoryRange touched(const Event& e) {
  switch (object_kind(e)) {
    case ObjectKind::kMemory: return {e.object, e.size};
    case ObjectKind::kLock:
    case ObjectKind::kSignal:
    case ObjectKind::kBarrier:
    case ObjectKind::kSemaphore:
    case ObjectKind::kMessage: return {e.object, 1};
    case ObjectKind::kNone:
    case ObjectKind::kThread:
    case ObjectKind::kFunction:
    case ObjectKind::kCall: break;
  }
  return {};
}

FlatMap<bool> pages_of(const TraceView& trace) {
  FlatMap<bool> pages;
  for (const Event& e : trace.events) {
    if (const MemoryRange bytes = touched(e); bytes.length != 0) {
      const std::uint64_t last = ReachGraph::page_of(bytes.begin + (bytes.length - 1));
      for (std::uint64_t page = ReachGraph::page_of(bytes.begin); page <= last; ++page) {
        pages[page] = true;
      }
    }
  }
  return pages;
}

class CallFinder final : public RunObserver {
 public:
  CallFinder(const DeepProgram& program, const TraceView& trace, const FunctionNames& stateless)
      : program_(program),
        trace_(trace),
        stateless_(stateless),
        tapes_(make_tapes(trace)),
        graph_(pages_of(trace)),
        open_(tapes_.size()),
        latest_(tapes_.size()) {
    add_globals();
  }

  void variable(std::uint64_t address, std::uint64_t size) override { graph_.add({address, size}); }
  void call_begins(const Position& at, std::size_t depth, const llvm::CallBase& call,
                   std::span<const std::uint64_t> words) override;
  void calls_end(const Position& at, std::size_t depth) override;
  void happens(std::uint32_t event) override;
  void contains(std::uint64_t address, std::span<const ConcreteByte> bytes) override;
  void contains_something(std::uint64_t address, std::uint64_t size) override;

  std::vector<OpaqueCall> finish();

 private:
  // What is known of a call instruction.
  struct Kind {
    std::uint64_t object = 0;
    bool is_recorded = false;
    bool keeps_nothing = false;
  };
  struct Open {
    std::size_t depth = 0;
    std::size_t call = 0;  // in calls_
    std::vector<ReachGraph::Object> from;
  };

  void add_globals();
  void add_contents(std::uint32_t module, const llvm::GlobalVariable& global, const InitialMemory& initial);
  CallSpot behind_latest(const Position& at) const;
  void end(Open& call, const CallSpot& spot, bool returned);

  const DeepProgram& program_;
  const TraceView& trace_;
  const FunctionNames& stateless_;
  const std::vector<ThreadTape> tapes_;
  ReachGraph graph_;
  std::vector<OpaqueCall> calls_;
  std::map<const llvm::CallBase*, Kind> kinds_;
  std::vector<ReachGraph::Reached> reached_;          // by call
  std::vector<std::vector<Open>> open_;               // by thread, the outermost first
  std::vector<std::optional<std::uint32_t>> latest_;  // by thread: its latest event
  std::uint32_t thread_ = 0;                          // of the event at hand
  std::optional<std::uint32_t> before_;               // the event of the same thread in front of that
};

// Definitions first: what is only declared is a variable of code that is not deep, if no module defines it.
void CallFinder::add_globals() {
  const InitialMemory initial(program_);
  for (const bool defined : {true, false}) {
    for (std::uint32_t m = 0; m < program_.modules(); ++m) {
      for (const llvm::GlobalVariable& global : program_.module(m).globals()) {
        const std::optional<std::uint64_t> address =
            global.isThreadLocal() || global.isDeclaration() == defined ? std::nullopt : program_.address(m, global);
        ReachGraph::Object there = ReachGraph::kOutside;
        if (!address || !global.getValueType()->isSized() ||
            (graph_.find(*address, there) && there != ReachGraph::kOutside)) {
          continue;
        }
        const std::uint64_t size = program_.module(m).getDataLayout().getTypeAllocSize(global.getValueType());
        const ReachGraph::Object object = graph_.add({*address, size}, global.isConstant());
        if (!defined) {
          graph_.give_away(object);
        }
      }
    }
  }
  for (std::uint32_t m = 0; m < program_.modules(); ++m) {
    for (const llvm::GlobalVariable& global : program_.module(m).globals()) {
      if (global.hasInitializer() && !global.getInitializer()->isNullValue() && !global.isThreadLocal()) {
        add_contents(m, global, initial);
      }
    }
  }
}

void CallFinder::add_contents(std::uint32_t module, const llvm::GlobalVariable& global, const InitialMemory& initial) {
  const std::optional<std::uint64_t> address = program_.address(module, global);
  if (!address) {
    return;
  }
  const std::uint64_t size = program_.module(module).getDataLayout().getTypeAllocSize(global.getValueType());
  for (std::uint64_t at = (*address + (kWord - 1)) & ~(kWord - 1); at + kWord <= *address + size; at += kWord) {
    std::uint64_t word = 0;
    bool known = true;
    for (std::uint64_t i = 0; i < kWord && known; ++i) {
      const std::optional<std::uint8_t> byte = initial(at + i);
      known = byte.has_value();
      word |= std::uint64_t{byte.value_or(0)} << (8 * i);
    }
    if (known) {
      graph_.store(at, word);
    } else {
      graph_.store_unknown(at, kWord);
    }
  }
}

// A thread goes on without a pause from what it has left behind last until it leaves something again.
CallSpot CallFinder::behind_latest(const Position& at) const {
  const ThreadTape& tape = tapes_[at.thread];
  const std::uint64_t event = at.events == 0 ? 0 : tape.events[at.events - 1] + std::uint64_t{1};
  if (at.records > 0) {
    const std::uint32_t record = tape.records[at.records - 1];
    if (raw(trace_.deep[record].before) >= event) {
      return {raw(trace_.deep[record].before), record + std::uint64_t{1}};
    }
  }
  const auto first = std::lower_bound(trace_.deep.begin(), trace_.deep.end(), event,
                                      [](const DeepRecord& record, std::uint64_t e) { return raw(record.before) < e; });
  return {event, static_cast<std::uint64_t>(first - trace_.deep.begin())};
}

void CallFinder::call_begins(const Position& at, std::size_t depth, const llvm::CallBase& call,
                             std::span<const std::uint64_t> words) {
  const auto [kind, is_new] = kinds_.try_emplace(&call);
  if (is_new) {
    kind->second = {kinds_.size(), is_recorded_function(call), keeps_nothing(call, stateless_)};
  }
  if (kind->second.is_recorded) {
    return;
  }
  Open& open = open_[at.thread].emplace_back();
  open.depth = depth;
  open.call = calls_.size();
  for (const std::uint64_t word : words) {
    if (ReachGraph::Object object = ReachGraph::kOutside; graph_.find(word, object)) {
      open.from.push_back(object);
    }
  }
  if (!kind->second.keeps_nothing) {
    open.from.push_back(ReachGraph::kOutside);
  }
  OpaqueCall& made = calls_.emplace_back();
  made.thread = ThreadId{at.thread};
  made.at = &call;
  made.object = kind->second.object;
  made.begin = behind_latest(at);
  reached_.push_back(0);
}

void CallFinder::end(Open& call, const CallSpot& spot, bool returned) {
  OpaqueCall& over = calls_[call.call];
  over.end = spot;
  over.returned = returned;
  reached_[call.call] = graph_.call(over.thread, call.from);
}

void CallFinder::calls_end(const Position& at, std::size_t depth) {
  std::vector<Open>& open = open_[at.thread];
  const std::uint32_t record = tapes_[at.thread].records[at.records - 1];
  for (; !open.empty() && open.back().depth >= depth; open.pop_back()) {
    end(open.back(), {raw(trace_.deep[record].before), record}, true);
  }
}

void CallFinder::happens(std::uint32_t event) {
  const Event& e = trace_.events[event];
  thread_ = raw(e.thread);
  before_ = std::exchange(latest_[thread_], event);
  if (e.op == Op::kAlloc && e.size != 0) {
    const ReachGraph::Object block = graph_.add({e.object, e.size});
    for (Open& call : open_[raw(e.thread)]) {
      call.from.push_back(block);
    }
  } else if (const MemoryRange bytes = touched(e); bytes.length != 0) {
    graph_.touch(e.thread, bytes.begin, bytes.length);
  }
}

void CallFinder::contains_something(std::uint64_t address, std::uint64_t size) {
  if (!open_[thread_].empty()) {
    // Written in a call: what that reaches. It ends up together with the memory itself.
    std::vector<ReachGraph::Object>& from = open_[thread_].back().from;
    if (ReachGraph::Object object = ReachGraph::kOutside;
        graph_.find(address, object) && (from.empty() || from.back() != object)) {
      from.push_back(object);
    }
    return;
  }
  graph_.store_unknown(address, size);
  // Copies by code that is not deep: a read, and then a write of as many bytes.
  if (before_ && trace_.events[*before_].op == Op::kRead && trace_.events[*before_].size == size) {
    graph_.copy(trace_.events[*before_].object, address, size);
  }
}

void CallFinder::contains(std::uint64_t address, std::span<const ConcreteByte> bytes) {
  const std::uint64_t skew = bytes.size() == kWord ? 0 : (kWord - address % kWord) % kWord;
  for (std::uint64_t at = skew; at + kWord <= bytes.size(); at += kWord) {
    std::uint64_t word = 0;
    bool known = true;
    for (std::uint64_t i = 0; i < kWord; ++i) {
      known = known && bytes[at + i].unknown == 0;
      word |= std::uint64_t{bytes[at + i].value} << (8 * i);
    }
    if (known) {
      graph_.store(address + at, word);
    }
  }
}

std::vector<OpaqueCall> CallFinder::finish() {
  for (std::vector<Open>& open : open_) {
    for (; !open.empty(); open.pop_back()) {
      end(open.back(), {trace_.events.size(), trace_.deep.size()}, false);
    }
  }
  graph_.finish();
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    calls_[i].reach = graph_.ranges(reached_[i]);
  }
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const OpaqueCall& a, const OpaqueCall& b) { return a.begin < b.begin; });
  return std::move(calls_);
}

}  // namespace

std::vector<OpaqueCall> find_opaque_calls(const DeepProgram& program, const TraceView& trace,
                                          const FunctionNames& stateless) {
  if (trace.deep.empty() || trace.values.empty()) {
    return {};
  }
  CallFinder finder(program, trace, stateless);
  const RecordedRun run(program, trace, &finder);
  return finder.finish();
}

std::string callee_name(const llvm::CallBase& call) {
  if (const llvm::Function* callee = opaque_callee(call)) {
    return callee->getName().str();
  }
  return call.isInlineAsm() ? "inline assembly" : "a function pointer";
}

Site place_of(const OpaqueCall& call, const DeepProgram& program) { return program.site(*call.at); }

std::vector<CallMark> marks_of(const std::vector<OpaqueCall>& calls) {
  std::vector<CallMark> marks;
  for (const OpaqueCall& call : calls) {
    marks.push_back({call.begin, true, call.thread, SiteId{}, call.object, call.reach});
  }
  // Inside out where several end at one spot.
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (call->returned) {
      marks.push_back({call->end, false, call->thread, SiteId{}, call->object, {}});
    }
  }
  return marks;
}

namespace {

// Others order nothing.
std::vector<OpaqueCall> find_ordering_calls(const DeepProgram& program, const TraceView& trace,
                                            const FunctionNames& stateless) {
  std::vector<OpaqueCall> calls = find_opaque_calls(program, trace, stateless);
  std::erase_if(calls, [](const OpaqueCall& call) { return call.reach.empty(); });
  return calls;
}

}  // namespace

CallTrace::CallTrace(const DeepProgram& program, const TraceView& trace, const FunctionNames& stateless)
    : inserter_(marks_of(find_ordering_calls(program, trace, stateless))), view_(trace) {
  if (inserter_.put_in().empty()) {
    return;
  }
  append(
      inserter_.rewrite({EventId{0}, trace.events, trace.values, {}, trace.branches, trace.reaches, {}, trace.deep}));
  append(inserter_.finish());
  view_ = {events_, values_, branches_, trace.tables, reaches_, deep_};
}

void CallTrace::append(const Batch& batch) {
  events_.insert(events_.end(), batch.events.begin(), batch.events.end());
  values_.insert(values_.end(), batch.values.begin(), batch.values.end());
  branches_.insert(branches_.end(), batch.branches.begin(), batch.branches.end());
  reaches_.insert(reaches_.end(), batch.reaches.begin(), batch.reaches.end());
  deep_.insert(deep_.end(), batch.deep.begin(), batch.deep.end());
}

namespace {

template <typename Number>
void renumber(ValueWitness& witness, Number&& number) {
  for (EventId& id : witness.order) {
    id = number(id);
  }
  for (ReadValue& read : witness.reads) {
    read.event = number(read.event);
  }
  for (NextAccess& next : witness.next) {
    if (next.event) {
      next.event = number(*next.event);
    }
  }
}

}  // namespace

ValueWitness CallTrace::renumbered(ValueWitness witness) const {
  renumber(witness, [this](EventId id) { return inserter_.renumbered(id); });
  return witness;
}

ValueWitness CallTrace::original(ValueWitness witness) const {
  witness = without_calls(std::move(witness));
  renumber(witness, [this](EventId id) { return inserter_.original(id); });
  return witness;
}

ValueWitness CallTrace::without_calls(ValueWitness witness) const {
  std::vector<EventId> order;
  auto step = witness.detour.begin();
  for (std::size_t i = 0; i <= witness.order.size(); ++i) {
    for (; step != witness.detour.end() && step->after <= i; ++step) {
      step->after = order.size();
    }
    if (i < witness.order.size() && !inserter_.is_put_in(witness.order[i])) {
      order.push_back(witness.order[i]);
    }
  }
  witness.order = std::move(order);
  return witness;
}

}  // namespace sooth
