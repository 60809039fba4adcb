#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "common/agent/host/log_head_reply.h"
#include "common/agent/peers/peer_client.h"
#include "common/agent/runtime/delay_meter.h"
#include "common/agent/runtime/settings.h"
#include "common/core/timer.h"
#include "common/envelope/codec.h"
#include "game/games.h"
#include "referee/core/match.h"
#include "referee/files/match_record.h"
#include "referee/service/foreign_start.h"
#include "referee/service/players.h"
#include "referee/service/result_codec.h"

namespace league::referee::service {

/// The delay after the time limit from which on an answer no longer counts. The audit uses the same
/// value. It is at least the delay of the referee that makes a time-out void.
[[nodiscard]] inline Duration latest_answer(Duration limit) {
  return std::max<Duration>(std::chrono::seconds(1), core::allowed_own_delay(limit));
}

struct RefereeOptions {
  int max_concurrent_matches = 32;
  envelope::Mode mode = envelope::Mode::kOpen;
  transport::link::Endpoint manager;
  transport::link::EndpointPolicy endpoints =
      transport::link::EndpointPolicy::any();  ///< see seats_of
  PlayerAddresses players = {};  ///< for third-party managers, see GuestAssignments
};

/// The dependencies of a referee; all references must outlive the service.
struct RefereeDependencies {
  agent::peers::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  const envelope::MessageSchemas& schemas;
  const game::Games& games;
  const agent::runtime::Settings& settings;
  agent::runtime::DelayMeter& delays;
  /// False while no new match may start (the log's disk is nearly full); may be empty.
  std::function<bool()> may_start;
  /// The record of a match has changed; must be short. May be empty: nothing is recorded.
  std::function<void(const std::shared_ptr<const files::MatchRecord>&)> publish = {};
  agent::host::LogHeadSource heads = {};  ///< of its conversation log, for its acknowledgements
};

/// What all matches of one referee share. All references must outlive the runners.
struct RunnerContext {
  const RefereeOptions& options;
  const RefereeDependencies& deps;
  envelope::EnvelopeBuilder envelopes;
  core::AuthToken own_token;  ///< shown to the manager; a guest shows it to players, too
  bool is_guest = false;  ///< of a third-party manager: reports in all spellings
  std::string league_key = {};  ///< the league's identity; empty if its manager has told none
};

/// An answer that the player sent as a call of its own, not as the reply.
struct PostedAnswer {
  const envelope::Envelope& envelope;
  const core::PlayerId& player_id;
  const Reply& answer;
  rpc::MessageNotes& notes;  ///< of the call
};

/// Plays one assigned match: executes the effects of the pure Match and returns their outcomes to
/// it. Thread-safe; kept alive by its own calls and timers until the match is finished.
class MatchRunner : public std::enable_shared_from_this<MatchRunner> {
 public:
  /// Runs once, when the place is free. `ack` is the manager's answer to the report (null: none),
  /// which can contain further assignments.
  using OnFinished = std::function<void(MatchRunner&, const nlohmann::json& ack)>;

  [[nodiscard]] static core::Result<std::shared_ptr<MatchRunner>> create(
      const RunnerContext& context, envelope::MatchAssignment assignment, int round_id,
      OnFinished on_finished);

  void start();
  /// Gives the match up without a result.
  void abandon();
  [[nodiscard]] MatchSnapshot snapshot() const;
  /// What an answer with this credential that was sent as a call of its own may leave out; nothing
  /// if it is no credential of this match.
  [[nodiscard]] envelope::NormaliseDefaults answer_defaults(const core::AuthToken& shown) const;
  /// Takes an answer that a player sent as a call of its own. An error changes nothing and is to be
  /// returned to the player: kAuthTokenInvalid if the token is neither the token nor the credential
  /// of a player of this match, kMatchNotOpen if that player's call is not open (any more), or the
  /// answer's own fault. Otherwise the caller has to acknowledge it and then call the returned
  /// function, which continues the match. Differing names are noted as leniencies, as in a reply.
  /// Source: protocol §9, "Methods"; clause 2.15.
  [[nodiscard]] core::Result<std::function<void()>> take_posted(const PostedAnswer& posted);
  /// From now on calls the players at the addresses in `assignment`, a repetition of this match's
  /// assignment, with the credentials in it.
  void call_players_at(const envelope::MatchAssignment& assignment);
  [[nodiscard]] const envelope::MatchAssignment& assignment() const { return assignment_; }
  /// Whether the match takes one of the referee's places. A match whose result is being reported
  /// does not: the manager counts it as over when it accepts the report, before the referee reads
  /// the answer.
  [[nodiscard]] bool takes_a_place() const { return !is_reporting_; }

