#include "tools/league/sibling_programs.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "tools/league/up/process_group.h"

namespace league::tools {
namespace {

struct Sibling {
  std::string_view command;
  std::string_view program;
  std::string_view description;
  bool has_more_commands = false;  ///< so the program must be told which one
};

constexpr std::array<Sibling, 8> kSiblings{{
    {"audit", "league-audit",
     "show what happened according to the conversation logs, and verify them", true},
    {"export", "league-audit",
     "recreate a league's files from its journal and logs, or write tables, grades or a site",
     true},
    {"backup", "league-audit", "make a backup of a league, which may be running", true},
    {"check", "league-check", "check a bot against the protocol, clause by clause", true},
    {"spar", "league-check", "play many matches between two bots", true},
    {"play", "league-check", "play one match between two bots and print what happens", true},
    {"bench", "league-bench", "measure how fast whole leagues are on this machine"},
    {"gateway", "league-gateway",
     "make an MCP server available over another transport or revision"},
}};

}  // namespace

void add_sibling_commands(CLI::App& app) {
  for (const Sibling& sibling : kSiblings)
    app.add_subcommand(std::string(sibling.command), std::string(sibling.description));
}

std::optional<int> run_sibling(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  for (const Sibling& sibling : kSiblings) {
    if (sibling.command != argv[1]) continue;
    const auto program = own_directory() / sibling.program;
    ::execv(program.c_str(), sibling.has_more_commands ? argv : argv + 1);
    const std::error_code reason(errno, std::generic_category());
    std::cerr << "error: `league " << sibling.command << "` is the program " << program.string()
              << ", which cannot be started: " << reason.message()
              << (reason == std::errc::no_such_file_or_directory ? "; scripts/setup builds it" : "")
              << '\n';
    return 2;
  }
  return std::nullopt;
}

}  // namespace league::tools
