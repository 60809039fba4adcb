// The whole verifier over a league of one hostile log, or, where the input has lines `== FILE`, of
// several files. It never crashes, and whatever it finds has a rule, a text and a place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/support/temporary_directory.h"
#include "tools/audit/rules/audit_verify.h"

namespace {

namespace fs = std::filesystem;

/// The files that an input may name; every other line is content.
constexpr std::string_view kFiles[] = {
    "logs/league/cup/league.log.jsonl", "logs/league/cup/league.seal.json",
    "logs/agents/REF01.log.jsonl",      "logs/agents/REF01.seal.json",
    "logs/agents/P01.log.jsonl",        "logs/agents/P01.seal.json",
    "logs/agents/P02.log.jsonl",        "data/leagues/cup/standings.json",
    "data/leagues/cup/rounds.json",     "data/matches/cup/R1M1.json",
    "data/players/P01/history.json",    "MANIFEST.json"};

void spread(std::string_view input, const fs::path& directory) {
  fs::path file = directory / kFiles[0];
  std::ofstream out;
  auto open = [&](std::string_view name) {
    out.close();
    file = directory / name;
    fs::create_directories(file.parent_path());
    out.open(file, std::ios::binary | std::ios::trunc);
  };
  open(kFiles[0]);
  while (!input.empty()) {
    std::size_t end = input.find('\n');
    bool is_whole = end != std::string_view::npos;
    std::string_view line = input.substr(0, end);
    input.remove_prefix(is_whole ? end + 1 : input.size());
    bool is_name = false;
    for (auto name : kFiles)
      is_name = is_name || (line.starts_with("== ") && line.substr(3) == name);
    if (is_name) {
      open(line.substr(3));
    } else {
      out << line << (is_whole ? "\n" : "");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const league::testing::TemporaryDirectory directory;
  for (const auto& entry : fs::directory_iterator(directory.path())) fs::remove_all(entry.path());
  spread({reinterpret_cast<const char*>(data), size}, directory.path());
  league::tools::auditor::VerifyOptions options;
  options.threads = 1;
  if (size % 2 == 0) {
    std::ostringstream out;
    std::ostringstream err;
    options.json = size % 4 == 0;
    int code = league::tools::auditor::audit_verify(directory.path(), options, out, err);
    if (code < 0 || code > 2) std::abort();
    if (code < 2 && out.str().empty()) std::abort();
    return 0;
  }
  auto report = league::tools::auditor::verify_directory(directory.path(), options);
  if (!report) {
    if (report.error().message.empty()) std::abort();
    return 0;
  }
  for (const auto& fault : report->faults) {
    if (fault.rule.empty() || fault.text.empty() || fault.file.empty()) std::abort();
  }
  return 0;
}
