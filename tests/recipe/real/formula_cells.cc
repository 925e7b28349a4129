// A sheet of cells with formulas. What cannot be computed throws, and the handler counts errors without a lock.
//
// In a serial run the divisor has been set before the sheet is computed.
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

class Sheet;

class Formula {
 public:
  virtual ~Formula() = default;
  virtual long value(Sheet& sheet) const = 0;
};

class Sheet {
 public:
  void set(const std::string& name, long value) {
    std::lock_guard<std::mutex> guard(mutex_);
    cells_[name] = value;
  }
  long get(const std::string& name) {
    std::lock_guard<std::mutex> guard(mutex_);
    return cells_.at(name);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, long> cells_;
};

class Cell final : public Formula {
 public:
  explicit Cell(std::string name) : name_(std::move(name)) {}
  long value(Sheet& sheet) const override { return sheet.get(name_); }

 private:
  std::string name_;
};

struct DivisionByZero : std::exception {
  const char* what() const noexcept override { return "division by zero"; }
};

class Quotient final : public Formula {
 public:
  Quotient(std::unique_ptr<Formula> a, std::unique_ptr<Formula> b) : a_(std::move(a)), b_(std::move(b)) {}
  long value(Sheet& sheet) const override {
    const long a = a_->value(sheet), b = b_->value(sheet);
    if (b == 0) {
      throw DivisionByZero();
    }
    return a / b;
  }

 private:
  std::unique_ptr<Formula> a_, b_;
};

int errors = 0;

long compute(Sheet& sheet, const Formula& formula) {
  try {
    return formula.value(sheet);
  } catch (const DivisionByZero&) {
    ++errors;  // RACE(errors)
    return -1;
  }
}

}  // namespace

int main() {
  Sheet sheet;
  sheet.set("total", 100);
  sheet.set("count", 0);
  const Quotient average(std::make_unique<Cell>("total"), std::make_unique<Cell>("count"));
  long result = 0;
  int seen = 0;
  std::thread editor([&] {
    sheet.set("count", 4);
    seen = errors;  // RACE(errors)
  });
  std::thread computing([&] { result = compute(sheet, average); });
  editor.join();
  computing.join();
  std::cout << result << ' ' << seen << '\n';
}
