#include "recipe/opaque/reach_graph.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/ids.h"

namespace sooth {
namespace {

constexpr std::uint64_t kGraphWord = 8;

std::uint64_t last_byte(const MemoryRange& range) { return range.begin + (range.length - 1); }

}  // namespace

ReachGraph::ReachGraph(FlatMap<bool> pages) : pages_(std::move(pages)), nodes_(1) { create({kOwnState, 1}, false); }

ReachGraph::Object ReachGraph::create(MemoryRange range, bool constant) {
  const auto object = static_cast<Object>(objects_.size());
  Known& made = objects_.emplace_back();
  made.range = range;
  made.constant = constant;
  made.group = object;
  made.leaf = made.node = static_cast<NodeIndex>(nodes_.size());
  made.members = {object};
  nodes_.emplace_back().object = object;
  return object;
}

ReachGraph::Object ReachGraph::add(MemoryRange range, bool constant) {
  range.length = std::max<std::uint64_t>(range.length, 1);
  take_away(range.begin, last_byte(range));
  const Object object = create(range, constant);
  by_address_.emplace(range.begin, object);
  return object;
}

void ReachGraph::take_away(std::uint64_t begin, std::uint64_t last) {
  auto it = by_address_.upper_bound(last);
  while (it != by_address_.begin()) {
    --it;
    Known& old = objects_[it->second];
    if (last_byte(old.range) < begin) {
      return;
    }
    old.gone = true;
    ++objects_[group(it->second)].gone_members;
    it = by_address_.erase(it);
  }
}

void ReachGraph::give_away(Object object) {
  const Object outside = group(kOutside), other = group(object);
  if (outside != other) {
    unite(outside, std::span(&other, 1));
  }
}

ReachGraph::Object ReachGraph::group(Object object) {
  while (objects_[object].group != object) {
    Object& next = objects_[object].group;
    next = objects_[next].group;
    object = next;
  }
  return object;
}

const ReachGraph::Object* ReachGraph::at(std::uint64_t address) const {
  auto it = by_address_.upper_bound(address);
  if (it == by_address_.begin()) {
    return nullptr;
  }
  --it;
  return address <= last_byte(objects_[it->second].range) ? &it->second : nullptr;
}

bool ReachGraph::find(std::uint64_t address, Object& object) const {
  if (const Object* known = at(address)) {
    object = *known;
    return true;
  }
  object = kOutside;
  return pages_.contains(page_of(address));
}

// The object that is written to or touched. What is outside of all becomes one, as far as no other begins in it.
ReachGraph::Object ReachGraph::place(std::uint64_t address, std::uint64_t size) {
  if (const Object* known = at(address)) {
    return *known;
  }
  // Whole words, so that parts of one are not told apart.
  std::uint64_t begin = address & ~(kGraphWord - 1), last = (address + (size - 1)) | (kGraphWord - 1);
  const auto after = by_address_.upper_bound(address);
  if (after != by_address_.end()) {
    last = std::min(last, after->first - 1);
  }
  if (after != by_address_.begin()) {
    begin = std::max(begin, last_byte(objects_[std::prev(after)->second].range) + 1);
  }
  const Object object = create({begin, last - begin + 1}, false);
  by_address_.emplace(begin, object);
  give_away(object);
  return object;
}

void ReachGraph::link(Object from, Object to) {
  const Object here = group(from);
  if (here == group(to)) {
    return;
  }
  bool& noted = links_[std::uint64_t{from} << 32 | to];
  if (!noted) {
    noted = true;
    objects_[here].leads_to.push_back(to);
  }
}

void ReachGraph::store(std::uint64_t address, std::uint64_t word) {
  Object to = kOutside;
  if (find(word, to)) {
    link(place(address, kGraphWord), to);
  }
}

void ReachGraph::store_unknown(std::uint64_t address, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const Object object = place(address + done, size - done);
    link(object, kOutside);
    done = last_byte(objects_[object].range) - address + 1;
  }
}

void ReachGraph::copy(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const Object source = place(from + done, size - done), target = place(to + done, size - done);
    link(target, source);
    done = std::min(last_byte(objects_[source].range) - from, last_byte(objects_[target].range) - to) + 1;
  }
}

void ReachGraph::touch(ThreadId thread, std::uint64_t address, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const Object object = place(address + done, size - done);
    use(objects_[object].user, raw(thread));
    done = last_byte(objects_[object].range) - address + 1;
  }
}

