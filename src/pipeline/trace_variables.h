// Variables of a recorded program while its trace goes by: globals by name, heap blocks by where the user's code
// allocated them, and their members.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "race/user_code.h"
#include "race/variable_classes.h"
#include "trace/batch_outline.h"
#include "trace/tables.h"

namespace sooth {

// Approximate: a block of the same batch that is freed and allocated anew counts as the newer one. It only decides which
// examples are kept; what findings say of their memory comes from ContextCollector. Traces without source files have one
// variable. Memory grows with the number of live blocks.
class TraceVariables final : public VariableClasses {
 public:
  explicit TraceVariables(UserCode user_code) : user_code_(std::move(user_code)) {}

  // Before the detectors see the batch; `tables` must live until the next one.
  void consume(const Batch& batch, const Tables& tables) { consume(batch, BatchOutline(batch), tables); }
  void consume(const Batch& batch, const BatchOutline& outline, const Tables& tables);
  // The trace comes by once more, from its start.
  void restart();
  std::uint32_t class_of(std::uint64_t address) override;

 private:
  struct Block {
    std::uint64_t length = 0;
    std::uint32_t variable = kOne;  // kStack: see there
    TypeId type{};                  // what it holds
  };
  struct Remembered {
    std::uint64_t address = 0;
    std::uint64_t generation = 0;  // 0: nothing
    std::uint32_t variable = kOne;
  };
  static constexpr std::uint32_t kStack = UINT32_MAX;
  // What nobody allocated above it is on the stack of the main thread, where Linux puts that on x86-64.
  static constexpr std::uint64_t kStackOfMain = 0x7ff000000000;
  // Variables on stacks have no names here: each address is one, up to so many; then they are elements of arrays.
  static constexpr std::size_t kMostOnStacks = 64;

  void allocate(const Event& event, StackId stack, bool right_behind_begin);
  std::uint32_t resolve(std::uint64_t address);
  std::uint32_t number_of(std::string key);

  UserCode user_code_;
  const Tables* tables_ = nullptr;
  std::size_t sites_seen_ = 0;
  bool has_source_ = false;
  std::map<std::uint64_t, Block> blocks_;            // by first byte
  std::vector<std::uint64_t> freed_;                 // in the latest batch
  std::vector<ThreadId> begun_;                      // those whose latest event is their begin
  std::map<std::uint64_t, std::uint32_t> sites_of_;  // user's frame by site << 32 | stack of an alloc
  std::map<std::string, std::uint32_t> numbers_;
  std::map<std::uint64_t, std::uint32_t> on_stacks_;
  std::uint64_t generation_ = 1;
  std::array<Remembered, 256> remembered_{};
};

}  // namespace sooth
