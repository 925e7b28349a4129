#include "pipeline/findings.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "trace/unsafe_calls.h"

namespace sooth {

namespace {

// Empty when all that is known of the object is its number, which describe() would give.
std::string name_of(ObjectKind kind, std::uint64_t object, const Tables& tables, std::uint64_t size, EventId at) {
  const bool named = kind == ObjectKind::kThread || tables.object_name(kind, object) != nullptr ||
                     tables.named_range(kind, object) != nullptr ||
                     (kind == ObjectKind::kLock && tables.named_range(ObjectKind::kMemory, object) != nullptr);
  if (!named && kind == ObjectKind::kMemory) {
    const std::optional<NamedPart> variable = tables.variables().find(object, size, at);
    return variable.has_value() ? variable->name : "";
  }
  return named ? tables.describe(kind, object, size) : "";
}

std::string unsafe_call_name(std::uint64_t number) {
  number &= ~kInCrashHandler;
  return number < kUnsafeCallCount ? kUnsafeCalls[number] : "";
}

// Whoever handles a crash knows that it may hang, and prints what it can.
bool is_in_crash_handler(const MisuseCandidate& misuse) {
  return misuse.kind == MisuseKind::kSignalUnsafe && (misuse.call.event.object & kInCrashHandler) != 0;
}

// "SIGALRM", where the system has a name for it.
std::string signal_name(std::uint64_t number) {
  const char* name = number < NSIG ? ::sigabbrev_np(static_cast<int>(number)) : nullptr;
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

}  // namespace

Access make_access(const AccessRecord& record, const std::vector<LockMode>& locks, const Tables& tables) {
  const Event& event = record.event;
  Access access;
  access.op = event.op;
  access.order = event.order;
  access.size = event.op == Op::kMisuse ? 0 : event.size;
  access.shared = event.op == Op::kAcquire && is_shared(event);
  access.address = event.object;
  access.variable = name_of(object_kind(event), event.object, tables, access.size, record.id);
  if (event.op == Op::kMisuse && is_signal_misuse(MisuseKind(event.size))) {
    access.address = 0;
    access.variable =
        MisuseKind(event.size) == MisuseKind::kSignalErrno ? signal_name(event.object) : unsafe_call_name(event.object);
  }
  access.thread = tables.thread_name(event.thread);
  access.event = record.id;
  access.site = tables.site(event.site);
  for (const SiteId frame : tables.frames(record.stack)) {
    access.stack.push_back(tables.site(frame));
  }
  for (const LockMode& lock : locks) {
    access.locks.push_back(tables.describe(ObjectKind::kLock, lock.lock) + (lock.shared ? " (shared)" : ""));
  }
  return access;
}

namespace {

Finding make_finding(const SitePair& pair, const FinishedDetector& by, const Tables& tables, bool exact) {
  Finding finding;
  finding.rung = by.info->observed ? Rung::kPredicted : Rung::kSuspected;
  finding.observed = by.info->observed;
  finding.exact = exact;
  finding.dynamic_pairs = pair.second_accesses;
  finding.distance = pair.distance;
  for (const AccessRecord* side : {&pair.first, &pair.second}) {
    finding.accesses.push_back(make_access(by.named(*side), by.detector->lock_sets().locks(side->locks), tables));
  }
  return finding;
}

// Suspected until somebody has a witness: the detector looks at locks and must-order only.
Finding make_finding(const DeadlockCandidate& cycle, const FinishedDetector& by, const Tables& tables, bool exact) {
  Finding finding;
  finding.kind = FindingKind::kDeadlock;
  finding.exact = exact;
  finding.found_by.emplace_back(by.info->name);
  finding.dynamic_pairs = cycle.cycles;
  EventId last = cycle.acquires.front().id;
  for (const AccessRecord& acquire : cycle.acquires) {
    last = std::max(last, acquire.id);
    finding.accesses.push_back(make_access(by.named(acquire), by.detector->lock_sets().locks(acquire.locks), tables));
  }
  finding.distance = raw(last) - raw(cycle.acquires.front().id);
  return finding;
}

}  // namespace

namespace {

using ClaimsBySites = std::map<std::tuple<SiteId, SiteId, std::uint32_t>, Claim>;

// A plan does not say on which variable: it belongs to the claim that has the same pair of accesses, or to the only one
// at its sites.
void add_plan(const RacePlan& plan, ClaimsBySites& claims) {
  const auto first = claims.lower_bound({plan.low_site, plan.high_site, 0});
  const auto last = claims.upper_bound({plan.low_site, plan.high_site, UINT32_MAX});
  const auto same = std::find_if(first, last, [&](const auto& each) {
    const std::vector<Candidate>& candidates = each.second.candidates;
    return std::find(candidates.begin(), candidates.end(), plan.race) != candidates.end();
  });
  if (same != last) {
    same->second.plans.push_back(plan);
  } else if (first != last && std::next(first) == last) {
    first->second.plans.push_back(plan);
  }
}

}  // namespace

std::vector<Claim> make_claims(const std::vector<FinishedDetector>& detectors, const Tables& tables, bool exact) {
  std::vector<FinishedDetector> strongest_first = detectors;
  std::stable_sort(strongest_first.begin(), strongest_first.end(),
                   [](const auto& a, const auto& b) { return a.info->guarantee < b.info->guarantee; });
  ClaimsBySites by_sites;
  for (const FinishedDetector& by : strongest_first) {
    for (const SitePair& pair : by.detector->races().pairs()) {
      const auto [it, added] = by_sites.try_emplace({pair.low_site, pair.high_site, pair.variable});
      Claim& claim = it->second;
      if (added) {
        claim.finding = make_finding(pair, by, tables, exact);
        claim.low_site = pair.low_site;
        claim.high_site = pair.high_site;
        claim.variable = pair.variable;
        claim.heuristic = by.info->guarantee == Guarantee::kHeuristic;
      }
      if (std::find(claim.candidates.begin(), claim.candidates.end(), pair.example) == claim.candidates.end()) {
        claim.candidates.push_back(pair.example);
      }
    }
  }
  // Named in the order of the registry, whoever was strongest.
  for (const FinishedDetector& by : detectors) {
    for (const SitePair& pair : by.detector->races().pairs()) {
      Claim& claim = by_sites.at({pair.low_site, pair.high_site, pair.variable});
      claim.finding.found_by.emplace_back(by.info->name);
      claim.data_abstraction = claim.data_abstraction || by.info->data_abstraction;
    }
    for (const RacePlan& plan : by.detector->plans()) {
      add_plan(plan, by_sites);
    }
  }
  std::vector<Claim> claims;
  claims.reserve(by_sites.size());
  for (auto& [sites, claim] : by_sites) {
    if (!claims.empty() && claims.back().low_site == claim.low_site && claims.back().high_site == claim.high_site) {
      claims.back().one_of_several = claim.one_of_several = true;
    }
    claims.push_back(std::move(claim));
  }
  DeadlockIndex cycles;  // into claims
  for (const FinishedDetector& by : detectors) {
    for (const DeadlockCandidate& cycle : by.detector->deadlocks()) {
      std::vector<EventId> acquires;
      for (const AccessRecord& acquire : cycle.acquires) {
        acquires.push_back(acquire.id);
      }
      const auto [number, added] = cycles.add(cycle, claims.size());
      if (added) {
        claims.emplace_back().finding = make_finding(cycle, by, tables, exact);
      } else if (std::string name(by.info->name); claims[number].finding.found_by.back() != name) {
        claims[number].finding.found_by.push_back(std::move(name));
      }
      // What one thread does alone cannot be brought about.
      std::set<ThreadId> threads;
      for (const AccessRecord& acquire : cycle.acquires) {
        threads.insert(acquire.event.thread);
      }
      if (threads.size() == cycle.acquires.size()) {
        claims[number].acquires.push_back(std::move(acquires));
      }
    }
  }
  return claims;
}

namespace {

// Two accesses that nothing orders are a race, which says more.
bool is_race(const std::vector<FinishedDetector>& detectors, const MisuseCandidate& use) {
  const auto [low, high] = std::minmax(use.call.event.site, use.before->event.site);
  return std::any_of(detectors.begin(), detectors.end(), [&, low = low, high = high](const FinishedDetector& by) {
    const std::vector<SitePair>& pairs = by.detector->races().pairs();
    return by.info->observed && std::any_of(pairs.begin(), pairs.end(), [&](const SitePair& pair) {
             return pair.low_site == low && pair.high_site == high;
           });
  });
}

}  // namespace

std::vector<Finding> misuse_findings(const std::vector<FinishedDetector>& detectors, const Tables& tables, bool exact) {
  std::vector<Finding> findings;
  for (const FinishedDetector& by : detectors) {
    for (const MisuseCandidate& misuse : by.detector->misuses()) {
      if (misuse.before.has_value() && is_race(detectors, misuse)) {
        continue;
      }
      Finding& finding = findings.emplace_back();
      finding.kind = FindingKind::kMisuse;
      finding.misuse = misuse.kind;
      finding.rung = is_in_crash_handler(misuse) ? Rung::kSuspected : Rung::kPredicted;
      finding.observed = true;
      finding.exact = exact;
      finding.found_by.emplace_back(by.info->name);
      finding.dynamic_pairs = misuse.times;
      const auto add = [&](const AccessRecord& record) {
        finding.accesses.push_back(make_access(record, by.detector->lock_sets().locks(record.locks), tables));
      };
      if (misuse.before.has_value()) {
        add(*misuse.before);
      }
      add(misuse.call);
    }
  }
  return findings;
}

std::vector<Finding> atomicity_findings(const std::vector<FinishedDetector>& detectors, const Tables& tables,
                                        bool exact) {
  std::vector<Finding> findings;
  for (const FinishedDetector& by : detectors) {
    for (const AtomicityCandidate& candidate : by.detector->atomicity()) {
      Finding& finding = findings.emplace_back();
      finding.kind = FindingKind::kAtomicity;
      finding.rung = candidate.observed && exact ? Rung::kPredicted : Rung::kSuspected;
      finding.observed = candidate.observed;
      finding.declared = candidate.declared;
      finding.exact = exact;
      finding.found_by.emplace_back(by.info->name);
      finding.dynamic_pairs = candidate.times;
      finding.distance = raw(candidate.second.id) - raw(candidate.first.id);
      for (const AccessRecord* record : {&candidate.first, &candidate.other, &candidate.second}) {
        finding.accesses.push_back(
            make_access(by.named(*record), by.detector->lock_sets().locks(record->locks), tables));
      }
    }
  }
  return findings;
}

std::vector<LockMode> held_locks_after(const TraceIndex& index, std::uint32_t thread, std::uint32_t length) {
  std::vector<LockMode> locks;
  for (const SectionIndex section : index.held_after(thread, length)) {
    const LockSection& held = index.section(section);
    locks.push_back({index.event(held.acquire).object, held.shared});
  }
  return locks;
}

std::vector<LockMode> locks_at(const TraceIndex& index, EventId id) {
  const auto event = static_cast<EventIndex>(raw(id));
  return held_locks_after(index, index.thread(event), index.position(event));
}

}  // namespace sooth
