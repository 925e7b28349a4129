#include "trace/variables.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sooth {
namespace {

constexpr std::size_t kMostFrames = 1u << 18;
constexpr EventId kNever{std::numeric_limits<std::uint64_t>::max()};

}  // namespace

TypeId VariableTable::add_type(TypeLayout type) {
  types_.push_back(std::move(type));
  return TypeId(types_.size() - 1);
}

std::uint32_t VariableTable::add_layout(std::vector<ShortLived> variables) {
  Layout layout;
  for (const ShortLived& each : variables) {
    layout.begin = std::min(layout.begin, each.offset);
    layout.end = std::max(layout.end, each.offset + static_cast<std::int64_t>(each.size));
  }
  layout.variables = std::move(variables);
  layouts_.push_back(std::move(layout));
  return static_cast<std::uint32_t>(layouts_.size() - 1);
}

std::uint32_t VariableTable::place(std::uint32_t layout, ThreadId thread, std::uint64_t base, EventId since) {
  if (frames_.size() < kMostFrames) {
    frames_.push_back({layout, thread, base, since, kNever});
    return static_cast<std::uint32_t>(frames_.size() - 1);
  }
  return static_cast<std::uint32_t>(kMostFrames);
}

void VariableTable::end(std::uint32_t frame, EventId until) {
  if (frame < frames_.size()) {
    frames_[frame].until = until;
    ends_.emplace_back(frame, until);
  }
}

// The latest wins: what it lies on is no more.
std::optional<NamedPart> VariableTable::find(std::uint64_t address, std::uint64_t size, EventId at) const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (frame->since > at || at >= frame->until) {
      continue;
    }
    const Layout& layout = layouts_[frame->layout];
    if (address - (frame->base + static_cast<std::uint64_t>(layout.begin)) >=
        static_cast<std::uint64_t>(layout.end - layout.begin)) {
      continue;
    }
    for (const ShortLived& variable : layout.variables) {
      const std::uint64_t begin = frame->base + static_cast<std::uint64_t>(variable.offset);
      if (address < begin || address - begin >= variable.size) {
        continue;
      }
      const TypePart part = find_part(types_, variable.type, address - begin, size);
      return NamedPart{variable.name + part.path,
                       variable.function,
                       frame->thread,
                       begin + part.offset,
                       part.size != 0 ? part.size : variable.size,
                       part.type,
                       part.is_bit_field};
    }
  }
  return std::nullopt;
}

void VariableTable::set_allocated(SiteId site, TypeId type) {
  allocated_[raw(site)] = type;
  allocations_.emplace_back(site, type);
}

TypeId VariableTable::allocated(SiteId site) const {
  const auto found = allocated_.find(raw(site));
  return found == allocated_.end() ? kNoType : found->second;
}

}  // namespace sooth
