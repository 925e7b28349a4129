// What DetourWalk knows of functions without IR by their names: they are executed on values that no other thread can
// change, or do nothing that the program could notice. The judge has models of its own (recipe/judge/library_model.h).
#include "recipe/detour/detour_walk.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "recipe/witness/value_witness.h"

namespace sooth {

namespace {

constexpr std::uint64_t kLongestText = 4096;  // bytes that are copied, filled or looked through

constexpr llvm::StringLiteral kStartThread =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";

// Members of std::ostream and functions that take one: they return it.
constexpr llvm::StringLiteral kStreamFamilies[] = {"_ZNSolsE",     "_ZStlsI",         "_ZSt16__ostream_insert",
                                                   "_ZSt4endl",    "_ZNSo3putEc",     "_ZNSo5flushEv",
                                                   "_ZNSo5writeE", "_ZNSo9_M_insertI"};
constexpr llvm::StringLiteral kPrints[] = {"printf", "puts", "putchar", "vprintf", "perror"};
// To a stream that is an argument, and which.
constexpr std::pair<llvm::StringLiteral, unsigned> kPrintsTo[] = {
    {"fprintf", 0}, {"vfprintf", 0}, {"fflush", 0}, {"fputs", 1}, {"fputc", 1}, {"putc", 1}, {"fwrite", 3}};
// Nothing happens, and the result is 0.
constexpr llvm::StringLiteral kNothing[] = {"sched_yield", "usleep", "sleep", "nanosleep"};
// They allocate as many bytes as their argument with this number says.
constexpr std::pair<llvm::StringLiteral, unsigned> kAllocates[] = {{"malloc", 0},
                                                                   {"_Znwm", 0},
                                                                   {"_Znam", 0},
                                                                   {"_ZnwmRKSt9nothrow_t", 0},
                                                                   {"_ZnamRKSt9nothrow_t", 0},
                                                                   {"_ZnwmSt11align_val_t", 0},
                                                                   {"aligned_alloc", 1},
                                                                   {"__cxa_allocate_exception", 0}};
constexpr llvm::StringLiteral kReleases[] = {"free",
                                             "_ZdlPv",
                                             "_ZdlPvm",
                                             "_ZdaPv",
                                             "_ZdaPvm",
                                             "_ZdlPvSt11align_val_t",
                                             "_ZdlPvmSt11align_val_t",
                                             "_ZdlPvRKSt9nothrow_t",
                                             "__cxa_free_exception"};

template <typename Table>
const auto* row_of(const Table& table, llvm::StringRef name) {
  const auto* at = std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.first == name; });
  return at == std::end(table) ? nullptr : at;
}

// What `stdout` and `stderr` hold: a stream that only prints.
bool is_standard_file(const llvm::Value* stream) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(stream);
  return load != nullptr && is_standard_file_variable(load->getPointerOperand());
}

}  // namespace

bool is_standard_file_variable(const llvm::Value* pointer) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(pointer->stripPointerCasts());
  return variable != nullptr && variable->isDeclaration() &&
         (variable->getName() == "stdout" || variable->getName() == "stderr");
}

std::optional<std::uint64_t> DetourWalk::number(const Cell& cell) {
  if (!is_known(cell)) {
    stop("an argument that is not known");
    return std::nullopt;
  }
  const Cell own = guessed(cell);
  arithmetic_.pin(own, PathCondition::Why::kNotModelled, *this);
  return stopped_.empty() ? std::optional(own.bits) : std::nullopt;
}

bool DetourWalk::quiet(std::uint64_t address, std::span<Byte> bytes, bool decides) {
  SharedExecution& x = explorer_->x_;
  explorer_->path_.memory().load(address, bytes);
  assume(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t at = address + i;
    if (const Byte* written = written_.find(at)) {
      bytes[i] = *written;
      continue;
    }
    const bool is_overlaid = view_ && view_->is_overlaid(at, 1);
    if (is_private(at, 1) ||
        (bytes[i].is_known && !is_overlaid && !x.sharing.others_write(explorer_->thread_, at, 1))) {
      continue;
    }
    const std::optional<std::uint8_t> value = is_overlaid ? std::nullopt : explorer_->settled_byte(at, before_);
    if (value && !x.is_reached(at, 1)) {
      bytes[i] = {kNoExpr, 0, *value, true};
    } else if (!has_view() || x.is_reached(at, 1)) {
      return stop("memory that others may write is looked through");
    } else if (!look(at, bytes[i], decides)) {
      return false;
    }
  }
  return true;
}

