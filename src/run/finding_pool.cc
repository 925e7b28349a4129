#include "run/finding_pool.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "pipeline/registry.h"
#include "race/site_key.h"
#include "report/group.h"
#include "report/identity.h"

namespace sooth {
namespace {

bool is_found_by(const Finding& finding, const char* name) {
  return std::find(finding.found_by.begin(), finding.found_by.end(), name) != finding.found_by.end();
}

}  // namespace

Promise promise_of(const Finding& finding) {
  if (finding.rung >= Rung::kPredicted) {
    return Promise::kPredicted;
  }
  // Whatever order the program makes by itself is on this list.
  if (std::none_of(finding.found_by.begin(), finding.found_by.end(),
                   [](const std::string& name) { return name != "hybrid:hard" && name != "lockset"; })) {
    return is_found_by(finding, "hybrid:hard") ? Promise::kHard : Promise::kLockset;
  }
  if (finding.witness.has_value() && finding.witness->refuted) {
    return Promise::kRefuted;
  }
  if (finding.kind == FindingKind::kAtomicity && !finding.declared) {
    return Promise::kLockset;
  }
  return Promise::kHybrid;
}

std::string family_of(const Finding& finding) {
  const std::string variable = finding.accesses.empty() ? "" : finding.accesses.front().variable;
  const std::size_t start = std::min(variable.find_first_not_of("*&("), variable.size());
  // Not `::`, nor the blanks of "on the stack of".
  std::size_t end = start;
  while (end < variable.size() && std::string_view("+.[-)").find(variable[end]) == std::string_view::npos) {
    ++end;
  }
  const bool named = end != start || finding.accesses.empty();
  return named ? variable.substr(start, end - start) : finding.accesses.front().place().function;
}

std::vector<FindingPool::Change> FindingPool::add(std::vector<Finding> findings, std::uint64_t recording,
                                                  std::size_t source) {
  std::vector<Change> changes;
  for (Finding& finding : findings) {
    const auto [known, added] = by_pair_.try_emplace(finding.id + pair_key(finding, user_code_), entries_.size());
    if (added) {
      entries_.push_back({std::move(finding), source, 1, recording});
      changes.push_back({known->second, true});
      continue;
    }
    Entry& entry = entries_[known->second];
    entry.seen += entry.last == recording ? 0 : 1;
    entry.last = recording;
    const bool better = better_proven(finding, entry.finding);
    entry.source = better ? source : entry.source;
    // Of one recording: those of several would say how often the program was recorded.
    const std::uint64_t dynamic_pairs = std::max(entry.finding.dynamic_pairs, finding.dynamic_pairs);
    merge_finding(entry.finding, std::move(finding));
    entry.finding.dynamic_pairs = dynamic_pairs;
    std::stable_sort(entry.finding.found_by.begin(), entry.finding.found_by.end(),
                     [](const std::string& a, const std::string& b) { return find_detector(a) < find_detector(b); });
    if (better) {
      changes.push_back({known->second, false});
    }
  }
  return changes;
}

std::uint64_t FindingPool::seen_in(std::uint64_t recording) const {
  return static_cast<std::uint64_t>(
      std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.last == recording; }));
}

bool FindingPool::shares_sites(std::size_t entry) const {
  const auto same_sites = [](const Finding& a, const Finding& b) {
    const auto sites = [](const Finding& finding) {
      std::vector<std::string> keys;
      for (const Access& access : finding.accesses) {
        keys.push_back(site_key(access.site));
      }
      std::sort(keys.begin(), keys.end());
      return keys;
    };
    return a.kind == b.kind && sites(a) == sites(b);
  };
  const Finding& finding = entries_[entry].finding;
  return finding.kind == FindingKind::kRace && std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
           return &other.finding != &finding && same_sites(other.finding, finding);
         });
}

std::uint64_t FindingPool::seen_once() const {
  return static_cast<std::uint64_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.seen == 1; }));
}

std::uint64_t FindingPool::sightings() const {
  std::uint64_t all = 0;
  for (const Entry& entry : entries_) {
    all += entry.seen;
  }
  return all;
}

}  // namespace sooth
