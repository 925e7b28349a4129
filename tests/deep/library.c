// The library of features.c.
static int used;

int from_library(int x, int (*back)(int)) {
  int sum = used++;
  for (int i = 0; i < x; ++i) sum += back(i);
  return sum;
}

int plugin_entry(int x) { return x * 10 + used++; }
