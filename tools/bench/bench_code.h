#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/bench_work.h"

namespace league::tools::bench {

/// The functions of a program, from the symbol table of its file (64-bit ELF). Not thread-safe.
class FunctionTable {
 public:
  /// Without functions if `program` cannot be read or has no symbol table, as after `strip`.
  explicit FunctionTable(const std::filesystem::path& program);

  /// The demangled name of the function whose code is at `offset` in the file.
  [[nodiscard]] std::optional<std::string> function_at(std::uint64_t offset) const;

 private:
  struct Function {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint32_t name = 0;  ///< where it begins in names_
  };
  struct Segment {
    std::uint64_t offset = 0;  ///< in the file
    std::uint64_t size = 0;
    std::uint64_t address = 0;
  };

  void read(const std::string& file);

  std::vector<Segment> segments_;
  std::vector<Function> functions_;  ///< sorted by address
  std::string names_;
};

/// Says what the code of processes is for. Reads each program's file once. Not thread-safe.
class CodeMap {
 public:
  /// What the code of `pid`, which must be alive, is for: of each address how often it was seen →
  /// of each kind how often.
  [[nodiscard]] WorkCounts work_of(pid_t pid,
                                   const std::map<std::uint64_t, std::uint64_t>& addresses);

 private:
  const FunctionTable& table_of(const std::filesystem::path& program);

  std::map<std::filesystem::path, std::unique_ptr<FunctionTable>> tables_;
};

}  // namespace league::tools::bench
