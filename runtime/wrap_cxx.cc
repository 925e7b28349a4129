// What functions of libstdc++.so read and write for their caller: its templates are instrumented with the program, but
// std::string is instantiated in the library, and so are the inner workings of std::list, std::map and std::set. All of
// this is what the library does by its ABI: std::string is a pointer, a length and 16 bytes for a short text or the
// capacity; a node of a list is two pointers, that of a tree a colour and three.
//
// Only accesses that surely happen are told. Not told are those of destructors, which may run when nobody minds any more.
// What becomes of streams themselves is in wrap_streams.cc.
#include <dlfcn.h>

#include "runtime/library_calls.h"
#include "runtime/modules.h"
#include "runtime/stream_use.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

struct Text {
  char* data;
  uptr length;
  uptr capacity;  // or the first bytes of a short text
  uptr rest;

  bool is_short() const { return data == reinterpret_cast<const char*>(&capacity); }
};
static_assert(sizeof(Text) == 32);

struct ListNode {
  ListNode *next, *previous;
};

struct TreeNode {
  uptr colour;
  TreeNode *parent, *left, *right;
};

// A function of the library that nobody interposes.
class AnyFunction : public AnyReal {
 public:
  using AnyReal::AnyReal;
  void* address() const { return get(); }
};
SOOTH_REAL AnyFunction inside_{"_ZSt9terminatev", nullptr};

// The library calls functions of its own by their names, too: these calls are no news. One that it makes at its end is a
// jump, and seems to come from us.
bool is_inside_library(uptr pc) {
  if (is_library_code(pc)) return true;
  static uptr begin, end;
  uptr last = __atomic_load_n(&end, __ATOMIC_ACQUIRE);
  if (last == 0) {
    dl_find_object found;
    if (inside_.address() == nullptr || _dl_find_object(inside_.address(), &found) != 0) return false;
    __atomic_store_n(&begin, reinterpret_cast<uptr>(found.dlfo_map_start), __ATOMIC_RELAXED);
    last = reinterpret_cast<uptr>(found.dlfo_map_end);
    __atomic_store_n(&end, last, __ATOMIC_RELEASE);
  }
  return pc >= __atomic_load_n(&begin, __ATOMIC_RELAXED) && pc < last;
}

void reads_all(const OnBehalf& on, const Text* s) {
  if (!on) return;
  on.in(s, 2 * sizeof(uptr));
  on.in(s->data, s->length);
}

// A text as it was, for what has become of it.
struct Before {
  Before(const OnBehalf& on, const Text* s) : data(s->data), length(s->length), capacity(s->capacity) {
    on.in(s, 2 * sizeof(uptr));
  }
  // Of the bytes from `first` on.
  void changed(const OnBehalf& on, const Text* s, uptr first) const {
    if (s->data != data) {
      on.out(&s->data);
      if (!s->is_short()) on.out(&s->capacity);
      first = 0;
    }
    on.out(&s->length);
    if (first <= s->length) on.out(s->data + first, s->length + 1 - first);
  }

  const char* data;
  uptr length, capacity;
};

uptr least(uptr a, uptr b) { return a < b ? a : b; }
const Text* text_at(uptr p) { return reinterpret_cast<const Text*>(p); }
const char* bytes_at(uptr p) { return reinterpret_cast<const char*>(p); }

}  // namespace

OnBehalf sooth::rt::library_caller(uptr pc) {
  Thread* t = recorded_thread();
  return {t == nullptr || is_inside_library(pc) ? nullptr : t, pc};
}

#define SOOTH_STRING "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
// Reads the text, or a part of it.
#define SOOTH_STRING_READ(id, member, ...) \
  SOOTH_LIBRARY(id, "_ZNK" SOOTH_STRING member, const Text, __VA_ARGS__, (void)0)
// Hands out a part of it.
#define SOOTH_STRING_LOOK(id, member) SOOTH_LIBRARY(id, "_ZN" SOOTH_STRING member, const Text, on.in(&s->data), (void)0)
// Changes it from `first` on; what is read besides comes behind.
#define SOOTH_STRING_CHANGE(id, member, first, ...) \
  SOOTH_LIBRARY(id, "_ZN" SOOTH_STRING member, Text, const Before was(on, s); __VA_ARGS__, was.changed(on, s, first))

