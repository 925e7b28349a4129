// What the object files of the deep test program share.
#pragma once

#include <cstdarg>
#include <string>

struct Small {
  int a;
  double b;
};
struct Big {
  long words[20];
};
struct Bits {
  unsigned low : 3;
  unsigned high : 11;
  signed tail : 5;
};

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int scale) const = 0;
};
Shape* make_square(int side);
Shape* make_circle(int radius);

// In the other object file.
Small twice(Small small);
Big shifted(Big big, int by);
int sum_of(int count, ...);
long double halves(long double x);
void fail_at(int depth);

// An inline function that both object files have.
inline int inlined(int x) {
  static int calls = 0;
  ++calls;
  return x * 3 + calls;
}
