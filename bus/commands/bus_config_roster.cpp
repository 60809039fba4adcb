#include "bus/commands/bus_config.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>

#include "common/core/crypto.h"
#include "common/core/ids.h"
#include "common/core/private_file.h"

#ifdef LEAGUE_HAS_CRYPT
#include <crypt.h>
#endif

namespace league::tools {
namespace {

constexpr std::size_t kLongestName = 64;

core::Error line_error(int line, const std::string& why) {
  return {core::ErrorCode::kInvalidFieldValue, "line " + std::to_string(line) + ": " + why, {}};
}

bool is_file_name(const std::string& name) {
  return name.size() <= kLongestName && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_');
         });
}

core::Result<BusEntry> parse_line(const std::vector<std::string>& words, int line) {
  BusEntry entry;
  if (words[0] == name_of(BusRole::kReferee)) {
    entry.role = BusRole::kReferee;
  } else if (words[0] != name_of(BusRole::kPlayer)) {
    return line_error(line, "must begin with `player` or `referee`");
  }
  if (words.size() < 2 || words.size() > 3)
    return line_error(line, "must be ROLE NAME or ROLE NAME SESSION");
  entry.name = words[1];
  if (!is_file_name(entry.name))
    return line_error(
        line,
        "a name is 1 to 64 letters, digits, `.`, `-` and `_`, and begins with neither `.` nor `-`");
  if (words.size() == 2) return entry;
  entry.session = transport::link::BusSession::parse(words[2]);
  if (!entry.session) return line_error(line, "a session is 8 to 64 letters, digits, `-` and `_`");
  return entry;
}

BusLogin make_login(const std::string& user, core::RandomSource& random) {
  std::string password = core::to_hex(random.bytes<16>());
  auto hash = bcrypt_hash(password, random);
  return {user, password, hash.value_or(password)};
}

BusUser make_agent(BusRole role, const std::string& name,
                   const std::optional<transport::link::BusSession>& session,
                   core::RandomSource& random) {
  BusUser agent{.role = role,
                .name = name,
                .session = session ? *session : transport::link::BusSession::make(random),
                .login = make_login(name, random)};
  // The slash makes the name unique, since agents' names have none.
  if (role == BusRole::kManager || role == BusRole::kOperator)
    agent.streams_login = make_login(name + "/streams", random);
  return agent;
}

namespace fs = std::filesystem;

core::Error place_error(const fs::path& path, const std::string& why) {
  return {core::ErrorCode::kInternalError, path.string() + ": " + why, {}};
}

core::Result<void> make_private_directory(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (!failed) fs::permissions(path, fs::perms::owner_all, failed);
  if (failed) return place_error(path, failed.message());
  return {};
}

/// Removes the files of an earlier configuration, since credentials of removed users would be
/// confusing. Does not touch other files.
core::Result<void> clear(const fs::path& directory) {
  std::error_code failed;
  std::vector<fs::path> old = {directory / "users.conf"};
  for (const auto& entry : fs::directory_iterator(directory, failed)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("server") && name.ends_with(".conf")) old.push_back(entry.path());
  }
  std::error_code none;  // the directory may be missing
  for (const auto& entry : fs::directory_iterator(directory / "credentials", none)) {
    if (entry.path().extension() == ".json") old.push_back(entry.path());
  }
  for (const auto& path : old) {
    if (!failed) fs::remove(path, failed);
    if (failed) return place_error(path, failed.message());
  }
  return {};
}

core::Result<void> prepare(const fs::path& directory, bool may_overwrite) {
  std::error_code failed;
  if (fs::exists(directory, failed)) {
    bool is_empty = fs::is_directory(directory, failed) && fs::is_empty(directory, failed);
    if (!is_empty && !may_overwrite)
      return place_error(directory,
                         "already exists; its passwords may be in use. Choose another --dir, or "
                         "add --force to replace everything in it");
    if (!is_empty) {
      if (auto cleared = clear(directory); !cleared) return cleared;
    }
  }
  if (auto made = make_private_directory(directory); !made) return made;
  return make_private_directory(directory / "credentials");
}

}  // namespace

