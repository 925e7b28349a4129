// What WCP knows at an event, and what of it travels along must-order edges.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "detect/section_queue.h"
#include "order/vector_clock.h"

namespace sooth {

// The three clocks of a thread. Own components: the local time in `hb` and `must`; in `wcp` only what really precedes.
struct WcpClocks {
  VectorClock hb;    // H: happens-before
  VectorClock wcp;   // P: predecessors by `<<`, rules (a) to (c)
  VectorClock must;  // M: must-order

  void join(const WcpClocks& other) {
    hb.join(other.hb);
    wcp.join(other.wcp);
    must.join(other.must);
  }
};

// What travels along must-order edges. An edge that starts or ends inside a section is `<<`, but an edge from a thread
// to itself never is, so the senders are kept apart as far as that matters.
struct WcpMessage {
  struct Sender {
    ThreadLife life;
    VectorClock hb;             // what it knew
    VectorClock hb_in_section;  // ... when it last sent while holding a lock
  };

  WcpClocks clocks;
  // Of threads that had the same number one after the other, the last one, and the others as one that began at 0: they
  // are over, so none of them receives this.
  std::vector<Sender> senders;

  bool empty() const { return senders.empty(); }
  void clear() { *this = {}; }
  void join(const WcpMessage& other) {
    clocks.join(other.clocks);
    for (const Sender& sender : other.senders) {
      add(sender);
    }
  }

 private:
  void add(Sender sender) {
    for (Sender& known : senders) {
      if (known.life.thread != sender.life.thread || known.life.began == 0) {
        continue;
      }
      if (known.life.began < sender.life.began) {
        std::swap(known, sender);
      }
      sender.life.began = known.life.began == sender.life.began ? sender.life.began : 0;
      break;
    }
    for (Sender& known : senders) {
      if (known.life.thread == sender.life.thread && known.life.began == sender.life.began) {
        known.hb.join(sender.hb);
        known.hb_in_section.join(sender.hb_in_section);
        return;
      }
    }
    senders.push_back(std::move(sender));
  }
};

}  // namespace sooth
