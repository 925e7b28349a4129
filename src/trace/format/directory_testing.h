// For tests of the directory format: random traces, directories to put them in, and their blocks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/test_environment.h"
#include "trace/format/block_file.h"
#include "trace/format/directory.h"
#include "trace/text/std_testing.h"

namespace sooth {

// An empty directory, removed in the end with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    // In memory where that is possible: tests make ten thousands of files.
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    path_ = (in_memory ? "/dev/shm/" : ::testing::TempDir()) + "sooth_directory_XXXXXX";
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string file_content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void fill_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

struct RandomShape {
  std::size_t events = 40;
  std::size_t threads = 3;
  std::size_t sites = 5;
  std::size_t stacks = 6;
  std::size_t names = 4;
  bool many_objects = false;  // of all lengths; else few and near each other
};

// Any events at all, well-formed or not: what the format must carry.
class RandomDirectoryTrace {
 public:
  explicit RandomDirectoryTrace(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  RandomShape small_shape() { return {below(60), 1 + below(5), 1 + below(8), below(8), below(6), one_in(2)}; }

  WholeTrace trace(const RandomShape& shape) {
    WholeTrace trace;
    trace.info.exact = one_in(2);
    trace.info.columns = static_cast<ColumnSet>(below(16));
    trace.info.program = one_in(2) ? "./a.out check " + std::to_string(below(100)) : "";
    trace.info.events = shape.events;
    fill_tables(trace.tables, shape);
    for (std::size_t i = 0; i < shape.events; ++i) {
      add_event(trace, shape);
    }
    if ((trace.info.columns & kBranches) != 0 && one_in(2)) {
      add_branches(trace, 1 + below(3));  // behind the last event
    }
    return trace;
  }

 private:
  std::string text() {
    return std::string(below(12), static_cast<char>('a' + below(26))) + (one_in(5) ? "\n\xff|" : "");
  }
  std::uint64_t number() { return random_() >> below(64); }

  void fill_tables(Tables& tables, const RandomShape& shape) {
    for (std::size_t i = 0; i < shape.threads; ++i) {
      tables.add_thread(text());
    }
    for (std::size_t i = 0; i < shape.sites; ++i) {
      const auto line = static_cast<std::uint32_t>(number());
      const auto column = static_cast<std::uint32_t>(number());
      tables.add_site({text(), text(), text(), text(), number(), line, column});
    }
    for (std::size_t i = 0; i < shape.stacks; ++i) {
      tables.intern_stack(StackId(below(tables.stack_count())), SiteId(below(shape.sites)));
    }
    for (std::size_t i = 0; i < shape.names; ++i) {
      const std::uint64_t object = number();
      if (one_in(3)) {
        const auto type = [&] { return TypeId(below(tables.variables().types().size())); };
        TypeLayout layout{
            .name = text(), .size = number(), .opaque = one_in(2), .is_union = one_in(2), .element = type()};
        for (std::size_t members = below(4); members > 0; --members) {
          layout.members.push_back({text(), below(1000), below(1000), type(), one_in(2)});
        }
        (void)tables.variables().add_type(std::move(layout));
        tables.name_range(ObjectKind(below(kObjectKindCount)), object, 1 + below(std::min(~object, 4096ul)), text(),
                          type());
      } else {
        tables.name_object(ObjectKind(below(kObjectKindCount)), object, text());
      }
    }
  }

  void add_branches(WholeTrace& trace, std::size_t count) {
    for (; count > 0; --count) {
      trace.branches.push_back({EventId{trace.events.size()}, ThreadId(below(trace.tables.thread_count())),
                                SiteId(below(trace.tables.site_count())), number()});
    }
  }

  void add_event(WholeTrace& trace, const RandomShape& shape) {
    if ((trace.info.columns & kBranches) != 0 && one_in(4)) {
      add_branches(trace, 1 + below(3));
    }
    const ThreadId thread =
        !trace.events.empty() && !one_in(3) ? trace.events.back().thread : ThreadId(below(shape.threads));
    Event event;
    event.object = shape.many_objects ? number() : 4096 + 8 * below(16);
    event.thread = thread;
    event.site = SiteId(below(shape.sites));
    event.size = one_in(10) ? static_cast<std::uint32_t>(number()) : 4;
    event.op = Op(below(kOpCount));
    event.order = MemoryOrder(below(kMemoryOrderCount));
    event.flags = static_cast<std::uint8_t>(below(kAllFlags + 1));
    if ((trace.info.columns & kReaches) != 0 && one_in(5)) {
      for (std::size_t n = 1 + below(3); n > 0; --n) {
        trace.reaches.push_back({EventId{trace.events.size()}, number(), number()});
      }
    }
    if ((trace.info.columns & kValues) != 0) {
      trace.values.push_back(value());
    }
    if ((trace.info.columns & kStacks) != 0) {
      const bool same = !trace.stacks.empty() && one_in(2);
      trace.stacks.push_back(same ? trace.stacks.back() : StackId(below(trace.tables.stack_count())));
    }
    trace.events.push_back(event);
  }

  Value value() {
    const auto size = static_cast<std::uint8_t>(below(17));
    const auto mask = [](unsigned bytes) { return bytes >= 8 ? ~0ull : (1ull << 8 * bytes) - 1; };
    return {random_() & mask(size), random_() & mask(size > 8 ? size - 8u : 0), size};
  }

  std::mt19937_64 random_;
};

// Adds to `to` what `from` has and a batch needs, and sometimes more; the rest when `batch` is nullptr.
inline void add_rows(const Tables& from, Tables& to, const Batch* batch) {
  if (batch != nullptr && to.thread_count() == 0) {
    // Threads are few: all at once. Sites and stacks come as they are needed.
    for (const std::string& name : from.threads()) {
      to.add_thread(name);
    }
  }
  std::size_t sites = from.site_count();
  std::size_t stacks = from.stack_count();
  if (batch != nullptr) {
    sites = stacks = 0;
    for (const Event& event : batch->events) {
      sites = std::max<std::size_t>(sites, raw(event.site) + 1);
    }
    for (const Branch& branch : batch->branches) {
      sites = std::max<std::size_t>(sites, raw(branch.site) + 1);
    }
    for (const StackId stack : batch->stacks) {
      stacks = std::max<std::size_t>(stacks, raw(stack) + 1);
    }
    for (std::size_t i = 0; i < stacks; ++i) {
      sites = std::max<std::size_t>(sites, raw(from.stacks()[i].call) + 1);
    }
  } else {
    for (std::size_t i = to.thread_count(); i < from.thread_count(); ++i) {
      to.add_thread(from.threads()[i]);
    }
    for (std::size_t i = to.variables().types().size(); i < from.variables().types().size(); ++i) {
      (void)to.variables().add_type(from.variables().types()[i]);
    }
    for (std::size_t i = to.names().size(); i < from.names().size(); ++i) {
      const ObjectName& name = from.names()[i];
      if (name.length == 0) {
        to.name_object(name.kind, name.object, name.name);
      } else {
        to.name_range(name.kind, name.object, name.length, name.name, name.type);
      }
    }
  }
  for (std::size_t i = to.site_count(); i < sites; ++i) {
    to.add_site(from.sites()[i]);
  }
  for (std::size_t i = to.stack_count(); i < stacks; ++i) {
    to.intern_stack(from.stacks()[i].parent, from.stacks()[i].call);
  }
}

// Appends the whole trace in batches of up to `most` events, drawn from `random`.
inline Status append_in_batches(const WholeTrace& trace, TraceWriter& writer, std::mt19937_64& random,
                                std::size_t most) {
  std::size_t done = 0;
  std::size_t branch = 0;
  std::size_t reach = 0;
  do {
    const std::size_t count = std::min(trace.events.size() - done, 1 + static_cast<std::size_t>(random() % most));
    Batch batch;
    batch.first = EventId{done};
    batch.events = std::span(trace.events).subspan(done, count);
    batch.values = trace.values.empty() ? batch.values : std::span(trace.values).subspan(done, count);
    batch.stacks = trace.stacks.empty() ? batch.stacks : std::span(trace.stacks).subspan(done, count);
    done += count;
    std::size_t end = branch;
    while (end < trace.branches.size() && (raw(trace.branches[end].before) < done || done == trace.events.size())) {
      ++end;
    }
    batch.branches = std::span(trace.branches).subspan(branch, end - branch);
    branch = end;
    for (end = reach; end < trace.reaches.size() && raw(trace.reaches[end].call) < done;) {
      ++end;
    }
    batch.reaches = std::span(trace.reaches).subspan(reach, end - reach);
    reach = end;
    add_rows(trace.tables, writer.tables(), &batch);
    SOOTH_RETURN_IF_ERROR(writer.append(batch));
  } while (done < trace.events.size());
  add_rows(trace.tables, writer.tables(), nullptr);
  return {};
}

inline Status write_directory(const WholeTrace& trace, const std::string& path, std::uint64_t seed = 1,
                              std::size_t most = 64) {
  auto writer = create_trace_directory(path, trace.info);
  if (!writer.ok()) {
    return writer.status();
  }
  std::mt19937_64 random(seed);
  SOOTH_RETURN_IF_ERROR(append_in_batches(trace, **writer, random, most));
  return (*writer)->finish();
}

inline Result<WholeTrace> read_directory(const std::string& path, ColumnSet columns = kAllColumns) {
  auto reader = open_trace_directory(path, {columns});
  if (!reader.ok()) {
    return reader.status();
  }
  Result<WholeTrace> trace = drain(**reader);
  if (trace.ok()) {
    // Where a segment has nothing to say about stacks, its batches have none.
    const bool any = (trace->info.columns & columns & kStacks) != 0;
    trace->stacks.resize(any ? trace->events.size() : 0);
  }
  return trace;
}

// Empty when `read` is `written` as far as `columns` show it; else what differs first.
inline std::string difference(const WholeTrace& written, const WholeTrace& read, ColumnSet columns) {
  const auto wanted = [&](ColumnSet bit) { return (written.info.columns & columns & bit) != 0; };
  const auto differ = [&](const auto& a, const auto& b, ColumnSet bit) { return wanted(bit) ? a != b : !b.empty(); };
  if (written.tables.variables().types() != read.tables.variables().types()) return "types";
  if (written.info != read.info) return "info";
  if (written.events != read.events) return "events";
  if (differ(written.values, read.values, kValues)) return "values";
  if (differ(written.stacks, read.stacks, kStacks)) return "stacks";
  if (differ(written.branches, read.branches, kBranches)) return "branches";
  if (differ(written.reaches, read.reaches, kReaches)) return "reaches";
  if (written.tables.threads() != read.tables.threads()) return "threads";
  if (written.tables.sites() != read.tables.sites()) return "sites";
  if (written.tables.stacks() != read.tables.stacks()) return "stack table";
  if (written.tables.names() != read.tables.names()) return "names";
  return "";
}

// A block with its payload as the layer above sees it.
struct PlainBlock {
  format::BlockKind kind;
  std::uint64_t first;
  std::uint32_t count;
  Bytes payload;
  std::size_t offset;  // in the file it was read from, header included
  std::size_t size;
};

inline std::vector<PlainBlock> read_blocks(const std::string& path) {
  std::vector<PlainBlock> blocks;
  auto reader = BlockReader::open(path, false);
  EXPECT_TRUE(reader.ok());
  for (std::size_t offset = 0;; offset = (*reader)->bytes_read()) {
    const auto header = (*reader)->next();
    EXPECT_TRUE(header.ok()) << header.status().message();
    if (!header.ok() || !header->has_value()) {
      return blocks;
    }
    PlainBlock block{format::BlockKind((*header)->kind),
                     (*header)->first,
                     (*header)->count,
                     {},
                     offset,
                     sizeof(format::BlockHeader) + (*header)->stored};
    EXPECT_TRUE((*reader)->payload(block.payload).ok());
    blocks.push_back(std::move(block));
  }
}

// Replaces the file: every checksum and number is right, whatever the blocks say.
inline void write_blocks(const std::string& path, const std::vector<PlainBlock>& blocks) {
  std::filesystem::remove(path);
  auto writer = BlockWriter::create(path);
  ASSERT_TRUE(writer.ok());
  for (const PlainBlock& block : blocks) {
    ASSERT_TRUE((*writer)->write(block.kind, block.first, block.count, block.payload).ok());
  }
  ASSERT_TRUE((*writer)->close().ok());
}

}  // namespace sooth
