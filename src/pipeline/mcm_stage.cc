#include "pipeline/mcm_stage.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "pipeline/stage_gaps.h"
#include "predict/barrier_order.h"
#include "predict/deadlock_cycles.h"
#include "race/site_key.h"

namespace sooth {
namespace {

using Sites = std::pair<SiteId, SiteId>;

class McmStage {
 public:
  McmStage(const DetectorInfo& info, std::vector<Claim>& claims, const ProofCount& so_far, const TraceCapture& capture,
           const Tables& tables, bool exact)
      : info_(info),
        capture_(capture),
        tables_(tables),
        exact_(exact),
        refuted_(so_far.refuted_sites.begin(), so_far.refuted_sites.end()) {
    for (Claim& claim : claims) {
      const Sites sites{claim.low_site, claim.high_site};
      if (claim.finding.kind != FindingKind::kRace) {
        others_.push_back(std::move(claim));
      } else if (claim.one_of_several) {
        several_.emplace(sites, std::move(claim));
      } else {
        races_.emplace(sites, std::move(claim));
      }
    }
  }

  void ask(const McmOptions& options) {
    if (options.out_of_time && options.out_of_time()) {
      found_.why_not_all = kOutOfTime;
      return;
    }
    const TraceView view = capture_.view(tables_);
    const BarrierTrace calls(view);
    const TraceIndex index(calls.view(), calls.order());
    found_ = find_mcm_races(index, options, [this](SiteId low, SiteId high) { return is_decided({low, high}); });
    for (McmSitePair& pair : found_.pairs) {
      take(pair);
    }
    ask_about_deadlocks(index, options);
  }

  std::vector<Claim> finish(ProofCount& proven) {
    prove_given(given_, capture_, tables_, proven);
    for (Claim& claim : given_) {
      const Sites sites{claim.low_site, claim.high_site};
      several_.emplace(sites, std::move(claim));
    }
    for (auto& [sites, claim] : races_) {
      several_.emplace(sites, std::move(claim));
    }
    prove_given(given_deadlocks_, capture_, tables_, proven);
    for (std::size_t i = 0; i < given_deadlocks_.size(); ++i) {
      if (has_witness(given_deadlocks_[i])) {
        add_name(given_deadlocks_[i].finding);
      }
      others_[given_places_[i]] = std::move(given_deadlocks_[i]);
    }
    std::vector<Claim> claims;
    for (auto& [sites, claim] : several_) {
      if (has_witness(claim)) {
        add_name(claim.finding);
        ++dynamic_pairs_;
        places_.insert(std::minmax({site_key(tables_.site(sites.first)), site_key(tables_.site(sites.second))}));
      }
      claims.push_back(std::move(claim));
    }
    std::move(others_.begin(), others_.end(), std::back_inserter(claims));
    proven.refuted += refuted_here_;
    return claims;
  }

  AnalysisStats stats(double seconds) const {
    AnalysisStats stats;
    stats.name = info_.name;
    stats.guarantee = guarantee_name(info_.guarantee);
    stats.races = places_.size();
    stats.dynamic_pairs = dynamic_pairs_;
    stats.seconds = seconds;
    std::uint64_t by[kDecidedByCount] = {};
    std::uint64_t open = 0;
    for (const McmSitePair& pair : found_.pairs) {
      open += pair.unknown;
      for (int i = 0; i < kDecidedByCount; ++i) {
        by[i] += pair.decided_by[i];
      }
    }
    stats.extra = {{"site pairs decided before", std::to_string(found_.skipped)},
                   {"site pairs asked about", std::to_string(found_.pairs.size())},
                   {"site pairs without an answer", std::to_string(unknown_)},
                   {"pairs of accesses asked about", std::to_string(found_.candidates)},
                   {"... decided by the closure", std::to_string(by[0])},
                   {"... decided by saturation", std::to_string(by[1])},
                   {"... decided by search", std::to_string(by[2])},
                   {"... decided by the solver", std::to_string(by[3])},
                   {"... not decided", std::to_string(open)},
                   {"cycles of locks asked about", std::to_string(cycles_asked_)}};
    return stats;
  }

  std::vector<Gap> gaps(const McmOptions& options) const {
    return stage_gaps({info_.name, "sites", unknown_, why_, found_.far_pairs, options.window, found_.why_not_all},
                      capture_);
  }

 private:
  static bool has_witness(const Claim& claim) {
    return claim.finding.witness.has_value() && claim.finding.witness->checked;
  }

  bool is_decided(const Sites& sites) const {
    const auto claim = races_.find(sites);
    const auto [first, last] = several_.equal_range(sites);
    return refuted_.contains(sites) || (claim != races_.end() && has_witness(claim->second)) ||
           std::any_of(first, last, [](const auto& each) { return has_witness(each.second); });
  }

