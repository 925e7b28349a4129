#include "confirm/output_harm.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "confirm/outcome.h"

namespace sooth {
namespace {

constexpr std::size_t kMostBytes = 1 << 16;  // of each stream

struct Alike {
  std::array<std::uint64_t, 2> by_order{};
  std::size_t first = 0;  // run

  std::uint64_t runs() const { return by_order[0] + by_order[1]; }
};

}  // namespace

std::string result_of(const RunOutcome& run, const std::vector<std::string>& compared) {
  const bool prints = std::find(compared.begin(), compared.end(), kItsOutput) != compared.end();
  return (prints ? run.output.substr(0, kMostBytes) + run.errors.substr(0, kMostBytes) : "") + run.files;
}

void ComparedRuns::add(const RunPlan& plan, int order, const std::string& result) {
  if (runs_.size() >= kMost) {
    return;
  }
  const auto known = std::find(results_.begin(), results_.end(), result);
  runs_.push_back({plan, order, static_cast<std::size_t>(known - results_.begin())});
  if (known == results_.end()) {
    results_.push_back(result);
  }
}

std::optional<OutputHarm> judge_outputs(const ComparedRuns& runs, const OutputMask& mask,
                                        const std::optional<std::vector<std::string>>& usual) {
  std::map<std::vector<std::string>, Alike> kinds;
  std::array<std::uint64_t, 2> all{};
  for (std::size_t i = 0; i < runs.runs().size(); ++i) {
    const ComparedRuns::Run& run = runs.runs()[i];
    const auto [kind, is_new] = kinds.try_emplace(mask.apply(runs.results()[run.result]));
    kind->second.first = is_new ? i : kind->second.first;
    ++kind->second.by_order[static_cast<std::size_t>(run.order)];
    ++all[static_cast<std::size_t>(run.order)];
  }
  if (kinds.size() < 2) {
    return std::nullopt;
  }
  const auto has_fewer = [](const auto& a, const auto& b) { return a.second.runs() < b.second.runs(); };
  const std::vector<std::string> normal =
      usual.value_or(std::max_element(kinds.begin(), kinds.end(), has_fewer)->first);
  OutputHarm harm;
  const Alike* shown = nullptr;
  double shown_chance = 0;
  for (const auto& [lines, alike] : kinds) {
    const auto& [with_0, with_1] = alike.by_order;
    const double chance =
        2 * static_cast<double>(kinds.size()) *
        std::min(chance_of(with_0, all[0], with_1, all[1]), chance_of(with_1, all[1], with_0, all[0]));
    harm.chance = std::min(harm.chance, chance);
    // What depends on the order least by chance is what it decides about: others may vary for reasons of their own.
    if (lines != normal &&
        (shown == nullptr || std::pair(chance, shown->runs()) < std::pair(shown_chance, alike.runs()))) {
      shown = &alike;
      shown_chance = chance;
      harm.lines = lines;
    }
  }
  if (harm.chance >= kOtherOutput) {
    return std::nullopt;
  }
  harm.run = shown->first;
  harm.runs = shown->runs();
  harm.difference = difference_of(harm.lines, normal);
  return harm;
}

std::optional<std::vector<std::string>> common_output(const std::vector<std::string>& results, const OutputMask& mask) {
  std::optional<std::vector<std::string>> common;
  for (const std::string& result : results) {
    std::vector<std::string> lines = mask.apply(result);
    if (common.has_value() && *common != lines) {
      return std::nullopt;
    }
    common = std::move(lines);
  }
  return common;
}

}  // namespace sooth
