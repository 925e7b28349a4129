// How ThreadExecutor follows what touches memory.
#include <algorithm>
#include <bit>
#include <utility>

#include <llvm/IR/IntrinsicInst.h>

#include "base/ids.h"
#include "recipe/execute/thread_executor.h"

namespace sooth {

namespace {

using Why = PathCondition::Why;

// Of copies and fills that are followed byte by byte.
constexpr std::uint64_t kLongest = 1u << 16;

std::size_t bytes_of(const Layout::Leaf& leaf) { return (leaf.bits + 7) / 8; }

}  // namespace

void ThreadExecutor::to_cells(const Layout& layout, std::span<const Byte> bytes, Cell* result) {
  for (const Layout::Leaf& leaf : layout.leaves) {
    const std::size_t count = bytes_of(leaf);
    if (!layout.is_in_bytes || leaf.offset + count > bytes.size()) {
      *result++ = {0, kUnknownExpr};
      continue;
    }
    const Assembled whole = assemble(table_, bytes.subspan(leaf.offset, count));
    *result++ = whole.is_known
                    ? arithmetic_.resize(Cell{whole.value, whole.expr}, static_cast<unsigned>(8 * count), leaf.bits)
                    : Cell{0, kUnknownExpr};
  }
}

// Padding and what is unknown is left unknown. False: expressions would overlap.
bool ThreadExecutor::to_bytes(const Layout& layout, const Cell* value, std::vector<Byte>& bytes) {
  bytes.assign(layout.bytes, Byte{});
  if (!layout.is_in_bytes) {
    return false;
  }
  for (std::size_t i = 0; i < layout.leaves.size(); ++i) {
    const Layout::Leaf& leaf = layout.leaves[i];
    const std::size_t count = bytes_of(leaf);
    if (is_known(value[i]) && leaf.offset + count <= bytes.size()) {
      const Cell whole = arithmetic_.resize(value[i], leaf.bits, static_cast<unsigned>(8 * count));
      take_apart(whole.bits, whole.expr, std::span(bytes).subspan(leaf.offset, count));
    }
  }
  return true;
}

// What the access at `position`, which reads, has read: `bytes` without expressions, by the trace or the words that
// follow.
bool ThreadExecutor::read_bytes(std::uint32_t position, std::uint64_t size, std::vector<Byte>& bytes) {
  bytes.assign(size, Byte{});
  const Value value = x_.trace.values.empty() ? Value{} : x_.trace.values[event(position)];
  std::vector<std::uint64_t> words{value.low, value.high};
  if (value.size < size && !take_words((size + 7) / 8, words)) {
    return false;
  }
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = {kNoExpr, 0, static_cast<std::uint8_t>(words[i / 8] >> (8 * (i % 8))), true};
  }
  return true;
}

// What the access at next_ reads, and its variable if it has one. Goes on behind it.
bool ThreadExecutor::read_access(const Layout& layout, Cell* result, ExprId& read) {
  const std::uint32_t position = next_++;
  const EventIndex e = event(position);
  if (!read_bytes(position, layout.bytes, bytes_)) {
    return false;
  }
  if (const Event& read_event = x_.index.event(e); x_.is_reached(read_event.object, read_event.size)) {
    memory_.forget(read_event.object, read_event.size);
  } else if (x_.sharing.is_shared(e)) {
    if (layout.bytes <= 8 && !x_.trace.values.empty() && x_.trace.values[e].size == layout.bytes) {
      read = x_.new_variable(static_cast<unsigned>(8 * layout.bytes), x_.trace.values[e].low, x_.index.event(e).object);
      take_apart(x_.trace.values[e].low, read, bytes_);
      if (detours_ != nullptr) {
        detours_->saw(read, e);
      }
    }
  } else {
    const std::uint64_t begin = x_.index.event(e).object;
    held_bytes_.resize(layout.bytes);
    memory_.load(begin, held_bytes_);
    for (std::size_t i = 0; i < layout.bytes; ++i) {
      // Another value than the thread left there: code without IR has written it.
      if (held_bytes_[i].expr != kNoExpr && held_bytes_[i].value == bytes_[i].value) {
        bytes_[i] = held_bytes_[i];
      }
    }
    memory_.store(begin, bytes_);
  }
  to_cells(layout, bytes_, result);
  return true;
}

