// Variables of every kind, each written by two threads at once. A line with a TOUCH says behind //= what a report must
// call what it touches: run.py compares. "x in f()" is a local variable of f, "x of T5" one that T5 has of its own.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "elsewhere.h"
#include "plain.h"

// Nothing is moved, merged or left out around it.
#define TOUCH(what)                \
  {                                \
    asm volatile("" ::: "memory"); \
    what;                          \
    asm volatile("" ::: "memory"); \
  }

struct Point {
  int x, y;
};

struct Account {
  explicit Account(long start) : balance(start) {}
  long balance;
  int number = 0;
  Point home{};
};

struct Named {
  char name[16];
  Point corners[4];
};

struct Base {
  int in_base = 0;
};
struct Middle : Base {
  int in_middle = 0;
};
struct Other {
  long in_other = 0;
};
struct Derived : Middle, Other {
  int in_derived = 0;
};

struct Virtual {
  virtual ~Virtual() = default;
  int in_virtual = 0;
};

// Its member lies behind the last one of its base, inside of what is counted as the base's size.
struct Special : Virtual {
  int in_special = 0;
};

union Value {
  int number;
  double real;
  char letters[8];
};
union Twins {
  int number;
  float real;
};

struct Tagged {
  int tag;
  union {
    long whole;
    short half;
  };
  struct {
    int inner;
  } nested;
};

struct Flags {
  unsigned ready : 1;
  unsigned done : 3;
  unsigned : 0;
  unsigned alone : 9;
  int plain;
};

struct __attribute__((packed)) Packed {
  char first;
  int second;
};

typedef struct {
  int value;
} Typed;

enum class Colour { kRed, kBlue };

template <typename T>
struct Box {
  static inline int count = 0;
  T content{};
};

struct Config {
  static int limit;
  int level = 0;
};
int Config::limit = 0;

int counter;
static int file_counter;
bool is_done;
double ratio;
unsigned short port;
char letters[32];
volatile int signalled;
int* pointer;
Colour colour;
Point point;
Account account(1);
Account accounts[3] = {Account(1), Account(2), Account(3)};
Named named;
int matrix[3][4];
Derived derived;
Virtual with_vptr;
Special special;
Value value;
Twins twins;
Tagged tagged;
Flags flags;
Packed packed;
Typed typed;
Box<Point> box;
Config config;
std::array<int, 8> fixed;
std::array<Account, 2> fixed_accounts = {Account(1), Account(2)};
std::pair<int, Point> both;
std::pair<Account, int> bundle{Account(1), 2};
inline int inlined_global = 0;
Point whole_point;

namespace bank {
int total;
namespace branch {
Account vault(1);
}  // namespace branch
thread_local int spent;
}  // namespace bank

namespace {
int hidden;
Point hidden_point;
}  // namespace

thread_local long own;
thread_local Account own_account(1);
static thread_local int own_array[4];

int* heap_int;
Account* heap_account;
char* eight_bytes;
std::vector<int> orders;
std::vector<Account> ledger;
std::string long_text;
std::unique_ptr<Account> owned;
struct Guarded {
  std::shared_mutex mutex;
  int value = 0;
};
Guarded* heap_guarded;
std::shared_ptr<Account> shared;
int* slots;
Account* raw_account;
// No constructor tells what a block of it holds.
struct Plain {
  long id;
  int level;
};
std::map<int, std::unique_ptr<Plain>> kept;

// Who locks it has its address, which is no name.
struct Door {
  std::shared_mutex mutex;
  int open = 0;
};
std::map<int, std::unique_ptr<Door>> doors;
std::unique_lock<std::shared_mutex> keeper;
struct Settings {
  int quiet;
  int level[5];
};
std::atomic<Settings*> settings{new Settings{}}, later;
Hidden* handle;
struct Shop {
  int open;
  std::vector<int> prices;
  Point* door;
} shop;

static int& last_id() {
  static int last;
  return last;
}

// A static variable in which only one value is ever stored becomes a bit without a place of its own.
int anything;

