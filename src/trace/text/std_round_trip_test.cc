#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>

#include "trace/text/std_syntax.h"
#include "trace/text/std_testing.h"

namespace sooth {
namespace {

TEST(StdRoundTrip, CanonicalTextComesBackAsItWas) {
  const std::string text =
      "# sooth: exact=no columns=values,branches,reaches program=./prog --x\n"
      "main|begin()|0\nmain|fork(T 1)|a.c:1:2\nT 1|acq(L)|a.c:2\nT 1|w(V123.4[5])|345|=7\nT 1|r(0x1f00:16)|\n"
      "T 1|racq(0x7fff)|a.c:2\nT 1|rrel(0x7fff)|a.c:2\nmain|branch|a.c:9|=1\nmain|branch|a.c:9\n"
      "T 1|aload.acquire(flag)|1\nT 1|astore.release(flag)|1|=0x12345678:4\nT 1|armw.acq_rel(0x8:8)|1|=12\n"
      "T 1|fence.seq_cst()|1\nT 1|notify(s)|1\nmain|wait(s)|1\nT 1|notifyone(c)|1\nT "
      "1|notifyall(c)|1\nmain|condwait(c)|1\nmain|condtimeout(c)|1\nmain|arrive(b)|1\nmain|leave(b)|1\nmain|post(s)|1\n"
      "main|sem_wait(s)|1\nmain|alloc(0x100:64)|1\nmain|free(0x100:64)|1\nmain|hb(m)|1\nmain|ha(m)|1\n"
      "main|enter(f(int))|1\nmain|exit(f(int))|1\n# sooth: name variable 0x404040:4 counter\nmain|r(counter)|1\n"
      "# sooth: name lock 0x7f M%7C\nmain|acq(M%7C)|1\n# sooth: thread T2 T 1\nmain|join(T2)|1\n"
      "main|callbegin(c)|1|=0x1000:64,0x2000:8\nmain|callend(c)|1\nT 1|rel(L)|a.c:3\nT 1|end()|1\n"
      "main|branch|last\n";
  const auto back = write_text(must_read(text));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, text);
}

// Makes traces that use all that text can say, with names that make it hard.
class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : random_(seed) {
    for (std::size_t i = 0, n = 1 + below(5); i < n; ++i) {
      trace_.tables.add_thread(name());
    }
    for (std::size_t i = 0, n = 1 + below(6); i < n; ++i) {
      trace_.tables.add_site(site());
    }
    for (int kind = 1; kind < kObjectKindCount; ++kind) {
      for (std::size_t i = below(6); i > 0; --i) {
        trace_.tables.name_object(ObjectKind(kind), number(ObjectKind(kind)), name());
      }
    }
    trace_.info.exact = below(2) == 0;
    trace_.info.program = name();
  }

