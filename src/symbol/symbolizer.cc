#include "symbol/symbolizer.h"

#include <utility>

#include "symbol/module_symbols.h"

namespace sooth {

struct Symbolizer::Opened {
  Status status;
  std::unique_ptr<ModuleSymbols> symbols;  // null when !status.ok()
};

Symbolizer::Symbolizer(const ModuleTable& modules, SeparateDebug separate, std::shared_ptr<TypeCatalog> catalog)
    : modules_(modules), separate_(separate), catalog_(std::move(catalog)) {}
Symbolizer::~Symbolizer() = default;

Symbolizer::Opened& Symbolizer::open(ModuleId module) {
  if (opened_.size() <= raw(module)) {
    opened_.resize(modules_.size());
  }
  auto& slot = opened_[raw(module)];
  if (slot == nullptr) {
    const Module& entry = modules_.module(module);
    slot = std::make_unique<Opened>();
    auto symbols = ModuleSymbols::open(entry.path, entry.build_id, separate_);
    if (symbols.ok()) {
      slot->symbols = std::move(*symbols);
      if (catalog_ != nullptr) {
        slot->symbols->use_types(*catalog_);
      }
    } else {
      slot->status = std::move(symbols).status();
    }
  }
  return *slot;
}

std::vector<Frame> Symbolizer::symbolize(ModuleAddress address) {
  const Opened& opened = open(address.module);
  return opened.symbols == nullptr ? std::vector<Frame>() : opened.symbols->frames(address.address);
}

std::vector<std::vector<Frame>> Symbolizer::symbolize(std::span<const ModuleAddress> addresses) {
  std::vector<std::vector<Frame>> frames;
  frames.reserve(addresses.size());
  for (const ModuleAddress& address : addresses) {
    frames.push_back(symbolize(address));
  }
  return frames;
}

std::vector<PlacedGlobal> Symbolizer::globals(ModuleId module) {
  Opened& opened = open(module);
  return opened.symbols == nullptr ? std::vector<PlacedGlobal>() : opened.symbols->globals();
}

std::optional<GlobalVariable> Symbolizer::global(ModuleAddress address) {
  const Opened& opened = open(address.module);
  return opened.symbols == nullptr ? std::nullopt : opened.symbols->global(address.address);
}

std::vector<ShortLived> Symbolizer::locals(ModuleAddress address) {
  const Opened& opened = open(address.module);
  return opened.symbols == nullptr ? std::vector<ShortLived>() : opened.symbols->locals(address.address);
}

std::vector<ShortLived> Symbolizer::thread_locals(ModuleId module) {
  const Opened& opened = open(module);
  return opened.symbols == nullptr ? std::vector<ShortLived>() : opened.symbols->thread_locals();
}

TypeId Symbolizer::allocated_type(ModuleAddress address) {
  const Opened& opened = open(address.module);
  return opened.symbols == nullptr ? kNoType : opened.symbols->allocated_type(address.address);
}

SymbolLevel Symbolizer::level(ModuleId module) {
  const Opened& opened = open(module);
  if (opened.symbols == nullptr) {
    return SymbolLevel::kNothing;
  }
  if (!opened.symbols->lines().rows().empty()) {
    return SymbolLevel::kLines;
  }
  return opened.symbols->symbols().empty() ? SymbolLevel::kNothing : SymbolLevel::kSymbols;
}

const Status& Symbolizer::status(ModuleId module) { return open(module).status; }

}  // namespace sooth
