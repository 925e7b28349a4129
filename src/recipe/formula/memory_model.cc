#include "recipe/formula/memory_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/check/value_bits.h"

namespace sooth {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};
constexpr std::uint32_t kSeveral = kNobody - 1;

std::uint64_t key(EventIndex e, PieceIndex p) { return std::uint64_t{e} << 32 | p; }

bool is_store(Op op) { return op == Op::kWrite || op == Op::kAtomicStore; }

template <typename Visit>
void for_each_step(const SymbolicProgram& program, Visit&& visit) {
  for (const SymbolicThread& thread : program.threads) {
    for (const Detour& detour : thread.detours) {
      for (const DetourStep& step : detour.steps) {
        visit(step);
      }
    }
  }
}

}  // namespace

MemoryModel::MemoryModel(const TraceIndex& index, const TraceView& trace, const SymbolicProgram& program,
                         const InitialBytes& initial)
    : index_(index), trace_(trace) {
  const std::vector<Range> ranges = find_ranges(trace.events);
  cut(ranges, program);
  place_steps(ranges, program);
  collect_accesses();
  learn_contents(program, initial);
}

// By variable.
std::vector<MemoryModel::Range> MemoryModel::find_ranges(std::span<const Event> events) const {
  const VariableMap map(events);
  std::vector<Range> ranges;
  for (EventIndex e = 0; e < events.size(); ++e) {
    const std::span<const VariableIndex> variables = index_.variables(e);
    if (variables.empty()) {
      continue;
    }
    std::size_t i = 0;
    map.for_each_cell(events[e].object, events[e].size, [&](std::uint32_t, std::uint64_t first, std::uint64_t bytes) {
      const VariableIndex v = variables[i++];
      ranges.resize(std::max<std::size_t>(ranges.size(), v + std::size_t{1}));
      ranges[v] = {first, bytes};
    });
  }
  return ranges;
}

// Variables become pieces where steps of detours begin or end.
void MemoryModel::cut(const std::vector<Range>& ranges, const SymbolicProgram& program) {
  for_each_step(program, [this](const DetourStep& step) {
    if (is_access(step.op)) {
      borders_.push_back(step.object);
      borders_.push_back(step.object + step.size);
    }
  });
  std::sort(borders_.begin(), borders_.end());
  borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
  for (const auto& [first, bytes] : ranges) {
    first_piece_.push_back(static_cast<PieceIndex>(pieces_.size()));
    std::uint64_t begin = first;
    for (auto border = std::upper_bound(borders_.begin(), borders_.end(), first);
         border != borders_.end() && *border < first + bytes; ++border) {
      pieces_.push_back({begin, static_cast<std::uint32_t>(*border - begin), false, {}});
      begin = *border;
    }
    pieces_.push_back({begin, static_cast<std::uint32_t>(first + bytes - begin), false, {}});
  }
  first_piece_.push_back(static_cast<PieceIndex>(pieces_.size()));
}

void MemoryModel::place_steps(const std::vector<Range>& ranges, const SymbolicProgram& program) {
  // Pieces by their first byte. Those of one address are generations of the same bytes; a variable has the same borders
  // in each of them.
  std::multimap<std::uint64_t, PieceIndex> at;
  if (!borders_.empty()) {
    for (VariableIndex v = 0; v < ranges.size(); ++v) {
      for (PieceIndex p = first_piece_[v]; p < first_piece_[v + 1]; ++p) {
        at.emplace(pieces_[p].address, p);
      }
    }
  }
  // By piece, the first event that touches it.
  std::vector<EventIndex> begins(pieces_.size(), kNoEvent);
  for (EventIndex e = 0; e < index_.size() && !borders_.empty(); ++e) {
    for_each_piece(e, [&](PieceIndex p, std::size_t) { begins[p] = std::min(begins[p], e); });
  }
  using Place = std::multimap<std::uint64_t, PieceIndex>::iterator;
  const auto latest = [&](Place first, Place end, EventIndex when) {
    Place best = end;
    for (Place place = first; place != end; ++place) {
      const EventIndex begin = place->second < begins.size() ? begins[place->second] : kNoEvent;
      if (begin < when && (best == end || begins[best->second] < begin)) {
        best = place;
      }
    }
    return best;
  };
  const auto place = [&](const DetourStep& step) -> StepPieces {
    std::vector<PieceIndex> pieces;
    const std::uint64_t end = step.object + step.size;
    for (std::uint64_t byte = step.object; is_access(step.op) && byte < end && byte >= step.object;) {
      auto piece = at.lower_bound(byte);
      if (piece == at.end() || piece->first != byte) {  // bytes that no event touches
        const auto border = std::upper_bound(borders_.begin(), borders_.end(), byte);
        std::uint64_t stop = byte + std::min(*border - byte, 8 - byte % 8);
        stop = piece == at.end() ? stop : std::min(stop, piece->first);
        pieces_.push_back({byte, static_cast<std::uint32_t>(stop - byte), false, {}});
        piece = at.emplace(byte, static_cast<PieceIndex>(pieces_.size() - 1));
      }
      if (at.count(byte) > 1) {
        const auto [first, last] = at.equal_range(byte);
        piece = step.when == kNoEvent ? last : latest(first, last, step.when);
        if (piece == last) {
          return std::nullopt;
        }
      }
      pieces.push_back(piece->second);
      byte += pieces_[piece->second].size;
    }
    return pieces;
  };
  for (const SymbolicThread& thread : program.threads) {
    auto& of_thread = steps_.emplace_back();
    for (const Detour& detour : thread.detours) {
      auto& of_detour = of_thread.emplace_back();
      for (const DetourStep& step : detour.steps) {
        of_detour.push_back(place(step));
      }
    }
  }
}

