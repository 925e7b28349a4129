#include "trace/check/value_memory.h"

#include <algorithm>

#include "trace/text/std_syntax.h"

namespace sooth {
namespace {

std::uint8_t byte_of(const Value& value, unsigned i) {
  return static_cast<std::uint8_t>(i < 8 ? value.low >> (8 * i) : value.high >> (8 * (i - 8)));
}

void set_byte(Value& value, unsigned i, std::uint8_t byte) {
  std::uint64_t& half = i < 8 ? value.low : value.high;
  const unsigned shift = 8 * (i % 8);
  half = (half & ~(std::uint64_t{0xff} << shift)) | std::uint64_t{byte} << shift;
}

}  // namespace

void ValueMemory::write(std::uint64_t begin, std::uint64_t length, const Value& value) {
  for (unsigned i = 0; i < value.size; ++i) {
    const std::uint64_t address = begin + i;
    std::unique_ptr<Page>& page = pages_[address >> kPageBits];
    if (page == nullptr) {
      page = std::make_unique<Page>();
    }
    page->bytes[address % kPageBytes] = byte_of(value, i);
    page->known[address % kPageBytes] = open_.empty() || !reached(address);
  }
  if (length > value.size) {
    forget(begin + value.size, length - value.size);
  }
}

void ValueMemory::forget(std::uint64_t begin, std::uint64_t length) {
  if (length == 0) {
    return;
  }
  const std::uint64_t last = begin + (length - 1);
  const std::uint64_t first_page = begin >> kPageBits;
  const std::uint64_t last_page = last >> kPageBits;
  if (last_page - first_page >= pages_.size()) {  // a huge block: cheaper to look at what there is
    pages_.for_each([&](std::uint64_t number, std::unique_ptr<Page>& page) {
      if (number >= first_page && number <= last_page) {
        forget_in_page(*page, number, begin, last);
      }
    });
    return;
  }
  for (std::uint64_t number = first_page; number <= last_page; ++number) {
    if (std::unique_ptr<Page>* page = pages_.find(number)) {
      forget_in_page(**page, number, begin, last);
    }
  }
}

void ValueMemory::forget_in_page(Page& page, std::uint64_t number, std::uint64_t begin, std::uint64_t last) {
  const std::uint64_t page_begin = number << kPageBits;
  const std::uint64_t from = begin > page_begin ? begin - page_begin : 0;
  const std::uint64_t to = std::min(last - page_begin, kPageBytes - 1);
  if (from == 0 && to == kPageBytes - 1) {
    page.known.reset();
    return;
  }
  for (std::uint64_t i = from; i <= to; ++i) {
    page.known.reset(i);
  }
}

void ValueMemory::open_reach(EventId owner, std::uint64_t begin, std::uint64_t length) {
  forget(begin, length);
  open_.push_back({owner, begin, length});
}

void ValueMemory::close_reach(EventId owner) {
  std::erase_if(open_, [owner](const OpenReach& reach) { return reach.owner == owner; });
}

bool ValueMemory::reached(std::uint64_t address) const {
  return std::any_of(open_.begin(), open_.end(),
                     [address](const OpenReach& reach) { return address - reach.begin < reach.length; });
}

std::optional<Value> ValueMemory::consume(const Event& event, const Value& value) {
  if (is_read(event.op) && value.size != 0) {
    if (const std::optional<Value> held = conflict(event.object, value)) {
      return held;
    }
  }
  if (event.op == Op::kWrite || event.op == Op::kAtomicStore) {
    write(event.object, value_extent(event), value);
  } else if (event.op == Op::kAtomicRmw || event.op == Op::kAlloc || event.op == Op::kFree) {
    forget(event.object, value_extent(event));
  }
  return std::nullopt;
}

std::optional<Value> ValueMemory::conflict(std::uint64_t begin, const Value& read) const {
  Value held = read;
  for (unsigned i = 0; i < read.size; ++i) {
    const std::uint64_t address = begin + i;
    const std::unique_ptr<Page>* page = pages_.find(address >> kPageBits);
    if (page != nullptr && (*page)->known[address % kPageBytes]) {
      set_byte(held, i, (*page)->bytes[address % kPageBytes]);
    }
  }
  for (unsigned i = 0; i < read.size; ++i) {
    if (byte_of(held, i) != byte_of(read, i)) {
      return held;
    }
  }
  return std::nullopt;
}

std::string to_string(const Value& value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = value.size; i-- > 0;) {
    const std::uint8_t byte = byte_of(value, i);
    for (const int digit : {byte >> 4, byte & 15}) {
      if (!text.empty() || digit != 0) {
        text += kDigits[digit];
      }
    }
  }
  return "0x" + (text.empty() ? "0" : text);
}

}  // namespace sooth
