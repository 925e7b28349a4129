#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "trace/text/std_speller.h"
#include "trace/text/std_syntax.h"
#include "trace/text/std_text.h"

namespace sooth {
namespace {

constexpr std::size_t kFlushSize = std::size_t{1} << 20;

// The directive with what holds for the whole trace; nothing when all of it goes without saying. Stacks are never
// promised: the text has them only as far as it has enter and exit events, which its reader sees by itself.
std::string info_line(const TraceInfo& info) {
  std::string line;
  if (!info.exact) {
    line += " exact=no";
  }
  if (!info.filtered.empty()) {
    line += " filtered=" + info.filtered;
  }
  char separator = '=';
  for (const StdColumn& row : std_columns()) {
    if ((info.columns & row.column & ~kStacks) != 0) {
      line += separator == '=' ? " columns" : "";
      line += separator;
      line += row.name;
      separator = ',';
    }
  }
  if (!info.program.empty()) {
    line += " program=" + escape_std(info.program, StdPlace::kLabel);
  }
  return line.empty() ? "" : std::string(kStdDirective) + line + '\n';
}

// Renames without replacing anything: 0, or -1 and errno.
int put_in_place(const std::string& from, const std::string& to) {
  const int status = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (status == 0 || (errno != EINVAL && errno != ENOSYS)) {
    return status;
  }
  // A file system without that: looking first is the next best.
  if (struct stat there{}; ::lstat(to.c_str(), &there) == 0) {
    errno = EEXIST;
    return -1;
  }
  return std::rename(from.c_str(), to.c_str());
}

Status cannot_create(const std::string& path, int error) {
  return Status::bad_input(
      path + ": " + (error == EEXIST ? "already exists; remove it or choose another name" : std::strerror(error)));
}

class StdWriter final : public TraceWriter {
 public:
  // A text that was not finished looks like a shorter trace. So it is written under the name `unfinished`, which not
  // even a kill makes a trace, and gets its own in the end. Standard output has no `unfinished`.
  StdWriter(int descriptor, std::string path, std::string unfinished, const TraceInfo& info)
      : descriptor_(descriptor), path_(std::move(path)), unfinished_(std::move(unfinished)), out_(info_line(info)) {}

  ~StdWriter() override {
    if (!finished_ && is_file()) {
      ::close(descriptor_);
      ::unlink(unfinished_.c_str());
    }
  }

  Tables& tables() override { return tables_; }
  Status append(const Batch& batch) override;
  Status finish() override;

 private:
  bool is_file() const { return !unfinished_.empty(); }
  Status append_branches(const Batch& batch, std::size_t& next, EventId before);
  Status append_event(const Event& event, const Value& value);
  Status append_argument(const Event& event);
  Status append_reach(const Batch& batch, std::size_t& next, const Event& event);
  Status append_thread_and_word(ThreadId thread, std::string_view word);
  Status append_site(SiteId site);
  void end_line();
  Status flush();
  Status refuse(const std::string& sentence) const;