// A byte that others may write, as the view has it.
bool DetourWalk::look(std::uint64_t address, Byte& byte, bool decides) {
  const std::optional<std::uint64_t> value = guess(address, 1);
  if (!value && decides) {
    return stop("memory of which it is not known what it contains");
  }
  const ExprId variable = explorer_->x_.new_variable(8, value.value_or(0), address);
  byte = {variable, 0, static_cast<std::uint8_t>(value.value_or(0)), true};
  return add_step(*frames_.back().code->steps[frames_.back().pc].instruction, Op::kRead, MemoryOrder::kNotAtomic,
                  address, 1, variable, kNoExpr, true);
}

std::optional<std::string> DetourWalk::quiet_text(std::uint64_t address, std::uint64_t longest, bool until_zero) {
  std::string text;
  for (std::uint64_t i = 0; i < longest; ++i) {
    Byte byte;
    if (i >= kLongestText || address < 4096) {
      stop("a text that is too long");
      return std::nullopt;
    }
    if (!quiet(address + i, std::span(&byte, 1), true)) {
      return std::nullopt;
    }
    if (!byte.is_known) {
      stop("a text that is not known");
      return std::nullopt;
    }
    if (byte.expr != kNoExpr) {
      const ExprId part = explorer_->x_.program.expressions.extract(byte.expr, 8u * byte.part, 8);
      arithmetic_.pin(Cell{byte.value, part}, PathCondition::Why::kNotModelled, *this);
      if (!stopped_.empty()) {
        return std::nullopt;
      }
    }
    text.push_back(static_cast<char>(byte.value));
    if (until_zero && byte.value == 0) {
      return text;
    }
  }
  return text;
}

bool DetourWalk::write_quietly(std::uint64_t address, std::span<const Byte> bytes) {
  SharedExecution& x = explorer_->x_;
  const bool is_own = is_private(address, bytes.size());
  if (!is_own && x.is_reached(address, bytes.size())) {
    return stop("memory that others use is filled");
  }
  for (std::size_t i = 0; !is_own && i < bytes.size(); ++i) {
    if (!x.sharing.others_touch(explorer_->thread_, address + i, 1)) {
      continue;
    }
    if (!has_view() || !bytes[i].is_known) {
      return stop("memory that others use is filled");
    }
    ExprTable& table = x.program.expressions;
    const ExprId written = bytes[i].expr == kNoExpr ? table.constant(8, bytes[i].value)
                                                    : table.extract(bytes[i].expr, 8u * bytes[i].part, 8);
    if (!add_step(*frames_.back().code->steps[frames_.back().pc].instruction, Op::kWrite, MemoryOrder::kNotAtomic,
                  address + i, 1, kNoExpr, written, true)) {
      return false;
    }
  }
  write(address, bytes);
  return true;
}

DetourWalk::Library DetourWalk::lock(const llvm::CallBase& call, bool takes, Cell mutex, Cell* result) {
  if (!place(mutex)) {
    return Library::kStopped;
  }
  if (!call.getType()->isVoidTy()) {
    *result = {0, kNoExpr};
  }
  return add_step(call, takes ? Op::kAcquire : Op::kRelease, MemoryOrder::kNotAtomic, mutex.bits, 0, kNoExpr, kNoExpr)
             ? Library::kDone
             : Library::kStopped;
}

// A start that succeeds. Who is started has done nothing yet, and what stands for it is not known.
DetourWalk::Library DetourWalk::start_thread(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands,
                                             Cell* result) {
  constexpr std::uint64_t kHandleBytes = 8;
  const bool is_member = name == kStartThread && call.arg_size() == 3;
  if (!is_member && !(name == "pthread_create" && call.arg_size() == 4 && call.getType()->isIntegerTy())) {
    return Library::kNotKnown;
  }
  Cell handle = *operands[0], state = *operands[1];
  if (!place(handle) || (is_member && !place(state))) {
    return Library::kStopped;
  }
  if (!is_private(handle.bits, kHandleBytes) || (is_member && !is_private(state.bits, kHandleBytes))) {
    stop("a thread that is started where others see its handle");
    return Library::kStopped;
  }
  const std::vector<Byte> unknown(kHandleBytes);
  write(handle.bits, unknown);
  if (is_member) {  // it takes what the thread is to do out of the pointer
    const std::vector<Byte> nothing(kHandleBytes, Byte{kNoExpr, 0, 0, true});
    write(state.bits, nothing);
  } else {
    *result = {0, kNoExpr};
  }
  return Library::kDone;
}

