// What a program read from standard input, kept so that later runs of it read the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"

namespace sooth {

// Where to read it from; an empty path: there is nothing.
struct KeptInput {
  std::string path;
  std::uint64_t offset = 0;  // of its first byte
};

// For one recorded run. A regular file is simply read again. What comes through a pipe or a socket is copied while the
// program reads it, at the program's pace. What a terminal gives is not kept.
class InputKeeper {
 public:
  // `spool`: a file that is made when one is needed; at most `max_bytes` are kept.
  static Result<InputKeeper> open(const std::string& spool, std::uint64_t max_bytes);
  InputKeeper(InputKeeper&&) noexcept;
  ~InputKeeper();

  // The descriptor that becomes the program's standard input, as SpawnOptions::input has it; -1: it has ours.
  int for_program() const;
  // The program has been started.
  void begin();
  // What is known before the end: where a file is read again; else nothing.
  KeptInput known() const { return for_program() < 0 ? kept_ : KeptInput(); }
  // It is over. May be called once.
  KeptInput end();
  // There was more than is kept.
  bool cut() const;

 private:
  class Copier;
  InputKeeper();
  KeptInput kept_;
  std::unique_ptr<Copier> copier_;
};

}  // namespace sooth
