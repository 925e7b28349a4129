// A name for a file that several processes want to give at the same time: one gets it.
#pragma once

#include <string>
#include <utility>

#include "base/status.h"

namespace sooth {

// sooth-PROG and the ending, with the first number that makes it a name that nobody has: "sooth-a.json",
// "sooth-a-2.json". `n` is 1 for the first.
std::string numbered_name(const std::string& program, const std::string& ending, int n);

// The name is taken by an empty file, which goes away with this object unless somebody has written to it or put another
// file in its place.
class ClaimedFile {
 public:
  // The first of numbered_name() that is free.
  static Result<ClaimedFile> create(const std::string& program, const std::string& ending);

  ~ClaimedFile();
  ClaimedFile(ClaimedFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ClaimedFile& operator=(ClaimedFile&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit ClaimedFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace sooth
