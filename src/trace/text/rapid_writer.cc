// The part of a trace that the RAPID tool reads: its six words, numbers for locations, and nothing in front.
#include <utility>
#include <vector>

#include "trace/text/std_text.h"

namespace sooth {
namespace {

// What of an event RAPID knows. Try locks and those with a time limit that were got are acquires to it; it has no
// reader mode, and taking one for exclusive would make up order.
bool rapid_knows(const Event& e) {
  switch (e.op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kFork:
    case Op::kJoin: return true;
    case Op::kAcquire:
    case Op::kRelease: return !is_shared(e);
    default: return false;
  }
}

// Gives what RAPID knows on to a writer of STD text, with names of its own: T0, 0x10:4, 345.
class RapidWriter final : public TraceWriter {
 public:
  explicit RapidWriter(std::unique_ptr<TraceWriter> text) : text_(std::move(text)) {}

  Tables& tables() override { return tables_; }
  Status append(const Batch& batch) override {
    while (text_->tables().thread_count() < tables_.thread_count()) {
      text_->tables().add_thread("T" + std::to_string(text_->tables().thread_count()));
    }
    while (text_->tables().site_count() < tables_.site_count()) {
      Site site;
      site.label = std::to_string(text_->tables().site_count());
      text_->tables().add_site(std::move(site));
    }
    events_.clear();
    for (Event e : batch.events) {
      if (rapid_knows(e)) {
        e.flags = 0;
        events_.push_back(e);
      }
    }
    Batch left;
    left.first = EventId{written_};
    left.events = events_;
    written_ += events_.size();
    return text_->append(left);
  }
  Status finish() override { return text_->finish(); }

 private:
  std::unique_ptr<TraceWriter> text_;
  Tables tables_;
  std::vector<Event> events_;
  std::uint64_t written_ = 0;
};

}  // namespace

Result<std::unique_ptr<TraceWriter>> create_rapid_trace(const std::string& path) {
  Result<std::unique_ptr<TraceWriter>> text = create_std_trace(path, TraceInfo{});
  if (!text.ok()) {
    return text;
  }
  return std::unique_ptr<TraceWriter>(std::make_unique<RapidWriter>(std::move(*text)));
}

}  // namespace sooth
