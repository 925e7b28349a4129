// What became of findings over many reports of one project: which are new, which are still there, which are gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "race/finding.h"

namespace sooth {

inline constexpr std::string_view kTrendSchema = "sooth-trend/1";

// One report: a column.
struct TrendReport {
  std::string name;  // of its file, without folders and ending: a commit or a date, if files are called so
  std::string date;  // as the report has it; empty: not known
  std::uint64_t findings = 0, added = 0,
                gone = 0;  // in it; ... that the one before did not have; ... that only that one had
};

// With respect to the newest report. `gone` is not `fixed`: that a run does not show a finding proves nothing.
enum class TrendState : std::uint8_t {
  kNew,   // in the newest and in none before
  kBack,  // in the newest, not in the one before it, but in an earlier one
  kOpen,  // in the newest and the one before it
  kGone,  // not in the newest
};
std::string_view trend_state_name(TrendState state);

// One finding: a row.
struct TrendFinding {
  std::string id;
  std::string headline;  // "data race on 'x'"
  std::string place;     // "file.cc:12:3"
  TrendState state = TrendState::kOpen;
  Rung rung = Rung::kPredicted;            // the highest that it ever stood on
  std::size_t first = 0, last = 0;         // reports that have it
  std::vector<std::optional<Rung>> rungs;  // in each report; nullopt: not in it
};

struct Trend {
  std::vector<TrendReport> reports;    // the oldest first: by date where there is one, and by name
  std::vector<TrendFinding> findings;  // new, back, open, gone; the highest rung first
};

struct NamedTrendReport {
  std::string name;
  Report report;
};

// Findings that never stood above `suspected` are left out. Ids tell which findings are the same.
Trend build_trend(std::vector<NamedTrendReport> reports);

// For people, for programs, and one page for a browser that needs nothing else.
std::string trend_text(const Trend& trend);
std::string trend_json(const Trend& trend);
std::string trend_html(const Trend& trend);

}  // namespace sooth