ReachGraph::Reached ReachGraph::call(ThreadId thread, std::span<const Object> from) {
  ++calls_;
  visited_.clear();
  const auto visit = [&](Object object) {
    const Object here = group(object);
    if (objects_[here].visit != calls_) {
      objects_[here].visit = calls_;
      visited_.push_back(here);
    }
  };
  std::for_each(from.begin(), from.end(), visit);
  for (std::size_t i = 0; i < visited_.size(); ++i) {
    const std::vector<Object> next = std::exchange(objects_[visited_[i]].leads_to, {});
    std::for_each(next.begin(), next.end(), visit);
  }
  if (visited_.empty()) {
    return 0;
  }
  const auto largest = std::max_element(visited_.begin(), visited_.end(), [&](Object a, Object b) {
    return objects_[a].members.size() < objects_[b].members.size();
  });
  const Object into = *largest;
  visited_.erase(largest);
  unite(into, visited_);
  use(objects_[into].caller, raw(thread));
  return objects_[into].node;
}

// All of them are one group then.
void ReachGraph::unite(Object into, std::span<const Object> groups) {
  Known& all = objects_[into];
  std::vector<NodeIndex> children{all.node};
  for (const Object other : groups) {
    Known& part = objects_[other];
    part.group = into;
    children.push_back(part.node);
    all.members.insert(all.members.end(), part.members.begin(), part.members.end());
    all.leads_to.insert(all.leads_to.end(), part.leads_to.begin(), part.leads_to.end());
    all.gone_members += part.gone_members;
    use(all.caller, part.caller);
    part.members = {};
    part.leads_to = {};
  }
  // What is gone is taken out at once where it costs nothing, else when it is worth it.
  if (all.gone_members > 0 && (all.members.size() <= kMaxRanges || 4 * all.gone_members > all.members.size())) {
    rebuild(all);
  } else if (children.size() > 1) {
    all.node = static_cast<NodeIndex>(nodes_.size());
    nodes_.emplace_back().children = std::move(children);
  }
}

void ReachGraph::rebuild(Known& group) {
  std::erase_if(group.members, [&](Object member) { return objects_[member].gone; });
  group.gone_members = 0;
  group.node = static_cast<NodeIndex>(nodes_.size());
  Node& node = nodes_.emplace_back();
  for (const Object member : group.members) {
    node.children.push_back(objects_[member].leaf);
  }
}

void ReachGraph::finish() {
  for (Node& node : nodes_) {
    for (const NodeIndex child : node.children) {
      node.ranges.insert(node.ranges.end(), nodes_[child].ranges.begin(), nodes_[child].ranges.end());
    }
    if (node.object != kNoObject) {
      const Known& object = objects_[node.object];
      std::uint32_t user = object.user;
      use(user, objects_[group(node.object)].caller);
      if (user == kMany && !object.constant) {
        node.ranges.push_back(object.range);
      }
    }
    node.ranges = merged(std::move(node.ranges));
  }
}

std::vector<MemoryRange> ReachGraph::merged(std::vector<MemoryRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const MemoryRange& a, const MemoryRange& b) { return a.begin < b.begin; });
  std::vector<MemoryRange> apart;
  for (const MemoryRange& range : ranges) {
    if (!apart.empty() && range.begin <= last_byte(apart.back()) + 1) {
      apart.back().length = std::max(last_byte(apart.back()), last_byte(range)) - apart.back().begin + 1;
    } else {
      apart.push_back(range);
    }
  }
  if (apart.size() <= kMaxRanges) {
    return apart;
  }
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < apart.size(); ++i) {
    gaps.push_back(apart[i].begin - last_byte(apart[i - 1]));
  }
  std::nth_element(gaps.begin(), gaps.begin() + (kMaxRanges - 2), gaps.end(), std::greater<>());
  const std::uint64_t least = gaps[kMaxRanges - 2];  // of the gaps that stay
  auto as_wide = static_cast<std::ptrdiff_t>(kMaxRanges - 1) -
                 std::count_if(gaps.begin(), gaps.end(), [&](std::uint64_t gap) { return gap > least; });
  std::vector<MemoryRange> few{apart[0]};
  for (std::size_t i = 1; i < apart.size(); ++i) {
    const std::uint64_t gap = apart[i].begin - last_byte(apart[i - 1]);
    if (gap > least || (gap == least && as_wide-- > 0)) {
      few.push_back(apart[i]);
    } else {
      few.back().length = last_byte(apart[i]) - few.back().begin + 1;
    }
  }
  return few;
}

}  // namespace sooth
