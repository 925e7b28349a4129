#include "recipe/judge/library_model.h"

#include <algorithm>
#include <limits>

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>

#include "recipe/witness/exception_types.h"
#include "recipe/witness/value_witness.h"

namespace sooth {
namespace {

using Arguments = std::vector<std::optional<std::uint64_t>>;

constexpr std::uint64_t kMostBytes = 1 << 13;  // that one call reads or writes

// Memory as far as it has been read.
class Reader {
 public:
  Reader(const std::vector<std::uint8_t>& seen, LibraryCall& call) : seen_(seen), call_(call) {}

  // Nothing: it has to be read first.
  std::optional<std::uint8_t> byte(std::uint64_t address) {
    if (next_ < seen_.size()) {
      return seen_[next_++];
    }
    call_.state = LibraryCall::State::kNeedsByte;
    call_.missing = address;
    return std::nullopt;
  }

 private:
  const std::vector<std::uint8_t>& seen_;
  LibraryCall& call_;
  std::size_t next_ = 0;
};

void done(LibraryCall& call, std::optional<std::uint64_t> result) {
  call.state = LibraryCall::State::kDone;
  call.result = result;
}

void compare(Reader& reader, std::uint64_t a, std::uint64_t b, std::uint64_t longest, bool until_zero,
             LibraryCall& call) {
  for (std::uint64_t i = 0; i < longest; ++i) {
    const std::optional<std::uint8_t> one = i < kMostBytes ? reader.byte(a + i) : std::nullopt;
    const std::optional<std::uint8_t> two = one ? reader.byte(b + i) : std::nullopt;
    if (!one || !two) {
      return;
    }
    if (*one != *two || (until_zero && *one == 0)) {
      return done(call, static_cast<std::uint32_t>(int{*one} - int{*two}));
    }
  }
  done(call, 0);
}

void find(Reader& reader, std::uint64_t text, std::uint8_t wanted, std::uint64_t longest, bool until_zero,
          LibraryCall& call) {
  for (std::uint64_t i = 0; i < longest; ++i) {
    const std::optional<std::uint8_t> byte = i < kMostBytes ? reader.byte(text + i) : std::nullopt;
    if (!byte) {
      return;
    }
    if (*byte == wanted) {
      return done(call, text + i);
    }
    if (until_zero && *byte == 0) {
      break;
    }
  }
  done(call, 0);
}

void length(Reader& reader, std::uint64_t text, LibraryCall& call) {
  for (std::uint64_t i = 0; i < kMostBytes; ++i) {
    const std::optional<std::uint8_t> byte = reader.byte(text + i);
    if (!byte) {
      return;
    }
    if (*byte == 0) {
      return done(call, i);
    }
  }
}

// Blanks, a sign, digits; without the prefixes of other bases than 10.
void to_number(Reader& reader, std::uint64_t text, std::optional<std::uint64_t> end, bool is_int, LibraryCall& call) {
  std::uint64_t i = 0, digits_end = 0;
  std::int64_t value = 0;
  bool is_negative = false;
  enum { kBlanks, kFirst, kDigits } state = kBlanks;
  for (;; ++i) {
    const std::optional<std::uint8_t> byte = i < kMostBytes ? reader.byte(text + i) : std::nullopt;
    if (!byte) {
      return;
    }
    const bool is_blank = *byte == ' ' || (*byte >= '\t' && *byte <= '\r');
    if (state == kBlanks && is_blank) {
      continue;
    }
    if (state == kBlanks && (*byte == '-' || *byte == '+')) {
      is_negative = *byte == '-';
      state = kFirst;
      continue;
    }
    if (*byte < '0' || *byte > '9') {
      break;
    }
    state = kDigits;
    if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) {
      return;  // it may overflow: not modelled
    }
    value = 10 * value + (*byte - '0');
    digits_end = i + 1;
  }
  value = is_negative ? -value : value;
  if (end && *end != 0) {
    LibraryCall::Write write{*end, {}};
    for (unsigned b = 0; b < 8; ++b) {
      write.bytes.push_back(static_cast<std::uint8_t>((text + digits_end) >> (8 * b)));
    }
    call.writes.push_back(std::move(write));
  }
  done(call, is_int ? static_cast<std::uint32_t>(value) : static_cast<std::uint64_t>(value));
}

void move(Reader& reader, std::uint64_t to, std::uint64_t from, std::uint64_t size, std::optional<std::uint8_t> fill,
          LibraryCall& call) {
  if (size > kMostBytes) {
    return;
  }
  LibraryCall::Write write{to, {}};
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::optional<std::uint8_t> byte = fill ? fill : reader.byte(from + i);
    if (!byte) {
      return;
    }
    write.bytes.push_back(byte);
  }
  if (size != 0) {
    call.writes.push_back(std::move(write));
  }
  done(call, to);
}

