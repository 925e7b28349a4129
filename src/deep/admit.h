// Which code of a recording is worked with at all. Bytes of a recording may come from anybody; LLVM's reader crashes on
// some that are no code, and its verifier accepts code that no compiler makes.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <llvm/Support/Error.h>

#include "base/status.h"
#include "trace/recording/deep_file.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace sooth {

// Empty, or why this is no code that a compiler makes for the machines we know: it must verify with its debug
// information; values, types and constants have sizes that can be worked with. What all of src/recipe/ relies on:
// - pointers of address space 0 have 64 bits, with indices of as many; bytes are in little endian order;
// - integers have at most 65,536 bits; no value of an instruction or argument has more than 4,096 scalars; types take less
//   than 2^47 bytes; none is scalable;
// - constants are nested at most 2,048 deep, and those of an instruction have at most 65,536 parts, counted as often as
//   they are used.
std::string why_not_admitted(const llvm::Module& module);

// Whether all modules can be parsed and are admitted, found out by a child process that may crash: base/cage.h. An error
// when not, with the number of the module. After that, parsing them here is safe as far as the same bytes do the same.
Status admit(std::span<const KeptModule> modules);

// Code that is admitted; other bytes may crash LLVM, or make it print. What it complains of goes to `complained`, if
// that is not nullptr, while the context lives.
llvm::Expected<std::unique_ptr<llvm::Module>> parse_admitted(const KeptModule& kept, llvm::LLVMContext& context,
                                                             bool* complained = nullptr);

}  // namespace sooth
