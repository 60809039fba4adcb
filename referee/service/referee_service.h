#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "common/agent/host/agent_server.h"
#include "common/agent/identity/registration.h"
#include "referee/service/guest_assignments.h"
#include "referee/service/match_runner.h"

namespace league::referee::service {

/// A referee: takes assignments from its league manager and plays each in a MatchRunner.
/// Thread-safe. Matches that run when it is destroyed are abandoned.
class RefereeService {
 public:
  RefereeService(RefereeOptions options, const RefereeDependencies& dependencies);
  ~RefereeService();

  /// The handler for all messages that the program receives.
  [[nodiscard]] transport::link::MessageHandler& handler() { return server_; }
  /// From now on the service acts as `identity`, reached at `contact_endpoint` (a URL), and takes
  /// assignments: at home only those of our managers, otherwise those of any (protocol §8).
  void set_identity(const agent::identity::Identity& identity, const std::string& contact_endpoint);
  /// Ends what waits as a guest. Call it before the timer and the peers end.
  void stop();
  /// Runs when the manager says that the league is over. Set before messages arrive.
  void on_league_completed(std::function<void(const envelope::LeagueCompleted&)> callback);

  [[nodiscard]] std::size_t running_matches() const;

 private:
  void bind_handlers();
  [[nodiscard]] core::Result<void> check_token(const envelope::Envelope& envelope) const;
  /// Why a call that check_token refuses is admitted; see agent::host::AgentServerOptions.
  [[nodiscard]] std::optional<envelope::Leniency> pardon(const envelope::Envelope& envelope) const;
  /// Null unless the referee is a guest in open mode.
  [[nodiscard]] GuestAssignments* guest_assignments() const;
  /// Creates guest_assignments().
  void open_guest_assignments(const agent::identity::Identity& identity,
                              const std::string& contact_endpoint);
  /// Reserves a place for a match without starting it; null for a match that is already known.
  core::Result<std::shared_ptr<MatchRunner>> take_place(envelope::MatchAssignment assignment,
                                                        int round_id);
  struct Refused {
    std::string match_id;
    core::Error why;
  };
  struct AcceptedMatches {
    std::vector<std::shared_ptr<MatchRunner>> runners;
    std::vector<Refused> refused;  ///< matches that this referee does not play
  };
  AcceptedMatches take_places(std::vector<envelope::MatchAssignment> matches, int round_id);
  /// GAME_JOIN_ACK or CHOOSE_PARITY_RESPONSE that came as a call of its own.
  void on_posted(const PostedAnswer& posted, agent::peers::Reply reply);
  [[nodiscard]] std::shared_ptr<MatchRunner> running(const core::MatchId& id) const;
  void on_finished(MatchRunner& runner, const nlohmann::json& ack);
  void on_announcement(agent::host::Call<nlohmann::json> call);
  void on_start_match(agent::host::ToolCall call);
  /// Handles START_MATCH, `assign_match` and other messages that start the referee of another
  /// manager.
  static void on_foreign_start(GuestAssignments& guest, agent::host::ToolCall call,
                               bool knows_token);
  void on_get_match_state(agent::host::ToolCall call);

  const RefereeOptions options_;
  const RefereeDependencies deps_;
  agent::host::AgentServer server_;
  std::function<void(const envelope::LeagueCompleted&)> on_completed_;

  mutable std::mutex mutex_;
  std::unique_ptr<RunnerContext> context_;  // set once, before the first assignment
  core::AuthToken token_;
  core::CryptoRandom seeds_;  // for the draws of a guest
  std::map<core::MatchId, std::shared_ptr<MatchRunner>> running_;
  std::map<core::MatchId, MatchSnapshot> finished_;
  std::deque<core::MatchId> finished_order_;  // the oldest first; limits the size of `finished_`
  /// A match with the same id but another draw commitment is another match: if a league is
  /// continued with an older copy of its journal, it plays a round again, with other seeds.
  struct KnownAttempt {
    int attempt = 0;
    std::string draw_commitment;
  };
  [[nodiscard]] static bool is_repetition(const KnownAttempt& given, const KnownAttempt& known) {
    return given.attempt <= known.attempt && given.draw_commitment == known.draw_commitment;
  }
  std::map<core::MatchId, KnownAttempt> last_attempt_;
  int term_ = 0;  // the highest term in an assignment so far
  std::unique_ptr<GuestAssignments> guest_assignments_;  // set once; last: it uses everything above
};

}  // namespace league::referee::service
