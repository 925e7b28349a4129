#include "run/recorded_accesses.h"

#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/ids.h"
#include "pipeline/findings.h"
#include "race/site_key.h"
#include "trace/reader.h"

namespace sooth {

std::vector<Access> recorded_accesses(const std::string& trace, const std::vector<Finding>& findings) {
  std::set<std::string> wanted;
  for (const Finding& finding : findings) {
    for (const Access& access : finding.accesses) {
      wanted.insert(site_key(access.site));
    }
  }
  std::vector<Access> found;
  Result<std::unique_ptr<TraceReader>> reader = open_trace(trace, {.columns = kStacks});
  if (!reader.ok() || wanted.empty()) {
    return found;
  }
  std::unordered_map<std::uint32_t, bool> is_wanted;  // by site
  std::set<std::tuple<ThreadId, SiteId, StackId>> seen;
  for (;;) {
    const Result<Batch> batch = (*reader)->next();
    if (!batch.ok() || batch->empty()) {
      return found;
    }
    const Tables& tables = (*reader)->tables();
    for (std::size_t i = 0; i < batch->events.size(); ++i) {
      const Event& event = batch->events[i];
      if (!is_access(event.op)) {
        continue;
      }
      const auto [at, is_new] = is_wanted.try_emplace(raw(event.site));
      at->second = is_new ? wanted.contains(site_key(tables.site(event.site))) : at->second;
      if (at->second && seen.emplace(event.thread, event.site, batch->stack(i)).second) {
        found.push_back(make_access({.event = event, .id = batch->id(i), .stack = batch->stack(i)}, {}, tables));
      }
    }
  }
}

}  // namespace sooth
