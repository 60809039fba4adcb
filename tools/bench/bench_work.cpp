#include "tools/bench/bench_work.h"

#include <optional>

namespace league::tools::bench {
namespace {

using enum WorkKind;

struct KindRow {
  WorkKind kind;
  std::string_view name;
  std::string_view text;
};

constexpr std::array kKindRows = {
    KindRow{kKernel, "kernel", "kernel: network, disk, switching threads"},
    KindRow{kTransport, "transport", "HTTP and connections"},
    KindRow{kParse, "parse", "parsing JSON"},
    KindRow{kValidate, "validate", "validating against schemas"},
    KindRow{kEncode, "encode", "writing JSON"},
    KindRow{kJson, "json", "copying and comparing JSON values"},
    KindRow{kProtocol, "protocol", "messages, calls, admission"},
    KindRow{kLog, "log", "conversation log"},
    KindRow{kCrypto, "crypto", "hashes and signatures"},
    KindRow{kJournal, "journal", "journal"},
    KindRow{kLeague, "league", "rounds, matches, strategies, files"},
    KindRow{kBasics, "basics", "identifiers, times, timers"},
    KindRow{kMemory, "memory", "allocating memory"},
    KindRow{kContainers, "containers", "C++ library: texts, containers, pointers"},
    KindRow{kLibrary, "library", "C library: copying and comparing, locks"},
    KindRow{kOther, "other", "other"},
};
static_assert(kKindRows.size() == kAllWorkKinds.size());

/// Part of a name, and what such a name means. The first row that fits decides.
struct NameRow {
  std::string_view part;
  WorkKind kind;
};

// The beginnings of the file names of libraries.
constexpr std::array kLibraries = {NameRow{"libcpp-httplib", kTransport},
                                   NameRow{"libssl", kTransport},
                                   NameRow{"libnats", kTransport},
                                   NameRow{"libsimdjson", kParse},
                                   NameRow{"libcrypto", kCrypto},
                                   NameRow{"libsqlite3", kJournal},
                                   NameRow{"libSQLiteCpp", kJournal},
                                   NameRow{"libz.", kLog},
                                   NameRow{"libjemalloc", kMemory},
                                   NameRow{"libmimalloc", kMemory},
                                   NameRow{"libtcmalloc", kMemory},
                                   NameRow{"libc.", kLibrary},
                                   NameRow{"libc-", kLibrary},
                                   NameRow{"libm.", kLibrary},
                                   NameRow{"libm-", kLibrary},
                                   NameRow{"libpthread", kLibrary},
                                   NameRow{"ld-linux", kLibrary},
                                   NameRow{"ld-musl", kLibrary},
                                   NameRow{"libstdc++", kContainers},
                                   NameRow{"libgcc_s", kContainers},
                                   NameRow{"libdate-tz", kBasics},
                                   NameRow{"libutf8proc", kBasics},
                                   NameRow{"[vdso]", kLibrary}};

// Parts of the names of functions outside our namespaces.
constexpr std::array kForeignFunctions = {NameRow{"valijson::", kValidate},
                                          NameRow{"simdjson::", kParse},
                                          NameRow{"::detail::serializer<", kEncode},
                                          NameRow{"::detail::lexer<", kParse},
                                          NameRow{"::detail::parser<", kParse},
                                          NameRow{"nlohmann::", kJson},
                                          NameRow{"boost::", kTransport},
                                          NameRow{"httplib::", kTransport},
                                          NameRow{"SQLite::", kJournal},
                                          NameRow{"sqlite3", kJournal},
                                          NameRow{"operator new", kMemory},
                                          NameRow{"operator delete", kMemory},
                                          NameRow{"std::", kContainers},
                                          NameRow{"__gnu_cxx::", kContainers}};

// Parts of the names of our functions whose namespace does not say enough.
constexpr std::array kOwnFunctions = {
    NameRow{"rpc::append_json", kEncode}, NameRow{"schema::append_json", kEncode},
    NameRow{"rpc::JsonObject", kEncode},  NameRow{"rpc::JsonText", kEncode},
    NameRow{"schema::parse_", kParse},    NameRow{"::Copier::", kParse},
    NameRow{"::LimitedBuilder::", kParse}};

// Our namespaces, without `league::`.
constexpr std::array kNamespaces = {NameRow{"schema", kValidate},
                                    NameRow{"transport", kTransport},
                                    NameRow{"audit", kLog},
                                    NameRow{"journal", kJournal},
                                    NameRow{"rpc", kProtocol},
                                    NameRow{"envelope", kProtocol},
                                    NameRow{"mcp", kProtocol},
                                    NameRow{"agent", kProtocol},
                                    NameRow{"league_manager", kLeague},
                                    NameRow{"referee", kLeague},
                                    NameRow{"player", kLeague},
                                    NameRow{"game", kLeague},
                                    NameRow{"core", kBasics}};

constexpr std::string_view kOurs = "league::";

template <std::size_t N>
std::optional<WorkKind> first_contained(const std::array<NameRow, N>& rows, std::string_view name) {
  for (const auto& row : rows) {
    if (name.find(row.part) != std::string_view::npos) return row.kind;
  }
  return std::nullopt;
}

/// The kind of the first of our namespaces in `name`. Those of `core` count only if there is no
/// other: a Result and an id are in the signatures of all.
std::optional<WorkKind> kind_of_namespace(std::string_view name) {
  std::optional<WorkKind> last;
  for (std::size_t at = name.find(kOurs); at != std::string_view::npos; at = name.find(kOurs, at)) {
    at += kOurs.size();
    const std::string_view word = name.substr(at, name.find_first_of(":<(>,& ", at) - at);
    for (const auto& row : kNamespaces) {
      if (row.part != word) continue;
      if (row.kind != kBasics) return row.kind;
      last = row.kind;
    }
  }
  return last;
}

}  // namespace

std::string_view work_name(WorkKind kind) {
  return kKindRows.at(static_cast<std::size_t>(kind)).name;
}

std::string_view work_text(WorkKind kind) {
  return kKindRows.at(static_cast<std::size_t>(kind)).text;
}

WorkKind work_of_library(std::string_view file_name) {
  for (const auto& row : kLibraries) {
    if (file_name.starts_with(row.part)) return row.kind;
  }
  return kOther;
}

WorkKind work_of_function(std::string_view name) {
  if (name.find(kOurs) != std::string_view::npos && !name.starts_with("nlohmann::")) {
    if (auto kind = first_contained(kOwnFunctions, name)) return *kind;
    if (auto kind = kind_of_namespace(name)) return *kind;
  }
  return first_contained(kForeignFunctions, name).value_or(kOther);
}

}  // namespace league::tools::bench
