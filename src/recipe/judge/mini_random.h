// For tests: random tiny programs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "recipe/judge/mini_program.h"

namespace sooth::mini {

// Two or three threads, variables and locks, branches in branches. Random is oracle/random.h's.
template <typename Random>
class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  Program program() {
    Program program;
    variables_ = random_.between(2, 3);
    for (std::uint32_t v = 0; v < variables_; ++v) {
      program.initial.push_back(random_.below(4));
    }
    program.locks = random_.between(1, 2);
    locks_ = program.locks;
    const std::uint32_t threads = random_.between(2, 3);
    for (std::uint32_t t = 0; t < threads; ++t) {
      registers_ = 0;
      visible_.clear();
      program.threads.push_back(statements(random_.between(2, 5), 0, -1));
    }
    return program;
  }

 private:
  std::vector<Statement> statements(std::uint32_t count, int depth, int held) {
    std::vector<Statement> list;
    const std::size_t outer = visible_.size();
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t what = random_.below(100);
      if (what < 35 || visible_.empty()) {
        list.push_back(mini::load(registers_, variable()));
        visible_.push_back(registers_++);
      } else if (what < 55) {
        list.push_back(random_.percent(50) ? store(variable(), random_.below(5))
                                           : store_register(variable(), random_.pick(visible_)));
      } else if (what < 65) {
        list.push_back(mini::compute(registers_, random_.pick(visible_), random_.pick(kOperations), random_.below(4)));
        visible_.push_back(registers_++);
      } else if (what < 85 && depth < 2) {
        const int source = random_.pick(visible_);
        std::vector<Statement> then = statements(random_.between(0, 3), depth + 1, held);
        std::vector<Statement> otherwise = statements(random_.between(0, 3), depth + 1, held);
        list.push_back(mini::branch(source, random_.below(4), std::move(then), std::move(otherwise)));
      } else if (what < 94 && held < 0) {
        const std::uint32_t lock = random_.below(locks_);
        list.push_back(mini::lock(lock));
        for (Statement& inside : statements(random_.between(1, 2), depth + 1, 0)) {
          list.push_back(std::move(inside));
        }
        list.push_back(mini::unlock(lock));
      } else {
        list.push_back(mini::print(random_.pick(visible_)));
      }
    }
    visible_.resize(outer);
    return list;
  }
  std::uint32_t variable() { return random_.below(variables_); }

  static constexpr char kOperations[] = {'+', '-', '*', '&', '^'};
  Random& random_;
  std::uint32_t variables_ = 0;
  std::uint32_t locks_ = 0;
  int registers_ = 0;
  std::vector<int> visible_;
};

}  // namespace sooth::mini