  WholeTrace make() {
    const bool with_values = below(2) == 0;
    for (std::size_t i = 0, n = below(40); i < n; ++i) {
      branches();
      const EventId id{i};
      const Event e = event();
      if (with_values) {
        trace_.values.push_back(is_access(e.op) && below(2) == 0 ? value(e) : Value{});
      }
      for (std::size_t r = e.op == Op::kCallBegin ? below(4) : 0; r > 0; --r) {
        trace_.reaches.push_back({id, random_(), random_() >> below(64)});
      }
      trace_.events.push_back(e);
    }
    branches();
    return std::move(trace_);
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  std::string name() {
    static const std::array<std::string, 16> names = {
        "x",   "V1",   "V123.4[5]", "a|b",  "two words",   " edges ",  "0x12", "0x8:4",
        "%41", "100%", "#4",        "f(g)", "new\nline\r", "a.c:12:3", "",     std::string("\0\x7f\xff", 3)};
    return names[below(names.size())];
  }

  Site site() {
    switch (below(4)) {
      case 0: return {"", name(), "", "", 0, static_cast<std::uint32_t>(below(3)), 1};
      case 1: return {"", "", name(), name(), below(100), 0, 0};
      default: return {name(), "", name(), "", 0, 0, 0};
    }
  }

  std::uint64_t number(ObjectKind kind) {
    if (kind != ObjectKind::kMemory) {
      return below(2) == 0 ? below(5) : random_() >> below(64);
    }
    switch (below(4)) {
      case 0: return kNamedMemoryBegin + kNamedMemoryStride * below(4);
      case 1: return kNamedMemoryEnd + below(64);
      default: return below(64);
    }
  }

  Event event() {
    const auto rows = std_ops();
    const StdOp& row = rows[below(rows.size())];
    Event e{.op = row.op, .flags = row.flags};
    e.thread = ThreadId(static_cast<std::uint32_t>(below(trace_.tables.thread_count())));
    e.site = SiteId(static_cast<std::uint32_t>(below(trace_.tables.site_count())));
    if (takes_order(row.op)) {
      e.order = MemoryOrder(1 + below(kMemoryOrderCount - 1));
    }
    if (row.op == Op::kMisuse) {
      e.size = static_cast<std::uint32_t>(1 + below(kMisuseKindCount - 1));
    }
    switch (const ObjectKind kind = object_kind(e)) {
      case ObjectKind::kNone: break;
      case ObjectKind::kThread: e.object = below(trace_.tables.thread_count()); break;
      case ObjectKind::kFunction: e.object = below(trace_.tables.site_count()); break;
      case ObjectKind::kMemory:
        e.object = number(kind);
        e.size =
            e.object >= kNamedMemoryBegin && e.object < kNamedMemoryEnd ? 1 : static_cast<std::uint32_t>(below(20));
        break;
      default: e.object = number(kind);
    }
    return e;
  }

  Value value(const Event& e) {
    Value v{.size = below(2) == 0 ? std_value_size(e) : static_cast<std::uint8_t>(1 + below(16))};
    v.low = v.size >= 8 ? random_() : random_() & ((std::uint64_t{1} << 8 * v.size) - 1);
    v.high = v.size <= 8 ? 0 : v.size == 16 ? random_() : random_() & ((std::uint64_t{1} << 8 * (v.size - 8)) - 1);
    return v.size == 0 ? Value{} : v;
  }

  void branches() {
    for (std::size_t n = below(8) == 0 ? below(3) : 0; n > 0; --n) {
      trace_.branches.push_back(
          {EventId{trace_.events.size()}, ThreadId(static_cast<std::uint32_t>(below(trace_.tables.thread_count()))),
           SiteId(static_cast<std::uint32_t>(below(trace_.tables.site_count()))), random_() >> below(64)});
    }
  }

  std::mt19937_64 random_;
  WholeTrace trace_;
};

// What a site is called in text, said independently of the writer.
std::string expected_label(const Site& site) {
  if (!site.label.empty()) return site.label;
  if (site.file.empty())
    return site.module.empty() ? "" : site.module + "+" + [&] {
      char hex[20];
      std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(site.offset));
      return std::string(hex);
    }();
  return site.line == 0 ? site.file : site.file + ":" + std::to_string(site.line) + ":1";
}

// Follows which thread of one trace is which of the other; they must correspond one to one.
struct ThreadMap {
  std::map<ThreadId, ThreadId> there, back;

  bool same(ThreadId a, ThreadId b) {
    return there.try_emplace(a, b).first->second == b && back.try_emplace(b, a).first->second == a;
  }
};

void expect_same(const WholeTrace& a, const WholeTrace& b) {
  ThreadMap threads;
  const auto same_thread = [&](ThreadId x, ThreadId y) {
    return threads.same(x, y) && a.tables.thread_name(x) == b.tables.thread_name(y);
  };
  const auto same_site = [&](SiteId x, SiteId y) { return expected_label(a.tables.site(x)) == b.tables.site(y).label; };
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    const Event& x = a.events[i];
    Event y = b.events[i];
    ASSERT_TRUE(same_thread(x.thread, y.thread));
    ASSERT_TRUE(same_site(x.site, y.site));
    const ObjectKind kind = object_kind(x);
    if (kind == ObjectKind::kThread) {
      ASSERT_TRUE(same_thread(ThreadId(std::uint32_t(x.object)), ThreadId(std::uint32_t(y.object))));
    } else if (kind == ObjectKind::kFunction) {
      const Site& f = a.tables.site(SiteId(std::uint32_t(x.object)));
      ASSERT_EQ(f.function.empty() ? expected_label(f) : f.function,
                b.tables.site(SiteId(std::uint32_t(y.object))).function);
    } else {
      ASSERT_EQ(x.object, y.object);
      const std::string* name = a.tables.object_name(kind, x.object);
      const std::string* other = b.tables.object_name(kind, y.object);
      ASSERT_EQ(name != nullptr ? *name : "", other != nullptr ? *other : "");
    }
    y.thread = x.thread, y.site = x.site, y.object = x.object;
    ASSERT_EQ(x, y);
    ASSERT_EQ(a.values.empty() ? Value{} : a.values[i], b.values.empty() ? Value{} : b.values[i]);
  }
  ASSERT_EQ(a.branches.size(), b.branches.size());
  for (std::size_t i = 0; i < a.branches.size(); ++i) {
    ASSERT_EQ(a.branches[i].before, b.branches[i].before);
    ASSERT_EQ(a.branches[i].outcome, b.branches[i].outcome);
    ASSERT_TRUE(same_thread(a.branches[i].thread, b.branches[i].thread));
    ASSERT_TRUE(same_site(a.branches[i].site, b.branches[i].site));
  }
  ASSERT_EQ(a.reaches, b.reaches);
  ASSERT_EQ(a.info.exact, b.info.exact);
  ASSERT_EQ(a.info.program, b.info.program);
}