// Who writes what, and what several threads share.
void MemoryModel::collect_accesses() {
  struct Users {
    std::uint32_t thread = kNobody;
    bool written = false;
  };
  std::vector<Users> users(pieces_.size());
  std::vector<std::size_t> counts(pieces_.size() + 1);
  for (EventIndex e = 0; e < index_.size(); ++e) {
    const bool writes = is_write(index_.event(e).op);
    for_each_piece(e, [&](PieceIndex p, std::size_t) {
      Users& own = users[p];
      own.thread = own.thread == kNobody || own.thread == index_.thread(e) ? index_.thread(e) : kSeveral;
      own.written = own.written || writes;
      counts[p + 1] += writes ? 1 : 0;
    });
  }
  for (PieceIndex p = 0; p < pieces_.size(); ++p) {
    pieces_[p].shared = users[p].thread == kSeveral && users[p].written;
    counts[p + 1] += counts[p];
  }
  first_write_ = counts;
  writes_.resize(counts.back());
  for (EventIndex e = 0; e < index_.size(); ++e) {
    if (is_write(index_.event(e).op)) {
      for_each_piece(e, [&](PieceIndex p, std::size_t) { writes_[counts[p]++] = e; });
    }
  }
}

void MemoryModel::learn_contents(const SymbolicProgram& program, const InitialBytes& initial) {
  const std::vector<std::uint64_t> values = program.expressions.evaluate_all(program.recorded);
  for (const SymbolicThread& thread : program.threads) {
    for (const SymbolicAccess& access : thread.accesses) {
      if (access.written != kNoExpr) {
        const std::uint64_t written = values[static_cast<std::size_t>(access.written)];
        for_each_piece(access.event, [&](PieceIndex p, std::size_t) {
          const std::uint64_t offset = pieces_[p].address - index_.event(access.event).object;
          left_[key(access.event, p)] = value_bits({written, 0, 8}, static_cast<unsigned>(offset), pieces_[p].size);
        });
      }
    }
  }
  for (EventIndex e = 0; e < index_.size(); ++e) {
    const std::vector<std::uint8_t>* copied = program.copied.find(e);
    for_each_piece(e, [&](PieceIndex p, std::size_t) {
      const std::uint64_t offset = pieces_[p].address - index_.event(e).object;
      if (copied != nullptr && offset + pieces_[p].size <= copied->size()) {
        std::uint64_t bits = 0;
        for (std::uint32_t i = 0; i < pieces_[p].size; ++i) {
          bits |= std::uint64_t{(*copied)[offset + i]} << (8 * i);
        }
        left_[key(e, p)] = bits;
      }
    });
  }
  for (EventIndex e = 0; e < index_.size(); ++e) {
    if (!is_read(index_.event(e).op)) {
      continue;
    }
    for_each_piece(e, [&](PieceIndex p, std::size_t i) {
      const std::optional<std::uint64_t> found = recorded(e, p);
      const EventIndex write = index_.seen(e)[i];
      if (!found) {
        return;
      }
      if (write == kNoEvent) {
        pieces_[p].initial = found;
      } else if (index_.event(write).op != Op::kFree && !left(write, p)) {
        left_[key(write, p)] = *found;
      }
    });
  }
  for (Piece& piece : pieces_) {
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; initial && !piece.initial && i < piece.size; ++i) {
      const std::optional<std::uint8_t> byte = initial(piece.address + i);
      if (!byte) {
        break;
      }
      bits |= std::uint64_t{*byte} << (8 * i);
      if (i + 1 == piece.size) {
        piece.initial = bits;
      }
    }
  }
}

std::span<const EventIndex> MemoryModel::writes(PieceIndex p) const {
  return std::span(writes_).subspan(first_write_[p], first_write_[p + 1] - first_write_[p]);
}

std::optional<std::uint64_t> MemoryModel::recorded(EventIndex e, PieceIndex p) const {
  const Op op = index_.event(e).op;
  if (trace_.values.empty() || !(is_read(op) || is_store(op))) {
    return std::nullopt;
  }
  const std::uint64_t offset = pieces_[p].address - index_.event(e).object;
  const Value& value = trace_.values[e];
  if (offset + pieces_[p].size > value.size) {
    return std::nullopt;
  }
  return value_bits(value, static_cast<unsigned>(offset), pieces_[p].size);
}

std::optional<std::uint64_t> MemoryModel::left(EventIndex write, PieceIndex p) const {
  if (is_store(index_.event(write).op)) {
    if (const auto stored = recorded(write, p)) {
      return stored;
    }
  }
  const std::uint64_t* known = left_.find(key(write, p));
  return known == nullptr ? std::nullopt : std::optional(*known);
}

}  // namespace sooth
