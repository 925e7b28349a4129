#include "trace/tools/copy.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/memory_trace.h"

namespace sooth {
namespace {

Site site(std::string label) {
  Site s;
  s.label = std::move(label);
  return s;
}

// Adds a thread, a site, a stack and a name with every batch, and then uses them, as real readers do.
class GrowingReader final : public TraceReader {
 public:
  Result<Batch> next() override {
    if (batches_ == 5) {
      return Batch{};
    }
    const std::string number = std::to_string(batches_);
    const ThreadId thread = tables_.add_thread("thread " + number);
    const SiteId where = tables_.add_site(site("site " + number));
    stack_ = tables_.intern_stack(stack_, where);
    tables_.name_object(ObjectKind::kMemory, 8 * batches_, "variable " + number);
    event_ = {8 * batches_, thread, where, 8, Op::kWrite, MemoryOrder::kNotAtomic, 0, 0};
    branch_ = {EventId{batches_}, thread, where, 1};
    return Batch{EventId{batches_++}, {&event_, 1}, {}, {&stack_, 1}, {&branch_, 1}, {}};
  }
  const TraceInfo& info() const override { return info_; }
  const Tables& tables() const override { return tables_; }
  std::uint64_t bytes_read() const override { return 0; }
  std::uint64_t bytes_total() const override { return 0; }

 private:
  TraceInfo info_{.exact = true, .columns = kStacks | kBranches, .events = 5, .program = "test"};
  Tables tables_;
  std::uint64_t batches_ = 0;
  Event event_;
  StackId stack_ = kNoStack;
  Branch branch_;
};

TEST(CopyTest, IdsStayEqualWhileTablesGrow) {
  GrowingReader reader;
  MemoryTraceWriter writer(reader.info());
  ASSERT_TRUE(copy_trace(reader, writer).ok());
  EXPECT_FALSE(writer.finished()) << "that is up to the caller";
  const Tables& copy = writer.trace().tables;
  EXPECT_EQ(copy.threads(), reader.tables().threads());
  EXPECT_EQ(copy.sites(), reader.tables().sites());
  EXPECT_EQ(copy.stacks(), reader.tables().stacks());
  EXPECT_EQ(copy.names(), reader.tables().names());
  ASSERT_EQ(writer.trace().events.size(), 5u);
  EXPECT_EQ(writer.trace().stacks.size(), 5u);
  EXPECT_EQ(writer.trace().branches.size(), 5u);
  EXPECT_EQ(copy.describe(ObjectKind::kMemory, writer.trace().events[3].object), "variable 3");
}

TEST(CopyTest, TransformsSkipAndStop) {
  GrowingReader reader;
  MemoryTraceWriter writer(reader.info());
  int seen = 0;
  const Status status = copy_trace(reader, writer, [&](const Batch& batch, const Tables& tables) -> Result<CopyStep> {
    EXPECT_EQ(tables.thread_count(), raw(batch.first) + 1);
    ++seen;
    Batch renumbered = batch;
    renumbered.first = EventId{0};
    renumbered.branches = {};
    return seen == 3 ? CopyStep{renumbered, true} : CopyStep{};
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(seen, 3);
  ASSERT_EQ(writer.trace().events.size(), 1u);
  EXPECT_EQ(writer.trace().events[0].object, 16u);
}

TEST(CopyTest, ErrorsOfEverySideComeThrough) {
  GrowingReader reader;
  MemoryTraceWriter writer;  // has no columns
  EXPECT_EQ(copy_trace(reader, writer).code(), ExitCode::kInternal);
  GrowingReader second;
  MemoryTraceWriter other(second.info());
  const auto refuse = [](const Batch&, const Tables&) -> Result<CopyStep> { return Status::bad_input("no"); };
  EXPECT_EQ(copy_trace(second, other, refuse).message(), "no");
  MemoryTraceWriter used(second.info());
  used.tables().add_thread("somebody");
  EXPECT_EQ(copy_trace(second, used).message(), "the tables of the copy were changed by somebody else");
}

}  // namespace
}  // namespace sooth
