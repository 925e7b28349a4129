// An editor with undo. Undoing what there is counts in a plain variable.
//
// In a serial run the history is empty when the second thread wants to undo something.
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Change {
  enum class Kind { kInsert, kErase } kind = Kind::kInsert;
  std::size_t at = 0;
  std::string text;
};

class Editor {
 public:
  void insert(std::size_t at, const std::string& text) {
    std::lock_guard<std::mutex> guard(mutex_);
    text_.insert(at, text);
    history_.push_back({Change::Kind::kInsert, at, text});
  }
  void save() {
    std::lock_guard<std::mutex> guard(mutex_);
    history_.clear();
    saved_ = text_;
  }
  bool undo() {
    std::lock_guard<std::mutex> guard(mutex_);
    if (history_.empty()) {
      return false;
    }
    const Change change = history_.back();
    history_.pop_back();
    if (change.kind == Change::Kind::kInsert) {
      text_.erase(change.at, change.text.size());
    } else {
      text_.insert(change.at, change.text);
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::string text_, saved_;
  std::vector<Change> history_;
};

}  // namespace

int main() {
  Editor editor;
  int undone = 0, shown = 0;
  std::thread typist([&] {
    editor.insert(0, "hello");
    editor.save();
    shown = undone;  // RACE(undone)
  });
  std::thread menu([&] {
    if (editor.undo()) {
      ++undone;  // RACE(undone)
    }
  });
  typist.join();
  menu.join();
  std::cout << shown << '\n';
}
