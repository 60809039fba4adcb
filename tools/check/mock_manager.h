#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "common/core/auth_token.h"
#include "common/core/random_source.h"
#include "tools/check/checker_seats.h"
#include "tools/check/mock_server.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// The league manager that the checker plays: gives each agent that registers an id, a token and
/// the name of the league, answers queries, and stores all calls. Thread-safe.
class MockManager {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;
    std::string league_id = "league_check";
    std::string player_id = "P07";
    std::string referee_id = "REF03";
    CheckerBus* bus = nullptr;  ///< a further way to reach it; must outlive it
    CheckerSeats* seats = nullptr;  ///< for players that come to it; must outlive it
  };
  /// `runtime` outlives it. Fails as MockServer::open, and as CheckerBus::serve_league.
  [[nodiscard]] static core::Result<std::unique_ptr<MockManager>> open(
      transport::front::HttpRuntime& runtime, Options options);

  [[nodiscard]] MockServer& server() { return *server_; }
  /// The manager's address for an agent that the checker starts: `nats:manager/LEAGUE`, or the
  /// server's URL.
  [[nodiscard]] std::string url() const;
  /// All addresses at which it listens, for people.
  [[nodiscard]] std::string addresses() const;
  [[nodiscard]] const core::AuthToken& token() const { return token_; }
  [[nodiscard]] const std::string& league_key() const { return league_key_; }
  /// The key of the player's receipts, which is in the answer to a registration without a token and
  /// to one that repeats its `registration_nonce`. Source: protocol §7.
  [[nodiscard]] const std::string& receipt_key() const { return receipt_key_; }
  [[nodiscard]] const Options& options() const { return options_; }
  /// The next `count` registrations are answered with HTTP 503.
  void refuse_registrations(int count);
  /// Sets a function whose answers replace the usual ones. A call for which it returns nothing gets
  /// the usual answer. Null: all calls get it.
  void set_answer(std::function<std::optional<MockAnswer>(const InboundCall&)> answer);

  /// The manager's answer to `call`: that of the function from `set_answer` if it returns one,
  /// otherwise the usual one, for example an id and the token for a registration.
  [[nodiscard]] MockAnswer answer(const InboundCall& call);

 private:
  explicit MockManager(Options options);
  [[nodiscard]] nlohmann::json accepted(const InboundCall& call, bool is_referee);
  [[nodiscard]] nlohmann::json queried(const InboundCall& call) const;

  const Options options_;
  core::AuthToken token_;
  std::string league_key_;
  std::string receipt_key_;
  std::mutex mutex_;  // guards the next three
  std::string nonce_;  // of the registration that was answered with the receipt key
  int refusals_ = 0;
  std::function<std::optional<MockAnswer>(const InboundCall&)> answer_;
  std::unique_ptr<MockServer> server_;  // it calls answer()
  std::shared_ptr<void> on_bus_;  // last: it calls the server
};

}  // namespace league::tools::check