core::Result<std::vector<BusEntry>> parse_bus_agents(std::string_view text) {
  std::vector<BusEntry> entries;
  std::set<std::string> taken = {std::string(name_of(BusRole::kManager)),
                                 std::string(name_of(BusRole::kOperator))};
  std::set<transport::link::BusSession> sessions;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream part(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; part >> word;) words.push_back(word);
    if (words.empty()) continue;
    auto entry = parse_line(words, number);
    if (!entry) return entry.error();
    if (!taken.insert(entry->name).second)
      return line_error(number, "the name " + entry->name + " is taken; each agent has its own");
    if (entry->session && !sessions.insert(*entry->session).second)
      return line_error(number, "another agent has this session already");
    entries.push_back(*entry);
  }
  return entries;
}

std::vector<BusEntry> numbered_bus_agents(int players, int referees) {
  std::vector<BusEntry> entries;
  for (int i = 1; i <= referees; ++i)
    entries.push_back({BusRole::kReferee, core::numbered_id("referee", i), std::nullopt});
  for (int i = 1; i <= players; ++i)
    entries.push_back({BusRole::kPlayer, core::numbered_id("player", i), std::nullopt});
  return entries;
}

std::vector<BusUser> make_bus_agents(const std::vector<BusEntry>& entries,
                                     core::RandomSource& random) {
  std::vector<BusUser> agents;
  for (auto role : {BusRole::kManager, BusRole::kOperator})
    agents.push_back(make_agent(role, std::string(name_of(role)), std::nullopt, random));
  for (const auto& entry : entries)
    agents.push_back(make_agent(entry.role, entry.name, entry.session, random));
  return agents;
}

std::optional<std::string> bcrypt_hash(const std::string& password, core::RandomSource& random) {
#ifdef LEAGUE_HAS_CRYPT
  constexpr const char* kPrefix = "$2a$";
  constexpr unsigned long kLeastCost = 4;
  auto salt = random.bytes<16>();
  std::string setting(CRYPT_GENSALT_OUTPUT_SIZE, '\0');
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as the C function wants them
  const auto* bytes = reinterpret_cast<const char*>(salt.data());
  if (::crypt_gensalt_rn(kPrefix, kLeastCost, bytes, static_cast<int>(salt.size()), setting.data(),
                         static_cast<int>(setting.size())) == nullptr)
    return std::nullopt;
  auto scratch = std::make_unique<crypt_data>();
  const char* hash = ::crypt_r(password.c_str(), setting.c_str(), scratch.get());
  // On failure, crypt returns a text that begins with an asterisk.
  if (hash == nullptr || !std::string_view(hash).starts_with(kPrefix)) return std::nullopt;
  return std::string(hash);
#else
  (void)password;
  (void)random;
  return std::nullopt;
#endif
}

core::Result<BusConfigFiles> write_bus_config(const fs::path& directory, const BusConfig& config,
                                              bool may_overwrite) {
  if (auto ready = prepare(directory, may_overwrite); !ready) return ready.error();
  BusConfigFiles files{{}, directory / "users.conf", directory / "credentials"};
  auto write = [](const fs::path& path, const std::string& text) {
    return core::write_private_file(path, text, core::Flush::kLater);
  };
  if (auto done = write(files.users, render_users(config)); !done) return done.error();
  for (std::size_t i = 0; i < config.brokers.size(); ++i) {
    std::string number = config.brokers.size() > 1 ? "-" + std::to_string(i + 1) : "";
    files.brokers.push_back(directory / ("server" + number + ".conf"));
    if (auto done = write(files.brokers.back(), render_broker(config, i)); !done)
      return done.error();
  }
  for (const auto& agent : config.agents) {
    auto path = files.credentials / (agent.name + ".json");
    if (auto done = write(path, render_credentials(config, agent)); !done) return done.error();
  }
  return files;
}

}  // namespace league::tools
