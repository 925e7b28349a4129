// Assignment of a struct of 64 KiB: its last byte is written by another thread.
#include "harness.h"

struct Page {
  char bytes[65536];
};

struct Target {
  Page page;
  char after;
} target;
Page source;

static void assigner() {
  target.page = source;  // RACE(a)
}

static void writer() {
  target.page.bytes[65535] = 1;  // RACE(a)
}

int main() {
  run_threads(assigner, writer);
}