void copy_text(Reader& reader, std::uint64_t to, std::uint64_t from, std::uint64_t longest, bool fills,
               LibraryCall& call) {
  LibraryCall::Write write{to, {}};
  bool ended = false;
  for (std::uint64_t i = 0; i < longest && !(ended && !fills); ++i) {
    const std::optional<std::uint8_t> byte = i >= kMostBytes ? std::nullopt
                                             : ended         ? std::optional<std::uint8_t>(0)
                                                             : reader.byte(from + i);
    if (!byte) {
      return;
    }
    write.bytes.push_back(byte);
    ended = ended || *byte == 0;
  }
  if (!write.bytes.empty()) {
    call.writes.push_back(std::move(write));
  }
  done(call, to);
}

bool is_standard_file(const llvm::CallBase& call, unsigned argument) {
  const auto* load =
      argument < call.arg_size() ? llvm::dyn_cast<llvm::LoadInst>(call.getArgOperand(argument)) : nullptr;
  const auto* file = load != nullptr ? llvm::dyn_cast<llvm::GlobalVariable>(load->getPointerOperand()) : nullptr;
  return file != nullptr && file->isDeclaration() && (file->getName() == "stdout" || file->getName() == "stderr");
}

// Output that nobody in the program reads.
bool prints(const llvm::CallBase& call, const llvm::StringRef name) {
  const int stream = llvm::StringSwitch<int>(name)
                         .Cases("printf", "puts", "putchar", "vprintf", "perror", -1)
                         .Cases("fprintf", "vfprintf", "fflush", 0)
                         .Cases("fputs", "fputc", "putc", 1)
                         .Case("fwrite", 3)
                         .Default(-2);
  return stream == -1 || (stream >= 0 && is_standard_file(call, static_cast<unsigned>(stream)));
}

bool is_stream_operation(const llvm::CallBase& call, llvm::StringRef name) {
  if (name == "_ZNSolsEPFRSoS_E") {
    return llvm::isa<llvm::Function>(call.getArgOperand(1)) &&
           llvm::cast<llvm::Function>(call.getArgOperand(1))->getName().starts_with("_ZSt");
  }
  return name.starts_with("_ZNSolsE") || name.starts_with("_ZStlsI") || name.starts_with("_ZSt16__ostream_insert") ||
         name.starts_with("_ZSt4endl") || name == "_ZNSo3putEc" || name == "_ZNSo5flushEv" ||
         name.starts_with("_ZNSo5writeE") || name.starts_with("_ZNSo9_M_insertI");
}