  void take(McmSitePair& pair) {
    const Sites sites{pair.low_site, pair.high_site};
    const auto claimed = races_.find(sites);
    switch (pair.answer) {
      case McmSitePair::Answer::kRace: {
        Claim claim = claimed != races_.end() ? std::move(claimed->second) : new_claim(pair);
        if (claimed != races_.end()) {
          races_.erase(claimed);
        }
        claim.given = std::move(pair.witness);
        given_.push_back(std::move(claim));
        return;
      }
      case McmSitePair::Answer::kNoRace:
        if (pair.complete && capture_.whole()) {
          refute(sites);
        }
        return;
      case McmSitePair::Answer::kUnknown:
        ++unknown_;
        why_ = why_.empty() ? pair.why : why_;
        return;
    }
  }

  // Those that have no witness in which every read sees the write that it saw: with branches or values there may be
  // others.
  void ask_about_deadlocks(const TraceIndex& index, const McmOptions& options) {
    const bool fixed = index.reads_are_fixed();
    if (fixed || std::all_of(others_.begin(), others_.end(), has_witness)) {
      return;
    }
    const SiteCycles cycles(index);
    const Windows windows(index, options.window);
    const auto out_of_time = [&] { return options.out_of_time && options.out_of_time(); };
    for (Claim& claim : others_) {
      if (claim.finding.kind == FindingKind::kDeadlock && !has_witness(claim) && !claim.acquires.empty()) {
        cycles.any_of(claim.acquires.front(), [&](std::span<const EventId> acquires) {
          claim.given = predict_in_window(index, windows, acquires, options);
          return claim.given.has_value() || out_of_time();
        });
      }
      if (claim.given) {
        given_places_.push_back(static_cast<std::size_t>(&claim - others_.data()));
        given_deadlocks_.push_back(std::move(claim));
      }
    }
  }

  std::optional<Witness> predict_in_window(const TraceIndex& index, const Windows& windows,
                                           std::span<const EventId> acquires, const McmOptions& options) {
    const EventId last = *std::max_element(acquires.begin(), acquires.end());
    const Window window = windows.window(static_cast<EventIndex>(raw(last)));
    if (std::any_of(acquires.begin(), acquires.end(),
                    [&](EventId id) { return window.is_past(index, static_cast<EventIndex>(raw(id))); })) {
      return std::nullopt;
    }
    ++cycles_asked_;
    Prediction prediction = predict_deadlock(index, acquires, options, &window);
    Witness* const witness = std::get_if<Witness>(&prediction);
    return witness == nullptr ? std::nullopt : std::optional(std::move(*witness));
  }

  void refute(const Sites& sites) {
    const auto claimed = races_.find(sites);
    if (claimed != races_.end()) {
      say_refuted(claimed->second);
      ++refuted_here_;
    }
    const auto [first, last] = several_.equal_range(sites);
    for (auto each = first; each != last; ++each) {
      say_refuted(each->second);
      ++refuted_here_;
    }
  }

  Claim new_claim(const McmSitePair& pair) const {
    Claim claim;
    claim.low_site = pair.low_site;
    claim.high_site = pair.high_site;
    claim.finding.exact = exact_;
    claim.finding.dynamic_pairs = 1;
    const auto [first, last] = std::minmax(pair.witness->next.front(), pair.witness->next.back());
    claim.finding.distance = raw(capture_.original(last)) - raw(capture_.original(first));
    return claim;
  }

  // In the order of the registry.
  void add_name(Finding& finding) const {
    const auto later = std::find_if(finding.found_by.begin(), finding.found_by.end(), [this](const std::string& name) {
      const DetectorInfo* other = find_detector(name);
      return other != nullptr && other > &info_;
    });
    finding.found_by.insert(later, std::string(info_.name));
  }

  const DetectorInfo& info_;
  const TraceCapture& capture_;
  const Tables& tables_;
  const bool exact_;
  const std::set<Sites> refuted_;
  std::map<Sites, Claim> races_;
  // Those at sites of several variables. What is found there is a claim of its own: those that are one bug are merged in
  // the end.
  std::multimap<Sites, Claim> several_;
  std::vector<Claim> others_;
  std::vector<Claim> given_, given_deadlocks_;
  std::vector<std::size_t> given_places_;  // of given_deadlocks_ among others_
  McmResult found_;
  std::set<std::pair<std::string, std::string>> places_;  // sites that are one place of the program are one
  std::uint64_t dynamic_pairs_ = 0, unknown_ = 0, refuted_here_ = 0, cycles_asked_ = 0;
  std::string why_;  // of the first without an answer
};

}  // namespace

McmStageResult run_mcm_stage(const DetectorInfo& info, std::vector<Claim>& claims, const ProofCount& so_far,
                             const TraceCapture& capture, const Tables& tables, bool exact, const McmOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  McmStage stage(info, claims, so_far, capture, tables, exact);
  stage.ask(options);
  McmStageResult result;
  claims = stage.finish(result.proven);
  result.stats = stage.stats(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  result.gaps = stage.gaps(options);
  return result;
}

}  // namespace sooth
