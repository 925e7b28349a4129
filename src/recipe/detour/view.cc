#include "recipe/detour/view.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sooth {

View::View(const SharedExecution& execution, std::uint32_t thread, std::shared_ptr<const Overlay> overlay)
    : View(execution, thread, overlay->view.cut()) {
  overlay_ = std::move(overlay);
}

std::optional<std::uint8_t> View::byte(std::uint64_t address, EventIndex before) const {
  const WrittenByte* own = own_.find(address);
  if (overlay_ != nullptr) {
    if (own != nullptr && own->is && own->event >= cut_) {
      return own->byte;
    }
    const WrittenByte* over = overlay_->written.find(address);
    return over != nullptr && over->is ? over->byte : overlay_->view.byte(address, overlay_->before);
  }
  const EventIndex last = sharing_->last_write(thread_, address, cut_, before);
  // Unless somebody has overwritten it who had to come later.
  if (own != nullptr && own->is && (last == kNoEvent || last <= own->event || sharing_->thread(last) == thread_)) {
    return own->byte;
  }
  if (const std::optional<std::uint8_t> told = sharing_->byte_seen(thread_, address, cut_, before)) {
    return told;
  }
  const bool is_first = last == kNoEvent && options_->initial && !sharing_->is_written_at_length(address);
  return is_first ? options_->initial(address) : std::nullopt;
}

bool View::is_overlaid(std::uint64_t address, std::uint64_t size) const {
  for (std::uint64_t i = 0; overlay_ != nullptr && i < size; ++i) {
    if (const WrittenByte* over = overlay_->written.find(address + i); over != nullptr && over->is) {
      return true;
    }
  }
  return false;
}

std::optional<std::uint64_t> View::value(std::uint64_t address, std::uint32_t size, EventIndex before) const {
  std::uint64_t whole = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::optional<std::uint8_t> part = byte(address + i, before);
    if (!part) {
      return std::nullopt;
    }
    whole |= std::uint64_t{*part} << (8 * i);
  }
  return whole;
}

namespace {

constexpr std::size_t kMost = 24;

// Some of the first and some of the last ones: what is in between is like them most of the time.
template <typename T>
void thin_out(std::vector<T>& all) {
  if (all.size() > kMost) {
    all.erase(all.begin() + kMost / 2, all.end() - kMost / 2);
  }
}

}  // namespace

std::vector<EventIndex> find_cuts(const SharedExecution& execution, std::uint32_t thread) {
  const TraceIndex& index = execution.index;
  const std::span<const EventIndex> own = index.events_of(thread);
  std::vector<EventIndex> cuts;
  if (own.empty()) {
    return cuts;
  }
  const auto add = [&](EventIndex cut) {
    if (cuts.empty() || cuts.back() != cut) {
      cuts.push_back(cut);
    }
  };
  for (std::uint32_t other = 0; other < index.thread_count(); ++other) {
    if (other != thread && !index.events_of(other).empty()) {
      add(index.events_of(other).front());
    }
  }
  for (EventIndex e = 0; e < index.size(); ++e) {
    const Op op = index.event(e).op;
    const bool matters = op == Op::kRelease || op == Op::kFork || (is_atomic(op) && is_write(op));
    if (index.thread(e) != thread && matters) {
      add(e + 1);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  thin_out(cuts);
  return cuts;
}

std::vector<std::shared_ptr<const Overlay>> choose_overlays(const SharedExecution& execution, std::uint32_t thread) {
  std::vector<std::shared_ptr<const Overlay>> chosen;
  std::copy_if(execution.overlays.begin(), execution.overlays.end(), std::back_inserter(chosen),
               [&](const std::shared_ptr<const Overlay>& overlay) { return overlay->thread != thread; });
  thin_out(chosen);
  return chosen;
}

}  // namespace sooth
