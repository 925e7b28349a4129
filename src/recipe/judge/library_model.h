// What functions of libraries do that a thread calls beside its recorded path, byte by byte, as the C standard has it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class CallBase;
}  // namespace llvm

namespace sooth {

// One call. Made anew whenever another byte of memory has been read, until nothing is missing.
struct LibraryCall {
  enum class State : std::uint8_t {
    kNotKnown,   // there is no model of this function, or not with these arguments
    kNeedsByte,  // ... of memory: `missing`
    kDone,
  };
  State state = State::kNotKnown;
  std::uint64_t missing = 0;
  std::optional<std::uint64_t> result;  // kDone; nothing: not known
  struct Write {
    std::uint64_t address = 0;
    std::vector<std::optional<std::uint8_t>> bytes;  // nothing: not known
  };
  std::vector<Write> writes;  // in this order, when all has been read
  bool allocates = false;     // the result is the thread's next block
};

// `arguments`: nothing for what is not known. `seen` are the bytes that were read, in order. `is_stream`: whether that is
// the address of std::cout or one of its like; `block`: where the next block would be; `block_size`: of one that exists.
LibraryCall model_library_call(const llvm::CallBase& call, const std::string& name,
                               const std::vector<std::optional<std::uint64_t>>& arguments,
                               const std::vector<std::uint8_t>& seen,
                               const std::function<bool(std::uint64_t)>& is_stream, std::uint64_t block,
                               const std::function<std::optional<std::uint64_t>(std::uint64_t)>& block_size = {});

}  // namespace sooth
