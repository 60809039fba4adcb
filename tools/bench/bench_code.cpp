#include "tools/bench/bench_code.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace league::tools::bench {
namespace {

/// The `T` at `offset` of an ELF file; all zero beyond its end.
template <typename T>
T read_struct(const std::string& file, std::uint64_t offset) {
  T out{};
  if (offset <= file.size() && file.size() - offset >= sizeof out)
    std::memcpy(&out, file.data() + offset, sizeof out);
  return out;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return text ? text.get() : name;
}

/// A part of a file that a process has in its memory.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::string path;
};

std::vector<Mapping> read_mappings(pid_t pid) {
  std::vector<Mapping> mappings;
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    // 7f0c4000-7f0c5000 r-xp 00001000 08:01 1234    /usr/lib/libc.so.6
    Mapping mapping;
    char dash = 0;
    std::string mode;
    std::string device;
    std::string inode;
    std::istringstream in(line);
    in >> std::hex >> mapping.begin >> dash >> mapping.end >> mode >> mapping.offset >> device >>
        inode >> std::ws;
    std::getline(in, mapping.path);
    if (mode.find('x') != std::string::npos) mappings.push_back(std::move(mapping));
  }
  return mappings;
}

}  // namespace

FunctionTable::FunctionTable(const std::filesystem::path& program) {
  std::ifstream in(program, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), {});
  const auto head = read_struct<Elf64_Ehdr>(file, 0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64)
    read(file);
}

void FunctionTable::read(const std::string& file) {
  const auto head = read_struct<Elf64_Ehdr>(file, 0);
  for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
    const auto segment = read_struct<Elf64_Phdr>(file, head.e_phoff + i * head.e_phentsize);
    if (segment.p_type == PT_LOAD)
      segments_.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
  }
  const auto section = [&](std::uint64_t number) {
    return read_struct<Elf64_Shdr>(file, head.e_shoff + number * head.e_shentsize);
  };
  for (std::uint64_t i = 0; i < head.e_shnum; ++i) {
    const auto symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    const auto names = section(symbols.sh_link);
    if (names.sh_offset > file.size()) continue;
    names_ = file.substr(names.sh_offset, names.sh_size);
    for (std::uint64_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_struct<Elf64_Sym>(file, symbols.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0 &&
          symbol.st_name < names_.size())
        functions_.push_back({symbol.st_value, symbol.st_size, symbol.st_name});
    }
  }
  std::ranges::sort(functions_, {}, &Function::address);
}

std::optional<std::string> FunctionTable::function_at(std::uint64_t offset) const {
  for (const auto& segment : segments_) {
    if (offset < segment.offset || offset - segment.offset >= segment.size) continue;
    const std::uint64_t address = offset - segment.offset + segment.address;
    auto after = std::ranges::upper_bound(functions_, address, {}, &Function::address);
    if (after == functions_.begin()) return std::nullopt;
    const Function& function = *std::prev(after);
    if (address - function.address >= function.size) return std::nullopt;
    return demangled(names_.c_str() + function.name);
  }
  return std::nullopt;
}

WorkCounts CodeMap::work_of(pid_t pid, const std::map<std::uint64_t, std::uint64_t>& addresses) {
  std::error_code unknown;
  const auto program =
      std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", unknown);
  const auto mappings = read_mappings(pid);
  WorkCounts counts;
  for (const auto& [address, count] : addresses) {
    auto kind = WorkKind::kOther;
    for (const auto& mapping : mappings) {
      if (address < mapping.begin || address >= mapping.end) continue;
      if (mapping.path == program) {
        const auto name = table_of(program).function_at(address - mapping.begin + mapping.offset);
        if (name) kind = work_of_function(*name);
      } else {
        kind = work_of_library(std::filesystem::path(mapping.path).filename().string());
      }
      break;
    }
    counts[kind] += count;
  }
  return counts;
}

const FunctionTable& CodeMap::table_of(const std::filesystem::path& program) {
  auto& table = tables_[program];
  if (!table) table = std::make_unique<FunctionTable>(program);
  return *table;
}

}  // namespace league::tools::bench