SOOTH_STRING_READ(string_size, "4sizeEv", on.in(&s->length))
SOOTH_STRING_READ(string_length, "6lengthEv", on.in(&s->length))
SOOTH_STRING_READ(string_empty, "5emptyEv", on.in(&s->length))
SOOTH_STRING_READ(string_c_str, "5c_strEv", on.in(&s->data))
SOOTH_STRING_READ(string_data, "4dataEv", on.in(&s->data))
SOOTH_STRING_READ(string_at_const, "2atEm", on.in(s, 2 * sizeof(uptr)))
SOOTH_STRING_READ(string_index_const, "ixEm", on.in(&s->data))
SOOTH_STRING_READ(string_begin_const, "5beginEv", on.in(&s->data))
SOOTH_STRING_READ(string_end_const, "3endEv", on.in(s, 2 * sizeof(uptr)))
SOOTH_STRING_READ(string_front_const, "5frontEv", on.in(&s->data))
SOOTH_STRING_READ(string_back_const, "4backEv", on.in(s, 2 * sizeof(uptr)))
SOOTH_STRING_LOOK(string_data_here, "4dataEv")
SOOTH_STRING_LOOK(string_at, "2atEm")
SOOTH_STRING_LOOK(string_index, "ixEm")
SOOTH_STRING_LOOK(string_begin, "5beginEv")
SOOTH_STRING_LOOK(string_end, "3endEv")
SOOTH_STRING_LOOK(string_front, "5frontEv")
SOOTH_STRING_LOOK(string_back, "4backEv")
// Comparisons end where the texts differ: the first byte is read in any case.
SOOTH_STRING_READ(string_compare, "7compareERKS4_", on.in(s, 2 * sizeof(uptr)); on.in(text_at(a), 2 * sizeof(uptr));
                  if (s->length != 0 && text_at(a)->length != 0) on.in(s->data, 1), on.in(text_at(a)->data, 1))
SOOTH_STRING_READ(string_compare_text, "7compareEPKc", on.in(s, 2 * sizeof(uptr)); on.text(bytes_at(a)))
SOOTH_STRING_READ(string_find, "4findERKS4_m", on.in(s, 2 * sizeof(uptr)); reads_all(on, text_at(a)))
SOOTH_STRING_READ(string_find_text, "4findEPKcm", on.in(s, 2 * sizeof(uptr)); on.text(bytes_at(a)))
SOOTH_STRING_READ(string_find_char, "4findEcm", on.in(s, 2 * sizeof(uptr)); if (b < s->length) on.in(s->data + b, 1))

// The result is made at `s`.
SOOTH_LIBRARY(string_substr, "_ZNK" SOOTH_STRING "6substrEmm", Text, on.in(text_at(a), 2 * sizeof(uptr));
              if (b <= text_at(a)->length) on.in(text_at(a)->data + b, least(c, text_at(a)->length - b)),
              on.out(s, 2 * sizeof(uptr));
              on.out(s->data, s->length + 1))
SOOTH_LIBRARY(string_copied, "_ZN" SOOTH_STRING "C1ERKS4_", Text, reads_all(on, text_at(a)),
              on.out(s, 2 * sizeof(uptr));
              on.out(s->data, s->length + 1))
SOOTH_LIBRARY(string_copied_2, "_ZN" SOOTH_STRING "C2ERKS4_", Text, reads_all(on, text_at(a)),
              on.out(s, 2 * sizeof(uptr));
              on.out(s->data, s->length + 1))
SOOTH_LIBRARY(string_moved, "_ZN" SOOTH_STRING "C1EOS4_", Text, const Before was(on, text_at(a)),
              on.out(s, 2 * sizeof(uptr));
              was.changed(on, text_at(a), 0))
SOOTH_LIBRARY(string_moved_2, "_ZN" SOOTH_STRING "C2EOS4_", Text, const Before was(on, text_at(a)),
              on.out(s, 2 * sizeof(uptr));
              was.changed(on, text_at(a), 0))
SOOTH_LIBRARY(string_made, "_ZN" SOOTH_STRING "C1Ev", Text, (void)0, on.out(s, 2 * sizeof(uptr) + 1))
SOOTH_LIBRARY(string_made_2, "_ZN" SOOTH_STRING "C2Ev", Text, (void)0, on.out(s, 2 * sizeof(uptr) + 1))