static void touch_globals() {
  TOUCH(counter = 1)                      //= counter
  TOUCH(file_counter = anything)          //= file_counter
  TOUCH(is_done = true)                   //= is_done
  TOUCH(ratio = 1)                        //= ratio
  TOUCH(port = 1)                         //= port
  TOUCH(letters[5] = 1)                   //= letters[5]
  TOUCH(signalled = 1)                    //= signalled
  TOUCH(pointer = nullptr)                //= pointer
  TOUCH(colour = Colour::kBlue)           //= colour
  TOUCH(point.y = 1)                      //= point.y
  TOUCH(account.balance = 1)              //= account.balance
  TOUCH(account.home.x = 1)               //= account.home.x
  TOUCH(accounts[0].balance = 1)          //= accounts[0].balance
  TOUCH(accounts[2].number = 1)           //= accounts[2].number
  TOUCH(accounts[1].home.y = 1)           //= accounts[1].home.y
  TOUCH(named.name[3] = 1)                //= named.name[3]
  TOUCH(named.corners[2].y = 1)           //= named.corners[2].y
  TOUCH(matrix[2][1] = 1)                 //= matrix[2][1]
  TOUCH(derived.in_base = 1)              //= derived.in_base
  TOUCH(derived.in_middle = 1)            //= derived.in_middle
  TOUCH(derived.in_other = 1)             //= derived.in_other
  TOUCH(derived.in_derived = 1)           //= derived.in_derived
  TOUCH(with_vptr.in_virtual = 1)         //= with_vptr.in_virtual
  TOUCH(special.in_virtual = 1)           //= special.in_virtual
  TOUCH(special.in_special = 1)           //= special.in_special
  TOUCH(value.number = 1)                 //= value.number
  TOUCH(value.letters[2] = 1)             //= value.letters[2]
  TOUCH(twins.real = 1)                   //= twins
  TOUCH(tagged.tag = 1)                   //= tagged.tag
  TOUCH(tagged.half = 1)                  //= tagged.half
  TOUCH(tagged.nested.inner = 1)          //= tagged.nested.inner
  TOUCH(flags.done = 1)                   //= flags.ready..done
  TOUCH(flags.alone = 1)                  //= flags.alone
  TOUCH(flags.plain = 1)                  //= flags.plain
  TOUCH(packed.second = 1)                //= packed.second
  TOUCH(typed.value = 1)                  //= typed.value
  TOUCH(box.content.y = 1)                //= box.content.y
  TOUCH(Box<int>::count = 1)              //= Box<int>::count
  TOUCH(Config::limit = 1)                //= Config::limit
  TOUCH(config.level = 1)                 //= config.level
  TOUCH(fixed[3] = 1)                     //= fixed[3]
  TOUCH(fixed_accounts[1].balance = 1)    //= fixed_accounts[1].balance
  TOUCH(both.first = 1)                   //= both.first
  TOUCH(both.second.y = 1)                //= both.second.y
  TOUCH(bundle.first.number = 1)          //= bundle.first.number
  TOUCH(inlined_global = 1)               //= inlined_global
  TOUCH(bank::total = 1)                  //= bank::total
  TOUCH(bank::branch::vault.balance = 1)  //= bank::branch::vault.balance
  TOUCH(hidden = anything)                //= (anonymous namespace)::hidden
  // clang-format off
  TOUCH(hidden_point.y = anything)        //= (anonymous namespace)::hidden_point.y |clang++-19-O2 (anonymous namespace)::hidden_point.0 |clang++-14-O2 (anonymous namespace)::hidden_point.0
  // clang-format on
  TOUCH(last_id() = anything)             //= last_id()::last
  TOUCH(std::memset(letters + 20, 0, 4))  //= letters[20..23]
  TOUCH(std::memset(&whole_point, 0, 8))  //= whole_point
  TOUCH(shop.open = 1)                    //= shop.open
}

static void touch_heap() {
  TOUCH(*heap_int = 1)                    //= *heap_int in 4 bytes
  TOUCH(heap_account->balance = 1)        //= heap_account->balance in 24 bytes
  TOUCH(heap_account->home.y = 1)         //= heap_account->home.y in 24 bytes
  TOUCH(eight_bytes[3] = 1)               //= eight_bytes[3] in 8 bytes
  TOUCH(orders[2] = 1)                    //= orders[2] in 20 bytes
  TOUCH(ledger[1].number = 1)             //= ledger[1].number in 72 bytes
  TOUCH(long_text[7] = 'x')               //= element of long_text in 41 bytes
  TOUCH(owned->balance = 1)               //= owned->balance in 24 bytes
  TOUCH(shop.prices[1] = 1)               //= shop.prices[1] in 16 bytes
  TOUCH(slots[1] = 1)                     //= slots[1] in 16 bytes
  TOUCH(raw_account->home.x = 1)          //= raw_account->home.x in 24 bytes
  TOUCH(shared->balance = 1)              //= *shared in 40 bytes
  TOUCH(kept.begin()->second->level = 1)  //= Plain.level in 16 bytes
  TOUCH(doors.begin()->second->open = 1)  //= Door.open in 64 bytes
  TOUCH(settings.load()->quiet = 1)       //= settings->quiet in 24 bytes
  TOUCH(later.load()->level[2] = 1)       //= later->level[2] in 24 bytes
  TOUCH(touch_hidden(handle))             //= handle->level in 16 bytes
  TOUCH(touch_length())                   //= queue->length in 24 bytes
  TOUCH(touch_where())                    //= queue->where.y in 24 bytes
  // Memory that libc keeps for all threads.
  const std::time_t when = 0;
  TOUCH(lrand48())            //= state of drand48()
  TOUCH(unsetenv("NOBODY"))   //= environ
  TOUCH((void)gmtime(&when))  //= result of localtime() and gmtime()
  TOUCH(close(1 << 15))       //= file_descriptors[32768]
}

