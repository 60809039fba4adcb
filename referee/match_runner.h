#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "common/agent/peer_client.h"
#include "common/agent/settings.h"
#include "common/core/timer.h"
#include "common/envelope/codec.h"
#include "game/registry.h"
#include "referee/delay_meter.h"
#include "referee/match.h"
#include "referee/match_record.h"
#include "referee/players.h"
#include "referee/result_codec.h"

namespace league::referee {

/// What every match of one referee uses. All references outlive the runners.
struct RunnerContext {
  agent::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  const envelope::EnvelopeBuilder& envelopes;
  const game::Registry& games;
  const agent::Settings& settings;
  DelayMeter& delays;
  envelope::Mode mode = envelope::Mode::kOpen;
  transport::Endpoint manager;
  transport::EndpointPolicy endpoints;  ///< which Unix sockets and commands may be called
  core::AuthToken own_token;  ///< towards the manager only
  /// The record of a match has changed; must be short. May be empty: nothing is recorded.
  std::function<void(const std::shared_ptr<const MatchRecord>&)> publish = {};
  /// A match is played and its report has been sent: it takes no place any more. May be empty.
  std::function<void()> on_played = {};
};

/// Plays one assigned match: carries out the effects of the pure Match and feeds back what comes of
/// them. Thread-safe; kept alive by its own calls and timers until the match is finished.
class MatchRunner : public std::enable_shared_from_this<MatchRunner> {
 public:
  /// Runs once, when the place is free. `ack` is the manager's answer to the report (null without
  /// one), in which further assignments may stand.
  using OnFinished = std::function<void(MatchRunner&, const nlohmann::json& ack)>;

  [[nodiscard]] static core::Result<std::shared_ptr<MatchRunner>> create(
      const RunnerContext& context, envelope::MatchAssignment assignment, int round_id,
      OnFinished on_finished);

  void start();
  /// Gives the match up without a result.
  void abandon();
  [[nodiscard]] MatchSnapshot snapshot() const;
  /// Calls the players from now on where `assignment`, a repetition of the match's own, says that
  /// they are, with the credentials that stand there.
  void call_players_at(const envelope::MatchAssignment& assignment);
  [[nodiscard]] const envelope::MatchAssignment& assignment() const { return assignment_; }
  /// Whether the match takes one of the referee's places. It does not once it is played: the
  /// manager counts it as over when it accepts the report, before the referee reads the answer.
  [[nodiscard]] bool takes_a_place() const { return !is_reporting_; }
  /// Whether its report is on its way or accepted, so that another match may be asked for. Not
  /// between two attempts: the manager has not heard of it and would refuse.
  [[nodiscard]] bool is_report_out() const { return is_report_out_; }

 private:
  MatchRunner(const RunnerContext& context, envelope::MatchAssignment assignment,
              PerSide<PlayerSeat> seats, const game::Rules& rules, MatchPlan plan, int round_id,
              OnFinished on_finished);

  /// What is known of a player now.
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
  void on_answer(const CallPlayer& call, agent::PeerReply reply);
  /// Tells the referee's operator of an answer that took half of its time or more.
  void tell_of_slowness(const CallPlayer& call, Duration elapsed) const;
  [[nodiscard]] core::Result<Reply> read_answer(const CallPlayer& call,
                                                agent::PeerReply& reply) const;
  template <typename Message>
  void send(Side side, const Message& message, std::chrono::milliseconds limit,
            transport::Budget budget, agent::PeerClient::Completion completion);
  [[nodiscard]] envelope::Envelope envelope_for(envelope::MessageType type,
                                                const core::AuthToken& token) const;
  [[nodiscard]] ResultFrame result_frame() const;

  /// Begins the record, if somebody wants it. The following add to it.
  void open_record();
  void note_sent(const std::string& to, envelope::MessageType type, std::string_view error_code);
  void note_answer(const std::string& from, std::string_view type,
                   const core::Result<Reply>& answer);
  void note_report(const std::optional<core::Error>& failure);
  /// Notes and publishes another state of the match.
  void note_state();

  const RunnerContext& context_;
  const envelope::MatchAssignment assignment_;
  mutable std::mutex seats_mutex_;  // guards seats_, of which no id ever changes
  PerSide<std::shared_ptr<const PlayerSeat>> seats_;
  const int round_id_;
  const OnFinished on_finished_;
  const ClockAnchor anchor_;
  std::atomic<int> pings_{0};
  std::atomic<bool> is_reporting_{false};
  std::atomic<bool> is_report_out_{false};
  mutable std::mutex mutex_;  // guards match_, plan_ and ack_
  MatchPlan plan_;
  const game::Rules& rules_;
  std::unique_ptr<Match> match_;
  nlohmann::json ack_;
  std::shared_ptr<MatchRecord> record_;  // null without `publish`
};

}  // namespace league::referee