SOOTH_STRING_CHANGE(string_append, "6appendERKS4_", was.length, reads_all(on, text_at(a)))
SOOTH_STRING_CHANGE(string_append_part, "6appendERKS4_mm", was.length, on.in(text_at(a), 2 * sizeof(uptr)))
SOOTH_STRING_CHANGE(string_append_text, "6appendEPKc", was.length, on.text(bytes_at(a)))
SOOTH_STRING_CHANGE(string_append_bytes, "6appendEPKcm", was.length, on.in(bytes_at(a), b))
SOOTH_STRING_CHANGE(string_append_chars, "6appendEmc", was.length)
SOOTH_STRING_CHANGE(string_append_inner, "9_M_appendEPKcm", was.length, on.in(bytes_at(a), b))
SOOTH_STRING_CHANGE(string_plus, "pLERKS4_", was.length, reads_all(on, text_at(a)))
SOOTH_STRING_CHANGE(string_plus_text, "pLEPKc", was.length, on.text(bytes_at(a)))
SOOTH_STRING_CHANGE(string_plus_char, "pLEc", was.length)
SOOTH_STRING_CHANGE(string_push_back, "9push_backEc", was.length)
SOOTH_STRING_CHANGE(string_pop_back, "8pop_backEv", s->length)
SOOTH_STRING_CHANGE(string_assign, "6assignERKS4_", 0, reads_all(on, text_at(a)))
SOOTH_STRING_CHANGE(string_assign_text, "6assignEPKc", 0, on.text(bytes_at(a)))
SOOTH_STRING_CHANGE(string_assign_bytes, "6assignEPKcm", 0, on.in(bytes_at(a), b))
SOOTH_STRING_CHANGE(string_assign_chars, "6assignEmc", 0)
SOOTH_STRING_CHANGE(string_assign_inner, "9_M_assignERKS4_", 0, reads_all(on, text_at(a)))
SOOTH_STRING_CHANGE(string_set, "aSERKS4_", 0, reads_all(on, text_at(a)))
SOOTH_STRING_CHANGE(string_set_text, "aSEPKc", 0, on.text(bytes_at(a)))
SOOTH_STRING_CHANGE(string_set_char, "aSEc", 0)
SOOTH_LIBRARY(string_take, "_ZN" SOOTH_STRING "aSEOS4_", Text, const Before was(on, s);
              const Before other(on, text_at(a)), was.changed(on, s, 0); other.changed(on, text_at(a), 0))
SOOTH_LIBRARY(string_swap, "_ZN" SOOTH_STRING "4swapERS4_", Text, const Before was(on, s);
              const Before other(on, text_at(a)), was.changed(on, s, 0); other.changed(on, text_at(a), 0))
SOOTH_STRING_CHANGE(string_resize, "6resizeEm", least(was.length, s->length))
SOOTH_STRING_CHANGE(string_resize_with, "6resizeEmc", least(was.length, s->length))
SOOTH_STRING_CHANGE(string_clear, "5clearEv", 0)
SOOTH_STRING_CHANGE(string_erase, "5eraseEmm", least(a, s->length))
SOOTH_STRING_CHANGE(string_erase_inner, "8_M_eraseEmm", least(a, s->length))
SOOTH_STRING_CHANGE(string_insert, "6insertEmRKS4_", least(a, s->length), reads_all(on, text_at(b)))
SOOTH_STRING_CHANGE(string_insert_text, "6insertEmPKc", least(a, s->length), on.text(bytes_at(b)))
SOOTH_STRING_CHANGE(string_insert_bytes, "6insertEmPKcm", least(a, s->length), on.in(bytes_at(b), c))
SOOTH_STRING_CHANGE(string_insert_chars, "6insertEmmc", least(a, s->length))
SOOTH_STRING_CHANGE(string_replace, "7replaceEmmRKS4_", least(a, s->length), reads_all(on, text_at(c)))
SOOTH_STRING_CHANGE(string_replace_text, "7replaceEmmPKc", least(a, s->length), on.text(bytes_at(c)))
SOOTH_STRING_CHANGE(string_replace_bytes, "7replaceEmmPKcm", least(a, s->length), on.in(bytes_at(c), d))
SOOTH_STRING_CHANGE(string_replace_chars, "7replaceEmmmc", least(a, s->length))
SOOTH_STRING_CHANGE(string_replace_inner, "10_M_replaceEmmPKcm", least(a, s->length), on.in(bytes_at(c), d))
SOOTH_STRING_CHANGE(string_replace_aux, "14_M_replace_auxEmmmc", least(a, s->length))
// The length stays, or is set by the caller.
#define SOOTH_STRING_GROW(id, member)                                     \
  SOOTH_LIBRARY(                                                          \
      id, "_ZN" SOOTH_STRING member, Text, const Before was(on, s);       \
      if (!s->is_short()) on.in(&s->capacity), if (s->data != was.data) { \
        on.out(&s->data);                                                 \
        on.out(s->data, least(s->length, was.length));                    \
        if (!s->is_short()) on.out(&s->capacity);                         \
      })
SOOTH_STRING_GROW(string_reserve, "7reserveEm")
SOOTH_STRING_GROW(string_unreserve, "7reserveEv")
SOOTH_STRING_GROW(string_shrink, "13shrink_to_fitEv")
SOOTH_STRING_GROW(string_mutate, "9_M_mutateEmmPKcm")

// Streams: texts that they are given, and strings that they are read into. `s` is the stream.
SOOTH_LIBRARY(ostream_string,
              "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE",
              void, const StreamUse use(on, s);
              reads_all(on, text_at(a)), use.formatted(on))
