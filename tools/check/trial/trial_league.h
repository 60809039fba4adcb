#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/agent/host/agent_host.h"
#include "common/agent/runtime/delay_meter.h"
#include "common/agent/runtime/settings.h"
#include "common/core/auth_token.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/envelope/game_messages.h"
#include "common/envelope/mode.h"
#include "common/transport/link/caller.h"
#include "game/games.h"
#include "referee/service/referee_service.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// One call to a player, and its answer.
struct TrialCall {
  std::string type;  ///< wire name of the message, such as `GAME_INVITATION`
  std::string endpoint;
  Exchange exchange;
  transport::link::Budget budget = transport::link::Budget::kControl;
  bool is_done = false;
  bool is_in_session = false;  ///< of MCP, which the caller has negotiated
  /// How the answer was judged by whoever called: verdict, fault and leniencies.
  std::shared_ptr<const rpc::MessageNotes> notes;
};

/// Keeps the calls of one agent. Thread-safe.
class Recorder {
 public:
  using Calls = std::vector<std::shared_ptr<TrialCall>>;

  /// The calls so far, in the order in which they were sent.
  [[nodiscard]] std::vector<TrialCall> calls() const;
  /// Forgets them, also those that are not answered yet.
  void forget();
  /// Waits until `condition`, which is called under the lock, returns true. False: it has not
  /// within `limit`.
  bool wait(std::chrono::milliseconds limit,
            const std::function<bool(const Calls&)>& condition) const;

 private:
  friend class RecordingCaller;
  [[nodiscard]] std::shared_ptr<TrialCall> begin(const transport::link::OutboundCall& call);
  void answer(TrialCall& call, const transport::link::CallOutcome& outcome);
  void end(TrialCall& call);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Calls calls_;  // their contents are guarded, too
};

/// Records what passes between an agent and its peers. It can answer in the place of a peer. All
/// references outlive it. Thread-safe after the last `stand_in`.
class RecordingCaller final : public transport::link::Caller {
 public:
  /// Answers a request in the place of a peer.
  using StandIn = std::function<std::string(const std::string& request)>;

  /// `bus` calls endpoints on a message bus and at seats; null: `caller` does.
  RecordingCaller(Recorder& recorder, transport::link::Caller& caller, core::Timer& timer,
                  transport::link::Caller* bus = nullptr)
      : recorder_(recorder), caller_(caller), timer_(timer), bus_(bus) {}

  /// Calls of this URL are answered by `answer`, and not recorded.
  void stand_in(const std::string& url, StandIn answer) { stand_ins_[url] = std::move(answer); }
  void call(transport::link::OutboundCall call, Completion completion) override;

 private:
  Recorder& recorder_;
  transport::link::Caller& caller_;
  core::Timer& timer_;
  transport::link::Caller* const bus_;
  std::map<std::string, StandIn> stand_ins_;
};

/// A player of a trial match.
struct TrialSeat {
  std::string id;
  transport::link::Endpoint endpoint;
  core::AuthToken token{};  ///< empty: it has none, so nothing can be asked of its answers
  bool has_receipts = false;
  std::optional<std::string> dialect = std::nullopt;  ///< as MatchAssignment::player_a_dialect
};

/// How a trial match went.
struct TrialMatch {
  std::string id;
  /// As the referee reports it; nothing: the match was given up when a player did not answer.
  std::optional<envelope::MatchResult> result = std::nullopt;
  std::vector<TrialCall> calls;  ///< of the referee to its players
  std::string reason;  ///< of the result, for people

  /// Why this player loses for a failure of its own, as its report says; nothing: it does not.
  [[nodiscard]] std::optional<referee::Termination> lost_by(const std::string& player) const;
  /// The last call of this player that the match waited for and whose answer was refused or did not
  /// come; null: there is none.
  [[nodiscard]] const TrialCall* refused_call(const std::string& player) const;
};

