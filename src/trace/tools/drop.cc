#include "trace/tools/drop.h"

#include <algorithm>
#include <iterator>

#include "base/glob.h"
#include "trace/text/std_syntax.h"

namespace sooth {
namespace {

constexpr KindSet bit(Op op) { return KindSet{1} << raw(op); }
constexpr KindSet kPlain = bit(Op::kRead) | bit(Op::kWrite);
constexpr KindSet kAtomics = bit(Op::kAtomicLoad) | bit(Op::kAtomicStore) | bit(Op::kAtomicRmw);
constexpr KindSet kLockOps = bit(Op::kAcquire) | bit(Op::kRelease) | bit(Op::kAcquireFailed);
constexpr KindSet kSignalOps = bit(Op::kNotify) | bit(Op::kWait) | bit(Op::kCondNotify) | bit(Op::kCondWait);
constexpr KindSet kBarrierOps = bit(Op::kBarrierArrive) | bit(Op::kBarrierLeave);
constexpr KindSet kSemaphoreOps = bit(Op::kSemPost) | bit(Op::kSemWait);
constexpr KindSet kMessageOps = bit(Op::kHappensBefore) | bit(Op::kHappensAfter);
constexpr KindSet kThreadOps = bit(Op::kFork) | bit(Op::kJoin) | bit(Op::kBegin) | bit(Op::kEnd);
constexpr KindSet kFunctionOps = bit(Op::kEnter) | bit(Op::kExit);
constexpr KindSet kCallOps = bit(Op::kCallBegin) | bit(Op::kCallEnd);

struct KindWord {
  std::string_view word;
  KindSet kinds;
};

constexpr KindWord kGroups[] = {
    {"branch", kBranchKind},  {"access", kPlain | kAtomics},
    {"plain", kPlain},        {"atomic", kAtomics | bit(Op::kFence)},
    {"lock", kLockOps},       {"signal", kSignalOps},
    {"barrier", kBarrierOps}, {"semaphore", kSemaphoreOps},
    {"message", kMessageOps}, {"memory", bit(Op::kAlloc) | bit(Op::kFree)},
    {"thread", kThreadOps},   {"function", kFunctionOps},
    {"call", kCallOps},
};

std::string dashed_name(Op op) {
  std::string name(op_name(op));
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// Adds the other half of kinds that make no sense alone.
KindSet with_partners(KindSet kinds) {
  for (const KindSet pair : {kLockOps, kFunctionOps, kCallOps}) {
    kinds |= (kinds & pair) != 0 ? pair : 0;
  }
  return kinds;
}

bool any_match(const std::vector<std::string>& globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, text); });
}

}  // namespace

Result<KindSet> parse_kind(std::string_view word) {
  for (const KindWord& row : kGroups) {
    if (row.word == word) {
      return row.kinds;
    }
  }
  for (const StdOp& row : std_ops()) {
    if (row.name == word) {
      return with_partners(bit(row.op));
    }
  }
  for (int op = 0; op < kOpCount; ++op) {
    if (dashed_name(Op(op)) == word) {
      return with_partners(bit(Op(op)));
    }
  }
  return Status::usage("there is no kind of event \"" + std::string(word) + "\"; kinds are " + kind_words() +
                       ", and the words of STD text");
}

std::string kind_words() {
  std::string words;
  for (int op = 0; op < kOpCount; ++op) {
    words += dashed_name(Op(op)) + ", ";
  }
  for (const KindWord& row : kGroups) {
    words += row.word;
    words += &row == std::end(kGroups) - 1 ? "" : ", ";
  }
  return words;
}

EventDropper::SiteMatch EventDropper::match(const Site& site) const {
  SiteMatch match;
  match.function = !site.function.empty() && any_match(options_.functions, site.function);
  match.place = any_match(options_.sites, site.label) || (!site.file.empty() && any_match(options_.sites, site.file)) ||
                (!site.file.empty() && any_match(options_.sites, site.file + ":" + std::to_string(site.line)));
  return match;
}

void EventDropper::match_new_entries(const Tables& tables) {
  threads_.resize(tables.thread_count());
  while (sites_.size() < tables.site_count()) {
    sites_.push_back(match(tables.sites()[sites_.size()]));
  }
  while (stacks_.size() < tables.stack_count()) {
    const StackNode& node = tables.stacks()[stacks_.size()];
    const bool of_callers = raw(node.parent) < stacks_.size() && stacks_[raw(node.parent)];
    const bool is_empty_stack = stacks_.empty();
    stacks_.push_back(!is_empty_stack &&
                      (of_callers || (raw(node.call) < sites_.size() && sites_[raw(node.call)].function)));
  }
}

