// The layers of docs/architecture.md, enforced: who may include whom, and who may see which
// library.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace league {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kRoot = LEAGUE_SOURCE_DIR;

/// Everything but this folder builds and passes its tests without it.
const bool kHasBus = fs::exists(kRoot / "bus");

/// The folders of the product.
const std::vector<std::string> kFolders = [] {
  std::vector<std::string> all = {"common", "game", "league_manager", "referee", "player", "tools"};
  if (kHasBus) all.emplace_back("bus");
  return all;
}();

/// The components that each component may use.
const std::map<std::string, Names> kMayUse = {
    {"common/core", {}},
    {"game", {"common/core", "common/schema"}},
    {"common/task", {"common/core"}},
    {"common/schema", {"common/core"}},
    {"common/envelope", {"common/core", "common/schema"}},
    {"common/rpc", {"common/core", "common/schema"}},
    {"common/transport", {"common/core", "common/task", "common/rpc"}},
    {"common/journal", {"common/core"}},
    {"common/audit",
     {"common/core", "common/rpc", "common/envelope", "common/schema", "common/transport"}},
    {"common/mcp",
     {"common/core", "common/task", "common/schema", "common/rpc", "common/transport"}},
    {"common/agent",
     {"common/core", "common/task", "common/schema", "common/envelope", "common/rpc",
      "common/transport", "common/journal", "common/audit", "common/mcp"}},
};
/// The sublibraries of a component, each a folder and a library: those further to the right may use
/// those further to the left. "" is the folder of the component itself.
const std::map<std::string, std::vector<std::string>> kSublibraries = {
    {"common/transport",
     {"link", "connection", "http", "stream", "front", "line", "client", "caller"}},
    {"common/audit", {"record", "log", "calls"}},
    {"common/mcp", {"", "client"}},
    {"common/agent", {"runtime", "dialects", "peers", "identity", "bus", "seats", "host"}},
    {"game", {"", "files"}},
    {"league_manager",
     {"events", "core", "table", "files", "view", "admission", "bus", "rounds", "spectators",
      "service", "hosts", "program", ""}},
    {"bus", {"transport", "agent", "events", "standby/core", "standby", "commands"}},
    {"referee", {"core", "files", "service", ""}},
    {"player", {"core", "service", ""}},
    {"tools", {"audit/facts", "audit/rules",   "audit/inspect",  "audit/export",   "audit/program",
               "league/up",   "league/client", "league/connect", "league/new_bot", "check",
               "check/trial", "check/player",  "check/roles",    "check/cases",    "check/session",
               "check/spar",  "check/program", "bench",          "gateway",        "league"}},
};

/// For whom the folders of the bus work: its namespace, and the components that it may use besides
/// those of common/.
struct BusFolder {
  std::string name_space;
  Names may_use;
};
const std::map<std::string, BusFolder> kBusFolders = {
    {"transport", {"league::transport::bus", {}}},
    {"agent", {"league::agent::bus", {}}},
    {"events", {"league::league_manager::bus", {"league_manager"}}},
    {"standby/core", {"league::league_manager::stream", {}}},
    {"standby", {"league::league_manager::stream", {"league_manager"}}},
    {"commands", {"league::tools", {"tools"}}},
};

std::string component_of(const std::string& path) {
  auto second = path.find('/', path.find('/') + 1);
  if (path.starts_with("common/")) return path.substr(0, second);
  return path.substr(0, path.find('/'));
}

/// The sublibrary of `path` in its component; nothing for a component without sublibraries.
std::optional<std::string> sublibrary_of(const std::string& path) {
  const std::string component = component_of(path);
  if (!kSublibraries.contains(component)) return std::nullopt;
  const auto end = path.rfind('/');
  return end <= component.size() ? std::string()
                                 : path.substr(component.size() + 1, end - component.size() - 1);
}

struct Include {
  std::string file;
  std::string target;
  bool is_system;
};

/// What `line` includes: the file between the quotes or brackets.
std::optional<Include> include_of(const std::string& line, const std::string& file) {
  const std::string kWord = "#include ";
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos || line.compare(begin, kWord.size(), kWord) != 0)
    return std::nullopt;
  const auto open = begin + kWord.size();
  const auto end = line.find_first_of("\">", open + 1);
  if (open >= line.size() || end == std::string::npos) return std::nullopt;
  return Include{file, line.substr(open + 1, end - open - 1), line[open] == '<'};
}

