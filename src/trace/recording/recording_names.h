// Turns the numbers that streams use (rows of `sites`, threads, calls) into ids of a trace's tables.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/flat_map.h"
#include "base/status.h"
#include "trace/recording/process_file.h"
#include "trace/recording/stream_format.h"
#include "trace/recording/symbol_file.h"
#include "trace/tables.h"

namespace sooth {

// Rows of the tables are added when a decoder first uses them, so ids are dense in the order of the trace. A site is a
// distinct place (file, line, column, function), or module and offset where symbols are missing: several program
// counters may be one site. Functions that a place was inlined into stand on the stack as if they had called it. The
// place of a lock, an atomic operation or an allocation is where the program asks for it, not the header of the C++
// library that was inlined there. Not thread safe.
class RecordingNames {
 public:
  // Where further rows of `sites` and lines of `process` come from while the program runs.
  struct Source {
    std::function<std::vector<stream::SiteRow>(std::size_t first)> sites;
    std::function<RecordedProcess()> process;
    // What further rows are called, and variables not named before; may be empty: then they are not called anything.
    std::function<RecordingSymbols(const RecordedProcess&, std::span<const stream::SiteRow>)> symbols;
  };

  // `with_stacks`: false makes every stack empty, and calls cost nothing.
  RecordingNames(RecordedProcess process, RecordingSymbols symbols, bool with_stacks, Source source);

  const Tables& tables() const { return tables_; }

  // Whether `sites` has the row; looks again when it does not.
  bool has_site(std::uint64_t row);
  // The innermost place of the row.
  SiteId site(std::uint32_t row) {
    const SiteId known = innermost_[row];
    return known != kNotYet ? known : add_site(row);
  }
  bool inlined(std::uint32_t row) const { return row < symbols_.size() && symbols_[row].frames.size() > 1; }

  // False when there cannot be so many threads.
  bool use_thread(std::uint64_t thread);
  void name(ObjectKind kind, std::uint64_t object, std::string_view name);
  // A call of the function that the site is in has its name.
  void name_call(SiteId site);

  // The calls that a thread is in. `pop` is false when there are not so many.
  bool pop_calls(ThreadId thread, std::uint64_t count);
  void push_call(ThreadId thread, std::uint32_t row);
  StackId stack(ThreadId thread) const { return calls_[places_of_calls_[raw(thread)]].top; }
  // What happens from here on happens in front of the event.
  void set_now(EventId event) { now_ = event; }
  // The innermost call but `outer` has its frame there; `row` is in its function. One that was placed before and is
  // not on the stack any more is gone. False when the row is missing, or there are not so many calls.
  bool place_frame(ThreadId thread, std::uint64_t depth, std::uint64_t row, std::uint64_t base);
  // The variables that the thread has of its own are there.
  void place_thread_locals(ThreadId thread, std::uint64_t thread_pointer);
  // The stack of an event at `row` in a function whose calls are `stack`: more only when the row is inlined().
  StackId with_inlined(StackId stack, std::uint32_t row);

 private:
  static constexpr SiteId kNotYet{0xffffffff};
  using Place = std::tuple<std::string_view, std::uint32_t, std::uint32_t, std::string_view>;  // into symbols_
  struct Calls {
    StackId top = kNoStack;
    std::uint64_t depth = 0;
    std::vector<StackId> below;  // the stacks to come back to
    // Frames of which we know where they are: the depth with them on the stack, and their numbers. Innermost last.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> placed = {};
  };
  static constexpr std::uint32_t kInNoCall = 0;  // calls_[0] is empty and stays so
  static constexpr std::uint32_t kNoLayout = 0xffffffff;

  void add_symbols(RecordingSymbols symbols);
  SiteId add_site(std::uint32_t row);
  SiteId add_frame(const SiteSymbols& symbols, const SiteFrame& frame);
  SiteId add_unknown(std::uint32_t row);
  SiteId add_module_offset(const std::string& module, std::uint64_t offset);

  RecordedProcess process_;
  std::deque<SiteSymbols> symbols_;  // by row; those that are there stay where they are
  const bool with_stacks_;
  const Source source_;
  Tables tables_;
  EventId now_{};
  std::vector<std::uint32_t> layouts_;         // by row: of the variables of its function
  std::vector<std::uint32_t> thread_layouts_;  // of thread-local variables
  std::vector<stream::SiteRow> rows_;
  std::vector<SiteId> innermost_;  // by row
  std::map<Place, SiteId> places_;
  std::map<std::pair<std::string, std::uint64_t>, SiteId> offsets_;
  // Four bytes for each thread that ever was; the calls themselves for those that are in one.
  std::vector<std::uint32_t> places_of_calls_;  // by thread: in calls_
  std::vector<Calls> calls_{1};
  std::vector<std::uint32_t> free_calls_;  // places in calls_ that nobody uses
  FlatMap<StackId> pushed_;                // stack << 32 | row: the stack with a call at that row on it
  FlatMap<StackId> inlined_;               // stack << 32 | row: the same for events
};

}  // namespace sooth
