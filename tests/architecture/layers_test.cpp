// The layers of docs/architecture.md, enforced: who may include whom, and who may see which
// library.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace league {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kRoot = LEAGUE_SOURCE_DIR;

/// Below each room, those that it may use.
const std::map<std::string, Names> kMayUse = {
    {"common/core", {}},
    {"game", {"common/core"}},
    {"common/schema", {"common/core"}},
    {"common/envelope", {"common/core", "common/schema"}},
    {"common/rpc", {"common/core", "common/schema"}},
    {"common/transport", {"common/core", "common/rpc"}},
    {"common/journal", {"common/core"}},
    {"common/audit",
     {"common/core", "common/rpc", "common/envelope", "common/schema", "common/transport"}},
    {"common/mcp", {"common/core", "common/schema", "common/rpc", "common/transport"}},
    {"common/agent",
     {"common/core", "common/schema", "common/envelope", "common/rpc", "common/transport",
      "common/journal", "common/audit", "common/mcp"}},
};
const Names kPrograms = {"league_manager", "referee", "player", "tools"};

std::string room_of(const std::string& path) {
  auto second = path.find('/', path.find('/') + 1);
  if (path.starts_with("common/")) return path.substr(0, second);
  return path.substr(0, path.find('/'));
}

struct Include {
  std::string file;
  std::string target;
  bool is_system;
};

std::vector<Include> all_includes() {
  static const std::regex kInclude(R"re(^\s*#include ([<"])([^>"]+)[>"])re");
  std::vector<Include> includes;
  for (const char* top : {"common", "game", "league_manager", "referee", "player", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, kInclude)) continue;
        includes.push_back({fs::relative(entry.path(), kRoot).string(), match[2], match[1] == "<"});
      }
    }
  }
  return includes;
}

bool is_test(const std::string& file) {
  // What only tests include: fixtures, scripted players, logs that are made by hand.
  for (const char* helper : {"test_support", "_fixture", "_script.", "verify_test_league"}) {
    if (file.find(helper) != std::string::npos) return true;
  }
  return file.ends_with("_test.cpp");
}

TEST(Layers, ArrowsOnlyGoDown) {
  auto includes = all_includes();
  ASSERT_GT(includes.size(), 500U);
  for (const auto& [file, target, is_system] : includes) {
    if (is_system || is_test(file) || target.find('/') == std::string::npos) continue;
    std::string from = room_of(file);
    std::string to = room_of(target);
    if (from == to) continue;
    if (to == "tests") {
      EXPECT_TRUE(file.find("script") != std::string::npos) << file << " includes " << target;
      continue;
    }
    auto rule = kMayUse.find(from);
    if (rule != kMayUse.end()) {
      EXPECT_TRUE(rule->second.contains(to)) << file << " includes " << target;
    } else {
      // `league up` checks strategy names against the player's own list rather than keep a second
      // one.
      bool names_of_strategies =
          from == "tools" && (target == "player/strategy.h" || target == "player/misbehaviour.h");
      // `league audit verify` recomputes draws and table with the very rules that made them.
      bool rules = file.starts_with("tools/league/verify_") &&
                   (to == "league_manager" || to == "referee" || to == "common/journal");
      // `league export` makes the programs' files with the very functions that made them.
      bool files = file.starts_with("tools/league/export_") &&
                   (to == "league_manager" || to == "referee" || to == "player");
      // What a journal says is read by the very code that wrote it.
      bool journal = to == "league_manager" && (file.starts_with("tools/league/journal_book.") ||
                                                file.starts_with("tools/league/technical_losses."));
      EXPECT_TRUE(kMayUse.contains(to) || names_of_strategies || rules || files || journal)
          << file << " includes " << target << ": programs use common/, not each other";
    }
  }
}

TEST(Layers, ThePureCoresDoNotReachForTheWorld) {
  const Names kWorld = {"thread", "mutex", "iostream",     "fstream",
                        "random", "ctime", "sys/socket.h", "unistd.h"};
  const Names kCore = {"league_manager/league.cpp",
                       "league_manager/standings.cpp",
                       "league_manager/schedule.cpp",
                       "league_manager/registration.cpp",
                       "league_manager/agent_lifecycle.cpp",
                       "referee/match.cpp",
                       "game/judge.cpp",
                       "game/draw.cpp",
                       "game/even_odd/even_odd.cpp",
                       "player/strategy.cpp",
                       "player/history.cpp"};
  Names seen;
  for (const auto& [file, target, is_system] : all_includes()) {
    if (!kCore.contains(file)) continue;
    seen.insert(file);
    EXPECT_FALSE(kWorld.contains(target)) << file << " includes <" << target << ">";
    EXPECT_FALSE(target.starts_with("common/transport") || target.starts_with("common/agent"))
        << file << " includes " << target;
  }
  EXPECT_EQ(seen, kCore);
}

/// The rules of the game stand in game/ alone: elsewhere a choice is a text that nobody looks into.
TEST(Layers, OnlyTheGameKnowsItsWords) {
  static const std::regex kWords(R"re("(even|odd)"|(number|drawn) % 2)re");
  for (const char* top : {"common", "league_manager", "referee", "player", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const auto file = fs::relative(entry.path(), kRoot).string();
      const auto extension = entry.path().extension();
      if ((extension != ".h" && extension != ".cpp") || is_test(file)) continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.find("///") != std::string::npos) continue;
        EXPECT_FALSE(std::regex_search(line, kWords)) << file << ":" << number << ": " << line;
      }
    }
  }
}

TEST(Layers, EachLibraryIsSeenInOneRoom) {
  const std::map<std::string, std::string> kRooms = {
      {"httplib.h", "common/transport"},     {"valijson/", "common/schema"},
      {"simdjson.h", "common/schema"},       {"date/date.h", "common/core"},
      {"openssl/ssl.h", "common/transport"}, {"sys/epoll.h", "common/transport"},
      {"boost/", "common/transport"},        {"sys/socket.h", "common/transport"},
      {"SQLiteCpp/", "common/journal"},      {"sqlite3.h", "common/journal"},
      {"nats/", "common/transport"}};
  for (const auto& [file, target, is_system] : all_includes()) {
    if (!is_system || is_test(file)) continue;
    for (const auto& [library, room] : kRooms) {
      if (!target.starts_with(library)) continue;
      EXPECT_EQ(room_of(file), room) << file << " includes <" << target << ">";
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

TEST(Layers, NoSourceFileIsLongerThanFourHundredLines) {
  for (const char* top : {"common", "game", "league_manager", "referee", "player", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      std::ifstream in(entry.path());
      int lines = 0;
      for (std::string line; std::getline(in, line);) ++lines;
      EXPECT_LE(lines, 400) << fs::relative(entry.path(), kRoot) << " should be split";
    }
  }
}

}  // namespace
}  // namespace league