DetourWalk::Library DetourWalk::print(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands,
                                      Cell* result) {
  const bool is_stream =
      llvm::any_of(kStreamFamilies, [&](llvm::StringRef family) { return name.starts_with(family); });
  if (is_stream) {
    // What is called with the stream is anything, unless it is one of the library.
    const bool calls_something = name == "_ZNSolsEPFRSoS_E" && !llvm::isa<llvm::Function>(call.getArgOperand(1));
    if (call.arg_size() == 0 || !is_known(*operands[0]) || is_symbolic(*operands[0]) || calls_something ||
        !explorer_->is_standard_stream(operands[0]->bits)) {
      return Library::kNotKnown;
    }
    if (call.getType()->isPointerTy()) {
      *result = *operands[0];
    }
    return Library::kDone;
  }
  const auto* to = row_of(kPrintsTo, name);
  if (!llvm::is_contained(kPrints, name) &&
      (to == nullptr || to->second >= call.arg_size() || !is_standard_file(call.getArgOperand(to->second)))) {
    return Library::kNotKnown;
  }
  if (!call.getType()->isVoidTy()) {
    *result = {0, kUnknownExpr};
  }
  return Library::kDone;
}

DetourWalk::Library DetourWalk::allocate(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands,
                                         Cell* result) {
  const auto* row = row_of(kAllocates, name);
  const bool is_zeroed = name == "calloc" && call.arg_size() == 2;
  if (!is_zeroed && (row == nullptr || row->second >= call.arg_size())) {
    return Library::kNotKnown;
  }
  const std::optional<std::uint64_t> first = number(*operands[is_zeroed ? 0 : row->second]);
  const std::optional<std::uint64_t> second =
      is_zeroed && first ? number(*operands[1]) : std::optional<std::uint64_t>(1);
  if (!first || !second) {
    return Library::kStopped;
  }
  if (*first >= kLongestFreshBlock || *second >= kLongestFreshBlock || *first * *second >= kLongestFreshBlock ||
      (is_zeroed && *first * *second > kLongestText)) {
    stop("a large block of memory");
    return Library::kStopped;
  }
  *result = {fresh_block(explorer_->thread_, fresh_++), kNoExpr};
  if (is_zeroed) {
    const std::vector<Byte> zeros(*first * *second, Byte{kNoExpr, 0, 0, true});
    write(result->bits, zeros);
  }
  return Library::kDone;
}

DetourWalk::Library DetourWalk::release(const llvm::CallBase& call, const Operands& operands) {
  const std::optional<std::uint64_t> block = call.arg_size() == 0 ? std::nullopt : number(*operands[0]);
  if (block && *block != 0 && !is_fresh_block(*block) && !has_view()) {
    stop("memory is freed that was there before");
  }
  return stopped_.empty() ? Library::kDone : Library::kStopped;
}

// Copies or, with `byte`, fills.
DetourWalk::Library DetourWalk::move(Cell to, Cell from, const Cell& size, const Cell* byte) {
  const std::optional<std::uint64_t> bytes = number(size);
  if (!bytes) {
    return Library::kStopped;
  }
  if (*bytes == 0) {
    return Library::kDone;
  }
  if (*bytes > kLongestText) {
    stop("a large piece of memory is moved");
    return Library::kStopped;
  }
  if (!place(to) || (byte == nullptr && !place(from))) {
    return Library::kStopped;
  }
  std::vector<Byte> moved(*bytes);
  if (byte != nullptr) {
    const std::optional<std::uint64_t> value = number(*byte);
    if (!value) {
      return Library::kStopped;
    }
    std::fill(moved.begin(), moved.end(), Byte{kNoExpr, 0, static_cast<std::uint8_t>(*value), true});
  } else if (!quiet(from.bits, moved, false)) {
    return Library::kStopped;
  }
  return write_quietly(to.bits, moved) ? Library::kDone : Library::kStopped;
}

// With `size`, as strncpy does it.
DetourWalk::Library DetourWalk::copy_text(Cell to, const Cell& from, const Cell* size) {
  const std::optional<std::uint64_t> source = number(from);
  const std::optional<std::uint64_t> longest = !source           ? std::nullopt
                                               : size != nullptr ? number(*size)
                                                                 : std::optional(kLongestText);
  if (longest && *longest > kLongestText) {
    stop("a large piece of memory is moved");
  }
  if (!longest || !stopped_.empty() || !place(to)) {
    return Library::kStopped;
  }
  const std::optional<std::string> text = quiet_text(*source, *longest, true);
  if (!text) {
    return Library::kStopped;
  }
  std::vector<Byte> bytes(size != nullptr ? *longest : text->size(), Byte{kNoExpr, 0, 0, true});
  for (std::size_t i = 0; i < text->size(); ++i) {
    bytes[i].value = static_cast<std::uint8_t>((*text)[i]);
  }
  return bytes.empty() || write_quietly(to.bits, bytes) ? Library::kDone : Library::kStopped;
}

