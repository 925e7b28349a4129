#include "recipe/execute/byte_memory.h"

#include <algorithm>

#include "base/ids.h"

namespace sooth {

Assembled assemble(ExprTable& table, std::span<const Byte> bytes) {
  Assembled whole{0, kNoExpr, true};
  bool is_symbolic = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    whole.is_known = whole.is_known && bytes[i].is_known;
    whole.value |= std::uint64_t{bytes[i].value} << (8 * i);
    is_symbolic = is_symbolic || bytes[i].expr != kNoExpr;
  }
  if (!is_symbolic || !whole.is_known) {
    return whole;
  }
  // Runs of neighbours from one expression, or of constants, are one piece each.
  for (std::size_t i = 0; i < bytes.size();) {
    std::size_t end = i + 1;
    std::uint64_t constant = bytes[i].value;
    while (end < bytes.size() && bytes[end].expr == bytes[i].expr &&
           (bytes[i].expr == kNoExpr || bytes[end].part == bytes[i].part + (end - i))) {
      constant |= std::uint64_t{bytes[end].value} << (8 * (end - i));
      ++end;
    }
    const auto width = static_cast<unsigned>(8 * (end - i));
    const ExprId piece = bytes[i].expr == kNoExpr ? table.constant(width, constant)
                                                  : table.extract(bytes[i].expr, 8u * bytes[i].part, width);
    whole.expr = whole.expr == kNoExpr ? piece : table.make(ExprOp::kConcat, piece, whole.expr);
    i = end;
  }
  return whole;
}

void take_apart(std::uint64_t value, ExprId expr, std::span<Byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = {expr, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(value >> (8 * i)), true};
  }
}

void ByteMemory::erase(std::uint64_t address, std::uint64_t size) {
  for (std::uint64_t at = address; at < address + size && !symbolic_.empty();) {
    const std::uint64_t next = std::min(address + size, (at / kGranule + 1) * kGranule);
    if (Symbols* symbols = symbolic_.find(at / kGranule)) {
      std::fill(symbols->expr + at % kGranule, symbols->expr + at % kGranule + (next - at), kNoExpr);
      if (std::all_of(std::begin(symbols->expr), std::end(symbols->expr), [](ExprId e) { return e == kNoExpr; })) {
        symbolic_.erase(at / kGranule);
      }
    }
    at = next;
  }
}

template <typename T>
void ByteMemory::erase_whole(FlatMap<T>& map, std::uint64_t first, std::uint64_t last) {
  if (last - first <= 4 * map.size()) {
    for (std::uint64_t granule = first; granule < last; ++granule) {
      map.erase(granule);
    }
    return;
  }
  std::vector<std::uint64_t> found;
  map.for_each([&](std::uint64_t granule, const T&) {
    if (granule >= first && granule < last) {
      found.push_back(granule);
    }
  });
  for (const std::uint64_t granule : found) {
    map.erase(granule);
  }
}

void ByteMemory::forget(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t end = address + size;
  const std::uint64_t first = (address + kGranule - 1) / kGranule;
  const std::uint64_t last = std::max(first, end / kGranule);
  erase_whole(symbolic_, first, last);
  erase_whole(constants_, first, last);
  // What is left at both ends.
  for (std::uint64_t at = address; at < end; ++at) {
    if (at == first * kGranule) {
      at = last * kGranule;
      if (at >= end) {
        break;
      }
    }
    erase(at, 1);
    if (Constants* constants = constants_.find(at / kGranule)) {
      constants->known &= static_cast<std::uint8_t>(~(1u << at % kGranule));
    }
  }
}

void ByteMemory::put(std::uint64_t address, const Byte& byte) {
  if (byte.expr != kNoExpr) {
    Symbols& symbols = symbolic_[address / kGranule];
    symbols.expr[address % kGranule] = byte.expr;
    symbols.part[address % kGranule] = byte.part;
    symbols.value[address % kGranule] = byte.value;
  }
  if (keep_constants_) {
    Constants& constants = constants_[address / kGranule];
    const auto bit = static_cast<std::uint8_t>(1u << address % kGranule);
    constants.value[address % kGranule] = byte.value;
    constants.known = byte.is_known ? constants.known | bit : constants.known & static_cast<std::uint8_t>(~bit);
  }
}

void ByteMemory::store(std::uint64_t address, std::span<const Byte> bytes) {
  erase(address, bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    put(address + i, bytes[i]);
  }
}

void ByteMemory::load(std::uint64_t address, std::span<Byte> bytes) const {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t at = address + i;
    bytes[i] = {};
    if (const Symbols* symbols = symbolic_.empty() ? nullptr : symbolic_.find(at / kGranule);
        symbols != nullptr && symbols->expr[at % kGranule] != kNoExpr) {
      bytes[i] = {symbols->expr[at % kGranule], symbols->part[at % kGranule], symbols->value[at % kGranule], true};
    } else if (const Constants* constants = constants_.find(at / kGranule);
               constants != nullptr && (constants->known >> at % kGranule & 1) != 0) {
      bytes[i] = {kNoExpr, 0, constants->value[at % kGranule], true};
    }
  }
}

bool ByteMemory::has_expressions(std::uint64_t address, std::uint64_t size) const {
  if (symbolic_.empty() || size == 0) {
    return false;
  }
  for (std::uint64_t granule = address / kGranule; granule <= (address + (size - 1)) / kGranule; ++granule) {
    const Symbols* symbols = symbolic_.find(granule);
    for (std::uint64_t i = 0; symbols != nullptr && i < kGranule; ++i) {
      const std::uint64_t at = granule * kGranule + i;
      if (at >= address && at < address + size && symbols->expr[i] != kNoExpr) {
        return true;
      }
    }
  }
  return false;
}

void ByteMemory::make_constant(ExprTable& table, std::uint64_t address, std::uint64_t size, const Visit& visit) {
  for (std::uint64_t at = address; at < address + size && !symbolic_.empty();) {
    const std::uint64_t next = std::min(address + size, (at / kGranule + 1) * kGranule);
    if (const Symbols* found = symbolic_.find(at / kGranule)) {
      const Symbols symbols = *found;
      for (std::uint64_t i = at % kGranule; i < at % kGranule + (next - at);) {
        std::uint64_t end = i + 1;
        std::uint64_t value = symbols.value[i];
        while (end < at % kGranule + (next - at) && symbols.expr[end] == symbols.expr[i] &&
               symbols.part[end] == symbols.part[i] + (end - i)) {
          value |= std::uint64_t{symbols.value[end]} << (8 * (end - i));
          ++end;
        }
        if (symbols.expr[i] != kNoExpr) {
          visit(table.extract(symbols.expr[i], 8u * symbols.part[i], static_cast<unsigned>(8 * (end - i))), value);
        }
        i = end;
      }
      erase(at, next - at);
    }
    at = next;
  }
}

void ByteMemory::make_all_constant(ExprTable& table, const Visit& visit) {
  std::vector<std::uint64_t> granules;
  symbolic_.for_each([&](std::uint64_t granule, const Symbols&) { granules.push_back(granule); });
  for (const std::uint64_t granule : granules) {
    make_constant(table, granule * kGranule, kGranule, visit);
  }
}

void ByteMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t size) {
  if (!keep_constants_ && !has_expressions(from, size)) {
    erase(to, size);
    return;
  }
  std::vector<Byte> bytes(size);
  load(from, bytes);
  store(to, bytes);
}

}  // namespace sooth
