// Frames, and the ways between blocks.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/IR/Instructions.h>

#include "recipe/execute/code.h"
#include "smt/expr.h"

namespace sooth {

// A function that runs, or (code == nullptr) something without IR that the function below it has called.
struct CodeFrame {
  const FunctionCode* code = nullptr;
  std::uint32_t base = 0;  // first cell in the stack of cells
  std::uint32_t pc = 0;    // the step that is next; while something is called, the call
  // Of what has no IR:
  bool is_pinned = false;        // the arguments of the call have their recorded values
  bool is_passage = false;       // it did nothing but enter the function that was called, which has IR
  bool is_interruption = false;  // a signal: the step of the frame below is still to be executed
};

// Jumps to the first step of `to` behind its phis, which get their values. Returns how many they are.
std::uint32_t enter_block(CodeTable& code, CodeFrame& frame, Cell* cells, const llvm::BasicBlock& from,
                          const llvm::BasicBlock& to, std::vector<Cell>& scratch);

// The number of the successor: 0 is that of "true", and the default of a switch.
std::uint32_t outcome_of(const llvm::Instruction& branch, std::uint64_t value);
// What must hold of the value that decides for the branch to lead to that block.
ExprId goes_to(ExprTable& table, const llvm::Instruction& branch, ExprId value, const llvm::BasicBlock& block);

}  // namespace sooth
