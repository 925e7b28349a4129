#include "detect/split_sections.h"

#include <gtest/gtest.h>

#include <set>

#include "oracle/random.h"
#include "oracle/trace_text.h"

namespace sooth {
namespace {

using Triples = std::set<std::tuple<std::string, std::string, std::string>>;

// What was found, with the labels of the sites.
struct Splits {
  struct Found {
    std::string first, other, second;
    bool checks = false;
  };
  std::vector<Found> found;
  Triples triples;
};

Splits splits_of(const std::string& text) {
  const oracle::TextTrace parsed = oracle::parse_trace(text);
  SplitSections splits(1'000'000);
  for (std::size_t i = 0; i < parsed.events.size(); ++i) {
    splits.consume({.event = parsed.events[i], .id = EventId{i}}, 0);
  }
  Splits named;
  const auto label = [&](SiteId site) { return parsed.labels[raw(site)]; };
  for (const AtomicityCandidate& each : splits.found()) {
    named.found.push_back(
        {label(each.first.event.site), label(each.other.event.site), label(each.second.event.site), each.checks});
  }
  for (const auto& [first, second, other] : splits.triples()) {
    named.triples.emplace(label(first), label(second), label(other));
  }
  return named;
}

std::string section(const std::string& thread, const std::string& label, const std::string& what) {
  return thread + "|acq(l)|" + label + " " + thread + "|" + what + "|0 " + thread + "|rel(l)|0 ";
}

TEST(SplitSections, ALookAndADeedThatGoesByIt) {
  const Splits splits = splits_of(section("T0", "1", "r(x)") + section("T0", "2", "w(x)") + section("T1", "3", "w(x)"));
  ASSERT_EQ(splits.found.size(), 1u);
  EXPECT_EQ(splits.found[0].first, "1");
  EXPECT_EQ(splits.found[0].second, "2");
  EXPECT_EQ(splits.found[0].other, "3");
  EXPECT_TRUE(splits.found[0].checks);
}

TEST(SplitSections, NeedConflictsWithBoth) {
  EXPECT_TRUE(
      splits_of(section("T0", "1", "r(x)") + section("T0", "2", "w(y)") + section("T1", "3", "w(x)")).found.empty());
  EXPECT_TRUE(
      splits_of(section("T0", "1", "r(x)") + section("T0", "2", "r(x)") + section("T1", "3", "r(x)")).found.empty());
  const Splits twice = splits_of(section("T0", "1", "r(x)") + section("T0", "2", "r(x)") + section("T1", "3", "w(x)"));
  ASSERT_EQ(twice.found.size(), 1u);
  EXPECT_FALSE(twice.found[0].checks);
  EXPECT_TRUE(splits_of("T0|acq(l)|1 T0|r(x)|0 T0|w(x)|0 T0|rel(l)|0 " + section("T1", "3", "w(x)")).found.empty())
      << "one section is whole";
}

TEST(SplitSections, AnotherThreadCouldHaveDoneTheSame) {
  const std::string both = section("T0", "1", "r(x)") + section("T0", "2", "w(x)");
  const Splits splits = splits_of(both + section("T1", "1", "r(x)"));
  ASSERT_EQ(splits.found.size(), 1u) << "it looked, too, and there was nothing left to do";
  EXPECT_EQ(splits.found[0].other, "2");
  EXPECT_TRUE(splits.found[0].checks);
  EXPECT_TRUE(splits.triples.empty()) << "no section that happened fits";
  EXPECT_TRUE(splits_of(both + section("T1", "3", "r(x)")).found.empty()) << "it came to another place";
  EXPECT_TRUE(splits_of(both + "T0|fork(T1)|0 " + section("T1", "1", "r(x)")).found.empty()) << "always behind";
  EXPECT_TRUE(
      splits_of(section("T0", "1", "r(x)") + section("T0", "2", "r(x)") + section("T1", "1", "r(x)")).found.empty());
  EXPECT_TRUE(
      splits_of(section("T0", "1", "r(x)") + section("T0", "2", "w(y)") + section("T1", "1", "r(x)")).found.empty());
  EXPECT_TRUE(splits_of("T0|acq(k)|0 " + both + "T0|rel(k)|0 T1|acq(k)|0 " + section("T1", "1", "r(x)") + "T1|rel(k)|0")
                  .found.empty())
      << "another lock keeps the two together";
}

TEST(SplitSections, NothingFitsWhereForksAndJoinsKeepItOut) {
  const std::string both = section("T0", "1", "r(x)") + section("T0", "2", "w(x)");
  EXPECT_TRUE(splits_of(both + "T0|fork(T1)|0 " + section("T1", "3", "w(x)")).found.empty());
  EXPECT_TRUE(splits_of("T0|fork(T1)|0 " + section("T1", "3", "w(x)") + "T0|join(T1)|0 " + both).found.empty());
  EXPECT_EQ(splits_of("T0|fork(T1)|0 " + section("T1", "3", "w(x)") + both + "T0|join(T1)|0").found.size(), 1u)
      << "it came first this time";
  EXPECT_EQ(splits_of(section("T0", "1", "r(x)") + "T0|fork(T1)|0 " + section("T1", "3", "w(x)") + "T0|join(T1)|0 " +
                      section("T0", "2", "w(x)"))
                .found.size(),
            1u)
      << "it can only be there";
}

TEST(SplitSections, AnotherLockMayKeepTheTwoTogether) {
  const std::string both = "T0|acq(k)|0 " + section("T0", "1", "r(x)") + section("T0", "2", "w(x)") + "T0|rel(k)|0 ";
  EXPECT_TRUE(splits_of(both + "T1|acq(k)|0 " + section("T1", "3", "w(x)") + "T1|rel(k)|0").found.empty());
  EXPECT_EQ(splits_of(both + section("T1", "3", "w(x)")).found.size(), 1u);
  const std::string apart = "T0|acq(k)|4 " + section("T0", "1", "r(x)") + "T0|rel(k)|0 T0|acq(k)|5 " +
                            section("T0", "2", "w(x)") + "T0|rel(k)|0 ";
  EXPECT_EQ(splits_of(apart + "T1|acq(k)|0 " + section("T1", "3", "w(x)") + "T1|rel(k)|0").found.size(), 2u)
      << "the other lock was free in between, so both are split";
}

// --- by the definition

struct Step {
  int thread = 0;
  char what = 'r';  // r, w, acquire '(', release ')', fork 'f', join 'j'
  int object = 0;
};

struct Range {
  std::size_t begin = 0, end = 0;
};

// All steps that one thread does between an acquire and its release. `open`: also those that nobody releases.
std::vector<Range> sections_of(const std::vector<Step>& steps, bool open) {
  std::vector<Range> sections;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (open && steps[i].what == '(') {
      sections.push_back({i, steps.size()});
    }
    for (std::size_t j = i + 1; steps[i].what == '(' && j < steps.size(); ++j) {
      if (steps[j].thread == steps[i].thread && steps[j].what == ')' && steps[j].object == steps[i].object) {
        if (open) {
          sections.pop_back();
        }
        sections.push_back({i, j});
        break;
      }
    }
  }
  return sections;
}

class Definition {
 public:
  explicit Definition(const std::vector<Step>& steps)
      : steps_(steps), sections_(sections_of(steps, false)), holds_(sections_of(steps, true)) {
    const std::size_t n = steps.size();
    before_.assign(n, std::vector<bool>(n, false));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        before_[i][j] = steps[i].thread == steps[j].thread ||
                        (steps[i].what == 'f' && steps[i].object == steps[j].thread) ||
                        (steps[j].what == 'j' && steps[j].object == steps[i].thread);
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; before_[i][k] && j < n; ++j) {
          before_[i][j] = before_[i][j] || before_[k][j];
        }
      }
    }
  }

  Triples triples() const {
    Triples found;
    for (const Range& a : sections_) {
      for (const Range& b : sections_) {
        for (const Range& o : sections_) {
          if (are_neighbours(a, b) && steps_[o.begin].object == steps_[a.begin].object &&
              steps_[o.begin].thread != steps_[a.begin].thread && can_be_between(a, o, b) && has_cycle({&a, &o, &b})) {
            found.emplace(label(a), label(b), label(o));
          }
        }
      }
    }
    return found;
  }

 private:
  static std::string label(const Range& section) { return std::to_string(section.begin); }

  bool are_neighbours(const Range& a, const Range& b) const {
    const Step& first = steps_[a.begin];
    const auto same = [&](const Range& each) {
      return steps_[each.begin].thread == first.thread && steps_[each.begin].object == first.object;
    };
    return same(b) && a.end < b.begin && std::none_of(sections_.begin(), sections_.end(), [&](const Range& each) {
             return same(each) && a.end < each.begin && each.begin < b.begin;
           });
  }

  bool can_be_between(const Range& a, const Range& o, const Range& b) const {
    if (before_[b.begin][o.end] || before_[o.begin][a.end]) {
      return false;
    }
    // A lock that the thread has all the while, and that is taken around the other.
    for (const Range& around : holds_) {
      for (const Range& needed : holds_) {
        if (steps_[around.begin].thread == steps_[a.begin].thread && around.begin < a.begin && b.begin < around.end &&
            steps_[needed.begin].thread == steps_[o.begin].thread && needed.begin < o.begin && o.begin < needed.end &&
            steps_[needed.begin].object == steps_[around.begin].object) {
          return false;
        }
      }
    }
    return true;
  }

  // Of the graph of blocks that conflict, when the sections come one after the other, the first and the last as one block.
  bool has_cycle(const std::vector<const Range*>& order) const {
    bool to_other = false, from_other = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        const bool edge = conflict(*order[i], *order[j]);
        to_other = to_other || (edge && j == 1);
        from_other = from_other || (edge && i == 1);
      }
    }
    return to_other && from_other;
  }

  bool conflict(const Range& a, const Range& b) const {
    for (std::size_t i = a.begin; i < a.end; ++i) {
      for (std::size_t j = b.begin; j < b.end; ++j) {
        const Step &x = steps_[i], &y = steps_[j];
        if (x.thread == steps_[a.begin].thread && y.thread == steps_[b.begin].thread && is_access(x) && is_access(y) &&
            x.object == y.object && (x.what == 'w' || y.what == 'w')) {
          return true;
        }
      }
    }
    return false;
  }
  static bool is_access(const Step& step) { return step.what == 'r' || step.what == 'w'; }

  const std::vector<Step>& steps_;
  std::vector<Range> sections_, holds_;
  std::vector<std::vector<bool>> before_;
};