std::vector<Include> read_includes() {
  std::vector<Include> includes;
  for (const auto& top : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      const std::string file = entry.path().lexically_relative(kRoot).string();
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (auto include = include_of(line, file)) includes.push_back(std::move(*include));
      }
    }
  }
  return includes;
}

const std::vector<Include>& all_includes() {
  static const std::vector<Include> kIncludes = read_includes();
  return kIncludes;
}

bool is_test(const std::string& file) {
  // `_testing` is the ending of everything that only tests include or link.
  if (file.find("_testing.") != std::string::npos) return true;
  if (file.starts_with("tests/") || file.ends_with("_fuzz.cpp")) return true;
  return file.ends_with("_test.cpp");
}

TEST(Layers, ArrowsOnlyGoDown) {
  const auto& includes = all_includes();
  ASSERT_GT(includes.size(), 500U);
  for (const auto& [file, target, is_system] : includes) {
    if (is_system || is_test(file) || target.find('/') == std::string::npos) continue;
    std::string from = component_of(file);
    std::string to = component_of(target);
    if (from == to) continue;
    auto rule = kMayUse.find(from);
    if (from == "bus") {
      EXPECT_TRUE(to.starts_with("common/") ||
                  kBusFolders.at(*sublibrary_of(file)).may_use.contains(to))
          << file << " includes " << target;
    } else if (rule != kMayUse.end()) {
      EXPECT_TRUE(rule->second.contains(to)) << file << " includes " << target;
    } else {
      // `league up` checks strategy names against the player's own list rather than keep a second
      // one.
      bool names_of_strategies = from == "tools" && (target == "player/core/strategy.h" ||
                                                     target == "player/core/misbehaviour.h");
      // `league audit verify` recomputes draws and table with the very rules that made them.
      bool rules =
          (file.starts_with("tools/audit/rules/") || file.starts_with("tools/audit/facts/")) &&
          (to == "league_manager" || to == "referee" || to == "common/journal");
      // `league export` makes the programs' files with the very functions that made them.
      bool files = file.starts_with("tools/audit/export/") &&
                   (to == "league_manager" || to == "referee" || to == "player");
      // What a journal says is read by the very code that wrote it, and so are what follows from it
      // and the figures of several managers.
      bool journal =
          from == "tools" && (target == "league_manager/files/journal_book.h" ||
                              target == "league_manager/files/league_book.h" ||
                              target == "league_manager/table/figures.h" ||
                              target == "league_manager/spectators/replication_figures.h");
      // `league check` and `league spar` judge bots with the very functions of a league.
      bool judging =
          (to == "referee" || to == "league_manager") && file.starts_with("tools/check/");
      // Somebody at a terminal or a chat program makes the choices of our own player.
      bool hosting = to == "player" && (file.starts_with("league_manager/hosts/") ||
                                        file.starts_with("tools/check/spar/"));
      EXPECT_TRUE(judging || hosting || kMayUse.contains(to) || names_of_strategies || rules ||
                  files || journal)
          << file << " includes " << target << ": programs use common/, not each other";
    }
  }
}

TEST(Layers, SublibrariesUseOnlyThoseBelowThem) {
  for (const auto& [file, target, is_system] : all_includes()) {
    if (is_system || is_test(file) || component_of(file) != component_of(target)) continue;
    auto from = sublibrary_of(file);
    auto to = sublibrary_of(target);
    if (!from || !to || *from == *to) continue;
    const auto& order = kSublibraries.at(component_of(file));
    auto upper = std::ranges::find(order, *from);
    ASSERT_NE(upper, order.end()) << file << " is in no sublibrary";
    EXPECT_NE(std::find(order.begin(), upper, *to), upper)
        << file << " includes " << target << ", which is not below it";
  }
}

/// The namespace of what a folder declares: its path. The `core` of a program is in the program's
/// own namespace, where it would hide league::core, and so is all of a program in tools/.
std::string namespace_of(const std::string& folder) {
  if (folder.starts_with("tools/audit")) return "league::tools::auditor";  // not league::audit
  if (folder.starts_with("tools/check")) return "league::tools::check";
  if (folder.starts_with("tools/league")) return "league::tools";
  if (folder.starts_with("bus/")) return kBusFolders.at(folder.substr(4)).name_space;
  if (folder == "league_manager/program") return "league::league_manager";
  std::string name = "league";
  std::istringstream parts(folder);
  for (std::string part; std::getline(parts, part, '/');) {
    const bool is_core_of_program = part == "core" && !folder.starts_with("common/");
    if (part != "common" && !is_core_of_program) name += "::" + part;
  }
  return name;
}

