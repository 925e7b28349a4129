#include "report/fingerprint.h"

#include <algorithm>
#include <cstdint>

#include "base/fnv1a.h"
#include "base/text.h"
#include "race/site_key.h"
#include "report/describe.h"
#include "trace/recording/library_glue.h"

namespace sooth {
namespace {

constexpr char kSeparator = '\0';  // as in site_key()

// What stands for a thread of a finding. All locks of a program without optimisation are taken in one line of a header
// of the C++ library: who called that says which deadlock it is.
Site telling_site(const Finding& finding, const Access& access) {
  Site telling = access.site;
  if ((finding.kind == FindingKind::kDeadlock || finding.kind == FindingKind::kCrash) && is_library_glue(access.site)) {
    const auto caller =
        std::find_if(access.stack.begin(), access.stack.end(), [](const Site& site) { return !is_library_glue(site); });
    telling = caller == access.stack.end() ? access.site : *caller;
  }
  // A recorded access falls in its hook, another one itself: the same line, but not the same column.
  telling.column = finding.kind == FindingKind::kCrash ? 0 : telling.column;
  return telling;
}

}  // namespace

std::string fingerprint(const Finding& finding) {
  std::vector<std::string> sites;
  for (const Access& access : finding.accesses) {
    // Where threads were when somebody lost his patience with them is chance.
    if (finding.kind != FindingKind::kHang) {
      sites.push_back(site_key(telling_site(finding, access)));
    }
  }
  std::sort(sites.begin(), sites.end());
  std::string key(finding_kind_name(finding.kind));
  key.push_back(kSeparator);
  if (finding.kind == FindingKind::kMisuse && finding.misuse.has_value()) {
    key += misuse_kind_name(*finding.misuse);
    key.push_back(kSeparator);
  }
  // A deadlock of locks is the same whoever has seen it coming.
  if (finding.failure.has_value() && !(finding.kind == FindingKind::kDeadlock && is_cycle_of_locks(finding))) {
    key += std::to_string(finding.failure->signal) + "/" + std::to_string(finding.failure->status);
    key.push_back(kSeparator);
  }
  for (const std::string& site : sites) {
    key += site;
    key.push_back(kSeparator);
  }
  return hex_digits(fnv1a(key), 16);
}

void fill_fingerprints(Report& report, const IdentityOptions& options) { Identifier(options).identify(report); }

}  // namespace sooth
