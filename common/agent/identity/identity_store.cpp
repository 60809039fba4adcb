#include "common/agent/identity/identity_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "common/agent/runtime/log.h"
#include "common/core/comparable_address.h"
#include "common/core/crypto.h"
#include "common/core/private_file.h"
#include "common/schema/fields.h"

namespace league::agent::identity {
namespace {

namespace fs = std::filesystem;
using core::ComparableAddress;
using nlohmann::json;

constexpr int kVersion = 1;
/// The most tokens that are tried at one manager; each is tried only after the manager did not know
/// the one before.
constexpr std::size_t kMostCandidates = 8;
/// The numbers of an agent's files have gaps only where somebody has removed files. To read the
/// whole directory instead would take seconds for each thousand agents that share it.
constexpr int kLongestGap = 16;

core::Error identity_error(const std::string& why) {
  return {core::ErrorCode::kInternalError, "identity " + why, ""};
}

core::Error damaged(const fs::path& file, const std::string& why) {
  return identity_error(file.string() + ": " + why +
                        "; restore a backup, or remove the file to register again");
}

fs::path first_file(const IdentityStore::Options& options) {
  const std::string name = options.role == envelope::Role::kReferee ? "referee_" : "player_";
  return options.data / "agents" / (name + temporary_id(options.display_name) + ".json");
}

}  // namespace

void IdentityStore::SavedIdentity::describe(schema::Fields& a) {
  a.version("schema_version", kVersion);
  a.required("port", port, "manager", manager);
  a.filled("registration_nonce", nonce);
  if (a.reads() ? !a.has("id") : identity.id.empty()) return;
  a.required("id", identity.id, "auth_token", identity.token, "league_id", identity.league);
  a.filled("league_key", identity.league_key);
  a.flag("match_credentials", identity.match_credentials);
  a.filled("receipt_key", identity.receipt_key);
  a.filled("game", identity.game);  // for children that only read this
}

core::Result<std::optional<Identity>> IdentityStore::find(Options options,
                                                          core::RandomSource& random) {
  fs::path file = first_file(options);
  std::error_code failed;
  if (!fs::is_directory(file.parent_path(), failed)) return std::optional<Identity>();
  IdentityStore store(std::move(options), std::move(file), std::nullopt, random);
  if (auto read = store.read_all(); !read) return read.error();
  std::erase_if(store.candidates_,
                [](const SavedIdentity& kept) { return kept.identity.id.empty(); });
  if (store.candidates_.empty()) return std::optional<Identity>();
  return std::optional(store.candidates_.back().identity);
}

core::Result<std::unique_ptr<IdentityStore>> IdentityStore::open(Options options,
                                                                 core::RandomSource& random) {
  fs::path file = first_file(options);
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) return identity_error(file.parent_path().string() + ": " + failed.message());
  auto lock = journal::LockFile::acquire(file.string() + ".lock");
  if (!lock) return identity_error(lock.error().message + "; or give another --name");
  std::unique_ptr<IdentityStore> identity_store(
      new IdentityStore(std::move(options), std::move(file), std::move(*lock), random));
  if (auto read = identity_store->read_all(); !read) return read.error();
  identity_store->take_next();
  return identity_store;
}

core::Result<void> IdentityStore::read_all() {
  const auto manager = ComparableAddress::parse(options_.manager);
  std::error_code failed;
  for (int number = 1, last = 0; number <= last + kLongestGap; ++number) {
    SavedIdentity kept{.file = numbered(number), .number = number, .manager = {}};
    const bool is_there = fs::exists(kept.file, failed);
    if (failed) return identity_error(kept.file.string() + ": " + failed.message());
    if (!is_there) continue;
    last = number;
    if (auto done = read(kept); !done) return done;
    port_ = kept.port;
    auto giver = ComparableAddress::parse(kept.manager);
    bool may_be_shown = giver == manager || giver.is_local_neighbour_of(manager);
    (may_be_shown ? candidates_ : for_others_).push_back(std::move(kept));
  }
  std::ranges::sort(candidates_, {}, [&](const SavedIdentity& kept) {
    return std::tuple(ComparableAddress::parse(kept.manager) == manager, kept.number);
  });
  while (candidates_.size() > kMostCandidates) {
    for_others_.push_back(std::move(candidates_.front()));
    candidates_.erase(candidates_.begin());
  }
  return {};
}

core::Result<void> IdentityStore::read(SavedIdentity& out) {
  auto content = core::read_private_file(out.file);
  if (!content) return identity_error(content.error().message);
  if (!*content) return {};
  const json kept = json::parse(**content, nullptr, false);
  if (!kept.is_object()) return damaged(out.file, "is not a JSON object");
  if (auto done = schema::read_into(kept, out); !done)
    return damaged(out.file, done.error().message);
  return {};
}

