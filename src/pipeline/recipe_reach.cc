#include "pipeline/recipe_reach.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "pipeline/stage_gaps.h"

namespace sooth {
namespace {

constexpr std::size_t kMostPlaces = 40;  // that are told one by one

using Side = std::pair<InstructionRef, std::uint32_t>;
using Figures = std::vector<std::pair<std::string, std::string>>;

// How many of the ways came to their end, what stopped the others by reason, and where, one by one.
void tell(std::vector<UntakenSide> SymbolicThread::*ways, const SymbolicProgram& program, const char* total,
          const std::string& one, Figures& figures) {
  std::map<Side, const UntakenSide*> sides;
  for (const SymbolicThread& thread : program.threads) {
    for (const UntakenSide& side : thread.*ways) {
      const UntakenSide*& furthest = sides[{side.branch, side.outcome}];
      furthest = furthest == nullptr || side.steps > furthest->steps ? &side : furthest;
    }
  }
  std::map<std::string, std::uint64_t> reasons;
  Figures lines;
  for (const auto& [key, side] : sides) {
    ++reasons[side->stopped];
    if (side->stopped != kFollowedToTheEnd && lines.size() < kMostPlaces) {
      const std::string& where = side->stopped_at.label;
      lines.emplace_back(one + side->site.label, side->stopped + (where.empty() ? "" : " at " + where) + ", after " +
                                                     counted(side->steps, "step"));
    }
  }
  std::vector<std::pair<std::string, std::uint64_t>> by_count(reasons.begin(), reasons.end());
  std::stable_sort(by_count.begin(), by_count.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  figures.emplace_back(total, std::to_string(sides.size()));
  figures.emplace_back("... followed to the end", std::to_string(reasons[kFollowedToTheEnd]));
  for (const auto& [why, count] : by_count) {
    if (why != kFollowedToTheEnd) {
      figures.emplace_back("... stopped: " + why, std::to_string(count));
    }
  }
  figures.insert(figures.end(), lines.begin(), lines.end());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> reach_of_detours(const SymbolicProgram& program) {
  Figures figures;
  tell(&SymbolicThread::untaken, program, "sides of branches not taken", "not taken: ", figures);
  tell(&SymbolicThread::left, program, "places where views leave the recorded path", "left: ", figures);
  return figures;
}

}  // namespace sooth
