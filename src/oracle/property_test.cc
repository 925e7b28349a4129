// Every detector against its definition, on thousands of random traces. SOOTH_CASES sets the number of traces per
// detector, SOOTH_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "oracle/minimise.h"
#include "oracle/oracle.h"
#include "oracle/random.h"
#include "oracle/random_trace.h"
#include "oracle/trace_text.h"
#include "pipeline/registry.h"

namespace sooth::oracle {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Property {
  const char* detector;
  std::vector<Candidate> (*conflicts)(std::span<const Event>);
};

// The seed decides how the trace is cut into batches: a detector must not care.
std::vector<SitePair> run_detector(const DetectorInfo& info, std::span<const Event> trace, std::uint64_t seed) {
  Random random(seed);
  const std::unique_ptr<Detector> detector = info.make();
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
    out << "  sites " << raw(p.low_site) << "," << raw(p.high_site) << "  example " << raw(p.example.first) << "," << raw(p.example.second)
        << "  second accesses " << p.second_accesses << "  distance " << p.distance << '\n';
  }
  return out.str();
}

class DetectorProperty : public testing::TestWithParam<Property> {};

TEST_P(DetectorProperty, ReportsExactlyWhatTheDefinitionSays) {
  const DetectorInfo* info = find_detector(GetParam().detector);
  ASSERT_NE(info, nullptr) << "the registry has no detector " << GetParam().detector;
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t with_race = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const std::uint64_t seed = first_seed + i;
    const Profile profile = kProfiles[i % kProfiles.size()];
    const RandomTrace trace = random_trace(profile, seed);
    const auto expected = [&](std::span<const Event> t) { return site_pairs(t, GetParam().conflicts(t)); };
    const auto differs = [&](std::span<const Event> t) { return !same_pairs(run_detector(*info, t, seed), expected(t)); };
    with_race += expected(trace.events).empty() ? 0 : 1;
    if (differs(trace.events)) {
      const std::vector<Event> small = minimise(trace.events, differs);
      FAIL() << info->name << " is wrong on profile `" << profile_name(profile) << "`, seed " << seed << " (SOOTH_SEED=" << seed - i % kProfiles.size()
             << " SOOTH_CASES=" << kProfiles.size() << "). Shrunk, events from 0:\n" << print_trace(small)
             << "it reports\n" << show(run_detector(*info, small, seed)) << "by definition\n" << show(expected(small));
    }
  }
  std::cout << info->name << ": " << cases << " traces, " << with_race << " with a pair\n";
  // Both answers must occur, or nothing was compared.
  EXPECT_GE(with_race * 10, cases);
  EXPECT_LE(with_race * 100, cases * 99);
}

INSTANTIATE_TEST_SUITE_P(Detectors, DetectorProperty,
                         testing::Values(Property{"hb", hb_conflicts}, Property{"lockset", lockset_conflicts},
                                         Property{"hybrid", hybrid_conflicts}),
                         [](const auto& test) { return std::string(test.param.detector); });

// The traces of the tests above, by profile.
TEST(Census, EverythingHasEveryFeatureInATenthOfItsTraces) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = std::max<std::uint64_t>(from_environment("SOOTH_CASES", 10'000), 600);
  for (std::size_t p = 0; p < kProfiles.size(); ++p) {
    Census census;
    for (std::uint64_t i = p; i < cases; i += kProfiles.size()) {
      census.count(random_trace(kProfiles[p], first_seed + i).events);
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
