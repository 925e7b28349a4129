#include "pipeline/shared_memory.h"

#include <algorithm>

namespace sooth {

SharedMemory::Page& SharedMemory::page(std::uint64_t number) {
  Recent& recent = recent_[number % kRecent];
  if (recent.number != number) {
    std::uint32_t& index = numbers_[number];
    if (index == 0) {
      pages_.emplace_back();
      page_of_.push_back(number);
      index = static_cast<std::uint32_t>(pages_.size());
    }
    recent = {number, index - 1};
  }
  return pages_[recent.index];
}

const SharedMemory::Page* SharedMemory::find(std::uint64_t number) const {
  Recent& recent = recent_[number % kRecent];
  if (recent.number != number) {
    const std::uint32_t* index = numbers_.find(number);
    if (index == nullptr) {
      return nullptr;
    }
    recent = {number, *index - 1};
  }
  return &pages_[recent.index];
}

void SharedMemory::touch(std::uint64_t begin, std::uint64_t size, Owner owner) {
  const std::uint64_t last = (begin + std::max<std::uint64_t>(size, 1) - 1) >> kGranuleBits;
  for (std::uint64_t granule = begin >> kGranuleBits; granule <= last; ++granule) {
    Owner& known = page(granule >> kPageBits).owners[granule % kPageGranules];
    known = known == kNobody || known == owner ? owner : kShared;
  }
}

// What is shared in one generation stays so: has() is not told which one it is asked about.
void SharedMemory::forget(std::uint64_t begin, std::uint64_t size) {
  const std::uint64_t first = (begin + (1u << kGranuleBits) - 1) >> kGranuleBits;
  const std::uint64_t past = (begin + size) >> kGranuleBits;
  const auto forget_in = [&](std::uint64_t number, Page& of) {
    const std::uint64_t base = number << kPageBits;
    const std::uint64_t from = std::max(first, base), to = std::min(past, base + kPageGranules);
    for (std::uint64_t granule = from; granule < to; ++granule) {
      Owner& known = of.owners[granule - base];
      known = known == kShared ? kShared : kNobody;
    }
  };
  if (size > kLong) {  // there may be fewer pages in all
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      forget_in(page_of_[i], pages_[i]);
    }
    return;
  }
  for (std::uint64_t number = first >> kPageBits; first < past && number <= (past - 1) >> kPageBits; ++number) {
    if (find(number) != nullptr) {
      forget_in(number, page(number));
    }
  }
}

void SharedMemory::consume(std::span<const Event> events) {
  for (const Event& event : events) {
    const std::uint32_t thread = raw(event.thread);
    const Owner owner = thread + 1 < kShared ? static_cast<Owner>(thread + 1) : kShared;
    if (event.op == Op::kRead || event.op == Op::kWrite) {
      touch(event.object, event.size, owner);
    } else if (is_access(event.op)) {
      touch(event.object, event.size, kShared);
    } else if (event.op == Op::kFree && event.size > kLong) {
      freed_.emplace_back(event.object, event.object + event.size);
    } else if (event.op == Op::kFree) {
      touch(event.object, event.size, owner);
    } else if (event.op == Op::kAlloc) {
      forget(event.object, event.size);
    }
  }
}

bool SharedMemory::has(const Event& access) const {
  const std::uint64_t end = access.object + std::max<std::uint64_t>(access.size, 1);
  for (std::uint64_t granule = access.object >> kGranuleBits; granule <= (end - 1) >> kGranuleBits; ++granule) {
    const Page* known = find(granule >> kPageBits);
    if (known != nullptr && known->owners[granule % kPageGranules] == kShared) {
      return true;
    }
  }
  return std::any_of(freed_.begin(), freed_.end(),
                     [&](const auto& block) { return block.first < end && access.object < block.second; });
}

}  // namespace sooth