SOOTH_LIBRARY(ostream_text, "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", void, const StreamUse use(on, s);
              on.text(bytes_at(a)), use.formatted(on))
SOOTH_LIBRARY(ostream_insert, "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l", void,
              const StreamUse use(on, s);
              on.in(bytes_at(a), b), use.formatted(on))
SOOTH_LIBRARY(istream_string,
              "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
              void, const StreamUse use(on, s);
              const Before was(on, text_at(a)), was.changed(on, text_at(a), 0); use.over(on))
SOOTH_LIBRARY(
    getline_string,
    "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE", void,
    const StreamUse use(on, s);
    const Before was(on, text_at(a)), was.changed(on, text_at(a), 0); use.over(on))
SOOTH_LIBRARY(
    getline_until,
    "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_", void,
    const StreamUse use(on, s);
    const Before was(on, text_at(a)), was.changed(on, text_at(a), 0); use.over(on))

// std::list: `s` goes in front of the node at `a`, or out.
#define SOOTH_LIST "_ZNSt8__detail15_List_node_base"
SOOTH_LIBRARY(list_hook, SOOTH_LIST "7_M_hookEPS0_", ListNode, auto* place = reinterpret_cast<ListNode*>(a);
              on.in(&place->previous), on.out(s); on.out(&s->previous->next); on.out(&place->previous))
SOOTH_LIBRARY(list_unhook, SOOTH_LIST "9_M_unhookEv", ListNode, on.in(s), on.out(&s->previous->next);
              on.out(&s->next->previous))
SOOTH_LIBRARY(
    list_transfer, SOOTH_LIST "11_M_transferEPS0_S1_", ListNode, auto* first = reinterpret_cast<ListNode*>(a);
    auto* last = reinterpret_cast<ListNode*>(b); on.in(&s->previous); on.in(&first->previous);
    on.in(&last->previous), if (s != last) {
      on.out(&s->previous);
      on.out(&first->previous);
      on.out(&last->previous);
    })

// std::map, std::set: the next node, a new one, one less. Of what is put in balance only the ends are told. Others may
// be at work on the tree: that is what is looked for.
constexpr int kDeepestTree = 128;
static void walk(const OnBehalf& on, TreeNode* node, TreeNode* TreeNode::*down, TreeNode* TreeNode::*back) {
  on.in(&(node->*down));
  int steps = 0;
  if (TreeNode* next = node->*down) {
    for (; next != nullptr && steps < kDeepestTree; next = next->*back, ++steps) on.in(&(next->*back));
    return;
  }
  for (; steps < kDeepestTree; ++steps) {
    on.in(&node->parent);
    TreeNode* above = node->parent;
    if (above == nullptr) return;
    on.in(&(above->*down));
    if (node != above->*down) return;
    node = above;
  }
}
// The end is a node, too: from there it goes back to the last.
static void walk_back(const OnBehalf& on, TreeNode* node) {
  on.in(&node->colour);
  if (node->colour == 0 && node->parent != nullptr && node->parent->parent == node)
    on.in(&node->right);
  else
    walk(on, node, &TreeNode::left, &TreeNode::right);
}
SOOTH_LIBRARY(tree_next, "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", TreeNode,
              walk(on, s, &TreeNode::right, &TreeNode::left), (void)0)
SOOTH_LIBRARY(tree_next_const, "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", TreeNode,
              walk(on, s, &TreeNode::right, &TreeNode::left), (void)0)
SOOTH_LIBRARY(tree_back, "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", TreeNode, walk_back(on, s), (void)0)
SOOTH_LIBRARY(tree_back_const, "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base", TreeNode, walk_back(on, s), (void)0)

// Its first, last and topmost node.
struct Ends {
  Ends(const OnBehalf& on, const TreeNode* header) : was(*header) { on.in(&header->parent); }
  void changed(const OnBehalf& on, const TreeNode* header) const {
    if (header->parent != was.parent) on.out(&header->parent);
    if (header->left != was.left) on.out(&header->left);
    if (header->right != was.right) on.out(&header->right);
  }
  TreeNode was;
};
// (bool left, node, parent, header)
SOOTH_LIBRARY(tree_insert, "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", void,
              auto* node = reinterpret_cast<TreeNode*>(a);
              auto* parent = reinterpret_cast<TreeNode*>(b); auto* header = reinterpret_cast<TreeNode*>(c);
              const Ends ends(on, header), on.out(node); ends.changed(on, header);
              if (parent != header) on.out((reinterpret_cast<uptr>(s) & 1) != 0 ? &parent->left : &parent->right))
// (node, header)
SOOTH_LIBRARY(tree_erase, "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", TreeNode,
              auto* header = reinterpret_cast<TreeNode*>(a);
              const Ends ends(on, header); on.in(s), ends.changed(on, header))
