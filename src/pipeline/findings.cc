#include "pipeline/findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace sooth {
namespace {

Access make_access(const AccessRecord& record, const LockSetTable& lock_sets, const Tables& tables) {
  const Event& event = record.event;
  Access access;
  access.op = event.op;
  access.order = event.order;
  access.size = event.size;
  access.shared = event.op == Op::kAcquire && is_shared(event);
  access.address = event.object;
  if (const std::string* name = tables.object_name(object_kind(event.op), event.object)) {
    access.variable = *name;
  }
  access.thread = tables.thread_name(event.thread);
  access.event = record.id;
  access.site = tables.site(event.site);
  for (const SiteId frame : tables.frames(record.stack)) {
    access.stack.push_back(tables.site(frame));
  }
  for (const LockMode& lock : lock_sets.locks(record.locks)) {
    access.locks.push_back(tables.describe(ObjectKind::kLock, lock.lock) + (lock.shared ? " (shared)" : ""));
  }
  return access;
}

Finding make_finding(const SitePair& pair, const FinishedDetector& by, const Tables& tables, bool exact) {
  Finding finding;
  finding.rung = by.info->observed ? Rung::kPredicted : Rung::kSuspected;
  finding.observed = by.info->observed;
  finding.exact = exact;
  finding.dynamic_pairs = pair.second_accesses;
  finding.distance = pair.distance;
  for (const AccessRecord* side : {&pair.first, &pair.second}) {
    finding.accesses.push_back(make_access(*side, by.detector->lock_sets(), tables));
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
    finding.accesses.push_back(make_access(acquire, by.detector->lock_sets(), tables));
  }
  finding.distance = raw(last) - raw(cycle.acquires.front().id);
  return finding;
}

}  // namespace

std::vector<Finding> make_findings(const std::vector<FinishedDetector>& detectors, const Tables& tables, bool exact) {
  std::vector<FinishedDetector> strongest_first = detectors;
  std::stable_sort(strongest_first.begin(), strongest_first.end(), [](const auto& a, const auto& b) {
    return a.info->guarantee < b.info->guarantee;
  });
  std::map<std::pair<SiteId, SiteId>, Finding> by_sites;
  for (const FinishedDetector& by : strongest_first) {
    for (const SitePair& pair : by.detector->races().pairs()) {
      const std::pair key(pair.low_site, pair.high_site);
      if (!by_sites.contains(key)) {
        by_sites.emplace(key, make_finding(pair, by, tables, exact));
      }
    }
  }
  // Named in the order of the registry, whoever was strongest.
  for (const FinishedDetector& by : detectors) {
    for (const SitePair& pair : by.detector->races().pairs()) {
      by_sites.at({pair.low_site, pair.high_site}).found_by.emplace_back(by.info->name);
    }
  }
  std::vector<Finding> findings;
  findings.reserve(by_sites.size());
  for (auto& [sites, finding] : by_sites) {
    findings.push_back(std::move(finding));
  }
  for (const FinishedDetector& by : detectors) {
    for (const DeadlockCandidate& cycle : by.detector->deadlocks()) {
      findings.push_back(make_finding(cycle, by, tables, exact));
    }
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.rung != b.rung ? a.rung > b.rung : a.accesses[1].event < b.accesses[1].event;
  });
  return findings;
}

}  // namespace sooth
