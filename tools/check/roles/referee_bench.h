#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/check/game_truth.h"
#include "tools/check/mock_manager.h"
#include "tools/check/player/player_bench.h"

namespace league::tools::check {

/// How one of the two players of a match behaves.
struct SeatScript {
  std::string choice = game_word(0);
  bool commits = false;
  /// Changes the right answer to an invitation or a call for a choice, given the number of earlier
  /// calls of this type. Null: it stays right.
  std::function<void(nlohmann::json&, int)> spoil = nullptr;
  milliseconds join_delay{0};  ///< before the right answer to an invitation
  std::string endpoint = {};  ///< instead of the player's own; there may be no server
};

/// One match that is assigned to a referee.
struct RefereeMatch {
  std::array<SeatScript, 2> seats;
  /// Returns an answer to the report that replaces `ok`, given the report and the number of earlier
  /// ones. Null, or nothing returned: `ok`.
  std::function<std::optional<MockAnswer>(const InboundCall&, int)> on_report = nullptr;
  std::function<void(nlohmann::json&)> change_assignment = nullptr;  ///< changes the announcement
  bool expects_report = true;
  milliseconds limit{4000};  ///< for the report to arrive
};

/// The calls of the referee in a match.
struct RefereeTrace {
  std::string match_id;
  std::string conversation;
  game::Seed seed{};
  std::string draw_commitment;
  BotReply assignment;
  std::array<std::vector<InboundCall>, 2> seats;  ///< calls to player A and to player B
  std::vector<InboundCall> reports;
  std::array<SeatScript, 2> scripts;

  /// The first call of `type` to the player; null if there was none.
  [[nodiscard]] const InboundCall* first(std::size_t seat, const std::string& type) const;
  [[nodiscard]] std::size_t count(std::size_t seat, const std::string& type) const;
  /// The first report, as evidence; an empty one if there is none.
  [[nodiscard]] Exchange first_report() const;
  /// `result` of the first report; null if there is none.
  [[nodiscard]] nlohmann::json result() const;
};

/// Plays league manager and both players for one referee. Calls block; thread-safe after `admit`.
class RefereeBench {
 public:
  /// All arguments must outlive it.
  RefereeBench(Wire& wire, MockManager& manager, bool is_fast);
  ~RefereeBench();

  /// Opens the servers of the two players.
  [[nodiscard]] core::Result<void> open(transport::front::HttpRuntime& runtime);
  /// Uses the referee that has registered with this request.
  void admit(InboundCall registration, const transport::link::Endpoint& endpoint);

  /// A bench for calls to the referee.
  [[nodiscard]] PlayerBench& rpc() { return rpc_; }
  [[nodiscard]] const InboundCall& registration() const { return *registration_; }
  [[nodiscard]] bool is_fast() const { return rpc_.is_fast(); }

  [[nodiscard]] RefereeTrace play(const RefereeMatch& match);
  /// Two ordinary matches, played once: without and with commitments.
  [[nodiscard]] const RefereeTrace& sample();
  [[nodiscard]] const RefereeTrace& committed_sample();
  [[nodiscard]] bool is_playing();
  /// What is known about a call that did not come: perhaps it went to another address.
  [[nodiscard]] std::string missing_call() const;
  /// The announcement that assigns this match to the referee.
  [[nodiscard]] nlohmann::json assignment(const RefereeMatch& match, RefereeTrace& trace);
  [[nodiscard]] std::string player_id(std::size_t seat) const { return seat == 0 ? "P01" : "P02"; }
  [[nodiscard]] const core::AuthToken& player_token(std::size_t seat) const {
    return tokens_.at(seat);
  }
  [[nodiscard]] std::string url(std::size_t seat) const { return servers_.at(seat)->url(); }
  [[nodiscard]] std::string nonce(const std::string& match_id, std::size_t seat) const;
  [[nodiscard]] std::string commitment(const RefereeTrace& trace, std::size_t seat) const;

 private:
  struct Running {
    RefereeMatch match;
    RefereeTrace trace;
    std::map<std::string, int> counts;
    nlohmann::json row;  ///< of the assignment
    bool is_shown = false;  ///< to a referee that asks for its matches
  };
  struct OtherWays;
  /// Whether the referee is not ours, as far as a manager can know.
  [[nodiscard]] bool is_foreign() const;
  /// Announces the match, or starts it in another way that the manager of a league knows.
  [[nodiscard]] BotReply start(const nlohmann::json& message);
  /// Answers a referee that asks for its matches, and for their players.
  [[nodiscard]] std::optional<MockAnswer> answer_to_poll(const InboundCall& call);
  [[nodiscard]] MockAnswer answer_as_player(std::size_t seat, const InboundCall& call);
  [[nodiscard]] nlohmann::json right_answer(std::size_t seat, const InboundCall& call,
                                            const Running& running) const;
  [[nodiscard]] std::optional<MockAnswer> answer_as_manager(const InboundCall& call);

  Wire& wire_;
  MockManager& manager_;
  PlayerBench rpc_;
  std::optional<InboundCall> registration_;
  std::array<core::AuthToken, 2> tokens_;
  core::CryptoRandom random_;
  mutable std::mutex mutex_;  // guards the next five
  std::condition_variable changed_;
  std::map<std::string, Running> running_;
  int last_match_ = 0;
  std::string stray_;  ///< where the referee called although no player is announced there
  bool polls_ = false;  ///< it asks for its matches
  /// Once they are needed. Not shared, but of a type that only one source knows.
  std::shared_ptr<OtherWays> other_ways_;
  std::optional<RefereeTrace> sample_;
  std::optional<RefereeTrace> committed_;
  std::vector<std::unique_ptr<MockServer>> usual_places_;  // see missing_call
  std::array<std::unique_ptr<MockServer>, 2> servers_;  // last, since they call the members above
};

}  // namespace league::tools::check