core::Result<void> IdentityStore::write(bool is_flushed) const {
  SavedIdentity kept = current_;
  kept.port = port_;
  auto written = core::write_private_file(current_.file, schema::to_json(kept).dump(2) + "\n",
                                          is_flushed ? core::Flush::kNow : core::Flush::kLater);
  return written ? written : identity_error(written.error().message);
}

void IdentityStore::take_next() {
  if (!current_.identity.id.empty()) for_others_.push_back(std::move(current_));
  if (candidates_.empty()) {
    current_ = free_place();
  } else {
    current_ = std::move(candidates_.back());
    candidates_.pop_back();
    if (current_.port != 0) port_ = current_.port;
  }
  if (current_.nonce.empty()) current_.nonce = core::to_hex(random_.bytes<16>());
}

IdentityStore::SavedIdentity IdentityStore::free_place() {
  int last = 0;
  for (const auto* list : {&for_others_, &candidates_}) {
    for (const SavedIdentity& kept : *list) last = std::max(last, kept.number);
  }
  auto unanswered = std::ranges::find_if(
      for_others_, [](const SavedIdentity& kept) { return kept.identity.id.empty(); });
  SavedIdentity place{.file = numbered(last + 1), .number = last + 1, .manager = options_.manager};
  if (unanswered == for_others_.end()) return place;
  // This file holds only an unanswered registration at another manager, so no identity is lost if
  // it is overwritten.
  place.file = unanswered->file;
  place.number = unanswered->number;
  for_others_.erase(unanswered);
  return place;
}

fs::path IdentityStore::numbered(int number) const {
  if (number == 1) return first_file_;
  return first_file_.parent_path() /
         (first_file_.stem().string() + "." + std::to_string(number) + ".json");
}

bool IdentityStore::is_same(const Identity& identity) const {
  const Identity& known = current_.identity;
  if (known.id.empty() || known.id != identity.id) return false;
  // The operator may have issued a new token for the seat: the same league key and id mean the same
  // identity.
  if (!known.league_key.empty() && !identity.league_key.empty())
    return known.league_key == identity.league_key;
  // An answer without a token does not change the identity of an agent that already has one.
  if (known.is_at_home() && identity.token.empty()) return true;
  // A guest may have no token; then only the league id tells identities apart.
  if (known.token.empty() && known.league != identity.league) return false;
  return known.token.matches(identity.token.reveal());
}

fs::path IdentityStore::log_key() const {
  return fs::path(first_file_).replace_extension(".log.key");
}

fs::path IdentityStore::session_file() const {
  return fs::path(first_file_).replace_extension(".session");
}

core::Result<void> IdentityStore::prepare(RegistrationOptions& registration, std::uint16_t port) {
  port_ = port;
  registration.token = current_.identity.token;
  registration.nonce = current_.nonce;
  registration.next_credentials = [this] { return next_credentials(); };
  return write(false);
}

std::optional<Credentials> IdentityStore::next_credentials() {
  runtime::log::warn(
      "the league manager does not know the token of {} in {}; the file stays as it is",
      current_.identity.id, current_.file.string());
  take_next();
  if (auto written = write(false); !written) {
    runtime::log::error("{}", written.error().message);
    return std::nullopt;
  }
  return Credentials{current_.identity.token, current_.nonce};
}

core::Result<void> IdentityStore::keep(const Identity& identity) {
  const Identity before = current_.identity;
  const bool is_untold = identity.token.empty() && is_same(identity);
  const bool has_its_token = is_untold || before.token.matches(identity.token.reveal());
  if (!before.id.empty() && (!is_same(identity) || !has_its_token)) {
    for_others_.push_back(std::move(current_));
    current_ = free_place();
  }
  current_.identity = identity;
  if (before.id == identity.id && has_its_token) {
    if (is_untold) current_.identity.token = before.token;
    if (identity.league_key.empty()) current_.identity.league_key = before.league_key;
    if (identity.league.empty()) current_.identity.league = before.league;
    current_.identity.match_credentials = identity.match_credentials || before.match_credentials;
    if (identity.receipt_key.empty()) current_.identity.receipt_key = before.receipt_key;
    if (identity.game.empty()) current_.identity.game = before.game;
  }
  current_.manager = options_.manager;
  // The next process is recognised by its token and uses a new nonce, except one that gives
  // receipts: its nonce shows that it is not somebody who has only seen its token (protocol §8).
  current_.nonce = current_.identity.receipt_key.empty() ? std::string() : identity.nonce;
  return write(true);
}

audit::log::LogLeague log_league(const Identity& identity, const IdentityStore* identity_store) {
  return {identity.league.str(), identity.league_key,
          identity_store != nullptr && !identity_store->is_same(identity)};
}

}  // namespace league::agent::identity