void ThreadExecutor::explore_others(const llvm::Instruction& at, const Cell& value) {
  if (detours_ != nullptr && is_symbolic(value)) {
    detours_->explore_others(at, value, next_, static_cast<std::uint32_t>(out_.conditions.size()), next_event());
  }
}

bool ThreadExecutor::load(const llvm::Instruction& at, llvm::Type* type, const Cell& address, Op op, Cell* result) {
  const Layout& layout = x_.code.layout(*at.getModule(), type);
  if (!expect_access(op, address, layout.bytes)) {
    return false;
  }
  explore_others(at, address);
  arithmetic_.pin(address, Why::kBasePointer, *this);
  const EventIndex e = event(next_);
  ExprId read = kNoExpr;
  if (!read_access(layout, result, read)) {
    return false;
  }
  if (read != kNoExpr) {
    out_.accesses.push_back({e, read, kNoExpr});
  }
  return true;
}

// The access at `position` writes `bytes`: lists it, or remembers what is private. What is unknown gets its recorded
// value.
void ThreadExecutor::write_bytes(std::uint32_t position, std::vector<Byte>& bytes, ExprId read) {
  const EventIndex e = event(position);
  const std::uint64_t begin = x_.index.event(e).object;
  const bool is_reached = x_.is_reached(begin, bytes.size());
  if (!is_reached && !x_.sharing.is_shared(e)) {
    memory_.store(begin, bytes);
    const auto is_plain = [](const Byte& byte) { return byte.is_known && byte.expr == kNoExpr; };
    if (detours_ != nullptr && read == kNoExpr && std::all_of(bytes.begin(), bytes.end(), is_plain)) {
      out_.plain_writes.push_back(e);
    }
    return;
  }
  memory_.forget(begin, bytes.size());
  if (detours_ != nullptr) {
    detours_->wrote(e, begin, bytes);
  }
  ExprId written = kNoExpr;
  if (!is_reached && bytes.size() <= 8) {
    const Assembled whole = assemble(table_, bytes);
    const bool is_recorded =
        !x_.trace.values.empty() && x_.trace.values[e].size == bytes.size() && x_.index.event(e).op != Op::kAtomicRmw;
    if (whole.expr != kNoExpr) {
      written = whole.expr;
    } else if (whole.is_known && !is_recorded) {
      written = table_.constant(static_cast<unsigned>(8 * bytes.size()), whole.value);
    }
  } else {
    for (const Byte& byte : bytes) {
      if (byte.expr != kNoExpr) {
        arithmetic_.pin(Cell{byte.value, table_.extract(byte.expr, 8u * byte.part, 8)}, Why::kNotModelled, *this);
      }
    }
  }
  if (read != kNoExpr || written != kNoExpr) {
    out_.accesses.push_back({e, read, written});
  }
}

bool ThreadExecutor::store(const llvm::Instruction& at, llvm::Type* type, const Cell& address, const Cell* value,
                           Op op) {
  const Layout& layout = x_.code.layout(*at.getModule(), type);
  if (!expect_access(op, address, layout.bytes)) {
    return false;
  }
  arithmetic_.pin(address, Why::kBasePointer, *this);
  if (!to_bytes(layout, value, bytes_)) {
    arithmetic_.pin(std::span(value, layout.leaves.size()), Why::kNotModelled, *this);
  }
  const Value recorded = x_.trace.values.empty() ? Value{} : x_.trace.values[event(next_)];
  for (std::size_t i = 0; i < std::min<std::size_t>(recorded.size, bytes_.size()); ++i) {
    const auto wrote = static_cast<std::uint8_t>((i < 8 ? recorded.low : recorded.high) >> (8 * (i % 8)));
    if (!bytes_[i].is_known) {
      bytes_[i] = {kNoExpr, 0, wrote, true};
    } else if (bytes_[i].value != wrote) {
      return stop("the code stores another value than event " + std::to_string(event(next_)));
    }
  }
  // Conditions of the write belong in front of it.
  write_bytes(next_, bytes_, kNoExpr);
  ++next_;
  return true;
}

