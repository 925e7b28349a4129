#include "detect/freed_memory.h"

#include <algorithm>
#include <iterator>

namespace sooth {

// nullptr: nothing of the page was ever free.
FreedMemory::Bits* FreedMemory::bits_of(std::uint64_t page) {
  Cached& cached = cache_[page % cache_.size()];
  if (cached.page != page) {
    const std::unique_ptr<Bits>* found = pages_.find(page);
    cached = {page, found == nullptr ? nullptr : found->get()};
  }
  return cached.bits;
}

void FreedMemory::set(std::uint64_t address, std::uint64_t size) {
  // Only what is free as a whole.
  for (std::uint64_t granule = (address + kGranule - 1) / kGranule; granule < (address + size) / kGranule; ++granule) {
    const std::uint64_t page = granule / (kPage / kGranule);
    if (bits_of(page) == nullptr) {
      pages_[page] = std::make_unique<Bits>();
      cache_[page % cache_.size()] = {page, pages_[page].get()};
    }
    const std::uint64_t bit = granule % (kPage / kGranule);
    (*bits_of(page))[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
}

void FreedMemory::clear(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t last = (address + (size - 1)) / kGranule;
  for (std::uint64_t granule = address / kGranule; granule <= last; ++granule) {
    Bits* bits = bits_of(granule / (kPage / kGranule));
    const std::uint64_t bit = granule % (kPage / kGranule);
    if (bits != nullptr) {
      (*bits)[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
    }
  }
}

bool FreedMemory::any_free(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t last = (address + (std::max<std::uint64_t>(size, 1) - 1)) / kGranule;
  for (std::uint64_t granule = address / kGranule; granule <= last; ++granule) {
    const Bits* bits = bits_of(granule / (kPage / kGranule));
    const std::uint64_t bit = granule % (kPage / kGranule);
    if (bits != nullptr && ((*bits)[bit / 64] >> (bit % 64) & 1) != 0) {
      return true;
    }
  }
  return false;
}

void FreedMemory::free(const AccessRecord& record) {
  const std::uint64_t address = record.event.object;
  const std::uint64_t size = record.event.size;
  allocate(address, size);
  const bool is_mapping = address % kPage == kHeader && (address + size) % kPage == 0;
  if (size > 0 && size <= kLargest && address % kPage != 0 && !is_mapping) {
    blocks_.insert_or_assign(address, Block{size, record});
    set(address, size);
  }
}

void FreedMemory::allocate(std::uint64_t address, std::uint64_t size) {
  if (blocks_.empty() || size == 0) {
    return;
  }
  // What is left of a block that is handed out in part stays free.
  auto it = blocks_.upper_bound(address);
  if (it != blocks_.begin() && std::prev(it)->first + std::prev(it)->second.size > address) {
    --it;
  }
  while (it != blocks_.end() && it->first < address + size) {
    const std::uint64_t begin = it->first;
    const Block block = it->second;
    const std::uint64_t end = begin + block.size;
    clear(std::max(begin, address), std::min(end, address + size) - std::max(begin, address));
    it = blocks_.erase(it);
    if (begin < address) {
      blocks_.insert_or_assign(begin, Block{address - begin, block.record});
    }
    if (end > address + size) {
      it = blocks_.insert_or_assign(address + size, Block{end - (address + size), block.record}).first;
    }
  }
}

const AccessRecord* FreedMemory::block_at(std::uint64_t address, std::uint64_t size) const {
  auto it = blocks_.upper_bound(address + (std::max<std::uint64_t>(size, 1) - 1));
  if (it == blocks_.begin()) {
    return nullptr;
  }
  --it;
  return it->first + it->second.size > address ? &it->second.record : nullptr;
}

}  // namespace sooth
