// Name spaces of its own for a run, so that runs at the same time do not meet: a port that one binds is free for the
// others, and what one writes nobody else sees.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

// Network: only a loopback interface. Files: what the process writes in the folder that it runs in, and in /tmp,
// /var/tmp and /dev/shm, goes to memory, and is gone with it (overlayfs over tmpfs); elsewhere it writes what is there.
class Isolation {
 public:
  // The folder of a run's shared folder in which its memory is mounted: make it first.
  static constexpr char kMemoryFolder[] = "memory";

  // For runs in the current folder. Tries it in a process of its own: the error says why it cannot be.
  static Result<Isolation> probe();

  // In a new process, before it becomes the program: async-signal-safe. `shared`: path of a folder that the process
  // shares with us all the same. False: errno says why.
  bool enter(const char* shared) const;

 private:
  Isolation() = default;
  bool mount_layers(const char* shared) const;

  std::string user_map_, group_map_, folder_;
  std::vector<std::string> written_;  // folders
};

}  // namespace sooth