// Which event the instruction has is told in deep/program.h.
bool ThreadExecutor::access(const llvm::Instruction& at, const Operands& operands, Cell* result) {
  switch (event_rule(at)) {
    case EventRule::kNone: return unseen(at, operands, result);
    case EventRule::kVtable: {
      const DeepRecord* changes = take(DeepKind::kBranch);
      if (changes == nullptr) {
        return false;
      }
      if (changes->value == 0) {  // the pointer is there already
        return true;
      }
      break;
    }
    case EventRule::kPlain:
    case EventRule::kAtomic:
    case EventRule::kFence: break;
  }
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
    return this->load(at, load->getType(), *operands[0], load->isAtomic() ? Op::kAtomicLoad : Op::kRead, result);
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
    return this->store(at, store->getValueOperand()->getType(), *operands[1], operands[0],
                       store->isAtomic() ? Op::kAtomicStore : Op::kWrite);
  }
  if (const auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
    return rmw(*operation, operands, result);
  }
  return cmpxchg(llvm::cast<llvm::AtomicCmpXchgInst>(at), operands, result);
}

// What leaves no event: what it reads is unknown, what it writes is forgotten.
bool ThreadExecutor::unseen(const llvm::Instruction& at, const Operands& operands, Cell* result) {
  const bool is_store = llvm::isa<llvm::StoreInst>(at);
  for (unsigned i = 0; i < at.getNumOperands(); ++i) {
    arithmetic_.pin(std::span(operands[i], x_.code.layout(*at.getModule(), at.getOperand(i)->getType()).leaves.size()),
                    Why::kNotModelled, *this);
  }
  const Cell& address = *operands[is_store ? 1 : 0];
  if (!llvm::isa<llvm::LoadInst>(at) && is_known(address)) {
    const unsigned value = is_store ? 0 : at.getNumOperands() - 1;
    memory_.forget(address.bits, x_.code.layout(*at.getModule(), at.getOperand(value)->getType()).bytes);
  }
  std::fill_n(result, x_.code.layout(*at.getModule(), at.getType()).leaves.size(), Cell{0, kUnknownExpr});
  return true;
}

bool ThreadExecutor::rmw(const llvm::AtomicRMWInst& at, const Operands& operands, Cell* result) {
  const Layout& layout = x_.code.layout(*at.getModule(), at.getType());
  // An optimiser may have found that nobody uses what it reads, or that it changes nothing.
  Op op{};
  if (!is_due(op)) {
    return false;
  }
  if (op == Op::kAtomicLoad) {
    return load(at, at.getType(), *operands[0], op, result);
  }
  if (op == Op::kAtomicStore && at.getOperation() == llvm::AtomicRMWInst::Xchg && at.use_empty()) {
    return store(at, at.getType(), *operands[0], operands[1], op);
  }
  if (!expect_access(Op::kAtomicRmw, *operands[0], layout.bytes)) {
    return false;
  }
  if (layout.leaves.size() != 1) {
    return stop("no model of an atomic operation of this size");
  }
  arithmetic_.pin(*operands[0], Why::kBasePointer, *this);
  const std::uint32_t position = next_;
  ExprId read = kNoExpr;
  if (!read_access(layout, result, read)) {
    return false;
  }
  const std::uint32_t behind = std::exchange(next_, position);  // conditions belong in front of it
  const Cell written = arithmetic_.update(at.getOperation(), layout.leaves[0].bits, *result, *operands[1], *this);
  to_bytes(layout, &written, bytes_);
  write_bytes(position, bytes_, read);
  next_ = behind;
  return true;
}

