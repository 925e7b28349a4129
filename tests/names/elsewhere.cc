#include "elsewhere.h"

struct Hidden {
  long id = 0;
  int level = 0;
};

Shape::~Shape() = default;
Sprite::~Sprite() = default;

Hidden* make_hidden() { return new Hidden; }

void touch_hidden(Hidden* hidden) { hidden->level = 1; }
