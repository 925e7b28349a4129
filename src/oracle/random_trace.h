// Small random traces, well-formed by construction, that reach the corners of docs/semantics.md.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/tables.h"

namespace sooth::oracle {

// What a trace is made of.
enum class Profile : std::uint8_t {
  kLocks,        // exclusive and shared, re-entrant, released in any order
  kNestedLocks,  // the same, released last in first out
  kMustOrder,    // fork, join, signals, barriers, semaphores, messages; few locks
  kAtomics,      // atomic accesses and fences of every order beside plain accesses
  kMemory,       // overlapping ranges of odd sizes, alloc and free
  kEverything,
  kConditions,  // waits for condition variables, with and without time-outs, beside locks
  kTryLocks,    // as kLocks, but most acquires try or have a time limit, and some of them fail
  kCalls,  // calls that were not recorded, nested and open at the end, beside a little of all that orders; they get
           // their reaches from random_reaches(), so this one is not among kProfiles
};
inline constexpr std::array kProfiles = {Profile::kLocks,    Profile::kNestedLocks, Profile::kMustOrder,
                                         Profile::kAtomics,  Profile::kMemory,      Profile::kEverything,
                                         Profile::kTryLocks, Profile::kConditions};
std::string_view profile_name(Profile profile);

// One kind of step that the generator can take.
enum class Action : std::uint8_t {
  kAccess,
  kAtomic,
  kFence,
  kAcquire,
  kRelease,
  kNotify,
  kWait,
  kArrive,
  kLeave,
  kPost,
  kSemWait,
  kFork,
  kJoin,
  kEnd,
  kAlloc,
  kFree,
  kBefore,
  kAfter,
  kEnter,
  kExit,
  kCallBegin,
  kCallEnd,
  kMisuse,
  kCondNotify,
  kCondWait
};
inline constexpr int kActionCount = 25;

struct RandomTraceOptions {
  std::uint32_t events = 30;
  std::uint32_t threads = 3;
  std::uint32_t locks = 2;
  std::uint32_t variables = 3;
  std::uint32_t sites = 4;
  std::uint32_t shared_percent = 25;     // of acquires
  std::uint32_t reentrant_percent = 15;  // chance that a thread takes again a lock that it picked and holds
  std::uint32_t try_percent = 0;         // of acquires: they try or have a time limit, and fail when the lock is taken
  std::uint32_t forked_percent = 50;     // of threads; the others simply start
  bool nested = false;                   // releases are last in, first out
  bool odd_memory = false;               // overlapping and unaligned ranges of 1 to 40 bytes; else 4 bytes each
  std::array<std::uint32_t, kActionCount> weights{};  // by Action; 0: never
};

struct RandomTrace {
  std::vector<Event> events;
  Tables tables;  // names for every thread and site used
};

// 6 to 60 events, 2 to 5 threads, 1 to 3 locks, 1 to 4 variables: drawn from the seed.
RandomTraceOptions random_options(Profile profile, std::uint64_t seed);
// Equal options and seeds give equal traces. It may fall short of options.events when every thread has ended or is
// stuck.
RandomTrace random_trace(const RandomTraceOptions& options, std::uint64_t seed);
RandomTrace random_trace(Profile profile, std::uint64_t seed);

// Which features the traces of a test had, so that a generator that stopped producing one is noticed.
class Census {
 public:
  void count(std::span<const Event> trace);
  std::uint64_t traces() const { return traces_; }
  // Features by name with the number of traces that have it; all features are listed.
  const std::map<std::string, std::uint64_t>& features() const { return features_; }
  void print(std::ostream& out) const;

 private:
  std::uint64_t traces_ = 0;
  std::map<std::string, std::uint64_t> features_;
};

}  // namespace sooth::oracle
