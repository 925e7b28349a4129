// The golden traces against the definitions: what tests/golden/*.expected demands of the tool, the oracle must say too.
// SOOTH_UPDATE=1 rewrites the files from the oracle, to be reviewed as a diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "oracle/explorer.h"
#include "oracle/lock_cycles.h"
#include "oracle/lock_reachability.h"
#include "oracle/oracle.h"
#include "oracle/partial_orders.h"
#include "oracle/sync_preserving.h"
#include "oracle/trace_text.h"
#include "oracle/well_formed.h"

namespace sooth::oracle {
namespace {

namespace fs = std::filesystem;

struct Verdict {
  const char* name;
  std::vector<Candidate> (*conflicts)(std::span<const Event>);
};

std::vector<Candidate> predictable_races(std::span<const Event> trace) { return explore(trace).candidates(); }

constexpr Verdict kVerdicts[] = {
    {"hb", hb_conflicts},
    {"lockset", lockset_conflicts},
    {"hybrid", hybrid_conflicts},
    {"cp", cp_conflicts},
    {"wcp", wcp_conflicts},
    {"syncp", syncp_conflicts},
    {"ipa", pairwise_meeting_conflicts},
    {"mcm", predictable_races},
    {"predictable", predictable_races},
};

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Runs of digits compare as numbers: 2.1 < 2.4 < 10.
bool label_less(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& label) {
    std::vector<std::pair<unsigned long, char>> parts;
    for (std::size_t i = 0; i < label.size();) {
      std::size_t used = 1;
      if (std::isdigit(static_cast<unsigned char>(label[i])) != 0) {
        parts.emplace_back(std::stoul(label.substr(i), &used), '\0');
      } else {
        parts.emplace_back(0, label[i]);
      }
      i += used;
    }
    return parts;
  };
  return key(a) < key(b);
}

// "hb: 3,7 4,8": the distinct pairs of labels, sorted.
std::string line_of(const TextTrace& trace, const std::string& name, std::span<const Candidate> conflicts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const SitePair& pair : site_pairs(trace.events, conflicts)) {
    std::string low = trace.labels[raw(pair.low_site)];
    std::string high = trace.labels[raw(pair.high_site)];
    if (label_less(high, low)) {
      std::swap(low, high);
    }
    pairs.emplace_back(low, high);
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? label_less(a.first, b.first) : label_less(a.second, b.second);
  });
  std::string line = name + ":";
  for (const auto& [low, high] : pairs) {
    line += " " + low + "," + high;
  }
  return line + "\n";
}

// "deadlock: 2,7 3,9": the distinct sets of labels of the acquires, sorted.
std::string deadlock_line(const TextTrace& trace, const std::string& name, const std::set<CycleSites>& cycles) {
  std::vector<std::vector<std::string>> all;
  for (const CycleSites& sites : cycles) {
    std::vector<std::string> labels;
    for (const SiteId site : sites) {
      labels.push_back(trace.labels[raw(site)]);
    }
    std::sort(labels.begin(), labels.end(), label_less);
    all.push_back(labels);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), label_less);
  });
  std::string line = name + ":";
  for (const std::vector<std::string>& labels : all) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      line += (i == 0 ? " " : ",") + labels[i];
    }
  }
  return line + "\n";
}

std::set<CycleSites> predictable_deadlocks(std::span<const Event> trace) {
  std::set<CycleSites> all;
  for (const auto& [acquires, witness] : explore(trace).deadlocks) {
    CycleSites sites;
    for (const EventId acquire : acquires) {
      sites.push_back(trace[raw(acquire)].site);
    }
    std::sort(sites.begin(), sites.end());
    all.insert(sites);
  }
  return all;
}

std::vector<fs::path> golden_traces(const char* folder) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(SOOTH_SOURCE_DIR) / "tests" / folder)) {
    if (entry.path().extension() == ".std") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, ExpectsWhatTheDefinitionsSay) {
  const TextTrace trace = parse_trace(read(GetParam()));
  ASSERT_EQ(why_malformed(trace.events), "");
  const fs::path expected_path = fs::path(GetParam()).replace_extension(".expected");
  const std::string expected = read(expected_path);
  std::string text;
  std::istringstream lines(expected);
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    text += line + "\n";  // what the trace is about
  }
  for (const Verdict& verdict : kVerdicts) {
    text += line_of(trace, verdict.name, verdict.conflicts(trace.events));
  }
  text += deadlock_line(trace, "deadlock", lock_cycle_sites(trace.events));
  text += deadlock_line(trace, "predictable_deadlock", predictable_deadlocks(trace.events));
  if (std::getenv("SOOTH_UPDATE") != nullptr) {
    std::ofstream(expected_path) << text;
  } else {
    EXPECT_EQ(expected, text);
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, Golden, testing::ValuesIn(golden_traces("golden")),
                         [](const auto& test) { return test.param.stem().string(); });

// Traces with calls: tests/golden/run_rdit.py has the format.
class CallGolden : public testing::TestWithParam<fs::path> {};

TEST_P(CallGolden, ExpectsWhatTheDefinitionsSay) {
  std::istringstream lines(read(GetParam()));
  std::string events;
  std::map<std::string, std::uint64_t> globals;  // `# sooth: name variable 0x60 G`
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, sooth, command, kind, number, name;
    if (line.starts_with('#') && words >> hash >> sooth >> command >> kind >> number >> name) {
      globals[name] = std::stoull(number, nullptr, 16);
    } else if (!line.starts_with('#')) {
      events += line + "\n";
    }
  }
  TextTrace trace = parse_trace(events);
  ASSERT_EQ(why_malformed(trace.events), "");
  TextTrace rest = trace;
  std::erase_if(rest.events, [](const Event& e) { return e.op == Op::kCallBegin || e.op == Op::kCallEnd; });
  std::string expected, found;
  std::istringstream rows(read(fs::path(GetParam()).replace_extension(".expected")));
  const std::string flag = "# flags: --barrier-global ";
  for (std::string row; std::getline(rows, row);) {
    if (row.starts_with(flag)) {
      for (Index i = 0; i < trace.events.size(); ++i) {
        if (trace.events[i].op == Op::kCallBegin) {
          trace.reaches.push_back({EventId{i}, globals.at(row.substr(flag.size())), 4});
        }
      }
    }
    expected += row.starts_with('#') ? "" : row + "\n";
  }
  found += line_of(trace, "rdit", explore(TraceView{trace.events, {}, {}, nullptr, trace.reaches}).candidates());
  found += line_of(rest, "hb without calls", hb_conflicts(rest.events));
  found += line_of(rest, "cp without calls", cp_conflicts(rest.events));
  found += line_of(rest, "mcm without calls", predictable_races(rest.events));
  EXPECT_EQ(expected, found);
}

INSTANTIATE_TEST_SUITE_P(Traces, CallGolden, testing::ValuesIn(golden_traces("golden/rdit")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace sooth::oracle
