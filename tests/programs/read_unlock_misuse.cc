// An annotated lock is given back as by a reader, and was taken by a writer.
#include "annotations.h"
#include "harness.h"

int lock;

int main() {
  AnnotateRWLockCreate(__FILE__, __LINE__, &lock);
  AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
  AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 0);  // MISUSE(bad-read-unlock)
}
