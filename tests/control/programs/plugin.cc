// The pair is in a library that is loaded while threads already run, unloaded, and loaded again.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <thread>

int main(int, char** arguments) {
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    void* library = dlopen((std::string(arguments[0]) + "_library.so").c_str(), RTLD_NOW);
    if (library == nullptr) return 2;
    auto write = reinterpret_cast<void (*)()>(dlsym(library, "write_it"));
    auto read = reinterpret_cast<int (*)()>(dlsym(library, "read_it"));
    std::thread a(write), b([&] { sum += read(); });
    a.join();
    b.join();
    dlclose(library);
  }
  std::printf("%d\n", sum);
}
