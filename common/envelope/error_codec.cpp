#include "common/envelope/codec_definitions.h"
#include "common/envelope/error_messages.h"
#include "common/envelope/field_rules.h"

namespace league::envelope {

void describe(Fields& a, LeagueError& s) {
  a.required("error_code", s.error_code, rule::kErrorCode);
  a.defaulted("error_name", s.error_name, rule::kErrorName.always());
  a.defaulted("error_description", s.error_description, rule::kErrorDescription.always());
  a.defaulted("original_message_type", s.original_message_type,
              rule::text("Type of the refused message.", 64).such_as("LEAGUE_QUERY").always());
  a.optional("retryable", s.retryable, rule::value("True if the same call may be tried again."));
  a.unless("context", s.context, ErrorContext{}, rule::kErrorFacts);
}

const MessageCodec& LeagueError::codec() {
  return codec_for<LeagueError>(
      {.description =
           "The league manager refuses a message or reports a change of state. It is the result "
           "of the refused call, or a call of notify_league_error."});
}

static void describe_counts(Fields& a, RetryInfo& s) {
  a.defaulted("retry_count", s.retry_count, rule::number("Attempts made so far.", 0).such_as("1"));
  a.defaulted("max_retries", s.max_retries, rule::number("Attempts in all.", 0).such_as("3"));
}

void describe(Fields& a, RetryInfo& s) {
  describe_counts(a, s);
  a.optional("next_retry_at", s.next_retry_at,
             rule::time("When the next attempt is made. ISO 8601 in UTC, with Z or +00:00; dates "
                        "and times must exist."));
}

void describe(Fields& a, GameError& s) {
  a.required("error_code", s.error_code, rule::kErrorCode);
  a.defaulted("error_name", s.error_name, rule::kErrorName.always());
  a.defaulted("error_description", s.error_description, rule::kErrorDescription.always());
  a.required("affected_player", s.affected_player,
             rule::text("The player that the error is about.", 1, 64).such_as("P01"));
  a.defaulted("action_required", s.action_required,
              rule::text("What the player should do.", 1024)
                  .such_as(R"(Answer with "even" or "odd".)")
                  .always());
  a.defaulted("consequence", s.consequence,
              rule::text("What happens otherwise.", 1024)
                  .such_as("Technical loss after 3 attempts.")
                  .always());
  a.optional("retry_info", s.retry_info,
             rule::value("How many attempts were made, and when the next one follows."));
  if (a.lists() || (a.reads() && !s.retry_info && a.has("retry_count"))) s.retry_info.emplace();
  // Repeated beside it, as the protocol has them.
  if (s.retry_info) describe_counts(a, *s.retry_info);
  a.optional("game_state", s.game_state,
             rule::text("State of the match.", 64).such_as("COLLECTING_CHOICES"));
  a.unless("context", s.context, ErrorContext{}, rule::kErrorFacts);
}

const MessageCodec& GameError::codec() {
  return codec_for<GameError>(
      {.description =
           "A referee tells a player what went wrong in a match. Call notify_game_error of the "
           "player.",
       .needs_match = true});
}

}  // namespace league::envelope
