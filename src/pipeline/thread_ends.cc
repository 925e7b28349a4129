#include "pipeline/thread_ends.h"

#include <utility>

#include "trace/openmp_messages.h"

namespace sooth {
namespace {

constexpr std::size_t kMostNames = 8;

// What a thread of a parallel region does last is to tell that it is done. Then it waits for the next one, if any.
bool hands_on(const Event& event) {
  return event.op == Op::kHappensBefore && event.object - kFirstOpenMpMessage < kMostOpenMpMessages;
}

// "T1, T2 and 5 more", and whether that is one.
std::string names_of(const std::vector<std::uint32_t>& threads, const Tables& tables) {
  std::string names;
  for (std::size_t i = 0; i < threads.size() && i < kMostNames; ++i) {
    names += (i == 0 ? "" : ", ") + tables.thread_name(ThreadId{threads[i]});
  }
  return names + (threads.size() > kMostNames ? " and " + std::to_string(threads.size() - kMostNames) + " more" : "");
}

}  // namespace

ThreadEnds::Stage ThreadEnds::stage(std::uint64_t thread) const {
  return thread < stages_.size() ? stages_[thread] : Stage::kUnknown;
}

void ThreadEnds::enter(std::uint64_t thread, Stage stage) {
  if (thread >= stages_.size()) {
    stages_.resize(thread + 1);
  }
  const Stage before = std::exchange(stages_[thread], stage);
  idle_ += (stage == Stage::kIdle ? 1u : 0u) - (before == Stage::kIdle ? 1u : 0u);
}

void ThreadEnds::consume(const Batch& batch, const BatchOutline& outline) {
  // Plain accesses say nothing unless somebody is idle.
  outline.visit(
      batch, [&] { return idle_ != 0; }, [&](std::size_t i) { consume(batch.events[i]); });
}

void ThreadEnds::consume(const Event& event) {
  const std::uint32_t thread = raw(event.thread);
  if (event.op == Op::kFork) {
    if (stage(event.object) == Stage::kUnknown) {
      enter(event.object, Stage::kCreated);
    }
  } else if (event.op == Op::kBegin) {
    // The first thread's is what only recordings have: nobody created it.
    tells_begins_ = tells_begins_ || stage(thread) == Stage::kUnknown;
    enter(thread, Stage::kBegun);
  } else if (event.op == Op::kEnd) {
    enter(thread, Stage::kEnded);
  } else if (hands_on(event)) {
    if (stage(thread) == Stage::kBegun) {
      enter(thread, Stage::kIdle);
    }
  } else if (stage(thread) == Stage::kIdle) {
    enter(thread, Stage::kBegun);
  }
}

std::vector<std::string> ThreadEnds::sentences(const Tables& tables) const {
  std::vector<std::uint32_t> never, cut;
  for (std::uint32_t thread = 1; tells_begins_ && thread < stages_.size(); ++thread) {
    if (stages_[thread] == Stage::kCreated) {
      never.push_back(thread);
    } else if (stages_[thread] == Stage::kBegun) {
      cut.push_back(thread);
    }
  }
  std::vector<std::string> sentences;
  if (!never.empty()) {
    sentences.push_back(names_of(never, tables) + " never ran before the process ended.");
  }
  if (!cut.empty()) {
    sentences.push_back(names_of(cut, tables) + (cut.size() == 1 ? " was" : " were") +
                        " not over when the process ended: what would have come next is not known.");
  }
  return sentences;
}

}  // namespace sooth
