#!/usr/bin/env python3
"""Random C++ programs of two threads, small enough for `sooth explore` to run all their schedules.

    generate_cpp.py SEED > program.cc

Threads share what ordinary programs do: a std::map from names to numbers, a std::string, an object with virtual functions behind a pointer, all of them under one lock, and plain integers without.
What they do with these integers depends on what they find: on branches, in loops, in handlers of exceptions of their own and of the library. So all races are races of integers, in lines of the
program. A program is a tree, as those of generate.py are.
"""
import random
import sys

from generate import Block, lines

HEADER = """\
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
"""
TYPES = """\
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const = 0;
};
struct Square final : Shape {
  int corners() const override { return 4; }
};
struct Circle final : Shape {
  int corners() const override { return 0; }
};
Square square;
Circle circle;
std::mutex m;
""".splitlines()
# What is done under the lock, by name.
FUNCTIONS = {
    "get": "static int get(const std::string& name) { std::lock_guard<std::mutex> g(m); const auto i = table.find(name); return i == table.end() ? -1 : i->second; }",
    "must": "static int must(const std::string& name) { std::lock_guard<std::mutex> g(m); return table.at(name); }",
    "put": "static void put(const std::string& name, int value) { std::lock_guard<std::mutex> g(m); table[name] = value; }",
    "drop": "static void drop(const std::string& name) { std::lock_guard<std::mutex> g(m); table.erase(name); }",
    "say": "static void say(const std::string& text) { std::lock_guard<std::mutex> g(m); word = text; }",
    "is": "static bool is(const char* text) { std::lock_guard<std::mutex> g(m); return word == text; }",
    "length": "static int length() { std::lock_guard<std::mutex> g(m); return static_cast<int>(word.size()); }",
    "pick": "static void pick(Shape* other) { std::lock_guard<std::mutex> g(m); shape = other; }",
    "corners": "static int corners() { std::lock_guard<std::mutex> g(m); return shape->corners(); }",
}
NAMES = ['"a"', '"name"', '"a longer name than fits into a string"']
TEXTS = ['"on"', '"off"', '"neither the one nor the other"']
INTEGERS = ["x", "y"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.used = set()
        self.objects = self.random.sample(["table", "word", "shape"], self.random.choice([1, 1, 2]))

    def pick(self, *choices):
        return self.random.choice(choices)

    def call(self, name, *arguments):
        self.used.add(name)
        return f"{name}({', '.join(arguments)})"

    def condition(self):
        kind = self.pick(*self.objects)
        if self.random.random() < 0.15:
            return f"{self.pick(*INTEGERS)} > {self.pick(0, 1)}"
        if kind == "table":
            return f"{self.call('get', self.pick(*NAMES))} {self.pick('>', '<', '==')} {self.pick(-1, 0, 1, 2)}"
        if kind == "word":
            return self.pick(self.call("is", self.pick(*TEXTS)), f"{self.call('length')} > {self.pick(2, 3, 10)}")
        return f"{self.call('corners')} == {self.pick(0, 4)}"

    def change(self):
        kind = self.pick(*self.objects)
        if kind == "table":
            return self.pick(self.call("put", self.pick(*NAMES), str(self.pick(0, 1, 2))), self.call("drop", self.pick(*NAMES))) + ";"
        if kind == "word":
            return self.call("say", self.pick(*TEXTS)) + ";"
        return self.call("pick", self.pick("&square", "&circle")) + ";"

    def plain(self):
        one, other = self.random.sample(INTEGERS, 2)
        return self.pick(f"{one} = {self.pick(1, 2, 3)};", f"{one} = {other} + 1;", f"++{one};")

    def statement(self, depth):
        kind = self.pick("plain", "plain", "change", "if", "if", "if", "throw", "library", "loop") if depth else self.pick("plain", "plain", "change")
        if kind == "plain":
            return [self.plain()]
        if kind == "change":
            return [self.change()]
        if kind == "if":
            inside = self.statement(depth - 1)
            return [Block(f"if ({self.condition()}) {{", inside, "}")]
        if kind == "throw":
            handler = self.pick("const Refused&", "const std::runtime_error&", "const std::exception&", "...")
            thrower = self.pick('throw Refused("no");', 'throw std::runtime_error("no");') if handler != "const Refused&" else 'throw Refused("no");'
            return [Block("try {", [f"if ({self.condition()}) {thrower}", self.plain()], ""), Block(f"}} catch ({handler}) {{", [self.plain()], "}")]
        if kind == "library" and "table" in self.objects:
            handler = self.pick("const std::out_of_range&", "const std::exception&", "...")
            one = self.pick(*INTEGERS)
            return [Block("try {", [f"{one} = {self.call('must', self.pick(*NAMES))};"], ""), Block(f"}} catch ({handler}) {{", [self.plain()], "}")]
        if kind == "loop" and "word" in self.objects:
            return [Block(f"for (int i = 0; i < {self.call('length')} - 2 && i < 2; ++i) {{", [self.plain()], "}")]
        return [self.plain()]

    def thread(self, number):
        nodes = []
        for _ in range(self.pick(2, 2, 3)):
            nodes += self.statement(2)
        return Block(f"static void thread{number}() {{", nodes, "}")

    def program(self):
        threads = [self.thread(number) for number in range(2)]
        nodes = list(TYPES)
        nodes.append(f"std::map<std::string, int> table{{{{{self.pick(*NAMES)}, {self.pick(0, 1, 2)}}}}};")
        nodes.append(f"std::string word = {self.pick(*TEXTS)};")
        nodes.append(f"Shape* shape = &{self.pick('square', 'circle')};")
        nodes.append(f"int x = {self.pick(0, 1)}, y = {self.pick(0, 2)};")
        nodes += [text for name, text in FUNCTIONS.items() if name in self.used]
        nodes += threads
        nodes.append(Block("int main() {", ["std::thread first(thread0), second(thread1);", "first.join();", "second.join();"], "}"))
        return nodes


def render(nodes):
    return HEADER + "\n".join(lines(nodes)) + "\n"


def generate(seed):
    return Generator(seed).program()


if __name__ == "__main__":
    sys.stdout.write(render(generate(int(sys.argv[1]))))
