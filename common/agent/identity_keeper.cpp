#include "common/agent/identity_keeper.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/crypto.h"
#include "common/core/private_file.h"

namespace league::agent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 1;

core::Error identity_error(const std::string& why) {
  return {core::ErrorCode::kInternalError, "identity " + why, ""};
}

core::Error damaged(const fs::path& file, const std::string& why) {
  return identity_error(file.string() + ": " + why +
                        "; put a backup in its place, or remove it to register anew");
}

}  // namespace

core::Result<std::unique_ptr<IdentityKeeper>> IdentityKeeper::open(Options options,
                                                                   core::RandomSource& random) {
  fs::path directory = options.data / "agents";
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) return identity_error(directory.string() + ": " + failed.message());
  std::string name = options.role == envelope::Role::kReferee ? "referee_" : "player_";
  fs::path file = directory / (name + temporary_id(options.display_name) + ".json");
  auto lock = journal::LockFile::acquire(file.string() + ".lock");
  if (!lock) return identity_error(lock.error().message + "; or give another --name");
  std::unique_ptr<IdentityKeeper> keeper(
      new IdentityKeeper(std::move(options), std::move(file), std::move(*lock)));
  if (auto read = keeper->read(); !read) return read.error();
  if (keeper->nonce_.empty()) keeper->nonce_ = core::to_hex(random.bytes<16>());
  return keeper;
}

core::Result<void> IdentityKeeper::read() {
  auto content = core::read_private_file(file_);
  if (!content) return identity_error(content.error().message);
  if (!*content) return {};
  json kept = json::parse(**content, nullptr, false);
  if (!kept.is_object()) return damaged(file_, "is no JSON object");
  try {
    if (kept.at("schema_version") != kVersion) return damaged(file_, "is of another version");
    port_ = kept.at("port").get<std::uint16_t>();
    if (kept.at("manager") != options_.manager) return {};
    nonce_ = kept.value("registration_nonce", "");
    if (!kept.contains("id")) return {};
    identity_ = {kept.at("id").get<std::string>(), core::AuthToken(kept.at("auth_token")),
                 core::LeagueId(kept.at("league_id"))};
    identity_.league_key = kept.value("league_key", "");
    identity_.match_credentials = kept.value("match_credentials", false);
  } catch (const json::exception& problem) {
    return damaged(file_, problem.what());
  }
  return {};
}

core::Result<void> IdentityKeeper::write(bool is_flushed) const {
  json kept = {{"schema_version", kVersion}, {"manager", options_.manager}, {"port", port_}};
  if (!nonce_.empty()) kept["registration_nonce"] = nonce_;
  if (!identity_.id.empty()) {
    kept["id"] = identity_.id;
    kept["auth_token"] = identity_.token.reveal();
    kept["league_id"] = identity_.league.str();
    if (!identity_.league_key.empty()) kept["league_key"] = identity_.league_key;
    if (identity_.match_credentials) kept["match_credentials"] = true;
  }
  auto written = core::write_private_file(file_, kept.dump(2) + "\n",
                                          is_flushed ? core::Flush::kNow : core::Flush::kLater);
  return written ? written : identity_error(written.error().message);
}

bool IdentityKeeper::is_same(const Identity& identity) const {
  if (identity_.id.empty() || identity_.id != identity.id) return false;
  bool is_other_league = !identity_.league_key.empty() && !identity.league_key.empty() &&
                         identity_.league_key != identity.league_key;
  return !is_other_league && identity_.token.matches(identity.token.reveal());
}

std::filesystem::path IdentityKeeper::log_key() const {
  return std::filesystem::path(file_).replace_extension(".log.key");
}

std::filesystem::path IdentityKeeper::session_file() const {
  return std::filesystem::path(file_).replace_extension(".session");
}

core::Result<void> IdentityKeeper::prepare(RegistrationOptions& registration, std::uint16_t port) {
  port_ = port;
  registration.token = identity_.token;
  registration.nonce = nonce_;
  return write(false);
}

core::Result<void> IdentityKeeper::keep(const Identity& identity) {
  Identity before = std::exchange(identity_, identity);
  if (before.id == identity.id && before.token.matches(identity.token.reveal())) {
    if (identity_.league_key.empty()) identity_.league_key = std::move(before.league_key);
    identity_.match_credentials = identity_.match_credentials || before.match_credentials;
  }
  nonce_.clear();  // the next process is known by its token, and says by a new nonce that it is new
  return write(true);
}

audit::LogLeague log_league(const Identity& identity, const IdentityKeeper* keeper) {
  return {identity.league.str(), identity.league_key,
          keeper != nullptr && !keeper->is_same(identity)};
}

}  // namespace league::agent
