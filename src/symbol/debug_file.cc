#include "symbol/debug_file.h"

#include <dwarf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "symbol/elf_file.h"
#include "symbol/elf_image.h"

namespace sooth {
namespace {

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,  // the default of elfutils
};

Status check_build_id(const BinaryInfo& info, const std::string& recorded) {
  if (recorded.empty() || info.build_id == recorded) {
    return {};
  }
  return Status::bad_input(info.path + ": the file has changed since the recording (its build id was " + recorded +
                           " and is " + (info.build_id.empty() ? "missing" : info.build_id) +
                           "); its addresses stay without names. Record again, or put the old file back");
}

bool has_debug_information(Elf* elf) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) {
    return false;
  }
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    const char* name = gelf_getshdr(section, &header) == nullptr ? nullptr : elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && (std::strcmp(name, ".debug_info") == 0 || std::strcmp(name, ".zdebug_info") == 0)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string CompileUnit::source_path(const char* name) {
  if (name == nullptr || name[0] == '/') {
    return name == nullptr ? "" : name;
  }
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(&skeleton, DW_AT_comp_dir, &attribute));
  return folder == nullptr ? name : std::string(folder) + "/" + name;
}

Result<std::unique_ptr<DebugFile>> DebugFile::open(const std::string& path, const std::string& build_id,
                                                   SeparateDebug separate) {
  // Headers and symbol tables are checked before elfutils sees them.
  const auto info = inspect_binary(path);
  if (!info.ok()) {
    return info.status();
  }
  if (info->format != FileFormat::kElf) {
    return Status::bad_input(path + ": not an ELF file of a machine that Sooth knows");
  }
  SOOTH_RETURN_IF_ERROR(check_build_id(*info, build_id));
  std::unique_ptr<DebugFile> file(new DebugFile);
  SOOTH_RETURN_IF_ERROR(file->load(path, separate == SeparateDebug::kOfAll || info->tsan != Tsan::kNone));
  return file;
}

DebugFile::~DebugFile() = default;

Status DebugFile::load(const std::string& path, bool use_separate) {
  dwfl_.reset(dwfl_begin(&kCallbacks));
  if (dwfl_ == nullptr) {
    return Status::internal(path + ": elfutils: " + dwfl_errmsg(-1));
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return Status::bad_input(path + ": " + std::strerror(errno));
  }
  dwfl_report_begin(dwfl_.get());
  module_ = dwfl_report_elf(dwfl_.get(), path.c_str(), path.c_str(), fd, 0, true);
  if (module_ == nullptr) {
    ::close(fd);  // else elfutils owns it
    return Status::bad_input(path + ": elfutils: " + dwfl_errmsg(-1));
  }
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  GElf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module_, &bias);
  std::size_t segments = 0;
  if (elf == nullptr || bias != 0 || elf_getphdrnum(elf, &segments) != 0) {
    return Status::bad_input(path + ": elfutils: " + dwfl_errmsg(-1));
  }
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD &&
        (segment.p_flags & PF_X) != 0) {
      code_.emplace_back(segment.p_vaddr, segment.p_vaddr + segment.p_memsz);
    }
  }
  if (!use_separate && !has_debug_information(elf)) {
    return {};
  }
  // A debug file may have been linked to another address than the file (prelink); nobody does that any more.
  if (Dwarf* dwarf = dwfl_module_getdwarf(module_, &bias); dwarf != nullptr && bias == 0) {
    read_units(dwarf);
  }
  return {};
}

void DebugFile::read_units(Dwarf* dwarf) {
  Dwarf_CU* cu = nullptr;
  Dwarf_CU* next = nullptr;
  Dwarf_Die skeleton, split;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf, cu, &next, nullptr, &type, &skeleton, &split) == 0) {
    cu = next;
    if (type == DW_UT_compile) {
      units_.push_back({.skeleton = skeleton, .tree = skeleton, .has_tree = true});
    } else if (type == DW_UT_skeleton) {
      const bool has_tree = dwarf_tag(&split) == DW_TAG_compile_unit;
      units_.push_back({.skeleton = skeleton, .tree = split, .has_tree = has_tree});
    }
  }
}

bool DebugFile::is_code(std::uint64_t address) const {
  return std::any_of(code_.begin(), code_.end(),
                     [&](const auto& range) { return range.first <= address && address < range.second; });
}

}  // namespace sooth