bool ThreadExecutor::cmpxchg(const llvm::AtomicCmpXchgInst& at, const Operands& operands, Cell* result) {
  const Layout& layout = x_.code.layout(*at.getModule(), at.getNewValOperand()->getType());
  Op op{};
  if (!is_due(op)) {
    return false;
  }
  const bool succeeded = op == Op::kAtomicRmw;
  if (!expect_access(succeeded ? Op::kAtomicRmw : Op::kAtomicLoad, *operands[0], layout.bytes)) {
    return false;
  }
  if (layout.leaves.size() != 1) {
    return stop("no model of an atomic operation of this size");
  }
  arithmetic_.pin(*operands[0], Why::kBasePointer, *this);
  const std::uint32_t position = next_;
  ExprId read = kNoExpr;
  if (!read_access(layout, result, read)) {
    return false;
  }
  const std::uint32_t behind = std::exchange(next_, position);
  const Cell equal = arithmetic_.compare(llvm::CmpInst::ICMP_EQ, layout.leaves[0].bits, result[0], *operands[1], *this);
  if (is_known(equal) && (equal.bits != 0) != succeeded) {
    return stop("a compare-exchange has another outcome than event " + std::to_string(event(position)));
  }
  arithmetic_.pin(equal, Why::kBranch, *this);
  result[1] = {succeeded ? 1u : 0u, kNoExpr};
  if (succeeded) {
    to_bytes(layout, operands[2], bytes_);
    write_bytes(position, bytes_, read);
  } else if (read != kNoExpr) {
    out_.accesses.push_back({event(position), read, kNoExpr});
  }
  next_ = behind;
  return true;
}

// One or more accesses that make up the range.
bool ThreadExecutor::range(Op op, std::uint64_t address, std::uint64_t size, bool& is_shared) {
  for (std::uint64_t done = 0; done < size;) {
    Op found{};
    if (!is_due(found)) {
      return false;
    }
    const Event& next = x_.index.event(event(next_));
    if (found != op || next.object != address + done || next.size > size - done) {
      return stop("the code makes another access than event " + std::to_string(event(next_)));
    }
    is_shared = is_shared || x_.sharing.is_shared(event(next_)) || x_.is_reached(next.object, next.size);
    done += next.size;
    const bool has_value = x_.trace.values[event(next_++)].size != 0;
    const bool is_short = next.size <= 16 && std::has_single_bit(next.size);
    if (op == Op::kRead && is_short && !has_value && !take_words((next.size + 7) / 8, words_)) {
      return false;
    }
  }
  return true;
}

// What is not known of them is what it was at first, where nobody writes: literals above all.
void ThreadExecutor::add_initial(std::uint64_t address, std::span<Byte> bytes) const {
  for (std::size_t i = 0; x_.options.initial && i < bytes.size(); ++i) {
    const std::optional<std::uint8_t> value =
        bytes[i].is_known || x_.sharing.is_written(address + i) ? std::nullopt : x_.options.initial(address + i);
    if (value) {
      bytes[i] = {kNoExpr, 0, *value, true};
    }
  }
}

// The accesses from `position` up to the next one have read these bytes. A copy of what others write has to find what
// it found in the recorded run, so that is what it goes on with.
void ThreadExecutor::add_recorded(std::uint32_t position, std::span<Byte> bytes) const {
  std::size_t done = 0;
  for (; position < next_ && done < bytes.size(); ++position) {
    const Event& read = x_.index.event(event(position));
    for (std::uint64_t i = 0; read.op == Op::kRead && i < read.size && done < bytes.size(); ++i, ++done) {
      const std::uint64_t address = read.object + i;
      if (bytes[done].is_known || x_.is_reached(address, 1) || x_.sharing.is_written_at_length(address)) {
        continue;
      }
      if (const std::optional<std::uint8_t> value = x_.sharing.byte_at(address, event(position))) {
        bytes[done] = {kNoExpr, 0, *value, true};
      }
    }
  }
}

