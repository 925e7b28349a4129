// Assignment of a struct of 64 KiB: the byte after it is written by another thread.
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
  target.page = source;
}

static void writer() {
  target.after = 1;
}

int main() {
  run_threads(assigner, writer);
}
