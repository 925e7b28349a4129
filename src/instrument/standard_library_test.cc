// The functions of standard_library.cc, which this program is linked with, against those of libstdc++.so.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using Node = std::_Rb_tree_node_base;

template <typename Function>
Function* of_library(const char* name) {
  static void* const library = dlopen("libstdc++.so.6", RTLD_LAZY);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}

// A tree of numbers whose nodes are where nobody else's are.
class Tree {
 public:
  using Insert = void(bool, Node*, Node*, Node&);
  using Erase = Node*(Node*, Node&);
  using Step = Node*(Node*);
  Tree(Insert* insert, Erase* erase, Step* next, Step* previous)
      : insert_(insert), erase_(erase), next_(next), previous_(previous), nodes_(kNumbers) {
    header_._M_color = std::_S_red;
    header_._M_left = header_._M_right = &header_;
  }

  void toggle(int number) {
    if (has_.contains(number)) {
      EXPECT_EQ(erase_(&nodes_[static_cast<std::size_t>(number)], header_), &nodes_[static_cast<std::size_t>(number)]);
      has_.erase(number);
      return;
    }
    Node* parent = &header_;
    bool left = true;
    for (Node* at = header_._M_parent; at != nullptr; at = left ? at->_M_left : at->_M_right) {
      parent = at;
      left = number < number_of(at);
    }
    insert_(left, &nodes_[static_cast<std::size_t>(number)], parent, header_);
    has_.insert(number);
  }

  // All of it as text: equal for equal trees.
  std::string shape() const {
    return shape(header_._M_parent) + " " + std::to_string(number_of(header_._M_left)) + " " +
           std::to_string(number_of(header_._M_right));
  }
  std::vector<int> forwards() {
    std::vector<int> numbers;
    for (Node* at = header_._M_left; at != &header_; at = next_(at)) {
      numbers.push_back(number_of(at));
    }
    return numbers;
  }
  std::vector<int> backwards() {
    std::vector<int> numbers;
    for (Node* at = &header_; numbers.size() < has_.size();) {
      at = previous_(at);
      numbers.push_back(number_of(at));
    }
    return numbers;
  }

  static constexpr int kNumbers = 64;

 private:
  int number_of(const Node* node) const { return node == &header_ ? -1 : static_cast<int>(node - nodes_.data()); }
  std::string shape(const Node* node) const {
    return node == nullptr ? "."
                           : "(" + shape(node->_M_left) + std::to_string(number_of(node)) +
                                 (node->_M_color == std::_S_red ? "r" : "b") + "^" +
                                 std::to_string(number_of(node->_M_parent)) + shape(node->_M_right) + ")";
  }

  Insert* insert_;
  Erase* erase_;
  Step *next_, *previous_;
  Node header_{};
  std::vector<Node> nodes_;
  std::set<int> has_;
};

TEST(StandardLibraryTest, TreesAreThoseOfTheLibrary) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Tree ours(&std::_Rb_tree_insert_and_rebalance, &std::_Rb_tree_rebalance_for_erase,
              static_cast<Tree::Step*>(&std::_Rb_tree_increment), static_cast<Tree::Step*>(&std::_Rb_tree_decrement));
    Tree theirs(of_library<Tree::Insert>("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_"),
                of_library<Tree::Erase>("_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_"),
                of_library<Tree::Step>("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"),
                of_library<Tree::Step>("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base"));
    const int range = 1 + static_cast<int>(random() % Tree::kNumbers);
    for (int i = 0; i < 200; ++i) {
      const int number = static_cast<int>(random() % static_cast<unsigned>(range));
      ours.toggle(number);
      theirs.toggle(number);
      ASSERT_EQ(ours.shape(), theirs.shape()) << "seed " << seed << ", step " << i;
    }
    EXPECT_EQ(ours.forwards(), theirs.forwards());
    EXPECT_EQ(ours.backwards(), theirs.backwards());
  }
}

TEST(StandardLibraryTest, HashesAreThoseOfTheLibrary) {
  auto* const theirs = of_library<std::size_t(const void*, std::size_t, std::size_t)>("_ZSt11_Hash_bytesPKvmm");
  std::mt19937_64 random(1);
  for (std::size_t length = 0; length < 100; ++length) {
    std::string text(length, '\0');
    std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
    const std::size_t seed = random();
    EXPECT_EQ(std::_Hash_bytes(text.data(), length, seed), theirs(text.data(), length, seed)) << length;
  }
}

TEST(StandardLibraryTest, TablesGrowAsThoseOfTheLibrary) {
  using Policy = std::__detail::_Prime_rehash_policy;
  auto* const next =
      of_library<std::size_t(const Policy*, std::size_t)>("_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm");
  auto* const need = of_library<std::pair<bool, std::size_t>(const Policy*, std::size_t, std::size_t, std::size_t)>(
      "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm");
  for (const float load : {1.0F, 0.5F, 3.0F}) {
    Policy ours(load), theirs(load);
    for (std::size_t wanted : {0ul, 1ul, 2ul, 5ul, 12ul, 13ul, 14ul, 15ul, 97ul, 100ul, 12345ul, 1ul << 40, ~0ul}) {
      EXPECT_EQ(ours._M_next_bkt(wanted), next(&theirs, wanted)) << wanted;
      EXPECT_EQ(ours._M_next_resize, theirs._M_next_resize) << wanted;
    }
    ours = theirs = Policy(load);
    std::size_t buckets = 1;
    for (std::size_t elements = 0; elements < 5000; ++elements) {
      const auto [grows, to] = ours._M_need_rehash(buckets, elements, 1);
      const auto [should, wanted] = need(&theirs, buckets, elements, 1);
      ASSERT_EQ(grows, should) << elements;
      ASSERT_EQ(to, wanted) << elements;
      ASSERT_EQ(ours._M_next_resize, theirs._M_next_resize) << elements;
      buckets = grows ? to : buckets;
    }
  }
}

// std::list, whose code is in headers, on top of ours.
TEST(StandardLibraryTest, ListsKeepTheirOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::list<int> lists[2];
    std::vector<int> wanted[2];
    for (int i = 0; i < 100; ++i) {
      const std::size_t from = random() % 2, to = 1 - from;
      const auto place = static_cast<std::ptrdiff_t>(wanted[from].empty() ? 0 : random() % wanted[from].size());
      const auto at = std::next(lists[from].begin(), place);
      switch (random() % 5) {
        case 0:
          lists[from].insert(at, i);
          wanted[from].insert(wanted[from].begin() + place, i);
          break;
        case 1:
          if (!wanted[from].empty()) {
            lists[from].erase(at);
            wanted[from].erase(wanted[from].begin() + place);
          }
          break;
        case 2:
          lists[to].splice(lists[to].begin(), lists[from], at, lists[from].end());
          wanted[to].insert(wanted[to].begin(), wanted[from].begin() + place, wanted[from].end());
          wanted[from].erase(wanted[from].begin() + place, wanted[from].end());
          break;
        case 3:
          lists[from].reverse();
          std::reverse(wanted[from].begin(), wanted[from].end());
          break;
        default: lists[from].swap(lists[to]); wanted[from].swap(wanted[to]);
      }
      for (const std::size_t j : {0, 1}) {
        ASSERT_TRUE(std::equal(lists[j].begin(), lists[j].end(), wanted[j].begin(), wanted[j].end())) << seed;
        ASSERT_TRUE(std::equal(lists[j].rbegin(), lists[j].rend(), wanted[j].rbegin(), wanted[j].rend())) << seed;
      }
    }
  }
}

}  // namespace
