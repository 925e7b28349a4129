#include "schedule/control_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

namespace sooth {
namespace {

// The strings of a control file, behind everything else, each once.
class StringTable {
 public:
  explicit StringTable(std::size_t begin) : begin_(begin) {}

  std::uint32_t offset(const std::string& text) {
    const auto [it, added] = offsets_.try_emplace(text, static_cast<std::uint32_t>(begin_ + bytes_.size()));
    if (added) {
      bytes_.append(text.c_str(), text.size() + 1);
    }
    return it->second;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::size_t begin_;
  std::string bytes_;
  std::map<std::string, std::uint32_t> offsets_;
};

template <typename T>
void append(std::string& bytes, const std::vector<T>& rows) {
  bytes.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(T));
}

std::vector<std::uint32_t> sorted_sites(const std::vector<SiteCode>& sites) {
  std::vector<std::uint32_t> order(sites.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t i) { return std::tie(sites[i].module, sites[i].begin, sites[i].end); };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace

std::string encode_control(const RunPlan& plan, std::vector<std::uint32_t>* order) {
  const std::vector<std::uint32_t> site_order = sorted_sites(plan.sites);
  control::ControlHeader header{};
  header.magic = control::kControlMagic;
  header.flags = plan.flags;
  header.plan = plan.plan;
  header.quantum = plan.quantum;
  header.seed = plan.seed;
  header.patience = plan.patience;
  // Tables by falling alignment, so that each row is aligned in a mapping of the file.
  std::size_t at = sizeof(header);
  const auto place = [&at](std::uint32_t& offset, std::uint32_t& count, std::size_t rows, std::size_t row_bytes) {
    offset = static_cast<std::uint32_t>(at);
    count = static_cast<std::uint32_t>(rows);
    at += rows * row_bytes;
  };
  place(header.ranges, header.range_count, plan.sites.size(), sizeof(control::SiteRange));
  place(header.stretches, header.stretch_count, plan.stretches.size(), sizeof(control::Stretch));
  place(header.threads, header.thread_count, plan.threads.size(), sizeof(control::ThreadOrigin));
  place(header.older, header.older_count, plan.older.size(), sizeof(control::MemoryChoice));
  place(header.choices, header.choice_count, plan.choices.size(), sizeof(std::uint16_t));
  header.wake_count = static_cast<std::uint32_t>(plan.wakes.size());
  at += plan.wakes.size() * sizeof(control::WakeChoice);
  StringTable strings(at);
  header.strategy = strings.offset(plan.strategy);
  std::vector<control::SiteRange> ranges;
  for (const std::uint32_t i : site_order) {
    const SiteCode& site = plan.sites[i];
    ranges.push_back({strings.offset(site.module), site.sites, site.kinds, 0, site.begin, site.end});
  }
  header.bytes = static_cast<std::uint32_t>(at + strings.bytes().size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  append(bytes, ranges);
  append(bytes, plan.stretches);
  append(bytes, plan.threads);
  append(bytes, plan.older);
  append(bytes, plan.choices);
  append(bytes, plan.wakes);
  bytes += strings.bytes();
  if (order != nullptr) {
    *order = site_order;
  }
  return bytes;
}

}  // namespace sooth