// Which argument says how many bytes are allocated; -1: it is no such function.
int size_argument(llvm::StringRef name) {
  return llvm::StringSwitch<int>(name)
      .Cases("malloc", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", 0)
      .Cases("_ZnwmSt11align_val_t", "__cxa_allocate_exception", 0)
      .Case("aligned_alloc", 1)
      .Default(-1);
}

bool releases(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("free", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm", true)
      .Cases("_ZdlPvSt11align_val_t", "_ZdlPvmSt11align_val_t", "_ZdlPvRKSt9nothrow_t", "__cxa_free_exception", true)
      .Default(false);
}

// Memory and threads.
bool model_resources(llvm::StringRef name, const Arguments& arguments, std::uint64_t block,
                     const std::function<std::optional<std::uint64_t>(std::uint64_t)>& block_size, LibraryCall& call) {
  if (const int size = size_argument(name); size >= 0 && arguments.size() > static_cast<std::size_t>(size)) {
    const std::optional<std::uint64_t> bytes = arguments[static_cast<std::size_t>(size)];
    if (bytes && *bytes < kLongestFreshBlock) {
      done(call, block);
      call.allocates = true;
    }
    return true;
  }
  if (name == "calloc" && arguments.size() == 2) {
    if (arguments[0] && arguments[1] && *arguments[0] <= kMostBytes && *arguments[1] <= kMostBytes &&
        *arguments[0] * *arguments[1] <= kMostBytes) {
      if (*arguments[0] * *arguments[1] != 0) {
        call.writes.push_back({block, std::vector<std::optional<std::uint8_t>>(*arguments[0] * *arguments[1], 0)});
      }
      done(call, block);
      call.allocates = true;
    }
    return true;
  }
  if (releases(name) && !arguments.empty()) {
    if (arguments[0] && (*arguments[0] == 0 || is_fresh_block(*arguments[0]))) {
      done(call, std::nullopt);
    } else if (const auto size = arguments[0] && block_size ? block_size(*arguments[0]) : std::nullopt;
               size && *size <= kMostBytes) {
      // From now on nobody knows what is in there.
      call.writes.push_back({*arguments[0], std::vector<std::optional<std::uint8_t>>(*size)});
      done(call, std::nullopt);
    }
    return true;
  }
  switch (ExceptionTypes::member(name)) {
    case ExceptionTypes::Member::kNone: break;
    case ExceptionTypes::Member::kConstructor:
      if (!arguments.empty() && arguments[0]) {
        call.writes.push_back(
            {*arguments[0], std::vector<std::optional<std::uint8_t>>(kStandardExceptionBytes, std::nullopt)});
        done(call, std::nullopt);
      }
      return true;
    case ExceptionTypes::Member::kDestructor: done(call, std::nullopt); return true;
  }
  if (name == "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE" &&
      arguments.size() == 3) {
    // It may as well succeed, and the thread need not have done anything yet.
    if (arguments[0] && arguments[1]) {
      call.writes.push_back({*arguments[0], std::vector<std::optional<std::uint8_t>>(8)});
      call.writes.push_back({*arguments[1], std::vector<std::optional<std::uint8_t>>(8, 0)});
      done(call, std::nullopt);
    }
    return true;
  }
  return false;
}

}  // namespace

LibraryCall model_library_call(const llvm::CallBase& at, const std::string& name, const Arguments& arguments,
                               const std::vector<std::uint8_t>& seen,
                               const std::function<bool(std::uint64_t)>& is_stream, std::uint64_t block,
                               const std::function<std::optional<std::uint64_t>(std::uint64_t)>& block_size) {
  LibraryCall call;
  if (is_stream_operation(at, name)) {
    if (!arguments.empty() && arguments[0] && is_stream(*arguments[0])) {
      done(call, arguments[0]);
    }
    return call;
  }
  if (prints(at, name)) {
    done(call, std::nullopt);
    return call;
  }
  if (name == "sched_yield" || name == "usleep" || name == "sleep" || name == "nanosleep") {
    done(call, 0);
    return call;
  }
  if (model_resources(name, arguments, block, block_size, call)) {
    return call;
  }
  if (std::any_of(arguments.begin(), arguments.end(), [](const auto& argument) { return !argument; })) {
    return call;
  }
  Reader reader(seen, call);
  const std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  const std::size_t count = arguments.size();
  const auto argument = [&](std::size_t i) { return *arguments[i]; };
  if (name == "strlen" && count == 1) {
    length(reader, argument(0), call);
  } else if (name == "strcmp" && count == 2) {
    compare(reader, argument(0), argument(1), all, true, call);
  } else if (name == "strncmp" && count == 3) {
    compare(reader, argument(0), argument(1), argument(2), true, call);
  } else if ((name == "memcmp" || name == "bcmp") && count == 3) {
    compare(reader, argument(0), argument(1), argument(2), false, call);
  } else if (name == "strchr" && count == 2) {
    find(reader, argument(0), static_cast<std::uint8_t>(argument(1)), all, true, call);
  } else if (name == "memchr" && count == 3) {
    find(reader, argument(0), static_cast<std::uint8_t>(argument(1)), argument(2), false, call);
  } else if ((name == "memcpy" || name == "memmove") && count == 3) {
    move(reader, argument(0), argument(1), argument(2), std::nullopt, call);
  } else if ((name == "strncpy" && count == 3) || (name == "strcpy" && count == 2)) {
    copy_text(reader, argument(0), argument(1), count == 3 ? argument(2) : all, count == 3, call);
  } else if (name == "memset" && count == 3) {
    move(reader, argument(0), 0, argument(2), static_cast<std::uint8_t>(argument(1)), call);
  } else if ((name == "atoi" || name == "atol") && count == 1) {
    to_number(reader, argument(0), std::nullopt, name == "atoi", call);
  } else if (name == "strtol" && count == 3 && argument(2) == 10) {
    to_number(reader, argument(0), argument(1), false, call);
  }
  return call;
}

}  // namespace sooth