TEST(StdRoundTrip, RandomTracesSurviveText) {
  int declared = 0;
  for (unsigned seed = 0; seed < 5'000; ++seed) {
    SCOPED_TRACE(seed);
    const WholeTrace trace = RandomTrace(seed).make();
    const auto text = write_text(trace);
    ASSERT_TRUE(text.ok()) << text.status().message();
    declared += text->find("# sooth: name") != text->npos ? 1 : 0;
    auto back = read_text(*text);
    ASSERT_TRUE(back.ok()) << back.status().message() << "\n" << *text;
    ASSERT_NO_FATAL_FAILURE(expect_same(trace, *back)) << *text;

    // Ids in order of first appearance stay what they are.
    const auto again = write_text(*back);
    ASSERT_TRUE(again.ok()) << again.status().message();
    const WholeTrace same = must_read(*again);
    ASSERT_EQ(back->events, same.events) << *text << "--\n" << *again;
    ASSERT_EQ(back->values, same.values);
    ASSERT_EQ(back->branches, same.branches);
    ASSERT_EQ(back->stacks, same.stacks);
    ASSERT_EQ(back->tables.threads(), same.tables.threads());
    ASSERT_EQ(back->tables.sites(), same.tables.sites());
  }
  EXPECT_GT(declared, 1'000);
}

TEST(StdRoundTrip, BatchesMayBeCutAnywhere) {
  std::mt19937 random(7);
  for (unsigned seed = 0; seed < 300; ++seed) {
    const WholeTrace trace = RandomTrace(seed).make();
    const auto whole = write_text(trace);
    ASSERT_TRUE(whole.ok());
    const TemporaryPath file;
    auto writer = create_std_trace(file.path(), trace.info);
    ASSERT_TRUE(writer.ok());
    (*writer)->tables() = trace.tables;
    std::size_t branch = 0, reach = 0;
    for (std::size_t first = 0; first < trace.events.size() || branch < trace.branches.size();) {
      const std::size_t count = std::min<std::size_t>(random() % 5, trace.events.size() - first);
      const EventId end{first + count};
      const bool last = first + count == trace.events.size();
      std::size_t branch_end = branch, reach_end = reach;
      while (branch_end < trace.branches.size() && (last || trace.branches[branch_end].before < end)) ++branch_end;
      while (reach_end < trace.reaches.size() && trace.reaches[reach_end].call < end) ++reach_end;
      Batch batch = as_batch(trace);
      batch.first = EventId{first};
      batch.events = batch.events.subspan(first, count);
      batch.values = batch.values.empty() ? batch.values : batch.values.subspan(first, count);
      batch.branches = batch.branches.subspan(branch, branch_end - branch);
      batch.reaches = batch.reaches.subspan(reach, reach_end - reach);
      const Status status = (*writer)->append(batch);
      ASSERT_TRUE(status.ok()) << status.message();
      first += count, branch = branch_end, reach = reach_end;
    }
    ASSERT_TRUE((*writer)->finish().ok());
    ASSERT_EQ(file.content(), *whole);
  }
}

}  // namespace
}  // namespace sooth
