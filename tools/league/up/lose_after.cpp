#include "tools/league/up/lose_after.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "common/core/private_file.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;

core::Error wrong(const std::string& why) { return {core::ErrorCode::kInvalidFieldValue, why, {}}; }

bool is_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

/// Fails unless a manager of several keeps its league in `data`.
core::Result<void> check_directory(const fs::path& data) {
  std::error_code ignored;
  if (!fs::is_directory(data / "journal", ignored))
    return wrong(data.string() +
                 " is not a manager's data directory, since it has no journal: name the --data of "
                 "the manager that waits, on its machine");
  const fs::path knowledge = data / "replication.json";
  struct stat found {};
  if (::stat(knowledge.c_str(), &found) != 0)
    return wrong(knowledge.string() +
                 " is missing, so the manager of this directory shares its league with no other "
                 "and waits for none: name the --data of one that runs with --replicate or "
                 "--standby");
  if (found.st_uid != ::geteuid())
    return wrong(knowledge.string() + " belongs to another user (number " +
                 std::to_string(found.st_uid) +
                 "): run this command as the user that runs the manager, which could not read the "
                 "file otherwise");
  return {};
}

}  // namespace

core::Result<fs::path> request_lead(const fs::path& data, std::string_view last) {
  if (!is_number(last))
    return wrong("--lose-after \"" + std::string(last) +
                 "\" is not the number of an event: take the number in the manager's line on "
                 "stderr (\"or run `league admin lead --lose-after N`\")");
  if (auto checked = check_directory(data); !checked) return checked.error();
  fs::path file = data / "lose_after";
  if (auto written = core::write_private_file(file, std::string(last) + "\n"); !written)
    return written.error();
  return file;
}

}  // namespace league::tools
