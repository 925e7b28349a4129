#include "launch/private_directory.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace sooth {
namespace {

constexpr char kMemory[] = "/dev/shm";

std::uint64_t free_at(const std::string& directory) {
  struct statvfs info {};
  return ::statvfs(directory.c_str(), &info) == 0 ? std::uint64_t{info.f_bavail} * info.f_frsize : 0;
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::create(std::uint64_t bytes) {
  std::vector<std::string> places;
  if (free_at(kMemory) >= bytes) {
    places.push_back(kMemory);
  }
  if (const char* chosen = std::getenv("TMPDIR"); chosen != nullptr && chosen[0] == '/') {
    places.push_back(chosen);
  }
  places.push_back("/tmp");
  std::string name;
  for (const std::string& place : places) {
    name = place + "/sooth-run-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) {
      return PrivateDirectory(name);
    }
  }
  return Status::internal("cannot make a temporary directory, " + name + ": " + std::strerror(errno));
}

PrivateDirectory::~PrivateDirectory() {
  if (!path_.empty()) {
    std::error_code ignored;  // whoever has removed it already did what we want
    std::filesystem::remove_all(path_, ignored);
  }
}

std::uint64_t PrivateDirectory::free_bytes() const { return free_at(path_); }

}  // namespace sooth
