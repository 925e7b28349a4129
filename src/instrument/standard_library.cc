// What std::map, std::set, std::list and the unordered containers call in libstdc++.so, with code that deep recordings
// can follow. It is compiled to LLVM code when Sooth is built, and the pass puts what a program calls of it into the
// program (library.cc). All of it does what the library's own functions do, so code with and without it may work on the
// same containers; src/instrument/standard_library_test.cc compares them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>

namespace std {

namespace {

using Node = _Rb_tree_node_base;

bool is_red(const Node* node) { return node != nullptr && node->_M_color == _S_red; }

// Puts `by` where `node` is in the eyes of the parent.
void replace(Node* node, Node* by, Node& header) {
  if (header._M_parent == node) {
    header._M_parent = by;
  } else if (node->_M_parent->_M_left == node) {
    node->_M_parent->_M_left = by;
  } else {
    node->_M_parent->_M_right = by;
  }
}

// Its child on the other side rises above the node, which becomes that one's child on side `to_left`.
void rotate(Node* node, bool to_left, Node& header) {
  Node* up = to_left ? node->_M_right : node->_M_left;
  Node* inner = to_left ? up->_M_left : up->_M_right;
  (to_left ? node->_M_right : node->_M_left) = inner;
  if (inner != nullptr) {
    inner->_M_parent = node;
  }
  up->_M_parent = node->_M_parent;
  replace(node, up, header);
  (to_left ? up->_M_left : up->_M_right) = node;
  node->_M_parent = up;
}

Node* next(Node* node) {
  if (node->_M_right != nullptr) {
    for (node = node->_M_right; node->_M_left != nullptr; node = node->_M_left) {
    }
    return node;
  }
  Node* above = node->_M_parent;
  while (node == above->_M_right) {
    node = above;
    above = above->_M_parent;
  }
  // From a root without a right child the way leads to the header and back.
  return node->_M_right != above ? above : node;
}

Node* previous(Node* node) {
  if (node->_M_color == _S_red && node->_M_parent->_M_parent == node) {  // the header
    return node->_M_right;
  }
  if (node->_M_left != nullptr) {
    for (node = node->_M_left; node->_M_right != nullptr; node = node->_M_right) {
    }
    return node;
  }
  Node* above = node->_M_parent;
  while (node == above->_M_left) {
    node = above;
    above = above->_M_parent;
  }
  return above;
}

// The subtree at `node`, which may be empty, has one black node less on its way down than its sibling.
void restore_black(Node* node, Node* parent, Node& header) {
  while (node != header._M_parent && !is_red(node)) {
    const bool is_left = node == parent->_M_left;
    Node* sibling = is_left ? parent->_M_right : parent->_M_left;
    if (is_red(sibling)) {
      sibling->_M_color = _S_black;
      parent->_M_color = _S_red;
      rotate(parent, is_left, header);
      sibling = is_left ? parent->_M_right : parent->_M_left;
    }
    Node* far = is_left ? sibling->_M_right : sibling->_M_left;
    Node* near = is_left ? sibling->_M_left : sibling->_M_right;
    if (!is_red(far) && !is_red(near)) {
      sibling->_M_color = _S_red;
      node = parent;
      parent = parent->_M_parent;
      continue;
    }
    if (!is_red(far)) {
      near->_M_color = _S_black;
      sibling->_M_color = _S_red;
      rotate(sibling, !is_left, header);
      far = sibling;
      sibling = near;
    }
    sibling->_M_color = parent->_M_color;
    parent->_M_color = _S_black;
    far->_M_color = _S_black;
    rotate(parent, is_left, header);
    break;
  }
  if (node != nullptr) {
    node->_M_color = _S_black;
  }
}

}  // namespace

Node* _Rb_tree_increment(Node* node) noexcept { return next(node); }
const Node* _Rb_tree_increment(const Node* node) noexcept { return next(const_cast<Node*>(node)); }
Node* _Rb_tree_decrement(Node* node) noexcept { return previous(node); }
const Node* _Rb_tree_decrement(const Node* node) noexcept { return previous(const_cast<Node*>(node)); }

void _Rb_tree_insert_and_rebalance(const bool left, Node* node, Node* parent, Node& header) noexcept {
  node->_M_parent = parent;
  node->_M_left = nullptr;
  node->_M_right = nullptr;
  node->_M_color = _S_red;
  if (left) {
    parent->_M_left = node;  // of the header it is the leftmost one
    if (parent == &header) {
      header._M_parent = node;
      header._M_right = node;
    } else if (parent == header._M_left) {
      header._M_left = node;
    }
  } else {
    parent->_M_right = node;
    if (parent == header._M_right) {
      header._M_right = node;
    }
  }
  while (node != header._M_parent && node->_M_parent->_M_color == _S_red) {
    Node* above = node->_M_parent;
    Node* top = above->_M_parent;
    const bool is_left = above == top->_M_left;
    Node* uncle = is_left ? top->_M_right : top->_M_left;
    if (is_red(uncle)) {
      above->_M_color = _S_black;
      uncle->_M_color = _S_black;
      top->_M_color = _S_red;
      node = top;
      continue;
    }
    if (node == (is_left ? above->_M_right : above->_M_left)) {
      rotate(above, is_left, header);
      Node* const lower = node;
      node = above;
      above = lower;
    }
    above->_M_color = _S_black;
    top->_M_color = _S_red;
    rotate(top, !is_left, header);
  }
  header._M_parent->_M_color = _S_black;
}

Node* _Rb_tree_rebalance_for_erase(Node* const node, Node& header) noexcept {
  if (header._M_left == node) {
    header._M_left = next(node);
  }
  if (header._M_right == node) {
    header._M_right = previous(node);
  }
  Node* child = nullptr;   // what takes the place of the node that leaves the tree
  Node* parent = nullptr;  // of that
  bool lost_black = node->_M_color == _S_black;
  if (node->_M_left == nullptr || node->_M_right == nullptr) {
    child = node->_M_left != nullptr ? node->_M_left : node->_M_right;
    parent = node->_M_parent;
    if (child != nullptr) {
      child->_M_parent = parent;
    }
    replace(node, child, header);
  } else {  // the next one, which has no left child, comes here
    Node* heir = node->_M_right;
    while (heir->_M_left != nullptr) {
      heir = heir->_M_left;
    }
    lost_black = heir->_M_color == _S_black;
    child = heir->_M_right;
    parent = heir;
    if (heir != node->_M_right) {
      parent = heir->_M_parent;
      parent->_M_left = child;
      if (child != nullptr) {
        child->_M_parent = parent;
      }
      heir->_M_right = node->_M_right;
      heir->_M_right->_M_parent = heir;
    }
    heir->_M_left = node->_M_left;
    heir->_M_left->_M_parent = heir;
    heir->_M_parent = node->_M_parent;
    replace(node, heir, header);
    heir->_M_color = node->_M_color;
  }
  if (lost_black && header._M_parent != nullptr) {
    restore_black(child, parent, header);
  }
  return node;
}

namespace __detail {

void _List_node_base::_M_hook(_List_node_base* const position) noexcept {
  _M_next = position;
  _M_prev = position->_M_prev;
  position->_M_prev->_M_next = this;
  position->_M_prev = this;
}

void _List_node_base::_M_unhook() noexcept {
  _List_node_base* const after = _M_next;
  _List_node_base* const before = _M_prev;
  before->_M_next = after;
  after->_M_prev = before;
}

// Puts [first, last) in front of this.
void _List_node_base::_M_transfer(_List_node_base* const first, _List_node_base* const last) noexcept {
  if (this == last) {
    return;
  }
  _List_node_base* const end = last->_M_prev;
  first->_M_prev->_M_next = last;
  last->_M_prev = first->_M_prev;
  first->_M_prev = _M_prev;
  end->_M_next = this;
  _M_prev->_M_next = first;
  _M_prev = end;
}

void _List_node_base::_M_reverse() noexcept {
  _List_node_base* node = this;
  do {
    _List_node_base* const after = node->_M_next;
    node->_M_next = node->_M_prev;
    node->_M_prev = after;
    node = after;
  } while (node != this);
}

namespace {

void take_over(_List_node_base& list, const _List_node_base& ends, bool is_empty) {
  list._M_next = is_empty ? &list : ends._M_next;
  list._M_prev = is_empty ? &list : ends._M_prev;
  list._M_next->_M_prev = &list;
  list._M_prev->_M_next = &list;
}

}  // namespace

// A list that is empty points to itself.
void _List_node_base::swap(_List_node_base& a, _List_node_base& b) noexcept {
  const bool was_empty[] = {a._M_next == &a, b._M_next == &b};
  const _List_node_base ends = a;
  take_over(a, b, was_empty[1]);
  take_over(b, ends, was_empty[0]);
}

// Numbers of buckets, ascending; the library has them.
extern const unsigned long __prime_list[];

namespace {

constexpr std::size_t kPrimes = 256 + 48;
constexpr unsigned char kFewBuckets[] = {1, 2, 2, 3, 5, 5, 7, 7, 11, 11, 11, 11, 13, 13};

std::size_t as_many(double number) { return static_cast<std::size_t>(number); }  // rounds down

}  // namespace

std::size_t _Prime_rehash_policy::_M_next_bkt(std::size_t wanted) const {
  if (wanted == 0) {
    return 1;
  }
  std::size_t buckets = 0;
  bool is_last = false;
  if (wanted < sizeof kFewBuckets) {
    buckets = kFewBuckets[wanted];
  } else {
    std::size_t low = 6, high = kPrimes - 1;  // the first that is large enough, or the last
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (__prime_list[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    buckets = __prime_list[low];
    is_last = low == kPrimes - 1;
  }
  _M_next_resize = is_last ? ~std::size_t{0} : as_many(static_cast<double>(buckets) * _M_max_load_factor);
  return buckets;
}

std::pair<bool, std::size_t> _Prime_rehash_policy::_M_need_rehash(std::size_t buckets, std::size_t elements,
                                                                  std::size_t more) const {
  constexpr std::size_t kFirst = 11, kGrowth = 2;
  const std::size_t wanted = elements + more;
  if (wanted <= _M_next_resize) {
    return {false, 0};
  }
  const std::size_t at_least = _M_next_resize != 0 || wanted > kFirst ? wanted : kFirst;
  const double needed = static_cast<double>(at_least) / static_cast<double>(_M_max_load_factor);
  if (needed < static_cast<double>(buckets)) {
    _M_next_resize = as_many(static_cast<double>(buckets) * _M_max_load_factor);
    return {false, 0};
  }
  const std::size_t enough = as_many(needed) + 1;
  return {true, _M_next_bkt(enough > buckets * kGrowth ? enough : buckets * kGrowth)};
}

}  // namespace __detail

// MurmurHash64A, eight bytes at a time.
std::size_t _Hash_bytes(const void* bytes, std::size_t size, std::size_t seed) {
  constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995;
  const auto mix = [](std::uint64_t word) { return word ^ (word >> 47); };
  const auto* at = static_cast<const unsigned char*>(bytes);
  const unsigned char* const whole = at + (size & ~std::size_t{7});
  std::uint64_t hash = seed ^ (size * kFactor);
  for (; at != whole; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    hash = (hash ^ mix(word * kFactor) * kFactor) * kFactor;
  }
  if (const std::size_t rest = size & 7; rest != 0) {
    std::uint64_t word = 0;
    for (std::size_t i = rest; i > 0; --i) {
      word = (word << 8) | whole[i - 1];
    }
    hash = (hash ^ word) * kFactor;
  }
  return mix(mix(hash) * kFactor);
}

}  // namespace std
