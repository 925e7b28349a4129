// Removes events from a trace: to see what a filter or a missing instrumentation would cost, and to cut noise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/status.h"
#include "trace/batch.h"
#include "trace/tables.h"

namespace sooth {

// A set of kinds of event: a bit for each Op, and one for branches.
using KindSet = std::uint32_t;
inline constexpr KindSet kBranchKind = KindSet{1} << kOpCount;
static_assert(kOpCount < 32);

// The kinds that a word of the user stands for: a word of the STD format ("r", "acq", "aload", ...), an op_name
// with dashes ("atomic-load"), or a group ("access", "atomic", "lock", "thread", ...). Kinds that make no sense alone
// come in pairs whichever is named: acquire and release, enter and exit, begin and end of a call.
Result<KindSet> parse_kind(std::string_view word);
// The names and the groups, for help texts: "read, write, ..., call".
std::string kind_words();

struct DropOptions {
  std::vector<std::string> functions;  // globs (base/glob.h)
  std::vector<std::string> sites;      // globs on the label, the file, or file:line
  KindSet kinds = 0;
};

struct DropCounts {
  std::uint64_t read = 0;         // events
  std::uint64_t by_function = 0;  // an event that is dropped for several reasons counts under the first
  std::uint64_t by_site = 0;
  std::uint64_t by_kind = 0;
  std::uint64_t by_partner = 0;  // closes (release, exit, call end) what was dropped when it was opened
  std::uint64_t branches = 0;    // no events

  std::uint64_t dropped() const { return by_function + by_site + by_kind + by_partner; }
};

// Decides event by event:
//  - a function matches in events at its sites, events with it on their recorded stack, and events between an enter
//    and the exit of it;
//  - fork, join, begin and end are dropped only by kind: whoever leaves out a function did not mean to unorder the
//    threads that it starts;
//  - what closes something shares the fate of what opened it (the release of an acquire, the exit of an enter, the end of a
//    call), so a well-formed trace stays well-formed. A dropped write is another matter: the copy is not exact.
class EventDropper {
 public:
  explicit EventDropper(DropOptions options) : options_(std::move(options)) {}

  // The rest of the batch, numbered as in the copy, valid until the next call. Batches in trace order, of a
  // well-formed trace: their ids must be in the tables.
  Batch filter(const Batch& batch, const Tables& tables);
  const DropCounts& counts() const { return counts_; }

 private:
  enum class Fate : std::uint8_t { kKept, kFunction, kSite, kKind, kPartner };
  struct SiteMatch {
    bool function = false;
    bool place = false;
  };
  // What a thread has opened and not closed, by object, innermost last: true when it was dropped.
  using Open = FlatMap<std::vector<bool>>;
  struct ThreadState {
    Open locks;
    Open functions;
    Open calls;
    std::uint64_t inside = 0;  // matching functions entered and not left
  };

  void match_new_entries(const Tables& tables);
  SiteMatch match(const Site& site) const;
  Fate decide(const Event& e, StackId stack);
  Fate decide_alone(const Event& e, StackId stack) const;
  static void open(Open& things, const Event& e, Fate fate);
  static Fate close(Open& things, const Event& e, Fate alone);
  void keep_columns(const Batch& batch);

  DropOptions options_;
  DropCounts counts_;
  std::vector<SiteMatch> sites_;      // by site
  std::vector<bool> stacks_;          // by stack: a frame matches
  std::vector<ThreadState> threads_;  // by thread
  std::uint64_t kept_ = 0;            // events, before the batch
  // The rest of the batch.
  std::vector<std::uint32_t> new_index_;  // by index in the batch: kept events of the batch before it
  std::vector<Event> events_;
  std::vector<Value> values_;
  std::vector<StackId> stack_ids_;
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
};

}  // namespace sooth