  int descriptor_;
  std::string path_;
  std::string unfinished_;
  Tables tables_;
  StdSpeller speller_{tables_};
  EventId event_{};   // the next one to be written
  std::string line_;  // the one being made
  std::string out_;   // what is not written yet
  bool finished_ = false;
};

Status StdWriter::refuse(const std::string& sentence) const {
  return Status::bad_input(path_ + ": event " + std::to_string(raw(event_)) +
                           " cannot be written as text: " + sentence);
}

Status StdWriter::append(const Batch& batch) {
  const std::size_t count = batch.events.size();
  if (finished_ || batch.first != event_ || (!batch.values.empty() && batch.values.size() != count)) {
    return Status::internal(path_ + ": a batch that does not continue the trace");
  }
  if (!speller_.note_renames()) {
    return refuse("a variable was named that overlaps another one");
  }
  std::size_t branch = 0;
  std::size_t reach = 0;
  for (std::size_t i = 0; i < count; ++i) {
    SOOTH_RETURN_IF_ERROR(append_branches(batch, branch, event_));
    SOOTH_RETURN_IF_ERROR(append_event(batch.events[i], batch.values.empty() ? Value{} : batch.values[i]));
    SOOTH_RETURN_IF_ERROR(append_reach(batch, reach, batch.events[i]));
    end_line();
    event_ = advance(event_, 1);
    if (out_.size() >= kFlushSize) {
      SOOTH_RETURN_IF_ERROR(flush());
    }
  }
  SOOTH_RETURN_IF_ERROR(append_branches(batch, branch, event_));
  if (branch != batch.branches.size() || reach != batch.reaches.size()) {
    return Status::internal(path_ + ": a batch with a branch or a reach of no event of its own");
  }
  return {};
}

Status StdWriter::append_branches(const Batch& batch, std::size_t& next, EventId before) {
  for (; next < batch.branches.size() && batch.branches[next].before == before; ++next) {
    const Branch& branch = batch.branches[next];
    SOOTH_RETURN_IF_ERROR(append_thread_and_word(branch.thread, kStdBranch));
    line_ += '|';
    SOOTH_RETURN_IF_ERROR(append_site(branch.site));
    if (branch.outcome != 0) {
      line_ += "|=";
      append_number(line_, branch.outcome);
    }
    end_line();
  }
  return {};
}

Status StdWriter::append_event(const Event& event, const Value& value) {
  const StdOp* row = find_std_op(event.op, event.flags);
  if (row == nullptr || event.reserved != 0) {
    return refuse("its operation or its flags are unknown");
  }
  if (takes_order(event.op) != (event.order != MemoryOrder::kNotAtomic) || raw(event.order) >= kMemoryOrderCount) {
    return refuse("its memory order does not suit its operation");
  }
  if (event.op == Op::kMisuse ? !is_misuse_kind(event.size)
                              : object_kind(event.op) != ObjectKind::kMemory && event.size != 0) {
    return refuse(event.op == Op::kMisuse ? "its kind of misuse is unknown" : "it has a size but no memory");
  }
  SOOTH_RETURN_IF_ERROR(append_thread_and_word(event.thread, row->name));
  if (takes_order(event.op)) {
    line_ += '.';
    line_ += memory_order_name(event.order);
  } else if (event.op == Op::kMisuse) {
    line_ += '.';
    line_ += misuse_kind_name(MisuseKind(event.size));
  }
  SOOTH_RETURN_IF_ERROR(append_argument(event));
  line_ += '|';
  SOOTH_RETURN_IF_ERROR(append_site(event.site));
  if (value.size != 0) {
    if (!is_access(event.op) || !fits_its_size(value)) {
      return refuse("its value does not suit it");
    }
    line_ += "|=";
    append_value(line_, value, std_value_size(event));
  }
  return {};
}

Status StdWriter::append_argument(const Event& event) {
  const ObjectKind kind = object_kind(event);
  line_ += '(';
  switch (kind) {
    case ObjectKind::kNone:
      if (event.object != 0) {
        return refuse("its operation has no object");
      }
      break;
    case ObjectKind::kThread:
    case ObjectKind::kFunction: {
      const auto id = static_cast<std::uint32_t>(event.object);
      const std::string* spelling = id != event.object            ? nullptr
                                    : kind == ObjectKind::kThread ? speller_.thread(ThreadId(id))
                                                                  : speller_.function(SiteId(id));
      if (spelling == nullptr) {
        return refuse("there is no " + std::string(object_kind_name(kind)) + " " + std::to_string(event.object));
      }
      line_ += *spelling;
      break;
    }
    default:
      if (!speller_.append_object(line_, kind, event.object, kind == ObjectKind::kMemory ? event.size : 0)) {
        return refuse("its bytes overlap a variable that is only known by its name");
      }
  }
  line_ += ')';
  return {};
}

Status StdWriter::append_reach(const Batch& batch, std::size_t& next, const Event& event) {
  const char* separator = "|=";
  for (; next < batch.reaches.size() && batch.reaches[next].call == event_; ++next) {
    if (event.op != Op::kCallBegin) {
      return refuse("it has a reach but begins no call");
    }
    line_ += separator;
    append_hex(line_, batch.reaches[next].begin);
    line_ += ':';
    append_decimal(line_, batch.reaches[next].length);
    separator = ",";
  }
  return {};
}

Status StdWriter::append_thread_and_word(ThreadId thread, std::string_view word) {
  const std::string* name = speller_.thread(thread);
  if (name == nullptr) {
    return refuse("there is no thread " + std::to_string(raw(thread)));
  }
  line_ = *name;
  line_ += '|';
  line_ += word;
  return {};
}

Status StdWriter::append_site(SiteId site) {
  const std::string* label = speller_.site(site);
  if (label == nullptr) {
    return refuse("there is no site " + std::to_string(raw(site)));
  }
  line_ += *label;
  return {};
}

void StdWriter::end_line() {
  out_ += speller_.directives();
  speller_.directives().clear();
  out_ += line_;
  out_ += '\n';
}

Status StdWriter::flush() {
  std::string_view rest = out_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) {
      return Status::internal(path_ + ": " + std::strerror(errno));
    }
    rest.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  out_.clear();
  return {};
}

Status StdWriter::finish() {
  if (finished_) {
    return Status::internal(path_ + ": finished twice");
  }
  if (!speller_.note_renames()) {
    return refuse("a variable was named that overlaps another one");
  }
  out_ += speller_.directives();
  SOOTH_RETURN_IF_ERROR(flush());
  finished_ = true;
  if (!is_file()) {
    return {};
  }
  Status status;
  if (::close(descriptor_) != 0) {
    status = Status::internal(path_ + ": " + std::strerror(errno));
  } else if (put_in_place(unfinished_, path_) != 0) {
    status = cannot_create(path_, errno);
  }
  if (!status.ok()) {
    ::unlink(unfinished_.c_str());
  }
  return status;
}

}  // namespace

Result<std::unique_ptr<TraceWriter>> create_std_trace(const std::string& path, const TraceInfo& info) {
  if (path == "-") {
    return std::unique_ptr<TraceWriter>(std::make_unique<StdWriter>(STDOUT_FILENO, "standard output", "", info));
  }
  if (struct stat there{}; ::lstat(path.c_str(), &there) == 0) {
    return cannot_create(path, EEXIST);
  }
  std::string unfinished = path + ".incomplete-" + std::to_string(::getpid());
  const int descriptor = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return cannot_create(path, errno);
  }
  return std::unique_ptr<TraceWriter>(std::make_unique<StdWriter>(descriptor, path, std::move(unfinished), info));
}

}  // namespace sooth
