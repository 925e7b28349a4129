#include "report/group.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "race/site_key.h"
#include "report/describe.h"
#include "report/identity.h"

namespace sooth {
namespace {

bool has_checked_witness(const Finding& finding) { return finding.witness.has_value() && finding.witness->checked; }

// In trace order; findings without any come last.
bool happens_earlier(const Finding& a, const Finding& b) {
  const auto events = [](const Finding& finding) {
    std::vector<EventId> ids;
    for (const Access& access : finding.accesses) {
      if (access.executed) {
        ids.push_back(access.event);
      }
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  // Runs that were only watched know least: no stacks, and no names for most memory.
  const auto rank = [](const Finding& finding) {
    return finding.accesses.empty() ? 2 : is_from_trace(finding) ? 0 : 1;
  };
  return std::tuple(rank(a), events(a)) < std::tuple(rank(b), events(b));
}

constexpr std::size_t kMostPairs = 64;

std::vector<std::string> keys_of(const std::vector<Site>& sites) {
  std::vector<std::string> keys;
  for (const Site& site : sites) {
    keys.push_back(site_key(site));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

OtherPair main_pair(const Finding& finding) {
  OtherPair pair{finding.rung, finding.found_by, {}};
  for (const Access& access : finding.accesses) {
    pair.sites.push_back(access.site);
  }
  return pair;
}

// The pairs of a race that is the same bug.
void add_pairs(Finding& finding, const Finding& other) {
  if (finding.kind != FindingKind::kRace) {
    return;
  }
  const std::vector<std::string> own = keys_of(main_pair(finding).sites);
  std::vector<OtherPair> pairs = other.others;
  pairs.push_back(main_pair(other));
  for (OtherPair& pair : pairs) {
    const std::vector<std::string> keys = keys_of(pair.sites);
    const auto place = std::lower_bound(
        finding.others.begin(), finding.others.end(), keys,
        [](const OtherPair& each, const std::vector<std::string>& k) { return keys_of(each.sites) < k; });
    if (keys == own) {
      continue;
    }
    if (place == finding.others.end() || keys_of(place->sites) != keys) {
      finding.others.insert(place, std::move(pair));
      continue;
    }
    place->rung = std::max(place->rung, pair.rung);
    for (std::string& name : pair.found_by) {
      if (std::find(place->found_by.begin(), place->found_by.end(), name) == place->found_by.end()) {
        place->found_by.push_back(std::move(name));
      }
    }
    std::sort(place->found_by.begin(), place->found_by.end());
  }
  finding.others.resize(std::min(finding.others.size(), kMostPairs));
}

}  // namespace

bool better_proven(const Finding& a, const Finding& b) {
  const auto proof = [](const Finding& finding) {
    return std::tuple(finding.rung, !is_by_delay(finding), finding.exact, has_checked_witness(finding));
  };
  return proof(a) > proof(b);
}

void merge_finding(Finding& finding, Finding other) {
  if (better_proven(other, finding)) {
    std::swap(finding, other);
  }
  add_pairs(finding, other);
  for (std::string& name : other.found_by) {
    if (std::find(finding.found_by.begin(), finding.found_by.end(), name) == finding.found_by.end()) {
      finding.found_by.push_back(std::move(name));
    }
  }
  for (std::string& conflict : other.conflicts) {
    const auto place = std::lower_bound(finding.conflicts.begin(), finding.conflicts.end(), conflict);
    if (place == finding.conflicts.end() || *place != conflict) {
      finding.conflicts.insert(place, std::move(conflict));
    }
  }
  for (std::string& report : other.reports) {
    const auto place = std::lower_bound(finding.reports.begin(), finding.reports.end(), report);
    if (place == finding.reports.end() || *place != report) {
      finding.reports.insert(place, std::move(report));
    }
  }
  finding.dynamic_pairs += other.dynamic_pairs;
  finding.distance = std::min(finding.distance, other.distance);
  finding.observed = finding.observed || other.observed;
  finding.known = finding.known || other.known;
  if (!finding.failure.has_value() && other.failure.has_value() && other.failure->recorded) {
    finding.failure = std::move(other.failure);
  }
  // One without a schedule was redacted.
  if (!finding.replay.has_value() || (finding.replay->schedule.empty() && other.replay.has_value() &&
                                      !other.replay->schedule.empty() && finding.rung == other.rung)) {
    finding.replay = std::move(other.replay);
  }
  // The run along the witness, and others that came there without it.
  if (finding.replay.has_value() && other.replay.has_value() && finding.replay->trials == 0) {
    finding.replay->trials = other.replay->trials;
    finding.replay->hits = other.replay->hits;
    finding.replay->probability = other.replay->probability;
  }
  if (other.hand_over.has_value()) {
    if (finding.hand_over.has_value()) {
      merge_hand_over(*finding.hand_over, *other.hand_over);
    } else {
      finding.hand_over = std::move(other.hand_over);
    }
  }
}

namespace {

void merge_by(Report& report, const std::function<std::string(const Finding&)>& key) {
  std::vector<Finding> merged;
  std::unordered_map<std::string, std::size_t> index;
  std::set<std::size_t> grown;  // into merged: those whose found_by may be out of order
  for (Finding& finding : report.findings) {
    const auto [it, added] = index.try_emplace(key(finding), merged.size());
    if (added) {
      merged.push_back(std::move(finding));
    } else {
      merge_finding(merged[it->second], std::move(finding));
      grown.insert(it->second);
    }
  }
  const std::vector<AnalysisStats>& analyses = report.stats.analyses;
  const auto rank = [&analyses](const std::string& name) {
    return std::find_if(analyses.begin(), analyses.end(), [&](const AnalysisStats& a) { return a.name == name; }) -
           analyses.begin();
  };
  for (const std::size_t i : grown) {
    std::stable_sort(merged[i].found_by.begin(), merged[i].found_by.end(),
                     [&rank](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  }
  std::stable_sort(merged.begin(), merged.end(), [](const Finding& a, const Finding& b) {
    // Runs that failed come first, those last of which nobody knows where; but what took an unlikely delay says least.
    const auto place = [](const Finding& f) {
      const bool is_somewhere = std::any_of(f.accesses.begin(), f.accesses.end(), [](const Access& access) {
        return !access.place().file.empty() || !access.place().module.empty();
      });
      return is_by_delay(f) ? 3 : !f.failure.has_value() ? 2 : is_somewhere ? 0 : 1;
    };
    return a.rung != b.rung ? a.rung > b.rung : place(a) != place(b) ? place(a) < place(b) : happens_earlier(a, b);
  });
  report.findings = std::move(merged);
}

}  // namespace

void rename(Finding& finding, const std::string& id) {
  std::string none;
  std::string& command = finding.replay.has_value() ? finding.replay->command : none;
  const std::size_t place = finding.id.empty() ? std::string::npos : command.find("#" + finding.id);
  if (place != std::string::npos) {
    command.replace(place + 1, finding.id.size(), id);
  }
  finding.id = id;
}

namespace {

// Of the variable alone: "total" for "total", "total[3]" and "total of main()".
std::string name_of_variable(const Finding& race) {
  for (const Access& access : race.accesses) {
    if (!access.variable.empty() && !access.variable.starts_with("0x")) {
      return bare_variable(access.variable.substr(0, access.variable.find(" of ")));
    }
  }
  return race.context.memory.has_value() ? bare_variable(race.context.memory->name) : "";
}

bool is_kind(const Finding& race, MemoryKind kind) {
  return race.context.memory.has_value() && race.context.memory->kind == kind;
}

// Whether the first, at the same places, may be about the variable of the second, of which it knows less: nothing but an
// address, or a name without the function that has it. A recording knows the variables of functions that run, and not
// always those of one that has returned.
bool knows_less(const Finding& race, const Finding& other) {
  if (is_kind(race, MemoryKind::kHeap) || is_kind(race, MemoryKind::kStack)) {
    return false;
  }
  const std::string name = name_of_variable(race);
  if (name.empty()) {
    return !name_of_variable(other).empty() || is_kind(other, MemoryKind::kHeap);
  }
  return is_kind(other, MemoryKind::kStack) && name == name_of_variable(other);
}

void take_less_known(Finding& finding, Finding other) {
  const std::string id = finding.id;
  const std::optional<MemoryContext> memory = finding.context.memory;
  const std::string name =
      finding.accesses.front().variable.empty() ? finding.accesses.back().variable : finding.accesses.front().variable;
  merge_finding(finding, std::move(other));
  rename(finding, id);
  finding.context.memory = memory;
  for (Access& access : finding.accesses) {
    access.variable = name.empty() ? access.variable : name;
  }
}

std::string places_of(const Finding& race) {
  const std::vector<std::string> keys = keys_of({race.accesses.front().place(), race.accesses.back().place()});
  return keys.front() + "\n" + keys.back();
}

// One race that was seen several times, and whose variable was not known each time, is one finding.
void merge_less_known(Report& report) {
  std::unordered_map<std::string, std::vector<std::size_t>> at_places;
  const auto is_race = [](const Finding& finding) {
    return finding.kind == FindingKind::kRace && finding.accesses.size() == 2;
  };
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    if (is_race(report.findings[i])) {
      at_places[places_of(report.findings[i])].push_back(i);
    }
  }
  std::set<std::size_t> gone;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    if (!is_race(report.findings[i])) {
      continue;
    }
    for (const std::size_t other : at_places[places_of(report.findings[i])]) {
      if (other != i && !gone.contains(other) && knows_less(report.findings[i], report.findings[other])) {
        take_less_known(report.findings[other], std::move(report.findings[i]));
        gone.insert(i);
        break;
      }
    }
  }
  std::size_t index = 0;
  std::erase_if(report.findings, [&](const Finding&) { return gone.contains(index++); });
}

}  // namespace

void merge_equal_findings(Report& report) {
  merge_less_known(report);
  merge_by(report, [](const Finding& finding) { return finding.id; });
}

void merge_equal_pairs(Report& report, const UserCode& user_code) {
  merge_by(report, [&](const Finding& finding) { return pair_key(finding, user_code); });
}

}  // namespace sooth
