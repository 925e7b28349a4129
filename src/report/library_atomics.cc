#include "report/library_atomics.h"

#include <algorithm>
#include <string_view>

namespace sooth {
namespace {

// Whether the library does it, on behalf of the innermost frame of the user's code, inside of such an operation.
bool is_inside(const Access& access) {
  constexpr std::string_view kImplementation = "std::_Sp_atomic<";
  for (std::uint32_t i = 0; i < access.frame && i <= access.stack.size(); ++i) {
    const Site& site = i == 0 ? access.site : access.stack[i - 1];
    if (site.function.find(kImplementation) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

void drop_races_of_library_atomics(Report& report) {
  std::erase_if(report.findings, [](const Finding& finding) {
    return finding.kind == FindingKind::kRace &&
           std::all_of(finding.accesses.begin(), finding.accesses.end(), is_inside);
  });
}

}  // namespace sooth