/// Matches as in a league: a referee's own service plays them, and a manager sends its messages,
/// each with connections of its own. Only the reports do not go to anybody. For one thread.
class TrialLeague {
 public:
  struct Options {
    std::string league_id = "league_check";
    envelope::Mode mode = envelope::Mode::kOpen;
    std::chrono::milliseconds invitation_limit{5000};
    std::chrono::milliseconds choice_limit{30'000};
    std::chrono::milliseconds retry_delay{2000};
    /// A match ends when a player has not answered a call in time, without further attempts.
    bool gives_up_at_timeout = false;
    /// Where players can post their answers, see `referee`.
    std::string referee_url = "http://localhost:8001/mcp";
    transport::link::Caller* bus = nullptr;  ///< calls endpoints on a message bus and at seats
  };
  /// What is called, has no token and always plays correctly.
  static constexpr auto kStandInUrl = "http://stand-in.invalid:80/mcp";
  /// What a bot without a token is shown for one.
  static constexpr auto kWithoutToken = "league-check-without-token";

  /// Fails as AgentHost::create.
  [[nodiscard]] static core::Result<std::unique_ptr<TrialLeague>> open(Options options);
  ~TrialLeague();
  TrialLeague(const TrialLeague&) = delete;
  TrialLeague& operator=(const TrialLeague&) = delete;

  /// Plays the match R`round`M`number`.
  [[nodiscard]] TrialMatch play(const game::PerSide<TrialSeat>& seats, int round, int number);
  /// The manager's messages before a match and after a round, to those with a token.
  void announce(const game::PerSide<TrialSeat>& seats, int round, int number);
  void tell_results(const game::PerSide<TrialSeat>& seats, int round);
  /// All calls of the manager so far.
  [[nodiscard]] std::vector<TrialCall> manager_calls() const { return manager_->recorder.calls(); }
  /// Takes answers that players send as calls of their own. Thread-safe.
  [[nodiscard]] transport::link::MessageHandler& referee() { return service_->handler(); }

 private:
  struct StandIn;
  struct Agent {
    Recorder recorder;
    std::unique_ptr<agent::host::AgentHost> host;
    std::unique_ptr<RecordingCaller> caller;
    std::unique_ptr<RecordingCaller> sessions;
    std::unique_ptr<agent::peers::PeerClient> peers;
  };
  explicit TrialLeague(Options options);
  core::Result<void> open();
  void take_report(const std::string& request);
  [[nodiscard]] envelope::MatchAssignment assignment(const game::PerSide<TrialSeat>& seats,
                                                     int round, int number);
  /// False if the referee does not take it.
  [[nodiscard]] bool assign(const envelope::MatchAssignment& assignment, int round);
  [[nodiscard]] std::string seed_of(int round, int number);
  /// Sends a message of the manager to the players that are called for real.
  template <typename Message>
  void broadcast(const game::PerSide<TrialSeat>& seats, int round, const Message& message);
  /// Until all have acknowledged what the manager told them.
  void wait_for_players(std::chrono::milliseconds limit) const;

  [[nodiscard]] core::Result<std::unique_ptr<Agent>> agent() const;

  const Options options_;
  core::CryptoRandom random_;
  std::map<std::string, std::string> seeds_;  ///< by match
  agent::runtime::Settings settings_;
  std::unique_ptr<StandIn> stand_in_;
  std::mutex mutex_;
  std::optional<envelope::MatchResult> report_;  ///< of the match that is played; guarded by mutex_
  std::unique_ptr<Agent> referee_;
  std::unique_ptr<Agent> manager_;
  game::Games games_ = game::Games::standard();
  std::unique_ptr<agent::runtime::ProbingDelayMeter> delays_;
  std::unique_ptr<referee::service::RefereeService> service_;
  core::AuthToken token_;  ///< of the referee
  std::int64_t next_id_ = 0;
};

}  // namespace league::tools::check
