// Which function of another library a call instruction calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "symbol/elf_image.h"

namespace sooth {

// The code of one x86-64 file, read without trusting its bytes. Not thread safe.
class ImportedCalls {
 public:
  static Result<std::unique_ptr<ImportedCalls>> open(const std::string& path);

  // The function that the call ending at `address` calls, through the table of what the file imports (by `call *table`, or
  // by way of the linkage table); empty when there is no such call. `address` is the last byte of the instruction, as the
  // recorder notes callers: in addresses of the ELF file.
  std::string callee(std::uint64_t address) const;

 private:
  ImportedCalls(MappedFile file, ElfImage image) : file_(std::move(file)), image_(std::move(image)) {}

  std::string_view imported(std::uint64_t slot) const;

  MappedFile file_;
  ElfImage image_;
  std::map<std::uint64_t, std::string> imports_;  // by the place that holds the address
};

}  // namespace sooth
