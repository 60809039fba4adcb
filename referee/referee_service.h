#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "common/agent/agent_server.h"
#include "common/agent/registration.h"
#include "referee/match_intake.h"
#include "referee/match_runner.h"

namespace league::referee {

struct RefereeOptions {
  int max_concurrent_matches = 32;
  envelope::Mode mode = envelope::Mode::kOpen;
  transport::Endpoint manager;
  transport::EndpointPolicy endpoints = transport::EndpointPolicy::any();  ///< see seats_of
};

/// What a referee needs from its program; all references outlive the service.
struct RefereeDependencies {
  agent::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  const envelope::MessageSchemas& schemas;
  const game::Registry& games;
  const agent::Settings& settings;
  DelayMeter& delays;
  /// False while no new match may start (the log's disk is nearly full); may be empty.
  std::function<bool()> may_start;
  /// See RunnerContext.
  std::function<void(const std::shared_ptr<const MatchRecord>&)> publish = {};
};

/// A referee: takes assignments from its league manager and plays each in a MatchRunner.
/// Thread-safe. Matches that run when it is destroyed are abandoned.
class RefereeService final : public MatchPlayer {
 public:
  RefereeService(RefereeOptions options, const RefereeDependencies& dependencies);
  ~RefereeService() override;

  /// What the program's server hands messages to.
  [[nodiscard]] transport::MessageHandler& handler() { return server_; }
  /// From now on the service is `identity` and takes assignments.
  void set_identity(const agent::Identity& identity);
  /// Runs when the manager says that the league is over. Set before messages arrive.
  void on_league_completed(std::function<void(const envelope::LeagueCompleted&)> callback);

  /// Runs when a match is over; `is_accepted`: the manager has taken the report. Set before
  /// messages arrive.
  void on_match_over(std::function<void(const std::string& match_id, bool is_accepted)> callback);
  /// `callback` runs when a match is played and its report has been sent; as on_match_over.
  void on_match_played(std::function<void()> callback);

  [[nodiscard]] std::size_t running_matches() const;
  [[nodiscard]] int free_places() const override;
  [[nodiscard]] std::vector<Refused> play(std::vector<envelope::MatchAssignment> matches,
                                          int round_id) override;
  [[nodiscard]] bool is_playing(const std::string& match_id) const override;

 private:
  void bind_handlers();
  [[nodiscard]] core::Result<void> check_token(const envelope::Envelope& envelope) const;
  /// Takes a place for a match without starting it; null for one that is known already.
  core::Result<std::shared_ptr<MatchRunner>> take_place(envelope::MatchAssignment assignment,
                                                        int round_id);
  struct Taken {
    std::vector<std::shared_ptr<MatchRunner>> runners;
    std::vector<Refused> refused;  ///< matches that this referee does not play
  };
  Taken take_places(std::vector<envelope::MatchAssignment> matches, int round_id);
  void on_finished(MatchRunner& runner, const nlohmann::json& ack);
  void on_start_match(agent::ToolCall call);
  void on_get_match_state(agent::ToolCall call);

  const RefereeOptions options_;
  const RefereeDependencies deps_;
  agent::AgentServer server_;
  std::function<void(const envelope::LeagueCompleted&)> on_completed_;
  std::function<void(const std::string&, bool)> on_over_;
  std::function<void()> on_played_;

  mutable std::mutex mutex_;
  std::unique_ptr<envelope::EnvelopeBuilder> envelopes_;  // set once, before the first assignment
  std::unique_ptr<RunnerContext> context_;  // as envelopes_
  core::AuthToken token_;
  std::map<core::MatchId, std::shared_ptr<MatchRunner>> running_;
  std::map<core::MatchId, MatchSnapshot> finished_;
  std::deque<core::MatchId> finished_order_;  // the oldest are forgotten
  /// Another promise under the same name is another match: a league that an older copy of its
  /// journal continues plays a round again, with other seeds.
  struct KnownAttempt {
    int attempt = 0;
    std::string draw_commitment;
  };
  [[nodiscard]] static bool is_repetition(const KnownAttempt& given, const KnownAttempt& known) {
    return given.attempt <= known.attempt && given.draw_commitment == known.draw_commitment;
  }
  std::map<core::MatchId, KnownAttempt> last_attempt_;
  int term_ = 0;  // of the newest manager that has given a match
};

}  // namespace league::referee