 private:
  MatchRunner(const RunnerContext& context, envelope::MatchAssignment assignment,
              PerSide<PlayerSeat> seats, game::SharedDefinition rules, MatchPlan plan, int round_id,
              OnFinished on_finished);

  /// What both calls tell a player about the game and the earlier meetings.
  [[nodiscard]] envelope::GameContext game_context() const;
  [[nodiscard]] std::vector<envelope::EarlierMeeting> history_for(Side side) const;
  /// The current state of a player.
  [[nodiscard]] std::shared_ptr<const PlayerSeat> seat(Side side) const;
  void run(const Effects& effects);
  void carry_out(const CallPlayer& effect);
  void carry_out(const SendGameError& effect);
  void carry_out(const StartTimer& effect);
  void carry_out(const ReportResult& effect);
  void carry_out(const AnnounceGameOver& effect);
  void carry_out(const Finished& effect);

  /// Pings the suspended players first; the last answer starts the match.
  void ping_suspended(const PerSide<std::shared_ptr<const PlayerSeat>>& seats);
  void begin();
  /// `answer`: the content of `reply`, or why it is not valid.
  void on_answer(const CallPlayer& call, const agent::peers::PeerReply& reply,
                 core::Result<Reply> answer);
  /// The player has got the call; its answer may come as a call of its own until the deadline.
  void await_posted(const CallPlayer& call, const agent::peers::PeerReply& receipt);
  [[nodiscard]] std::optional<Side> side_of(const core::AuthToken& shown) const;
  /// Compares the names in an answer of the player with those of its call, and notes differences.
  [[nodiscard]] core::Result<void> compare_names(Side side, const PostedAnswer& posted) const;
  /// Records how long a valid answer took and the leniencies applied to it, for the report. Under
  /// mutex_.
  void note_figures(Side side, const agent::peers::PeerReply& reply);
  /// Whether a player is called there that has come to our manager (protocol §10).
  [[nodiscard]] bool is_at_seat(const transport::link::Endpoint& endpoint) const;
  /// Whether a call has failed because the manager, at which the player has its seat, could not be
  /// reached, for no longer than a match may take.
  [[nodiscard]] bool is_out_of_reach(const CallPlayer& call,
                                     const agent::peers::PeerReply& reply) const;
  /// Tells the referee's operator of an answer that took half of its time or more.
  void tell_of_slowness(const CallPlayer& call, Duration elapsed) const;
  template <typename Answer>
  [[nodiscard]] core::Result<Reply> read_answer(const CallPlayer& call,
                                                const agent::peers::PeerReply& reply,
                                                const Answer& answer) const;
  /// The call of the player with `message`, which is noted in the record as sent.
  template <typename Message>
  [[nodiscard]] agent::peers::MessageCall<Message> call_of(Side side, const Message& message,
                                                           std::chrono::milliseconds limit);
  /// Sends a message that needs only an acknowledgement, and does not wait for it.
  template <typename Message>
  void tell(Side side, const Message& message);
  /// Sends a message to whose answer the match waits.
  template <typename Message>
  void ask(const CallPlayer& effect, const Message& message);
  [[nodiscard]] envelope::Envelope envelope_for(envelope::MessageType type,
                                                const core::AuthToken& token) const;
  [[nodiscard]] ResultFrame result_frame() const;

  /// Begins the record if `publish` is set. The following functions add to it.
  void open_record();
  void note_sent(const std::string& to, envelope::MessageType type, std::string_view error_code);
  void note_answer(const std::string& from, std::string_view type,
                   const core::Result<Reply>& answer);
  void note_report(const std::optional<core::Error>& failure);
  /// Notes and publishes another state of the match.
  void note_state();

  const RunnerContext& context_;
  const envelope::MatchAssignment assignment_;
  mutable std::mutex seats_mutex_;  // guards seats_, except the ids, which never change
  PerSide<std::shared_ptr<const PlayerSeat>> seats_;
  const int round_id_;
  const OnFinished on_finished_;
  const ClockAnchor anchor_;
  std::atomic<int> pings_{0};
  std::atomic<bool> is_reporting_{false};
  mutable std::mutex mutex_;  // guards match_, plan_, ack_ and calls_
  PerSide<CallPlayer> calls_;  // the last one to each player
  Instant begun_at_{};
  MatchPlan plan_;
  const game::SharedDefinition rules_;
  std::unique_ptr<Match> match_;
  PerSide<envelope::PlayerAnswers> answers_;  // guarded by mutex_
  nlohmann::json ack_;
  std::shared_ptr<files::MatchRecord> record_;  // null without `publish`
};

}  // namespace league::referee::service