// The accesses from `position` up to the next one have written these bytes.
void ThreadExecutor::note_copied(std::uint32_t position, std::span<const Byte> bytes) {
  std::size_t done = 0;
  for (; position < next_; ++position) {
    const Event& write = x_.index.event(event(position));
    if (write.op != Op::kWrite || write.size > bytes.size() - done) {
      continue;
    }
    const std::span<const Byte> own = bytes.subspan(done, write.size);
    done += write.size;
    if (std::all_of(own.begin(), own.end(), [](const Byte& b) { return b.is_known && b.expr == kNoExpr; })) {
      std::vector<std::uint8_t>& values = x_.program.copied[event(position)];
      for (const Byte& byte : own) {
        values.push_back(byte.value);
      }
      out_.plain_writes.push_back(event(position));
    }
  }
}

// Large copies and fills: what they touch is known, what they read or write has no value in the trace.
bool ThreadExecutor::move_bytes(const llvm::CallBase& call, const Operands& operands) {
  const bool is_fill = llvm::isa<llvm::MemSetInst>(call);
  const Cell to = *operands[0];
  const Cell from = *operands[1];
  Cell size = *operands[2];
  if (!llvm::isa<llvm::ConstantInt>(call.getArgOperand(2))) {
    const DeepRecord* length = take(DeepKind::kWord);
    if (length == nullptr) {
      return false;
    }
    if (is_known(size) && size.bits != length->value) {
      return stop("a copy of memory has another length than the record says");
    }
    size = is_known(size) ? size : Cell{length->value, kNoExpr};
  }
  if (!is_known(to) || (!is_fill && !is_known(from))) {
    return stop("a copy of memory whose place is not known");
  }
  for (const Cell& cell : {to, size}) {
    arithmetic_.pin(cell, Why::kBasePointer, *this);
  }
  arithmetic_.pin(from, is_fill ? Why::kNotModelled : Why::kBasePointer, *this);
  const auto pin = [&](ExprId expr, std::uint64_t value) {
    arithmetic_.pin(Cell{value, expr}, Why::kNotModelled, *this);
  };
  bool reads_shared = false;
  const std::uint32_t read_position = next_;
  if (!is_fill && !range(Op::kRead, from.bits, size.bits, reads_shared)) {
    return false;
  }
  const std::uint32_t write_position = next_;
  const bool is_followed = detours_ != nullptr && size.bits <= kLongest;
  if (is_followed) {
    bytes_.assign(size.bits, Byte{kNoExpr, 0, static_cast<std::uint8_t>(from.bits), is_known(from)});
    if (!is_fill) {
      memory_.load(from.bits, bytes_);
      if (reads_shared) {
        add_recorded(read_position, bytes_);
      }
      add_initial(from.bits, bytes_);
    }
  }
  bool writes_shared = false;
  if (!range(Op::kWrite, to.bits, size.bits, writes_shared)) {
    return false;
  }
  if (is_followed) {
    note_copied(write_position, bytes_);
    if (!is_fill && !writes_shared) {
      memory_.store(to.bits, bytes_);
      return true;
    }
  }
  if (const bool is_long = size.bits > kLongest; writes_shared || reads_shared || is_long) {
    if ((writes_shared || is_long) && !is_fill) {
      const std::uint32_t behind = std::exchange(next_, write_position);
      memory_.make_constant(table_, from.bits, size.bits, pin);
      next_ = behind;
    }
    memory_.forget(to.bits, size.bits);
  } else if (!is_fill) {
    memory_.copy(to.bits, from.bits, size.bits);
  } else {
    bytes_.assign(size.bits, Byte{kNoExpr, 0, static_cast<std::uint8_t>(from.bits), is_known(from)});
    memory_.store(to.bits, bytes_);
  }
  return true;
}

}  // namespace sooth
