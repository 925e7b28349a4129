// A program that waits for the disk most of its time, with a race: two threads write a file each, block by block, and
// count the blocks without a lock. The arguments: a directory to write to, and the number of blocks.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBlock = 64 << 10;

std::mutex mutex;
long bytes = 0;
volatile long blocks = 0;

void write_file(const std::string& path, int count) {
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  std::vector<char> block(kBlock, 'x');
  for (int i = 0; i < count; ++i) {
    const ssize_t written = ::write(file, block.data(), block.size());
    ::fdatasync(file);
    const std::lock_guard<std::mutex> guard(mutex);
    bytes += written;
  }
  blocks = blocks + count;
  ::close(file);
  ::unlink(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : ".";
  const int count = argc > 2 ? std::atoi(argv[2]) : 100;
  const std::string name = directory + "/racy_files." + std::to_string(::getpid());
  std::thread one(write_file, name + ".1", count), other(write_file, name + ".2", count);
  one.join();
  other.join();
  std::printf("%ld bytes in %ld blocks\n", bytes, static_cast<long>(blocks));
}