TEST(Layers, ANamespaceIsThePathOfItsFolder) {
  for (const auto& top : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const auto file = entry.path().lexically_relative(kRoot);
      if (entry.path().extension() != ".h" || is_test(file.string())) continue;
      if (file == "common/core/json_instances.h") continue;  // declares nothing of its own
      const std::string expected = "namespace " + namespace_of(file.parent_path().string());
      std::ifstream in(entry.path());
      bool found = false;
      for (std::string line; !found && std::getline(in, line);)
        found = line.starts_with(expected + " {") || line.starts_with(expected + "::");
      EXPECT_TRUE(found) << file << " has no \"" << expected << "\"";
    }
  }
}

/// Without the folder bus/ and one line of CMakeLists.txt, everything else builds.
TEST(Layers, TheBusIsOneWing) {
  const auto is_of_bus = [](const std::string& line) {
    return line.find("\"bus/") != std::string::npos || line.find("}/bus/") != std::string::npos ||
           line.find("add_subdirectory(bus)") != std::string::npos;
  };
  Names found;
  auto folders = kFolders;
  folders.insert(folders.end(), {"cmake", "tests", "packaging"});
  std::vector<fs::path> files = {kRoot / "CMakeLists.txt"};
  for (const auto& folder : folders) {
    if (folder == "bus") continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const auto extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp" || extension == ".cmake" ||
          entry.path().filename() == "CMakeLists.txt")
        files.push_back(entry.path());
    }
  }
  for (const auto& path : files) {
    const auto file = path.lexically_relative(kRoot).string();
    if (file == "tests/architecture/layers_test.cpp") continue;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      if (is_of_bus(line)) found.insert(file + ": " + line);
    }
  }
  EXPECT_EQ(found, kHasBus ? Names{"CMakeLists.txt: add_subdirectory(bus)"} : Names());
}

/// Transports that lose messages on purpose, peers that misbehave: never in a program.
TEST(Layers, WhatIsForTestsStaysInTests) {
  for (const auto& [file, target, is_system] : all_includes()) {
    if (!is_system && !is_test(file)) {
      EXPECT_FALSE(is_test(target)) << file << " includes " << target;
    }
  }
}

TEST(Layers, AFolderCanBeReadInOneGlance) {
  std::map<std::string, int> sources;
  for (const auto& top : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const auto extension = entry.path().extension();
      const auto file = entry.path().lexically_relative(kRoot);
      if ((extension == ".h" || extension == ".cpp") && !is_test(file.string()))
        ++sources[file.parent_path().string()];
    }
  }
  for (const auto& [folder, count] : sources)
    EXPECT_LE(count, 45) << folder << " should be divided";
}

TEST(Layers, ThePureCoresDoNotReachForTheWorld) {
  const Names kWorld = {"thread", "mutex", "iostream",     "fstream",
                        "random", "ctime", "sys/socket.h", "unistd.h"};
  Names cores = {"game",
                 "league_manager/events",
                 "league_manager/core",
                 "league_manager/table",
                 "referee/core",
                 "player/core"};
  if (kHasBus) cores.insert("bus/standby/core");
  Names seen;
  for (const auto& [file, target, is_system] : all_includes()) {
    const std::string folder = file.substr(0, file.rfind('/'));
    if (!cores.contains(folder) || is_test(file)) continue;
    seen.insert(folder);
    EXPECT_FALSE(kWorld.contains(target)) << file << " includes <" << target << ">";
    EXPECT_FALSE(target.starts_with("common/transport") || target.starts_with("common/agent"))
        << file << " includes " << target;
  }
  EXPECT_EQ(seen, cores);
}

/// Only game/ contains the rules of the game; all other code treats a choice as an opaque text.
TEST(Layers, OnlyTheGameKnowsItsWords) {
  const auto knows = [](const std::string& line) {
    const auto holds = [&line](const char* word) { return line.find(word) != std::string::npos; };
    return holds("\"even\"") || holds("\"odd\"") || holds("number % 2") || holds("drawn % 2");
  };
  // Examples in descriptions of messages are of the game that we ship.
  const Names descriptions = {"common/envelope/error_codec.cpp", "common/envelope/field_rules.h",
                              "common/envelope/game_codec.cpp"};
  for (const auto& top : kFolders) {
    if (top == "game") continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const auto file = entry.path().lexically_relative(kRoot).string();
      const auto extension = entry.path().extension();
      if ((extension != ".h" && extension != ".cpp") || is_test(file)) continue;
      if (descriptions.contains(file)) continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.find("///") != std::string::npos) continue;
        EXPECT_FALSE(knows(line)) << file << ":" << number << ": " << line;
      }
    }
  }
}

