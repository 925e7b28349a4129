#include "oracle/trace_text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

namespace sooth::oracle {
namespace {

struct Row {
  std::string_view word;
  Op op;
  std::uint8_t flags;
};

// When printing, the first row with the operation and the flags counts.
constexpr Row kRows[] = {
    {"r", Op::kRead, 0},
    {"w", Op::kWrite, 0},
    {"aload", Op::kAtomicLoad, 0},
    {"astore", Op::kAtomicStore, 0},
    {"armw", Op::kAtomicRmw, 0},
    {"fence", Op::kFence, 0},
    {"acq", Op::kAcquire, 0},
    {"rel", Op::kRelease, 0},
    {"racq", Op::kAcquire, kShared},
    {"rrel", Op::kRelease, kShared},
    {"notify", Op::kNotify, 0},
    {"wait", Op::kWait, 0},
    {"arrive", Op::kBarrierArrive, 0},
    {"leave", Op::kBarrierLeave, 0},
    {"post", Op::kSemPost, 0},
    {"sem_wait", Op::kSemWait, 0},
    {"fork", Op::kFork, 0},
    {"join", Op::kJoin, 0},
    {"begin", Op::kBegin, 0},
    {"end", Op::kEnd, 0},
    {"alloc", Op::kAlloc, 0},
    {"free", Op::kFree, 0},
    {"hb", Op::kHappensBefore, 0},
    {"ha", Op::kHappensAfter, 0},
    {"enter", Op::kEnter, 0},
    {"exit", Op::kExit, 0},
    {"callbegin", Op::kCallBegin, 0},
    {"callend", Op::kCallEnd, 0},
    {"misuse", Op::kMisuse, 0},
    {"tryacq", Op::kAcquire, kTry},
    {"rtryacq", Op::kAcquire, kTry | kShared},
    {"timedacq", Op::kAcquire, kTimed},
    {"rtimedacq", Op::kAcquire, kTimed | kShared},
    {"tryfail", Op::kAcquireFailed, kTry},
    {"rtryfail", Op::kAcquireFailed, kTry | kShared},
    {"timeout", Op::kAcquireFailed, kTimed},
    {"rtimeout", Op::kAcquireFailed, kTimed | kShared},
    {"notifyone", Op::kCondNotify, 0},
    {"notifyall", Op::kCondNotify, kEverybody},
    {"condwait", Op::kCondWait, 0},
    {"condtimeout", Op::kCondWait, kTimed},
};

[[noreturn]] void reject(std::string_view token) {
  std::fprintf(stderr, "oracle: cannot read the event `%.*s`\n", static_cast<int>(token.size()), token.data());
  std::abort();
}

std::uint64_t number(std::string_view digits, int base, std::string_view token) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    reject(token);
  }
  return value;
}

class Parser {
 public:
  void add(std::string_view token) {
    const std::size_t bar = token.find('|');
    const std::size_t open = token.find('(');
    const std::size_t close = token.find(")|");
    if (bar == token.npos || open == token.npos || close == token.npos || bar > open || open > close) {
      reject(token);
    }
    Event e;
    e.thread = ThreadId{static_cast<std::uint32_t>(id(threads_, token.substr(0, bar)))};
    set_operation(e, token.substr(bar + 1, open - bar - 1), token);
    const std::string_view argument = token.substr(open + 1, close - open - 1);
    switch (object_kind(e)) {
      case ObjectKind::kNone: break;
      case ObjectKind::kMemory: set_bytes(e, argument, token); break;
      case ObjectKind::kThread: e.object = id(threads_, argument); break;
      case ObjectKind::kLock:
      case ObjectKind::kSignal:
      case ObjectKind::kBarrier:
      case ObjectKind::kSemaphore:
      case ObjectKind::kMessage:
      case ObjectKind::kFunction:
      case ObjectKind::kCall:
        e.object = argument.starts_with("0x") ? number(argument.substr(2), 16, token) : id(objects_, argument);
        break;
    }
    std::string_view label = token.substr(close + 2);
    if (const std::size_t column = label.find("|="); column != label.npos && e.op == Op::kCallBegin) {
      add_reaches(label.substr(column + 2), token);
      label = label.substr(0, column);
    }
    const std::size_t known = sites_.size();
    e.site = SiteId{static_cast<std::uint32_t>(id(sites_, label))};
    if (sites_.size() > known) {
      trace_.labels.emplace_back(label);
    }
    trace_.events.push_back(e);
  }
  TextTrace take() { return std::move(trace_); }

