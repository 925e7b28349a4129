// Classes whose description compilers leave to the unit that has their vtables, constructors or all of them.
#pragma once

struct Shape {
  virtual ~Shape();
  int sides = 0;
};
struct Sprite : Shape {
  ~Sprite() override;
  int edge = 0;
};
struct Scene {
  int number = 0;
  Sprite front;
};

struct Hidden;
Hidden* make_hidden();
void touch_hidden(Hidden* hidden);
