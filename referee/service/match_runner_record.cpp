// How a match runner fills the record of its match.
#include "referee/service/match_runner.h"

namespace league::referee::service {

void MatchRunner::open_record() {
  if (!context_.deps.publish) return;
  const auto& league = context_.envelopes.league_id();
  record_ = std::make_shared<files::MatchRecord>(
      files::MatchRecordHead{.league_id = league.value_or(core::LeagueId{}),
                             .league_key = context_.league_key,
                             .round_id = round_id_,
                             .match_id = assignment_.match_id,
                             .game_type = assignment_.game_type,
                             .attempt = assignment_.attempt,
                             .referee_id = context_.envelopes.sender().id,
                             .player_a_id = assignment_.player_a_id.str(),
                             .player_b_id = assignment_.player_b_id.str(),
                             .draw_commitment = assignment_.draw_commitment.value_or("")});
}

void MatchRunner::note_sent(const std::string& to, envelope::MessageType type,
                            std::string_view error_code) {
  if (!record_) return;
  record_->add({.at = context_.deps.clock.utc_now(),
                .from = record_->head().referee_id,
                .to = to,
                .message_type = std::string(envelope::wire_name(type)),
                .error_code = std::string(error_code)});
}

void MatchRunner::note_answer(const std::string& from, std::string_view type,
                              const core::Result<Reply>& answer) {
  if (!record_) return;
  files::TranscriptLine line{.at = context_.deps.clock.utc_now(),
                             .from = from,
                             .to = record_->head().referee_id,
                             .message_type = std::string(type)};
  if (!answer) {
    line.error_code = core::error_info(answer.error().code).wire_code;
    line.error = answer.error().message;
  } else if (const auto* join = std::get_if<JoinAnswer>(&*answer)) {
    line.accept = join->accept;
    line.choice_commitment = join->choice_commitment.value_or("");
  } else if (const auto* choice = std::get_if<ChoiceAnswer>(&*answer)) {
    line.parity_choice = choice->choice;
    line.choice_nonce = choice->choice_nonce.value_or("");
  }
  record_->add(std::move(line));
}

void MatchRunner::note_figures(Side side, const agent::peers::PeerReply& reply) {
  constexpr std::size_t kMostAnswers = 20;  // only a match with several replays has more
  envelope::PlayerAnswers& answers = answers_[side];
  if (answers.elapsed_us.size() == kMostAnswers) return;
  answers.player_id = seat(side)->id;
  answers.elapsed_us.push_back(static_cast<int>(
      std::chrono::duration_cast<std::chrono::microseconds>(reply.elapsed).count()));
  for (std::string_view leniency : reply.notes->leniencies) {
    if (std::ranges::find(answers.leniencies, leniency) == answers.leniencies.end())
      answers.leniencies.emplace_back(leniency);
  }
}

void MatchRunner::note_report(const std::optional<core::Error>& failure) {
  if (!record_) return;
  files::TranscriptLine line{
      .at = context_.deps.clock.utc_now(),
      .from = "league_manager",
      .to = record_->head().referee_id,
      .message_type = std::string(envelope::wire_name(envelope::MessageType::kMatchResultReport))};
  if (failure) {
    line.error_code = core::error_info(failure->code).wire_code;
    line.error = failure->message;
  }
  record_->add(std::move(line));
}

void MatchRunner::note_state() {
  if (!record_) return;
  std::string_view state;
  bool has_ended = false;
  {
    std::lock_guard lock(mutex_);
    if (!match_) return;
    auto ending = match_->ending();
    if (ending == Ending::kAbandoned) return;  // another attempt owns the file
    has_ended = ending.has_value();
    state = state_name(match_->state());
    if (ending == Ending::kRefused) state = "REFUSED";
    if (ending == Ending::kUnreported) state = "UNREPORTED";
  }
  if (record_->enter(state, context_.deps.clock.utc_now()) && has_ended)
    context_.deps.publish(record_);
}

}  // namespace league::referee::service
