#include "symbol/module_table.h"

#include <algorithm>

#include "base/text.h"

namespace sooth {
namespace {

std::string describe(const AddressRange& range) { return hexadecimal(range.begin) + "-" + hexadecimal(range.end); }

}  // namespace

template <typename Visit>
bool ModuleTable::any_overlap(const AddressRange& range, const Visit& visit) const {
  auto entry = std::lower_bound(entries_.begin(), entries_.end(), range.end,
                                [](const Entry& e, std::uint64_t end) { return e.range.begin < end; });
  while (entry != entries_.begin() && std::prev(entry)->reach > range.begin) {
    --entry;
    if (entry->range.end > range.begin && visit(entry->module)) {
      return true;
    }
  }
  return false;
}

Result<ModuleId> ModuleTable::add(Module module) {
  for (const AddressRange& range : module.ranges) {
    if (range.begin >= range.end) {
      return Status::bad_input(module.path + ": its address range " + describe(range) + " is empty");
    }
    const Module* other = nullptr;
    const auto alive = [&](ModuleId id) {
      other = &modules_[raw(id)];
      return other->first <= module.last && module.first <= other->last;
    };
    if (any_overlap(range, alive)) {
      return Status::bad_input(module.path + ": its address range " + describe(range) + " belongs to " + other->path);
    }
  }
  const ModuleId id{static_cast<std::uint32_t>(modules_.size())};
  for (const AddressRange& range : module.ranges) {
    entries_.push_back({range, 0, id});
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.range.begin < b.range.begin; });
  std::uint64_t reach = 0;
  for (Entry& entry : entries_) {
    reach = entry.reach = std::max(reach, entry.range.end);
  }
  modules_.push_back(std::move(module));
  return id;
}

std::optional<ModuleAddress> ModuleTable::find(std::uint64_t pc, Generation generation) const {
  std::optional<ModuleAddress> found;
  any_overlap({pc, pc + 1}, [&](ModuleId id) {
    const Module& module = modules_[raw(id)];
    if (generation < module.first || module.last < generation) {
      return false;
    }
    found = ModuleAddress{id, pc - module.bias};
    return true;
  });
  return found;
}

}  // namespace sooth
