// A struct is copied while another thread writes the one next to it.
#include "harness.h"

struct Record {
  long fields[6];
};

Record records[2];
Record copy;

static void copier() {
  copy = records[0];
}

static void writer() {
  records[1].fields[4] = 1;
}

int main() {
  run_threads(copier, writer);
}