struct Locals {
  int* number;
  Point* place;
  Account* account;
  int* array;
  int* nested;
  Sprite* sprite;
  Scene* scene;
  std::ostringstream* log;
  std::vector<int>* list;
  std::vector<bool>* bits;
};

static void touch_locals(const Locals& of, int* parameter, long* own_of_first, Account* account_of_first,
                         int* array_of_first, int* spent_of_first) {
  TOUCH(*of.number = 1)            //= number in local_variables() |clang++-14-O2 stack of T5
  TOUCH(of.place->y = 1)           //= place.y in local_variables() |clang++-14-O2 stack of T5
  TOUCH(of.account->home.x = 1)    //= saved.home.x in local_variables()
  TOUCH(of.array[3] = 1)           //= array[3] in local_variables()
  TOUCH(*of.nested = 1)            //= nested in local_variables() |clang++-14-O2 stack of T5
  TOUCH(of.sprite->edge = 1)       //= sprite.edge in local_variables()
  TOUCH(of.sprite->sides = 1)      //= sprite.sides in local_variables()
  TOUCH(of.scene->front.edge = 1)  //= scene.front.edge in local_variables()
  TOUCH(of.log->width(3))          //= log in local_variables()
  // clang-format off
  TOUCH((*of.list)[2] = 1)             //= list[2] in 20 bytes |clang++-14-O2 element 2 of an array of int in 20 bytes
  TOUCH((*of.bits)[2] = true)          //= element of bits in 8 bytes |-O0 heap block of 8 bytes |clang++-14-O2 heap block of 8 bytes
  // clang-format on
  TOUCH(*parameter = 1)                //= parameter in local_variables() |clang++-14-O2 stack of T5
  TOUCH(*own_of_first = 1)             //= own of T5
  TOUCH(account_of_first->number = 1)  //= own_account.number of T5
  TOUCH(array_of_first[2] = 1)         //= own_array[2] of T5
  TOUCH(*spent_of_first = 1)           //= bank::spent of T5
}

static void run_twice(const std::function<void()>& body) {
  std::thread first(body), second(body);
  first.join();
  second.join();
}

__attribute__((noinline)) static void local_variables(int parameter) {
  int number = 0;
  Point place{};
  Account saved(1);
  int array[5] = {};
  {
    int nested = 0;
    Sprite sprite;
    Scene scene;
    std::ostringstream log;
    std::vector<int> list(5);
    std::vector<bool> bits(64);
    const Locals of = {&number, &place, &saved, array, &nested, &sprite, &scene, &log, &list, &bits};
    long* own_there = &own;
    Account* account_there = &own_account;
    int* array_there = own_array;
    int* spent_there = &bank::spent;
    run_twice([&] { touch_locals(of, &parameter, own_there, account_there, array_there, spent_there); });
  }
}

// Readers of a lock keep each other out of nothing.
static void touch_guarded(Guarded& guarded) {
  std::shared_lock<std::shared_mutex> lock(guarded.mutex);
  TOUCH(guarded.value = 1)  //= guarded.value in local_locks() holding guarded.mutex of local_locks() (shared)
}

static void touch_heap_guarded() {
  std::shared_lock<std::shared_mutex> lock(heap_guarded->mutex);
  TOUCH(heap_guarded->value = 1)  //= heap_guarded->value in 64 bytes holding heap_guarded->mutex (shared)
}

__attribute__((noinline)) static void local_locks() {
  Guarded guarded;
  run_twice([&] { touch_guarded(guarded); });
  run_twice(touch_heap_guarded);
}

int main(int argc, char**) {
  anything = argc;
  heap_int = new int(0);
  heap_account = new Account(1);
  eight_bytes = static_cast<char*>(std::malloc(8));
  orders.assign(5, 0);
  ledger.assign(3, Account(1));
  long_text.assign(40, ' ');
  owned = std::make_unique<Account>(1);
  kept[1] = std::make_unique<Plain>();
  doors[1] = std::make_unique<Door>();
  keeper = std::unique_lock<std::shared_mutex>(doors[1]->mutex);
  keeper.unlock();
  later = new Settings{};
  handle = make_hidden();
  make_queue();
  shop.prices.assign(4, 0);
  shared = std::make_shared<Account>(1);
  slots = static_cast<int*>(std::calloc(4, sizeof(int)));
  heap_guarded = new Guarded;
  raw_account = static_cast<Account*>(std::calloc(1, sizeof(Account)));
  run_twice(touch_globals);
  run_twice(touch_heap);
  // Not main: another thread has variables of its own, too.
  std::thread([argc] { local_variables(argc); }).join();
  local_locks();
  // A compiler drops what nobody reads.
  return file_counter + hidden + hidden_point.y + last_id() > 100;
}
