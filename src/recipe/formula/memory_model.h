// The memory of a deep recording in pieces that every access, also on branches that were not taken, touches as a whole;
// and what the record knows of their contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "predict/trace_index.h"
#include "predict/variable_map.h"
#include "race/witness.h"
#include "recipe/execute/thread_trace.h"

namespace sooth {

// Bytes of one generation, at most 8, that no access and no step of a detour tells apart: a TraceIndex variable or a
// part of one, or bytes that only detours touch.
using PieceIndex = std::uint32_t;

// What memory contained before the first event, where that is known: initialisers of globals.
using InitialBytes = std::function<std::optional<std::uint8_t>(std::uint64_t address)>;

// Read-only once made. The index, the trace and the program must outlive it.
class MemoryModel {
 public:
  MemoryModel(const TraceIndex& index, const TraceView& trace, const SymbolicProgram& program,
              const InitialBytes& initial);

  struct Piece {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    bool shared = false;                   // two threads touch it in the trace, at least one of them writes
    std::optional<std::uint64_t> initial;  // before any write
  };
  const Piece& piece(PieceIndex p) const { return pieces_[p]; }
  std::size_t piece_count() const { return pieces_.size(); }

  // Calls visit(piece, i) for what the event touches, in address order; the piece is of index.variables(e)[i].
  template <typename Visit>
  void for_each_piece(EventIndex e, Visit&& visit) const {
    const std::span<const VariableIndex> variables = index_.variables(e);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      for (PieceIndex p = first_piece_[variables[i]]; p < first_piece_[variables[i] + 1]; ++p) {
        visit(p, i);
      }
    }
  }
  // What a step of a detour touches, in address order. nullopt: bytes that were allocated more than once, so that it is
  // not known which of their generations it would touch.
  using StepPieces = std::optional<std::vector<PieceIndex>>;
  const StepPieces& step_pieces(std::uint32_t thread, std::uint32_t detour, std::uint32_t step) const {
    return steps_[thread][detour][step];
  }

  // The writes of a piece, in trace order; frees among them.
  std::span<const EventIndex> writes(PieceIndex p) const;
  // What the access found or stored there, by the record.
  std::optional<std::uint64_t> recorded(EventIndex e, PieceIndex p) const;
  // What the write left there in the recorded run: by its own record, by what its thread computed, or by the record of
  // a read that saw it. Nobody knows of a free.
  std::optional<std::uint64_t> left(EventIndex write, PieceIndex p) const;

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // first byte, number of bytes

  std::vector<Range> find_ranges(std::span<const Event> events) const;
  void cut(const std::vector<Range>& ranges, const SymbolicProgram& program);
  void place_steps(const std::vector<Range>& ranges, const SymbolicProgram& program);
  void collect_accesses();
  void learn_contents(const SymbolicProgram& program, const InitialBytes& initial);

  const TraceIndex& index_;
  const TraceView trace_;
  std::vector<std::uint64_t> borders_;   // of steps of detours: pieces begin there; ascending
  std::vector<PieceIndex> first_piece_;  // by variable, and one more
  std::vector<Piece> pieces_;
  std::vector<std::vector<std::vector<StepPieces>>> steps_;  // by thread, detour, step
  std::vector<std::size_t> first_write_;                     // by piece, and one more: into writes_
  std::vector<EventIndex> writes_;
  FlatMap<std::uint64_t> left_;  // by write and piece: of writes without a record of their own
};

}  // namespace sooth
