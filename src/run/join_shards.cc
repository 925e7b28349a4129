#include "run/join_shards.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "report/describe.h"
#include "report/group.h"

namespace sooth {
namespace {

using Shards = std::map<std::uint32_t, Report>;  // by index

// Replaces the findings that are the shard's part.
void take_answers(const Report& shard, Report& whole) {
  for (const std::string& id : shard.shard->tried) {
    const auto same_id = [&](const Finding& finding) { return finding.id == id; };
    const auto to = std::find_if(whole.findings.begin(), whole.findings.end(), same_id);
    const auto from = std::find_if(shard.findings.begin(), shard.findings.end(), same_id);
    if (to != whole.findings.end() && from != shard.findings.end()) {
      *to = *from;
    }
  }
  for (const std::string& note : shard.notes) {
    if (std::find(whole.notes.begin(), whole.notes.end(), note) == whole.notes.end()) {
      whole.notes.push_back(note);
    }
  }
  for (const Gap& gap : shard.not_covered) {
    whole.add_gap(gap.kind, gap.text);
  }
}

Report join(const Shards& shards) {
  Report whole = shards.begin()->second;
  const std::uint32_t count = whole.shard->count;
  whole.shard.reset();
  for (const auto& [index, shard] : shards) {
    take_answers(shard, whole);
  }
  std::vector<std::string> missing;
  for (std::uint32_t i = 1; i <= count; ++i) {
    if (!shards.contains(i)) {
      missing.push_back(std::to_string(i));
    }
  }
  if (!missing.empty()) {
    whole.add_gap(GapKind::kTrials, (missing.size() == 1 ? "Shard " : "Shards ") + listed(missing) + " of " +
                                        std::to_string(count) + (missing.size() == 1 ? " is" : " are") +
                                        " missing: what was to be tried there is as it was before.");
  }
  merge_equal_findings(whole);  // for the order: what moved up comes first
  return whole;
}

}  // namespace

std::vector<Report> join_shards(std::vector<Report> reports) {
  std::vector<Report> joined;
  std::map<std::string, Shards> campaigns;
  std::vector<std::pair<std::size_t, std::string>> places;  // in `joined`
  for (Report& report : reports) {
    if (!report.shard.has_value()) {
      joined.push_back(std::move(report));
      continue;
    }
    const std::string campaign = report.shard->campaign + " " + std::to_string(report.shard->count);
    const auto [it, added] = campaigns.try_emplace(campaign);
    if (added) {
      places.emplace_back(joined.size(), campaign);
      joined.emplace_back();
    }
    it->second.try_emplace(report.shard->index, std::move(report));
  }
  for (const auto& [place, campaign] : places) {
    joined[place] = join(campaigns.at(campaign));
  }
  return joined;
}

}  // namespace sooth
