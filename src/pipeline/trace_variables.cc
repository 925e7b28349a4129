#include "pipeline/trace_variables.h"

#include <algorithm>
#include <iterator>

#include "pipeline/context.h"
#include "pipeline/heap_names.h"

namespace sooth {

void TraceVariables::consume(const Batch& batch, const BatchOutline& outline, const Tables& tables) {
  tables_ = &tables;
  for (; !has_source_ && sites_seen_ < tables.site_count(); ++sites_seen_) {
    has_source_ = !tables.site(SiteId(sites_seen_)).file.empty();
  }
  if (!has_source_) {
    return;
  }
  for (const std::uint64_t block : freed_) {
    blocks_.erase(block);
  }
  freed_.clear();
  // What comes behind a begin is looked at only while there is one.
  const auto consume = [&](std::size_t i) {
    const Event& e = batch.events[i];
    const bool right_behind_begin = std::erase(begun_, e.thread) != 0;
    if (e.op == Op::kBegin) {
      begun_.push_back(e.thread);
    } else if (e.op == Op::kAlloc) {
      allocate(e, batch.stack(i), right_behind_begin);
    } else if (e.op == Op::kFree) {
      freed_.push_back(e.object);
    }
  };
  outline.visit(
      batch, [&] { return !begun_.empty(); }, consume);
  ++generation_;
}

void TraceVariables::restart() {
  blocks_.clear();
  freed_.clear();
  begun_.clear();
  ++generation_;
}

void TraceVariables::allocate(const Event& event, StackId stack, bool right_behind_begin) {
  Block& block = blocks_[event.object];
  block.length = event.size;
  std::erase(freed_, event.object);
  if (right_behind_begin && event.size >= kSmallestStack) {
    block.variable = kStack;
    return;
  }
  block.type = tables_->variables().allocated(event.site);
  const auto [known, added] = sites_of_.try_emplace(std::uint64_t{raw(event.site)} << 32 | raw(stack));
  if (added) {
    std::vector<Site> frames;
    for (const SiteId frame : tables_->frames(stack)) {
      frames.push_back(tables_->site(frame));
    }
    const Site& site = tables_->site(event.site);
    const std::size_t frame = user_code_.innermost(site, frames);
    const Site& place = frame == 0 ? site : frames[frame - 1];
    known->second = number_of("allocated " + place.file + ":" + std::to_string(place.line) + " " + place.label);
  }
  block.variable = known->second;
}

std::uint32_t TraceVariables::number_of(std::string key) {
  return numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

std::uint32_t TraceVariables::resolve(std::uint64_t address) {
  const bool named = tables_->object_name(ObjectKind::kMemory, address) != nullptr ||
                     tables_->named_range(ObjectKind::kMemory, address) != nullptr;
  if (named) {
    return number_of("named " + bare_variable(tables_->describe(ObjectKind::kMemory, address)));
  }
  const auto behind = blocks_.upper_bound(address);
  const bool in_block =
      behind != blocks_.begin() && address - std::prev(behind)->first < std::prev(behind)->second.length;
  if (in_block && std::prev(behind)->second.variable != kStack) {
    const Block& block = std::prev(behind)->second;
    const std::string member = heap_member(*tables_, block.type, address - std::prev(behind)->first, 1);
    return member.empty() ? block.variable : number_of(std::to_string(block.variable) + member);
  }
  if (!in_block && address < kStackOfMain) {
    return kOne;
  }
  if (!on_stacks_.contains(address) && on_stacks_.size() >= kMostOnStacks) {
    return number_of("on stacks");
  }
  const auto [known, added] = on_stacks_.try_emplace(address);
  known->second = added ? number_of("on stacks " + std::to_string(address)) : known->second;
  return known->second;
}

std::uint32_t TraceVariables::class_of(std::uint64_t address) {
  if (!has_source_) {
    return kOne;
  }
  Remembered& slot = remembered_[(address ^ (address >> 8)) % remembered_.size()];
  if (slot.generation != generation_ || slot.address != address) {
    slot = {address, generation_, resolve(address)};
  }
  return slot.variable;
}

}  // namespace sooth
