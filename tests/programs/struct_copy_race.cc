// A struct is copied while another thread writes one of its members.
#include "harness.h"

struct Record {
  long fields[6];
};

Record records[2];
Record copy;

static void copier() {
  copy = records[0];  // RACE(a)
}

static void writer() {
  records[0].fields[4] = 1;  // RACE(a)
}

int main() {
  run_threads(copier, writer);
}
