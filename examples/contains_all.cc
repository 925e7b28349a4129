// Collections that lock themselves, and operations that take another one: contains_all and remove_all lock the
// collection they are called on and walk through the other one without its lock. A walk that meets a change throws,
// as careful collections do, and nobody catches that: the program dies.
//
// FOUND(begin): hb wcp    the begin of the walk, and the removal from the collection it walks through
// FOUND(removal): hb wcp  the walk that looks for changes, and the removal
// FOUND(links): hb wcp ?  the walk that follows the links, and the removal that changes them; not told by a run that dies before
//
// No race: `first` is never changed while `second` is walked through; each list is built before the threads start,
// and main looks at the sizes after the join.
// TSAN: some, it remembers few accesses to a word
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

struct Node {
  int value;
  Node* next;
};

class List {
 public:
  explicit List(int count) {
    for (int i = count; i > 0; --i) {
      head_ = new Node{i, head_};
    }
  }

  ~List() {
    while (head_ != nullptr) {
      delete std::exchange(head_, head_->next);
    }
    for (int i = 0; i < removals_; ++i) {
      delete removed_[i];
    }
  }

  bool contains_all(const List& other) {
    std::lock_guard<std::mutex> guard(mutex_);
    int changes = other.changes_;  // RACE(begin)
    for (Node* node = other.head_; node != nullptr; node = other.next(node, changes)) {
      if (!contains(node->value)) {
        return false;
      }
    }
    return true;
  }

  // Takes every value of the range out; the nodes are kept, so that a walk does not fall off.
  void remove_all(int least, int most) {
    std::lock_guard<std::mutex> guard(mutex_);
    for (Node** link = &head_->next; *link != nullptr;) {
      if ((*link)->value >= least && (*link)->value <= most) {
        Node* node = *link;
        changes_ = changes_ + 1;  // RACE(begin) RACE(removal)
        *link = node->next;       // RACE(links)
        delete_later(node);
      } else {
        link = &(*link)->next;
      }
    }
  }

  int size() const {
    int count = 0;
    for (Node* node = head_; node != nullptr; node = node->next) {
      ++count;
    }
    return count;
  }

 private:
  bool contains(int value) const {
    for (Node* node = head_; node != nullptr; node = node->next) {
      if (node->value == value) {
        return true;
      }
    }
    return false;
  }

  // Not inlined: compilers count the step among the lines of the loop otherwise.
  [[gnu::noinline]] Node* next(const Node* node, int changes) const {
    return check(changes), node->next;  // RACE(links)
  }

  void check(int changes) const {
    if (changes_ != changes) {  // RACE(removal)
      throw std::runtime_error("the list changed during the walk");
    }
  }

  void delete_later(Node* node) { removed_[removals_++] = node; }

  std::mutex mutex_;
  Node* head_ = nullptr;
  volatile int changes_ = 0;  // read anew every time: a walk that keeps what it read notices nothing
  Node* removed_[8] = {};
  int removals_ = 0;
};

}  // namespace

int main() {
  List first(6), second(4);
  bool contained = false;
  std::thread asking([&] { contained = first.contains_all(second); });
  std::thread removing([&] { second.remove_all(2, 3); });
  asking.join();
  removing.join();
  std::printf("%s, %d left\n", contained ? "contained" : "not contained", second.size());
}