// Threads 1 and 2 are forked by thread 0 somewhere, and joined perhaps.
std::vector<Step> random_steps(std::uint64_t seed) {
  constexpr int kThreads = 3, kLocks = 2, kVariables = 2;
  oracle::Random random(seed);
  std::vector<Step> steps;
  std::vector<std::vector<int>> held(kThreads);
  std::vector<int> holder(kLocks, -1);
  std::vector<int> state(kThreads, 0);  // 0: not there yet, 1: runs, 2: is over
  state[0] = 1;
  for (int i = 0; i < 64; ++i) {
    const int t = static_cast<int>(random.below(kThreads));
    const int lock = static_cast<int>(random.below(kLocks));
    const int kind = static_cast<int>(random.below(8));
    if (state[t] == 0 && random.below(2) == 0) {
      steps.push_back({0, 'f', t});
      state[t] = 1;
    } else if (state[t] != 1) {
      continue;
    } else if (kind < 3 && holder[lock] < 0) {
      holder[lock] = t;
      held[t].push_back(lock);
      steps.push_back({t, '(', lock});
    } else if (kind < 5 && !held[t].empty()) {
      holder[held[t].back()] = -1;
      steps.push_back({t, ')', held[t].back()});
      held[t].pop_back();
    } else if (kind == 5 && t != 0 && held[t].empty() && random.below(16) == 0) {
      steps.push_back({0, 'j', t});
      state[t] = 2;
    } else {
      steps.push_back({t, random.below(2) == 0 ? 'r' : 'w', static_cast<int>(random.below(kVariables))});
    }
  }
  return steps;
}

std::string text_of(const std::vector<Step>& steps) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::string number = std::to_string(step.object);
    const std::string what = step.what == '('   ? "acq(l" + number + ")"
                             : step.what == ')' ? "rel(l" + number + ")"
                             : step.what == 'f' ? "fork(T" + number + ")"
                             : step.what == 'j' ? "join(T" + number + ")"
                                                : std::string(1, step.what) + "(x" + number + ")";
    text += "T" + std::to_string(step.thread) + "|" + what + "|" + std::to_string(i) + " ";
  }
  return text;
}

TEST(SplitSections, AreThoseOfTheDefinition) {
  std::size_t all = 0, with_some = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    const std::vector<Step> steps = random_steps(seed);
    const Triples expected = Definition(steps).triples();
    ASSERT_EQ(splits_of(text_of(steps)).triples, expected) << "seed " << seed << ": " << text_of(steps);
    all += expected.size();
    with_some += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(with_some, 500u);
  EXPECT_GT(all, 1'000u);
}

}  // namespace
}  // namespace sooth
