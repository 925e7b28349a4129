#include "pipeline/recipe_reach.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "pipeline/stage_gaps.h"

namespace sooth {
namespace {

constexpr std::size_t kMostBranches = 40;  // that are told one by one

using Side = std::pair<InstructionRef, std::uint32_t>;

}  // namespace

std::vector<std::pair<std::string, std::string>> reach_of_detours(const SymbolicProgram& program) {
  std::map<Side, const UntakenSide*> sides;
  for (const SymbolicThread& thread : program.threads) {
    for (const UntakenSide& side : thread.untaken) {
      const UntakenSide*& furthest = sides[{side.branch, side.outcome}];
      furthest = furthest == nullptr || side.steps > furthest->steps ? &side : furthest;
    }
  }
  std::map<std::string, std::uint64_t> reasons;
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [key, side] : sides) {
    ++reasons[side->stopped];
    if (side->stopped != kFollowedToTheEnd && lines.size() < kMostBranches) {
      lines.emplace_back("not taken: " + side->site.label, side->stopped + ", after " + counted(side->steps, "step"));
    }
  }
  std::vector<std::pair<std::string, std::uint64_t>> by_count(reasons.begin(), reasons.end());
  std::stable_sort(by_count.begin(), by_count.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::pair<std::string, std::string>> figures;
  figures.emplace_back("sides of branches not taken", std::to_string(sides.size()));
  figures.emplace_back("... followed to the end", std::to_string(reasons[kFollowedToTheEnd]));
  for (const auto& [why, count] : by_count) {
    if (why != kFollowedToTheEnd) {
      figures.emplace_back("... stopped: " + why, std::to_string(count));
    }
  }
  figures.insert(figures.end(), lines.begin(), lines.end());
  return figures;
}

}  // namespace sooth
