// The figures of the TREE thesis: which events are hidden, and what is remembered (the tries of Figure 3.6).
// SOOTH_UPDATE=1 rewrites tests/golden/tree/*.expected, to be reviewed as a diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "filter/tree.h"
#include "oracle/trace_text.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

// As the pipeline sets it up for a chain of one detector.
struct Setting {
  const char* name;
  TreeOptions options;
};
std::vector<Setting> settings() {
  TreeOptions lockset;
  lockset.across_threads = true;
  lockset.for_lockset = true;
  TreeOptions hybrid;
  TreeOptions hb;
  hb.mode = TreeMode::kHb;
  TreeOptions strict;
  strict.mode = TreeMode::kStrict;
  TreeOptions data;
  data.mode = TreeMode::kData;
  TreeOptions span;
  span.mode = TreeMode::kSpan;
  return {{"tree, lockset", lockset}, {"tree, hybrid", hybrid}, {"tree:hb", hb},
          {"tree:strict", strict},    {"tree:data", data},      {"tree:span", span}};
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<bool> hidden_events(TreeFilter& filter, std::span<const Event> trace) {
  Batch batch;
  batch.events = trace;
  const Batch left = filter.hide(batch);
  std::vector<bool> hidden(trace.size(), true);
  for (std::size_t i = 0; i < left.events.size(); ++i) {
    hidden[raw(left.id(i))] = false;
    EXPECT_EQ(left.events[i], trace[raw(left.id(i))]);
  }
  return hidden;
}

std::vector<std::uint64_t> numbers_of(const std::vector<bool>& hidden) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    if (hidden[i]) {
      numbers.push_back(i);
    }
  }
  return numbers;
}

// Locks by the label "lock" events name them, in order of first acquire: {1}, {1 2}, ...
std::string context_text(const RememberedAccess& access, const std::map<std::uint64_t, int>& lock_names) {
  std::string text = "{";
  for (const std::uint64_t lock : access.locks) {
    text += (text.size() == 1 ? "" : " ") + std::to_string(lock_names.at(lock));
  }
  text += "}";
  for (const std::uint32_t thread : access.threads) {
    text += " T" + std::to_string(thread);
  }
  return text;
}

std::string describe(const oracle::TextTrace& trace, const Setting& setting) {
  const std::unique_ptr<TreeFilter> filter = make_tree_filter(setting.options);
  const std::vector<bool> hidden = hidden_events(*filter, trace.events);
  std::ostringstream out;
  out << setting.name << ": hidden";
  for (const std::uint64_t event : numbers_of(hidden)) {
    out << ' ' << event;
  }
  out << '\n';
  std::map<std::uint64_t, int> lock_names;
  for (const Event& e : trace.events) {
    if (e.op == Op::kAcquire) {
      lock_names.try_emplace(e.object, static_cast<int>(lock_names.size()) + 1);
    }
  }
  for (const RememberedAccess& access : filter->remembered()) {
    const std::string site = setting.options.mode == TreeMode::kSpan ? "any site" : "site " + trace.labels[access.site];
    out << "  " << site << (access.is_write ? " writes " : " reads ") << context_text(access, lock_names) << '\n';
  }
  return out.str();
}

class Figure : public testing::TestWithParam<const char*> {};

TEST_P(Figure, HidesAndRemembersWhatTheFileSays) {
  const fs::path path = fs::path(SOOTH_SOURCE_DIR) / "tests" / "golden" / "tree" / (std::string(GetParam()) + ".std");
  const oracle::TextTrace trace = oracle::parse_trace(read(path));
  const fs::path expected = fs::path(path).replace_extension(".expected");
  std::string text;
  std::istringstream lines(read(expected));
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    text += line + "\n";  // what the trace is about
  }
  for (const Setting& setting : settings()) {
    text += describe(trace, setting);
  }
  if (std::getenv("SOOTH_UPDATE") != nullptr) {
    std::ofstream(expected) << text;
  } else {
    EXPECT_EQ(read(expected), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Thesis, Figure,
                         testing::Values("figure_3_1", "figure_3_2", "figure_3_3", "figure_3_4", "figure_3_7"),
                         [](const auto& test) { return std::string(test.param); });

// What the text of the thesis says of its case study, not only what the files have.
TEST(CaseStudy, IsThatOfSection3_5) {
  const oracle::TextTrace trace =
      oracle::parse_trace(read(fs::path(SOOTH_SOURCE_DIR) / "tests/golden/tree/figure_3_4.std"));
  const Setting lockset = settings().front();
  const std::unique_ptr<TreeFilter> filter = make_tree_filter(lockset.options);
  // The second and third access at location 2, and that of the third thread at location 4; the paper counts from 1.
  EXPECT_EQ(numbers_of(hidden_events(*filter, trace.events)), (std::vector<std::uint64_t>{11 - 1, 15 - 1, 27 - 1}));
  EXPECT_EQ(filter->counts().hidden_intra, 2u);
  EXPECT_EQ(filter->counts().hidden_inter, 1u);
  // Figure 3.6: a branch for each lock at 1 and 3, one node at 2 and at 4, where two threads fill the stack.
  std::map<std::string, std::vector<std::vector<std::uint32_t>>> stacks;
  for (const RememberedAccess& access : filter->remembered()) {
    stacks[trace.labels[access.site]].push_back(access.threads);
  }
  EXPECT_EQ(stacks["1"], (std::vector<std::vector<std::uint32_t>>{{0}, {0}, {0}}));
  EXPECT_EQ(stacks["2"], (std::vector<std::vector<std::uint32_t>>{{0}}));
  EXPECT_EQ(stacks["3"], (std::vector<std::vector<std::uint32_t>>{{1}, {2}, {3}}));
  EXPECT_EQ(stacks["4"], (std::vector<std::vector<std::uint32_t>>{{1, 2}}));
}

// Section 3.1: of the 20 writes of Figure 3.1 one of each thread is worth checking; of Figure 3.2 one read and three
// writes. For lockset the read once more: the first write may open the gate.
TEST(Examples, KeepAsMuchAsSection3_1Says) {
  const auto kept_accesses = [](const char* name, std::size_t setting) {
    const oracle::TextTrace trace =
        oracle::parse_trace(read(fs::path(SOOTH_SOURCE_DIR) / "tests/golden/tree" / (std::string(name) + ".std")));
    const std::unique_ptr<TreeFilter> filter = make_tree_filter(settings()[setting].options);
    const std::vector<bool> hidden = hidden_events(*filter, trace.events);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      kept += is_access(trace.events[i].op) && !hidden[i] ? 1 : 0;
    }
    return kept;
  };
  EXPECT_EQ(kept_accesses("figure_3_1", 0), 2u);
  EXPECT_EQ(kept_accesses("figure_3_1", 1), 2u);
  EXPECT_EQ(kept_accesses("figure_3_2", 0), 5u);
  EXPECT_EQ(kept_accesses("figure_3_2", 1), 4u);
}

}  // namespace
}  // namespace sooth