 private:
  using Names = std::map<std::string, std::uint64_t, std::less<>>;

  static std::uint64_t id(Names& names, std::string_view name) {
    return names.try_emplace(std::string(name), names.size()).first->second;
  }

  static void set_operation(Event& e, std::string_view text, std::string_view token) {
    const std::size_t dot = text.find('.');
    const Row* found = nullptr;
    for (const Row& row : kRows) {
      found = row.word == text.substr(0, dot) ? &row : found;
    }
    if (found == nullptr) {
      reject(token);
    }
    e.op = found->op;
    e.flags = found->flags;
    if (is_atomic(e.op) || e.op == Op::kFence) {
      e.order = MemoryOrder::kSeqCst;  // as in C++ when the order is left out
    }
    if (e.op == Op::kMisuse) {
      e.size = misuse_kind(dot == text.npos ? "" : text.substr(dot + 1), token);
    } else if (dot != text.npos) {
      int order = 1;
      while (order < kMemoryOrderCount && memory_order_name(MemoryOrder(order)) != text.substr(dot + 1)) {
        ++order;
      }
      if (order == kMemoryOrderCount || e.order == MemoryOrder::kNotAtomic) {
        reject(token);
      }
      e.order = MemoryOrder(order);
    }
  }

  static std::uint32_t misuse_kind(std::string_view name, std::string_view token) {
    std::uint8_t kind = 1;
    while (kind < kMisuseKindCount && misuse_kind_name(MisuseKind(kind)) != name) {
      ++kind;
    }
    if (kind == kMisuseKindCount) {
      reject(token);
    }
    return kind;
  }

  void add_reaches(std::string_view ranges, std::string_view token) {
    while (!ranges.empty()) {
      const std::size_t comma = std::min(ranges.find(','), ranges.size());
      const std::string_view range = ranges.substr(0, comma);
      const std::size_t colon = range.find(':');
      if (!range.starts_with("0x") || colon == range.npos) {
        reject(token);
      }
      trace_.reaches.push_back({EventId{trace_.events.size()}, number(range.substr(2, colon - 2), 16, token),
                                number(range.substr(colon + 1), 10, token)});
      ranges.remove_prefix(std::min(comma + 1, ranges.size()));
    }
  }

  void set_bytes(Event& e, std::string_view argument, std::string_view token) {
    const std::size_t colon = argument.find(':');
    if (argument.starts_with("0x") && colon != argument.npos) {
      e.object = number(argument.substr(2, colon - 2), 16, token);
      e.size = static_cast<std::uint32_t>(number(argument.substr(colon + 1), 10, token));
    } else {
      e.object = 0x7000'0000'0000 + 64 * id(variables_, argument);
      e.size = 1;
    }
  }

  TextTrace trace_;
  Names threads_, sites_, objects_, variables_;
};

}  // namespace

TextTrace parse_trace(std::string_view text) {
  Parser parser;
  std::istringstream in{std::string(text)};
  for (std::string token; in >> token;) {
    parser.add(token);
  }
  return parser.take();
}

std::string print_trace(std::span<const Event> trace, std::span<const Reach> reaches) {
  std::ostringstream out;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    out << 'T' << raw(e.thread) << '|';
    for (const Row& row : kRows) {
      if (row.op == e.op && row.flags == e.flags) {
        out << row.word;
        break;
      }
    }
    if (e.order != MemoryOrder::kNotAtomic) {
      out << '.' << memory_order_name(e.order);
    } else if (e.op == Op::kMisuse) {
      out << '.' << misuse_kind_name(MisuseKind(e.size));
    }
    out << '(';
    switch (object_kind(e)) {
      case ObjectKind::kNone: break;
      case ObjectKind::kMemory: out << "0x" << std::hex << e.object << std::dec << ':' << e.size; break;
      case ObjectKind::kThread: out << 'T' << e.object; break;
      case ObjectKind::kLock:
      case ObjectKind::kSignal:
      case ObjectKind::kBarrier:
      case ObjectKind::kSemaphore:
      case ObjectKind::kMessage:
      case ObjectKind::kFunction:
      case ObjectKind::kCall: out << 'o' << e.object; break;
    }
    out << ")|" << raw(e.site);
    const char* separator = "|=";
    for (const Reach& reach : reaches) {
      if (raw(reach.call) == i) {
        out << std::exchange(separator, ",") << "0x" << std::hex << reach.begin << std::dec << ':' << reach.length;
      }
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace sooth::oracle
