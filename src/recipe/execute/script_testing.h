// For tests: a deep recording written by hand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deep/program.h"
#include "predict/trace_index.h"
#include "recipe/execute/thread_trace.h"

namespace sooth {

// One module; what its threads do is told in the order in which it happened. Thread 0 forks the others first.
class Script {
 public:
  Script(std::string text, std::vector<std::pair<std::string, std::uint64_t>> addresses, std::uint32_t threads)
      : program_(parse(std::move(text), std::move(addresses))) {
    for (std::uint32_t t = 1; t < threads; ++t) {
      event(0, Op::kFork, t, 0);
    }
    for (std::uint32_t t = 1; t < threads; ++t) {
      event(t, Op::kBegin, 0, 0);
    }
  }

  Script& enter(std::uint32_t thread, const std::string& function) {
    for (std::uint32_t f = 0; f < program_.functions(0); ++f) {
      if (name_of(program_, f) == function) {
        return record(thread, {.kind = DeepKind::kEnter, .function = f});
      }
    }
    ADD_FAILURE() << "no function " << function;
    return *this;
  }
  Script& word(std::uint32_t thread, std::uint64_t value) {
    return record(thread, {.kind = DeepKind::kWord, .value = value});
  }
  Script& address(std::uint32_t thread, std::uint64_t value) {
    return record(thread, {.kind = DeepKind::kAddress, .value = value});
  }
  Script& branch(std::uint32_t thread, std::uint64_t outcome) {
    return record(thread, {.kind = DeepKind::kBranch, .value = outcome});
  }
  Script& returns(std::uint32_t thread, std::uint32_t function, std::uint32_t call, std::uint64_t value) {
    return record(thread, {.kind = DeepKind::kReturn, .function = function, .id = call, .value = value});
  }
  Script& landed(std::uint32_t thread, std::uint32_t function, std::uint32_t pad) {
    return record(thread, {.kind = DeepKind::kLanded, .function = function, .id = pad});
  }
  Script& read(std::uint32_t thread, std::uint64_t at, std::uint32_t size, std::uint64_t value, Op op = Op::kRead) {
    return event(thread, op, at, size, {value, 0, static_cast<std::uint8_t>(size)});
  }
  Script& write(std::uint32_t thread, std::uint64_t at, std::uint32_t size, std::uint64_t value, Op op = Op::kWrite) {
    return event(thread, op, at, size, {value, 0, static_cast<std::uint8_t>(size)});
  }
  Script& event(std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size, Value value = {}) {
    events_.push_back({.object = object, .thread = ThreadId{thread}, .size = size, .op = op});
    values_.push_back(value);
    return *this;
  }

  const DeepProgram& program() const { return program_; }
  TraceView view() const { return {events_, values_, {}, nullptr, {}, records_}; }
  SymbolicProgram execute(const ExecuteOptions& options = {}) const {
    const TraceIndex index(view(), {}, KeptOrder::kButAtomics);
    Result<SymbolicProgram> made = execute_symbolically(program_, index, view(), records_, options);
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }

 private:
  static DeepProgram parse(std::string text, std::vector<std::pair<std::string, std::uint64_t>> addresses);
  static std::string name_of(const DeepProgram& program, std::uint32_t function);
  Script& record(std::uint32_t thread, DeepRecord record) {
    record.before = EventId{events_.size()};
    record.thread = ThreadId{thread};
    records_.push_back(record);
    return *this;
  }

  DeepProgram program_;
  std::vector<Event> events_;
  std::vector<Value> values_;
  std::vector<DeepRecord> records_;
};

// Each condition holds of the recorded values, and each value written is the recorded one.
void check_recorded(const SymbolicProgram& made, const TraceView& trace);

}  // namespace sooth