Batch EventDropper::filter(const Batch& batch, const Tables& tables) {
  match_new_entries(tables);
  new_index_.clear();
  events_.clear();
  values_.clear();
  stack_ids_.clear();
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    new_index_.push_back(static_cast<std::uint32_t>(events_.size()));
    const Event& e = batch.events[i];
    switch (decide(e, batch.stacks.empty() ? kNoStack : batch.stacks[i])) {
      case Fate::kKept:
        events_.push_back(e);
        if (!batch.values.empty()) {
          values_.push_back(batch.values[i]);
        }
        if (!batch.stacks.empty()) {
          stack_ids_.push_back(batch.stacks[i]);
        }
        break;
      case Fate::kFunction: ++counts_.by_function; break;
      case Fate::kSite: ++counts_.by_site; break;
      case Fate::kKind: ++counts_.by_kind; break;
      case Fate::kPartner: ++counts_.by_partner; break;
    }
  }
  new_index_.push_back(static_cast<std::uint32_t>(events_.size()));
  keep_columns(batch);
  Batch rest{EventId{kept_}, events_, values_, stack_ids_, branches_, reaches_};
  counts_.read += batch.events.size();
  kept_ += events_.size();
  return rest;
}

// Branches and reaches name events: by their new numbers from here on.
void EventDropper::keep_columns(const Batch& batch) {
  branches_.clear();
  reaches_.clear();
  for (const Branch& branch : batch.branches) {
    const SiteMatch& site = sites_[raw(branch.site)];
    if ((options_.kinds & kBranchKind) != 0 || site.function || site.place) {
      ++counts_.branches;
      continue;
    }
    branches_.push_back(branch);
    branches_.back().before = EventId{kept_ + new_index_[raw(branch.before) - raw(batch.first)]};
  }
  for (const Reach& reach : batch.reaches) {
    const std::size_t call = raw(reach.call) - raw(batch.first);
    if (new_index_[call] != new_index_[call + 1]) {
      reaches_.push_back(reach);
      reaches_.back().call = EventId{kept_ + new_index_[call]};
    }
  }
}

EventDropper::Fate EventDropper::decide(const Event& e, StackId stack) {
  const Fate alone = decide_alone(e, stack);
  ThreadState& thread = threads_[raw(e.thread)];
  switch (e.op) {
    case Op::kAcquire: open(thread.locks, e, alone); return alone;
    case Op::kRelease: return close(thread.locks, e, alone);
    case Op::kCallBegin: open(thread.calls, e, alone); return alone;
    case Op::kCallEnd: return close(thread.calls, e, alone);
    case Op::kEnter:
      thread.inside += sites_[e.object].function ? 1 : 0;
      open(thread.functions, e, alone);
      return alone;
    case Op::kExit:
      thread.inside -= sites_[e.object].function && thread.inside > 0 ? 1 : 0;
      return close(thread.functions, e, alone);
    case Op::kRead:
    case Op::kWrite:
    case Op::kAtomicLoad:
    case Op::kAtomicStore:
    case Op::kAtomicRmw:
    case Op::kFence:
    case Op::kNotify:
    case Op::kWait:
    case Op::kBarrierArrive:
    case Op::kBarrierLeave:
    case Op::kSemPost:
    case Op::kSemWait:
    case Op::kFork:
    case Op::kJoin:
    case Op::kBegin:
    case Op::kEnd:
    case Op::kAlloc:
    case Op::kFree:
    case Op::kHappensBefore:
    case Op::kHappensAfter:
    case Op::kMisuse:
    case Op::kCondNotify:
    case Op::kCondWait:
    case Op::kAcquireFailed: return alone;
  }
  return alone;
}

// Without regard to partners.
EventDropper::Fate EventDropper::decide_alone(const Event& e, StackId stack) const {
  if ((bit(e.op) & kThreadOps) == 0) {
    const bool names_function = (bit(e.op) & kFunctionOps) != 0 && sites_[e.object].function;
    if (sites_[raw(e.site)].function || threads_[raw(e.thread)].inside > 0 || stacks_[raw(stack)] || names_function) {
      return Fate::kFunction;
    }
    if (sites_[raw(e.site)].place) {
      return Fate::kSite;
    }
  }
  return (options_.kinds & bit(e.op)) != 0 ? Fate::kKind : Fate::kKept;
}

void EventDropper::open(Open& things, const Event& e, Fate fate) { things[e.object].push_back(fate != Fate::kKept); }

// What was never opened is judged alone.
EventDropper::Fate EventDropper::close(Open& things, const Event& e, Fate alone) {
  std::vector<bool>* openings = things.find(e.object);
  if (openings == nullptr || openings->empty()) {
    return alone;
  }
  const bool dropped = openings->back();
  openings->pop_back();
  if (!dropped) {
    return Fate::kKept;
  }
  return alone == Fate::kKept ? Fate::kPartner : alone;
}

}  // namespace sooth
