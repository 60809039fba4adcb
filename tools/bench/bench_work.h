#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

namespace league::tools::bench {

/// What a processor is used for while a league is played.
enum class WorkKind : std::uint8_t {
  kKernel,
  kTransport,
  kParse,
  kValidate,
  kEncode,
  kJson,
  kProtocol,
  kLog,
  kCrypto,
  kJournal,
  kLeague,
  kBasics,
  kMemory,
  kContainers,
  kLibrary,
  kOther,
};
inline constexpr std::array kAllWorkKinds = {
    WorkKind::kKernel, WorkKind::kTransport,  WorkKind::kParse,    WorkKind::kValidate,
    WorkKind::kEncode, WorkKind::kJson,       WorkKind::kProtocol, WorkKind::kLog,
    WorkKind::kCrypto, WorkKind::kJournal,    WorkKind::kLeague,   WorkKind::kBasics,
    WorkKind::kMemory, WorkKind::kContainers, WorkKind::kLibrary,  WorkKind::kOther};

/// How often, or how much, by kind; a kind that is missing: never.
using WorkCounts = std::map<WorkKind, std::uint64_t>;
using WorkSeconds = std::map<WorkKind, double>;

/// `parse`: its key in JSON.
[[nodiscard]] std::string_view work_name(WorkKind kind);
/// The same for people: what belongs to it.
[[nodiscard]] std::string_view work_text(WorkKind kind);

/// What the code of a shared library is for, by its file name (`libcrypto.so.3`); kOther if it is
/// unknown.
[[nodiscard]] WorkKind work_of_library(std::string_view file_name);

/// What a function of our programs is for, by its demangled name. A function of ours belongs to its
/// namespace, which is its folder, and so does an instance of a template for a type of ours. kOther
/// if the name is unknown.
[[nodiscard]] WorkKind work_of_function(std::string_view name);

}  // namespace league::tools::bench