TEST(Layers, EachThirdPartyLibraryIsUsedByOneComponent) {
  const std::map<std::string, std::string> kComponents = {{"httplib.h", "common/transport"},
                                                          {"valijson/", "common/schema"},
                                                          {"simdjson.h", "common/schema"},
                                                          {"date/date.h", "common/core"},
                                                          {"utf8proc.h", "common/core"},
                                                          {"openssl/ssl.h", "common/transport"},
                                                          {"sys/epoll.h", "common/transport"},
                                                          {"boost/", "common/transport"},
                                                          {"sys/socket.h", "common/transport"},
                                                          {"SQLiteCpp/", "common/journal"},
                                                          {"sqlite3.h", "common/journal"},
                                                          {"nats/", "bus"},
                                                          {"zlib.h", "common/core"}};
  // What a league is measured against is to share nothing with it.
  const std::string kFloor = "tools/bench/bench_floor_peer.cpp";
  for (const auto& [file, target, is_system] : all_includes()) {
    if (!is_system || is_test(file)) continue;
    for (const auto& [library, component] : kComponents) {
      if (!target.starts_with(library)) continue;
      if (file == kFloor && target.starts_with("sys/")) continue;
      // The bus is a transport, too.
      if (file.starts_with("bus/transport/") && component == "common/transport") continue;
      // A task is one of Boost.Asio, whatever it waits for.
      if (component_of(file) == "common/task" && target.starts_with("boost/asio/")) continue;
      EXPECT_EQ(component_of(file), component) << file << " includes <" << target << ">";
    }
  }
}

/// What costs seconds in each source that reads it is read once.
TEST(Layers, WhatIsSlowToCompileIsSeenByOneSource) {
  const std::map<std::string, std::string> kSources = {
      {"spdlog/", "common/agent/runtime/operations_log.cpp"}};
  for (const auto& [file, target, is_system] : all_includes()) {
    if (!is_system || is_test(file)) continue;
    for (const auto& [library, source] : kSources) {
      if (!target.starts_with(library)) continue;
      EXPECT_EQ(file, source) << "includes <" << target << ">";
    }
  }
}

TEST(Layers, ThirdPartyHeadersStayOutOfHeaders) {
  for (const auto& [file, target, is_system] : all_includes()) {
    if (!is_system || !file.ends_with(".h")) continue;
    for (const char* library : {"httplib.h", "valijson/", "simdjson.h", "CLI/", "spdlog/"}) {
      EXPECT_FALSE(target.starts_with(library)) << file << " includes <" << target << ">";
    }
  }
}

/// All files that a CMakeLists.txt lists, from the root of the repository.
Names listed_files() {
  constexpr std::string_view kSourceDirectory = "${PROJECT_SOURCE_DIR}/";
  Names files;
  auto folders = kFolders;
  folders.emplace_back("tests");
  for (const auto& top : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      if (entry.path().filename() != "CMakeLists.txt") continue;
      const fs::path folder = entry.path().parent_path();
      std::ifstream in(entry.path());
      for (std::string word; in >> word;) {
        std::erase(word, ')');
        const fs::path file = word.starts_with(kSourceDirectory)
                                  ? kRoot / word.substr(kSourceDirectory.size())
                                  : folder / word;
        files.insert(file.lexically_relative(kRoot).lexically_normal().string());
      }
    }
  }
  return files;
}

/// A test that no program contains finds nothing.
TEST(Layers, EverySourceIsCompiled) {
  const Names listed = listed_files();
  for (const auto& top : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      if (entry.path().extension() != ".cpp") continue;
      const fs::path file = entry.path().lexically_relative(kRoot);
      if (file.string().ends_with("_fuzz.cpp")) continue;  // league_fuzz(NAME) names them
      EXPECT_TRUE(listed.contains(file.string())) << file << " is in no CMakeLists.txt";
    }
  }
}

}  // namespace
}  // namespace league
