#include "trace/tools/generate.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <vector>

namespace sooth {
namespace {

constexpr std::size_t kGeneratedBatchEvents = 16 * 1024;
constexpr std::uint32_t kSitesPerGroup = 8;
constexpr std::uint32_t kMinAccesses = 4;   // of a section
constexpr std::uint32_t kAccessSpread = 9;  // ... up to 12, so 8 on average
constexpr std::uint32_t kNestOneIn = 8;     // steps of a section that go on to a nested lock, if one is allowed
constexpr std::uint64_t kFirstAddress = 0x10000;
constexpr std::uint32_t kVariableBytes = 8;
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

// Splitmix64. The standard library's distributions differ between implementations, so numbers are cut down here.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // 0 to n - 1.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

// Begin and end of every thread, fork and join of all but the first.
std::uint64_t fixed_events(const GenerateOptions& options) { return std::uint64_t{options.threads} * 4 - 2; }

class Generator {
 public:
  Generator(const GenerateOptions& options, TraceWriter& writer);
  Status run();

 private:
  // A held lock, or, without locks, the thread's own variables.
  struct Section {
    std::uint32_t owner = 0;      // the lock (or thread) that the variables belong to
    std::uint32_t variables = 0;  // how many do
    std::uint32_t left = 0;       // accesses to come
  };
  struct Thread {
    std::vector<Section> sections;        // outermost first
    std::uint32_t wanted = kNobody;       // lock it waits for
    std::uint32_t next_waiter = kNobody;  // for the same lock
    std::uint32_t racy_owed = 0;          // racy accesses to make as soon as no lock is held
    bool begun = false;
  };
  struct Lock {
    std::uint32_t holder = kNobody;
    std::uint32_t first_waiter = kNobody;  // a queue, linked by Thread::next_waiter
    std::uint32_t last_waiter = kNobody;
  };

  void describe();
  bool step(std::uint32_t t);
  bool start_section(std::uint32_t t);
  bool take(std::uint32_t t, std::uint32_t lock);
  void wait(std::uint32_t t);
  void wake_one(Lock& lock);
  void release(std::uint32_t t);
  void access(std::uint32_t t, const Section& section);
  void racy_access(std::uint32_t t, std::uint32_t variable);
  void touch(std::uint32_t t, std::uint32_t variable, bool write, std::uint32_t read_site, std::uint32_t write_site);
  bool holds(const Thread& thread, std::uint32_t variable) const;
  void wind_up();
  void emit(Op op, std::uint32_t t, std::uint64_t object, std::uint32_t site, std::uint32_t size = 0);
  Status flush();
  // Steps that may still be spent: every held lock needs one for its release.
  std::uint64_t spare() const { return budget_ - held_; }
  std::uint32_t owners() const { return options_.locks == 0 ? options_.threads : options_.locks; }
  std::uint32_t variables_of(std::uint32_t owner) const {
    return (options_.variables - owner + owners() - 1) / owners();
  }