// Functions of texts are executed on a copy of them.
DetourWalk::Library DetourWalk::text(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands,
                                     Cell* result) {
  const unsigned count = static_cast<unsigned>(call.arg_size());
  const auto is = [&](llvm::StringRef wanted, unsigned arguments) { return name == wanted && count == arguments; };
  if (is("memcpy", 3) || is("memmove", 3) || is("memset", 3)) {
    *result = *operands[0];
    return move(*operands[0], *operands[1], *operands[2], name == "memset" ? operands[1] : nullptr);
  }
  if (is("strncpy", 3) || is("strcpy", 2)) {
    *result = *operands[0];
    return copy_text(*operands[0], *operands[1], count == 3 ? operands[2] : nullptr);
  }
  const bool two_texts = is("strcmp", 2) || is("strncmp", 3) || is("memcmp", 3) || is("bcmp", 3);
  const bool search = is("strchr", 2) || is("memchr", 3);
  const bool to_number = is("strtol", 3) || is("atoi", 1) || is("atol", 1);
  if (!two_texts && !search && !to_number && !is("strlen", 1)) {
    return Library::kNotKnown;
  }
  const bool has_length = count == 3 && !to_number;
  const std::optional<std::uint64_t> longest = has_length ? number(*operands[2]) : std::optional(kLongestText);
  const std::optional<std::uint64_t> first = number(*operands[0]);
  const std::optional<std::uint64_t> second = count > 1 ? number(*operands[1]) : std::optional<std::uint64_t>(0);
  if (!longest || !first || !second) {
    return Library::kStopped;
  }
  const bool until_zero = !name.starts_with("mem") && name != "bcmp";
  const std::optional<std::string> one = quiet_text(*first, *longest, until_zero);
  const std::optional<std::string> two =
      two_texts && one ? quiet_text(*second, *longest, until_zero) : std::optional<std::string>("");
  if (!one || !two) {
    return Library::kStopped;
  }
  if (two_texts) {
    // As this machine's libc has it: the difference of the first bytes that differ.
    const std::size_t both = std::min(one->size(), two->size());
    const auto [a, b] = std::mismatch(one->begin(), one->begin() + static_cast<std::ptrdiff_t>(both), two->begin());
    const int difference = a == one->begin() + static_cast<std::ptrdiff_t>(both)
                               ? 0
                               : static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
    *result = {static_cast<std::uint32_t>(difference), kNoExpr};
  } else if (search) {
    const std::size_t at = one->find(static_cast<char>(*second));
    *result = {at == std::string::npos ? 0 : *first + at, kNoExpr};
  } else if (name == "strlen") {
    *result = {one->size() - 1, kNoExpr};
  } else {
    const std::optional<std::uint64_t> base = count == 3 ? number(*operands[2]) : std::optional<std::uint64_t>(10);
    if (!base) {
      return Library::kStopped;
    }
    char* end = nullptr;
    errno = 0;
    const long value = std::strtol(one->c_str(), &end, static_cast<int>(*base));
    if (errno != 0) {
      stop("a number that is too large");
      return Library::kStopped;
    }
    *result = {name == "atoi" ? static_cast<std::uint32_t>(value) : static_cast<std::uint64_t>(value), kNoExpr};
    if (count == 3 && *second != 0) {
      std::vector<Byte> place(8);
      take_apart(*first + static_cast<std::uint64_t>(end - one->c_str()), kNoExpr, place);
      return write_quietly(*second, place) ? Library::kDone : Library::kStopped;
    }
  }
  return Library::kDone;
}

DetourWalk::Library DetourWalk::library(const llvm::CallBase& call, llvm::StringRef name, const Operands& operands,
                                        Cell* result) {
  if ((name == "pthread_mutex_lock" || name == "pthread_mutex_unlock") && call.arg_size() == 1) {
    return lock(call, name == "pthread_mutex_lock", *operands[0], result);
  }
  if (llvm::is_contained(kReleases, name)) {
    return release(call, operands);
  }
  if (llvm::is_contained(kNothing, name)) {
    *result = {0, call.getType()->isIntegerTy() ? kNoExpr : kUnknownExpr};
    return Library::kDone;
  }
  if (Arithmetic::is_exact_function(call) && arithmetic_.exact_function(call, operands, result, *this)) {
    return stopped_.empty() ? Library::kDone : Library::kStopped;
  }
  Library known = exceptions(call, name, operands, result);
  known = known == Library::kNotKnown ? start_thread(call, name, operands, result) : known;
  known = known == Library::kNotKnown ? print(call, name, operands, result) : known;
  known = known == Library::kNotKnown ? allocate(call, name, operands, result) : known;
  return known == Library::kNotKnown ? text(call, name, operands, result) : known;
}

}  // namespace sooth
