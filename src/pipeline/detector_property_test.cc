// Every detector against its definition, on thousands of random traces. SOOTH_CASES sets the number of traces per
// detector, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "base/test_environment.h"
#include "detect/wcp.h"
#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/partial_orders.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/sync_preserving.h"
#include "oracle/trace_text.h"
#include "pipeline/registry.h"

namespace sooth::oracle {
namespace {

using Conflicts = std::vector<Candidate> (*)(std::span<const Event>);

// The seed decides how the trace is cut into batches: a detector must not care.
std::vector<SitePair> run_detector(const DetectorInfo& info, std::span<const Event> trace, std::uint64_t seed) {
  Random random(seed);
  const std::unique_ptr<Detector> detector = info.make({});
  for (std::size_t done = 0; done < trace.size();) {
    const std::size_t count = random.percent(30) ? trace.size() - done : random.between(1, 9);
    Batch batch;
    batch.first = EventId{done};
    batch.events = trace.subspan(done, std::min(count, trace.size() - done));
    detector->consume(batch);
    done += batch.events.size();
  }
  detector->finish();
  return sorted(detector->races().pairs());
}

std::string show(std::span<const SitePair> pairs) {
  std::ostringstream out;
  for (const SitePair& p : pairs) {
    out << "  sites " << raw(p.low_site) << "," << raw(p.high_site) << "  example " << raw(p.example.first) << ","
        << raw(p.example.second) << "  second accesses " << p.second_accesses << "  distance " << p.distance << '\n';
  }
  return out.str();
}

struct Comparison {
  std::uint64_t with_pairs = 0;  // traces in which the definition finds something
  std::string mismatch;          // empty: none; else seed, shrunk trace and both answers
};

// Compares up to the first mismatch.
Comparison compare(const DetectorInfo& info, Conflicts conflicts, std::uint64_t cases) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  Comparison result;
  for (std::uint64_t i = 0; i < cases && result.mismatch.empty(); ++i) {
    const std::uint64_t seed = first_seed + i;
    const Profile profile = kProfiles[seed % kProfiles.size()];
    const RandomTrace trace = random_trace(profile, seed);
    const auto expected = [&](std::span<const Event> t) { return site_pairs(t, conflicts(t)); };
    const auto differs = [&](std::span<const Event> t) {
      return !same_pairs(run_detector(info, t, seed), expected(t));
    };
    result.with_pairs += expected(trace.events).empty() ? 0 : 1;
    if (differs(trace.events)) {
      const std::vector<Event> small = minimise(trace.events, differs);
      std::ostringstream text;
      text << info.name << " is wrong, profile `" << profile_name(profile) << "`; again with SOOTH_SEED=" << seed
           << " SOOTH_CASES=1. Shrunk, events from 0:\n"
           << print_trace(small) << "it reports\n"
           << show(run_detector(info, small, seed)) << "by definition\n"
           << show(expected(small));
      result.mismatch = text.str();
    }
  }
  return result;
}

// Rules 1 to 4 and 6 of section 3 in place of must-order.
std::vector<Candidate> hard_hybrid_conflicts(std::span<const Event> trace) {
  std::vector<Edge> edges = must_edges(trace);
  std::erase_if(edges, [](const Edge& edge) {
    return edge.kind == EdgeKind::kSemaphore || edge.kind == EdgeKind::kAtomic || edge.kind == EdgeKind::kFence;
  });
  return unprotected_conflicts(trace, closure(trace.size(), edges));
}

struct Property {
  const char* detector;
  Conflicts conflicts;
};
void PrintTo(const Property& property, std::ostream* out) { *out << property.detector; }

class DetectorProperty : public testing::TestWithParam<Property> {};

TEST_P(DetectorProperty, ReportsExactlyWhatTheDefinitionSays) {
  const DetectorInfo* info = find_detector(GetParam().detector);
  ASSERT_NE(info, nullptr) << "the registry has no detector " << GetParam().detector;
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const Comparison result = compare(*info, GetParam().conflicts, cases);
  ASSERT_EQ(result.mismatch, "");
  std::cout << info->name << ": " << cases << " traces, " << result.with_pairs << " with a pair\n";
  if (cases >= 1'000) {  // both answers must occur, or nothing was compared
    EXPECT_GE(result.with_pairs * 10, cases);
    EXPECT_LE(result.with_pairs * 100, cases * 99);
  }
}

INSTANTIATE_TEST_SUITE_P(Detectors, DetectorProperty,
                         testing::Values(Property{"hb", hb_conflicts}, Property{"lockset", lockset_conflicts},
                                         Property{"hybrid", hybrid_conflicts},
                                         Property{"hybrid:hard", hard_hybrid_conflicts}, Property{"cp", cp_conflicts},
                                         Property{"wcp", wcp_conflicts}, Property{"syncp", syncp_conflicts}),
                         [](const auto& test) {
                           std::string name(test.param.detector);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

// WCP forgets sections that rule (b) can no longer be asked about. Looking for them after every release changes nothing.
TEST(WcpForgetting, LosesNothing) {
  const DetectorInfo forgetful{"wcp", "", Guarantee::kSoundFirstOnly, false,
                               [](const DetectorOptions&) { return make_wcp_detector(1); }};
  const Comparison result = compare(forgetful, wcp_conflicts, from_environment("SOOTH_CASES", 10'000));
  ASSERT_EQ(result.mismatch, "");
}

// Happens-before by closure behind the interface of a detector, without the edges of one kind.
class ClosureDetector final : public Detector {
 public:
  explicit ClosureDetector(std::optional<EdgeKind> without) : without_(without) {}

  Guarantee guarantee() const override { return Guarantee::kSound; }
  void consume(const Batch& batch) override { trace_.insert(trace_.end(), batch.events.begin(), batch.events.end()); }
  void finish() override {
    std::vector<Edge> edges = must_edges(trace_);
    const std::vector<Edge> locks = lock_edges(trace_);
    edges.insert(edges.end(), locks.begin(), locks.end());
    std::erase_if(edges, [this](const Edge& edge) { return edge.kind == without_; });
    for (const Candidate& pair : unordered_conflicts(trace_, closure(trace_.size(), edges))) {
      races_.add(record_of(pair.first), record_of(pair.second));
    }
  }
  const PairTable& races() const override { return races_; }
  const LockSetTable& lock_sets() const override { return lock_sets_; }

 private:
  AccessRecord record_of(EventId id) const { return {trace_[raw(id)], id, 0, kNoLocks, kNoStack}; }

  const std::optional<EdgeKind> without_;
  std::vector<Event> trace_;
  PairTable races_;
  LockSetTable lock_sets_;
};

template <EdgeKind kind>
std::unique_ptr<Detector> make_without(const DetectorOptions&) {
  return std::make_unique<ClosureDetector>(kind);
}

// The comparison itself: it lets a right detector pass and stops a wrong one.
TEST(Harness, AcceptsTheDefinitionAndCatchesMissingEdges) {
  using Make = std::unique_ptr<Detector> (*)(const DetectorOptions&);
  const auto check = [](std::string_view name, Make make, std::uint64_t cases) {
    return compare(DetectorInfo{name, "", Guarantee::kSound, true, make}, hb_conflicts, cases).mismatch;
  };
  const auto whole = [](const DetectorOptions&) -> std::unique_ptr<Detector> {
    return std::make_unique<ClosureDetector>(std::nullopt);
  };
  EXPECT_EQ(check("closure", whole, 600), "");
  const std::string caught = check("closure without joins", make_without<EdgeKind::kJoin>, 10'000);
  EXPECT_NE(caught.find("join"), std::string::npos) << caught;
  EXPECT_NE(check("closure without barriers", make_without<EdgeKind::kBarrier>, 10'000), "");
  EXPECT_NE(check("closure without fences", make_without<EdgeKind::kFence>, 10'000), "");
  EXPECT_NE(check("closure without reader releases", make_without<EdgeKind::kSharedRelease>, 10'000), "");
}

// The traces of the tests above, by profile; never so few that chance decides.
TEST(Census, EverythingHasEveryFeatureInATenthOfItsTraces) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = std::max<std::uint64_t>(from_environment("SOOTH_CASES", 10'000), 6'000);
  for (std::size_t p = 0; p < kProfiles.size(); ++p) {
    Census census;
    for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
      if (seed % kProfiles.size() == p) {
        census.count(random_trace(kProfiles[p], seed).events);
      }
    }
    std::cout << profile_name(kProfiles[p]) << ": ";
    census.print(std::cout);
    for (const auto& [feature, count] : census.features()) {
      EXPECT_TRUE(kProfiles[p] != Profile::kEverything || count * 10 >= census.traces()) << feature;
    }
  }
}

}  // namespace
}  // namespace sooth::oracle