  const GenerateOptions options_;
  TraceWriter& writer_;
  Random random_;
  const std::uint32_t groups_;
  const std::uint64_t racy_below_;  // of 32 random bits
  std::uint64_t budget_;            // events left for steps
  std::uint64_t held_ = 0;          // locks held by anybody
  std::vector<Thread> threads_;
  std::vector<Lock> locks_;
  std::vector<std::uint32_t> runnable_;  // threads that do not wait
  std::vector<Event> events_;
  std::uint64_t flushed_ = 0;
};

Generator::Generator(const GenerateOptions& options, TraceWriter& writer)
    : options_(options),
      writer_(writer),
      random_(options.seed),
      groups_(std::max<std::uint32_t>(1, options.sites / kSitesPerGroup)),
      racy_below_((std::uint64_t{options.racy_ppm} << 32) / 1'000'000),
      budget_(options.events - fixed_events(options)),
      threads_(options.threads),
      locks_(options.locks) {
  events_.reserve(kGeneratedBatchEvents * 2);
}

Status Generator::run() {
  describe();
  for (std::uint32_t t = 0; t < options_.threads; ++t) {
    runnable_.push_back(t);
  }
  emit(Op::kBegin, 0, 0, 0);
  threads_[0].begun = true;
  for (std::uint32_t t = 1; t < options_.threads; ++t) {
    emit(Op::kFork, 0, t, 0);
    if (events_.size() >= kGeneratedBatchEvents) {
      SOOTH_RETURN_IF_ERROR(flush());
    }
  }
  bool going = spare() > 0;
  while (going) {
    // Locks are taken in ascending order, so somebody can always go on.
    assert(!runnable_.empty());
    const std::uint32_t chosen = random_.below(static_cast<std::uint32_t>(runnable_.size()));
    const std::uint32_t t = runnable_[chosen];
    do {
      going = step(t);
    } while (going && threads_[t].wanted == kNobody && random_.below(options_.turn) != 0);
    if (threads_[t].wanted != kNobody && locks_[threads_[t].wanted].holder != kNobody) {
      wait(t);
      runnable_[chosen] = runnable_.back();  // wake_one() adds at the end only, so `chosen` is still t's place
      runnable_.pop_back();
    }
    if (events_.size() >= kGeneratedBatchEvents) {
      SOOTH_RETURN_IF_ERROR(flush());
    }
  }
  wind_up();
  return flush();
}

void Generator::describe() {
  Tables& tables = writer_.tables();
  for (std::uint32_t t = 0; t < options_.threads; ++t) {
    std::string name = "T";
    tables.add_thread(name += std::to_string(t));
  }
  for (std::uint32_t s = 0; s < options_.sites; ++s) {
    Site site;
    site.file = "gen.c";
    site.line = s + 1;
    site.label = "gen.c:";
    site.label += std::to_string(site.line);
    site.function = "work";
    site.function += std::to_string(std::min(s / kSitesPerGroup, groups_ - 1));
    tables.add_site(std::move(site));
  }
}

// Lets thread t do one thing, or find out that the lock it wants is taken. False when the events are used up.
bool Generator::step(std::uint32_t t) {
  Thread& thread = threads_[t];
  if (!thread.begun) {
    thread.begun = true;
    emit(Op::kBegin, t, 0, 0);
  }
  if (thread.wanted != kNobody) {
    return take(t, thread.wanted);
  }
  if (thread.sections.empty()) {
    if (spare() == 0) {
      return false;
    }
    if (thread.racy_owed > 0) {
      --thread.racy_owed;
      racy_access(t, random_.below(options_.variables));
      return true;
    }
    return start_section(t);
  }
  const Section section = thread.sections.back();
  // The last event must not be left to a thread without a lock: then the section goes on.
  const bool last_section = held_ == 1 && spare() == 1;
  if (section.left == 0 && !last_section) {
    release(t);
    return true;
  }
  const bool may_nest = thread.sections.size() < options_.nesting && section.owner + 1 < options_.locks;
  if (may_nest && random_.below(kNestOneIn) == 0) {
    return take(t, section.owner + 1 + random_.below(options_.locks - section.owner - 1));
  }
  if (spare() == 0) {
    return false;
  }
  thread.sections.back().left -= section.left == 0 ? 0 : 1;
  access(t, section);
  return true;
}

bool Generator::start_section(std::uint32_t t) {
  if (options_.locks != 0) {
    return take(t, random_.below(options_.locks));
  }
  access(t, {t, variables_of(t), 0});
  return true;
}

bool Generator::take(std::uint32_t t, std::uint32_t lock) {
  Thread& thread = threads_[t];
  if (locks_[lock].holder != kNobody) {
    thread.wanted = lock;
    return true;
  }
  if (spare() < 2) {
    return false;
  }
  thread.wanted = kNobody;
  locks_[lock].holder = t;
  ++held_;
  thread.sections.push_back({lock, variables_of(lock), kMinAccesses + random_.below(kAccessSpread)});
  --budget_;
  emit(Op::kAcquire, t, lock + 1, lock % options_.sites);
  return true;
}

void Generator::wait(std::uint32_t t) {
  Lock& lock = locks_[threads_[t].wanted];
  (lock.first_waiter == kNobody ? lock.first_waiter : threads_[lock.last_waiter].next_waiter) = t;
  lock.last_waiter = t;
}

// One is enough: it will take the lock, or go back to waiting for whoever was faster.
void Generator::wake_one(Lock& lock) {
  if (lock.first_waiter != kNobody) {
    const std::uint32_t t = lock.first_waiter;
    lock.first_waiter = threads_[t].next_waiter;
    threads_[t].next_waiter = kNobody;
    runnable_.push_back(t);
  }
}

void Generator::release(std::uint32_t t) {
  Thread& thread = threads_[t];
  const std::uint32_t number = thread.sections.back().owner;
  thread.sections.pop_back();
  Lock& lock = locks_[number];
  lock.holder = kNobody;
  wake_one(lock);
  --held_;
  --budget_;
  emit(Op::kRelease, t, number + 1, number % options_.sites);
}

void Generator::access(std::uint32_t t, const Section& section) {
  const std::uint64_t bits = random_.next();
  if ((bits >> 32) < racy_below_) {
    const std::uint32_t variable = random_.below(options_.variables);
    if (!holds(threads_[t], variable)) {
      racy_access(t, variable);
      return;
    }
    ++threads_[t].racy_owed;
  }
  const auto pick = static_cast<std::uint32_t>(((bits & 0xffffffff) * section.variables) >> 32);
  const std::uint32_t variable = section.owner + pick * owners();
  const std::uint32_t draw = random_.below(30);
  touch(t, variable, draw >= 18, draw % 3, 3 + draw % 3);
}

void Generator::racy_access(std::uint32_t t, std::uint32_t variable) {
  touch(t, variable, random_.below(10) >= 6, 6, 7);
}

void Generator::touch(std::uint32_t t, std::uint32_t variable, bool write, std::uint32_t read_site,
                      std::uint32_t write_site) {
  const std::uint32_t in_group = write ? write_site : read_site;
  const std::uint32_t site = (variable % groups_) * kSitesPerGroup + in_group;
  --budget_;
  emit(write ? Op::kWrite : Op::kRead, t, kFirstAddress + std::uint64_t{variable} * kVariableBytes,
       site % options_.sites, kVariableBytes);
}

bool Generator::holds(const Thread& thread, std::uint32_t variable) const {
  return options_.locks != 0 && std::any_of(thread.sections.begin(), thread.sections.end(),
                                            [&](const Section& s) { return s.owner == variable % options_.locks; });
}

// Everybody lets go of its locks and ends. Whoever is first spends the events that were too few for another section;
// when nobody holds a lock, T0 does so in the end.
void Generator::wind_up() {
  for (std::uint32_t left = options_.threads; left-- > 0;) {
    const std::uint32_t t = left;
    if (!threads_[t].begun) {
      emit(Op::kBegin, t, 0, 0);
    }
    while (!threads_[t].sections.empty()) {
      while (spare() > 0) {
        access(t, threads_[t].sections.back());
      }
      release(t);
    }
    if (t != 0) {
      emit(Op::kEnd, t, 0, 0);
    }
  }
  for (std::uint32_t t = 1; t < options_.threads; ++t) {
    emit(Op::kJoin, 0, t, 0);
  }
  while (budget_ > 0) {
    touch(0, random_.below(options_.variables), false, 0, 0);
  }
  emit(Op::kEnd, 0, 0, 0);
}

inline void Generator::emit(Op op, std::uint32_t t, std::uint64_t object, std::uint32_t site, std::uint32_t size) {
  events_.push_back({object, ThreadId{t}, SiteId{site}, size, op, MemoryOrder::kNotAtomic, 0, 0});
}

Status Generator::flush() {
  Batch batch;
  batch.first = EventId{flushed_};
  batch.events = events_;
  flushed_ += events_.size();
  Status status = events_.empty() ? Status() : writer_.append(batch);
  events_.clear();
  return status;
}

}  // namespace

Status check_options(const GenerateOptions& options) {
  if (options.threads == 0 || options.variables == 0 || options.sites == 0 || options.turn == 0) {
    return Status::usage("a generated trace needs at least 1 thread, 1 variable, 1 site and turns of 1 event");
  }
  if (options.locks > 0 && options.nesting == 0) {
    return Status::usage("with locks the nesting must be at least 1");
  }
  if (options.threads > kMaxGeneratedThreads) {
    return Status::usage("at most " + std::to_string(kMaxGeneratedThreads) + " threads can be generated");
  }
  if (options.locks > options.variables) {
    return Status::usage(std::to_string(options.locks) + " locks need at least as many variables to protect");
  }
  if (options.locks == 0 && options.threads > options.variables) {
    return Status::usage("without locks every thread needs a variable of its own: give at least " +
                         std::to_string(options.threads) + " variables");
  }
  if (options.racy_ppm > 1'000'000) {
    return Status::usage("at most 1000000 of a million accesses can be racy");
  }
  if (options.events < fixed_events(options)) {
    return Status::usage(std::to_string(options.threads) + " threads need at least " +
                         std::to_string(fixed_events(options)) + " events to begin and end");
  }
  return {};
}

Status generate_trace(const GenerateOptions& options, TraceWriter& writer) {
  assert(check_options(options).ok());
  return Generator(options, writer).run();
}

}  // namespace sooth
