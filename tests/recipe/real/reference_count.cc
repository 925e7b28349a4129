// A count of references. The last owner writes the summary; the second owner touches the object after it has let go.
//
// In a serial run the second owner is the last one, so it writes the summary itself.
#include <atomic>
#include <iostream>
#include <string>
#include <thread>

namespace {

struct Document {
  std::atomic<int> references{2};
  int pages = 3;
  int prints = 0;
  std::string summary;

  // True: that was the last one.
  bool release() { return references.fetch_sub(1) == 1; }

  void finish() {
    summary = "printed " + std::to_string(prints) + " times";  // RACE(prints)
  }
};

void edit(Document& document) {
  const bool was_last = document.release();
  if (was_last) {
    document.finish();
  }
}

void print(Document& document) {
  const bool was_last = document.release();
  if (was_last) {
    document.finish();
    return;
  }
  document.prints++;  // RACE(prints)
}

}  // namespace

int main() {
  Document document;
  std::thread editor([&] { edit(document); });
  std::thread printer([&] { print(document); });
  editor.join();
  printer.join();
  std::cout << document.summary << ", " << document.pages << " pages\n";
}
