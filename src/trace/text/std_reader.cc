#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/text/std_dictionary.h"
#include "trace/text/std_lines.h"
#include "trace/text/std_names.h"
#include "trace/text/std_syntax.h"
#include "trace/text/std_text.h"

namespace sooth {
namespace {

constexpr std::size_t kBatchSize = 4096;

// What a word of the second field means, packed into the number of a NameTable entry.
struct Word {
  Op op = Op::kRead;
  MemoryOrder order = MemoryOrder::kNotAtomic;
  std::uint8_t flags = 0;
  bool branch = false;
  std::uint8_t misuse = 0;  // a MisuseKind, or 0
};

constexpr std::uint64_t pack(const Word& word) {
  return std::uint64_t{raw(word.op)} | std::uint64_t{raw(word.order)} << 8 | std::uint64_t{word.flags} << 16 |
         std::uint64_t{word.branch} << 24 | std::uint64_t{word.misuse} << 32;
}

constexpr Word unpack(std::uint64_t bits) {
  return {Op(bits & 0xff), MemoryOrder(bits >> 8 & 0xff), static_cast<std::uint8_t>(bits >> 16 & 0xff),
          (bits >> 24 & 1) != 0, static_cast<std::uint8_t>(bits >> 32 & 0xff)};
}

NameTable table_of_words() {
  NameTable words;
  for (const StdOp& row : std_ops()) {
    if (row.op == Op::kMisuse) {
      for (std::uint8_t kind = 1; kind < kMisuseKindCount; ++kind) {
        words.insert(std::string(row.name) + '.' + std::string(misuse_kind_name(MisuseKind(kind))),
                     pack({.op = row.op, .misuse = kind}));
      }
      continue;
    }
    const bool ordered = takes_order(row.op);
    words.insert(row.name, pack({row.op, ordered ? MemoryOrder::kSeqCst : MemoryOrder::kNotAtomic, row.flags}));
    for (int i = 1; ordered && i < kMemoryOrderCount; ++i) {
      const auto order = MemoryOrder(i);
      words.insert(std::string(row.name) + '.' + std::string(memory_order_name(order)),
                   pack({row.op, order, row.flags}));
    }
  }
  words.insert(kStdBranch, pack({.branch = true}));
  return words;
}

constexpr bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(const char* begin, const char* end) {
  while (begin != end && is_space(*begin)) {
    ++begin;
  }
  while (begin != end && is_space(end[-1])) {
    --end;
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view trim(std::string_view text) { return trim(text.data(), text.data() + text.size()); }

const char* find_bar(const char* begin, const char* end) {
  return static_cast<const char*>(std::memchr(begin, '|', static_cast<std::size_t>(end - begin)));
}

// A line taken apart; all trimmed.
struct Fields {
  std::string_view thread;
  std::string_view word;      // r, aload.acquire, ...
  std::string_view argument;  // without the parentheses
  std::string_view label;
  std::string_view extra;  // behind the '=' of the fourth field
  bool has_extra = false;
};

class StdReader final : public TraceReader {
 public:
  StdReader(LineSource source, std::string name, const ReadOptions& options)
      : source_(std::move(source)), name_(std::move(name)), wanted_(options.columns), words_(table_of_words()) {
    events_.reserve(kBatchSize);
    // Reading ahead lets info() tell the columns of all but long traces.
    read_batch();
  }

  Result<Batch> next() override {
    if (!std::exchange(read_ahead_, false)) {
      read_batch();
    }
    if (!status_.ok()) {
      return status_;
    }
    Batch batch;
    batch.first = first_;
    batch.events = events_;
    if ((info_.columns & kValues) != 0) batch.values = values_;
    if ((info_.columns & kStacks) != 0) batch.stacks = stacks_;
    batch.branches = branches_;
    batch.reaches = reaches_;
    return batch;
  }

  const TraceInfo& info() const override { return info_; }
  const Tables& tables() const override { return dictionary_.tables(); }
  std::uint64_t bytes_read() const override { return source_.bytes_read(); }
  std::uint64_t bytes_total() const override { return source_.bytes_total(); }

 private:
  bool wants(ColumnSet column) const { return (wanted_ & column) != 0; }
  EventId next_id() const { return advance(first_, events_.size()); }

  void read_batch();
  void parse_line(std::string_view line);
  void parse_comment(std::string_view line);
  void parse_info(std::string_view items);
  bool parse_columns(std::string_view list);
  bool split(std::string_view line, Fields& fields);
  void parse_event(std::string_view line);
  bool parse_argument(const Fields& fields, Event& event);
  bool parse_extra(const Fields& fields, const Event& event, Value& value);
  bool parse_reach(std::string_view list);
  void add_branch(const Fields& fields, ThreadId thread, SiteId site);
  void add_event(const Event& event, const Value& value);
  StackId stack_at(const Event& event);

  // Both return false, for use in conditions and returns.
  bool fail(const std::string& sentence);
  bool fail_in_dictionary() { return fail(dictionary_.error()); }

  LineSource source_;
  std::string name_;
  ColumnSet wanted_;
  NameTable words_;
  StdDictionary dictionary_;
  TraceInfo info_;
  Status status_;
  std::uint64_t line_ = 0;  // number of the current line, from 1
  std::string_view text_;   // the current line
  bool read_ahead_ = true;

  EventId first_{};
  std::vector<Event> events_;
  std::vector<Value> values_;
  std::vector<StackId> stacks_;
  std::vector<Branch> branches_;
  std::vector<Reach> reaches_;
  std::vector<StackId> current_stack_;  // by thread
};

bool StdReader::fail(const std::string& sentence) {
  if (status_.ok()) {
    const std::string where = "line " + std::to_string(line_);
    status_ = text_.find('\0') != text_.npos
                  ? Status::bad_input(name_ + ": this is not a trace: " + where + " holds a NUL byte")
                  : Status::bad_input(name_ + ": " + where + ": " + sentence);
  }
  return false;
}

void StdReader::read_batch() {
  first_ = next_id();
  events_.clear();
  values_.clear();
  stacks_.clear();
  branches_.clear();
  reaches_.clear();
  while (status_.ok() && events_.size() < kBatchSize && branches_.size() < kBatchSize) {
    if (!source_.next(text_)) {
      if (!source_.status().ok()) {
        status_ = Status(source_.status()).prefixed(name_);
      }
      return;
    }
    ++line_;
    parse_line(text_);
  }
}

void StdReader::parse_line(std::string_view line) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  line = trim(line);
  if (line.empty()) {
    return;
  }
  if (line.front() == '#') {
    parse_comment(line);
  } else {
    parse_event(line);
  }
}

void StdReader::parse_comment(std::string_view line) {
  if (!line.starts_with(kStdDirective)) {
    return;
  }
  std::string_view words = line.substr(kStdDirective.size());
  std::string_view rest = words;
  const std::string_view first = take_word(rest);
  if (first == "name") {
    if (!dictionary_.declare_object(rest)) fail_in_dictionary();
  } else if (first == "thread") {
    if (!dictionary_.declare_thread(rest)) fail_in_dictionary();
  } else {
    parse_info(words);
  }
}

void StdReader::parse_info(std::string_view items) {
  if (next_id() != EventId{} || !branches_.empty()) {
    fail("what holds for the whole trace must stand in front of its first event");
    return;
  }
  constexpr std::string_view kProgram = "program=";
  constexpr std::string_view kFiltered = "filtered=";
  for (items = trim(items); !items.empty();) {
    if (items.starts_with(kProgram)) {
      info_.program = unescape_std(items.substr(kProgram.size()));
      return;
    }
    const std::string_view item = take_word(items);
    if (item == "exact=yes" || item == "exact=no") {
      info_.exact = item == "exact=yes";
    } else if (item.starts_with(kFiltered) && item.size() > kFiltered.size()) {
      info_.filtered = item.substr(kFiltered.size());
    } else if (!item.starts_with("columns=") || !parse_columns(item.substr(8))) {
      fail("unknown item " + quote(item) + " in a `" + std::string(kStdDirective) + "` line");
      return;
    }
  }
}

bool StdReader::parse_columns(std::string_view list) {
  while (true) {
    const std::size_t comma = list.find(',');
    const ColumnSet column = std_column(list.substr(0, comma));
    info_.columns |= column;
    if (column == kNoColumns || comma == list.npos) {
      return column != kNoColumns;
    }
    list.remove_prefix(comma + 1);
  }
}

bool StdReader::split(std::string_view line, Fields& fields) {
  const char* begin = line.data();
  const char* end = begin + line.size();
  const char* first = find_bar(begin, end);
  const char* second = first == nullptr ? nullptr : find_bar(first + 1, end);
  if (second == nullptr) {
    return fail("expected THREAD|OPERATION(ARGUMENT)|LOCATION, found " + quote(line));
  }
  const char* third = find_bar(second + 1, end);
  fields.thread = trim(begin, first);
  fields.label = trim(second + 1, third == nullptr ? end : third);
  if (third != nullptr) {
    const std::string_view extra = trim(third + 1, end);
    if (!extra.starts_with('=') || find_bar(third + 1, end) != nullptr) {
      return fail("expected =VALUE in the fourth and last field, found " + quote(extra));
    }
    fields.extra = trim(extra.substr(1));
    fields.has_extra = true;
  }
  const std::string_view operation = trim(first + 1, second);
  const std::size_t open = operation.find('(');
  if (open == operation.npos) {
    fields.word = operation;
    return true;
  }
  if (operation.back() != ')') {
    return fail("the parenthesis of " + quote(operation) + " is not closed");
  }
  fields.word = trim(operation.substr(0, open));
  fields.argument = trim(operation.substr(open + 1, operation.size() - open - 2));
  return true;
}

void StdReader::parse_event(std::string_view line) {
  Fields fields;
  if (!split(line, fields)) {
    return;
  }
  const NameTable::Entry* entry = words_.find(fields.word);
  if (entry == nullptr) {
    fail("unknown operation " + quote(fields.word));
    return;
  }
  const Word word = unpack(entry->number);
  Event event{.size = word.misuse, .op = word.op, .order = word.order, .flags = word.flags};
  if (!dictionary_.thread(fields.thread, event.thread)) {
    fail_in_dictionary();
    return;
  }
  if (!word.branch && !parse_argument(fields, event)) {
    return;
  }
  if (!dictionary_.site(fields.label, event.site)) {
    fail_in_dictionary();
    return;
  }
  if (word.branch) {
    add_branch(fields, event.thread, event.site);
    return;
  }
  Value value;
  if (!fields.has_extra || parse_extra(fields, event, value)) {
    add_event(event, value);
  }
}

bool StdReader::parse_argument(const Fields& fields, Event& event) {
  const ObjectKind kind = object_kind(event);
  switch (kind) {
    case ObjectKind::kNone: return fields.argument.empty() || fail(quote(fields.word) + " takes no argument");
    case ObjectKind::kThread: {
      ThreadId thread{};
      if (fields.argument.empty() || !dictionary_.thread(fields.argument, thread)) {
        break;
      }
      event.object = raw(thread);
      return true;
    }
    case ObjectKind::kFunction: {
      SiteId function{};
      if (!dictionary_.function(fields.argument, function)) {
        return fail_in_dictionary();
      }
      event.object = raw(function);
      return true;
    }
    default: {
      std::uint32_t bytes = 0;
      if (fields.argument.empty() || !dictionary_.object(kind, fields.argument, event.object, bytes)) {
        break;
      }
      event.size = kind == ObjectKind::kMemory ? bytes : event.size;
      return true;
    }
  }
  return fields.argument.empty() ? fail(quote(fields.word) + " needs an argument") : fail_in_dictionary();
}

bool StdReader::parse_extra(const Fields& fields, const Event& event, Value& value) {
  if (is_access(event.op)) {
    const auto parsed = parse_value(fields.extra, std_value_size(event));
    if (!parsed) {
      return fail("the value " + quote(fields.extra) + " is no number or does not fit the " +
                  std::to_string(std_value_size(event)) + " bytes of the access");
    }
    value = *parsed;
    info_.columns |= kValues;
    return true;
  }
  if (event.op == Op::kCallBegin) {
    return parse_reach(fields.extra);
  }
  return fail(quote(fields.word) + " has no fourth field");
}

bool StdReader::parse_reach(std::string_view list) {
  info_.columns |= kReaches;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view range = trim(list.substr(0, comma));
    const std::size_t colon = range.find(':');
    const auto begin =
        range.starts_with("0x") && colon != range.npos ? parse_hex(range.substr(2, colon - 2)) : std::nullopt;
    const auto length = begin ? parse_decimal(range.substr(colon + 1)) : std::nullopt;
    if (!length) {
      return fail("expected a reach of the form 0xADDRESS:LENGTH, found " + quote(range));
    }
    if (wants(kReaches)) {
      reaches_.push_back({next_id(), *begin, *length});
    }
    if (comma == list.npos) {
      return true;
    }
    list.remove_prefix(comma + 1);
  }
}

void StdReader::add_branch(const Fields& fields, ThreadId thread, SiteId site) {
  if (!fields.argument.empty()) {
    fail(quote(fields.word) + " takes no argument");
    return;
  }
  const auto outcome = fields.has_extra ? parse_number(fields.extra) : std::optional<std::uint64_t>(0);
  if (!outcome) {
    fail("the outcome " + quote(fields.extra) + " is no number of 64 bits");
    return;
  }
  info_.columns |= kBranches;
  if (wants(kBranches)) {
    branches_.push_back({next_id(), thread, site, *outcome});
  }
}

void StdReader::add_event(const Event& event, const Value& value) {
  if (wants(kValues)) {
    values_.push_back(value);
  }
  if (event.op == Op::kEnter || event.op == Op::kExit) {
    info_.columns |= kStacks;
  }
  if (wants(kStacks)) {
    stacks_.push_back(stack_at(event));
  }
  events_.push_back(event);
}

// An enter still belongs to the caller, an exit to the function that it leaves. Leaving what was entered before the
// trace began changes nothing.
StackId StdReader::stack_at(const Event& event) {
  if (raw(event.thread) >= current_stack_.size()) {
    current_stack_.resize(raw(event.thread) + std::size_t{1}, kNoStack);
  }
  Tables& tables = dictionary_.tables();
  StackId& current = current_stack_[raw(event.thread)];
  const StackId here = current;
  if (event.op == Op::kEnter) {
    if (tables.stack_count() > std::numeric_limits<std::uint32_t>::max()) {
      fail("more than 4294967296 call stacks");
    } else {
      current = tables.intern_stack(here, event.site);
    }
  } else if (event.op == Op::kExit && here != kNoStack) {
    current = tables.stack(here).parent;
  }
  return here;
}

}  // namespace

Result<std::unique_ptr<TraceReader>> open_std_trace(const std::string& path, const ReadOptions& options) {
  const std::string name = path == "-" ? "standard input" : path;
  auto source = LineSource::open(path);
  if (!source.ok()) {
    return std::move(source).status().prefixed(name);
  }
  return std::unique_ptr<TraceReader>(std::make_unique<StdReader>(std::move(*source), name, options));
}

Result<std::unique_ptr<TraceReader>> read_std_text(std::string_view text, const std::string& name,
                                                   const ReadOptions& options) {
  return std::unique_ptr<TraceReader>(std::make_unique<StdReader>(LineSource::over(text), name, options));
}

}  // namespace sooth
