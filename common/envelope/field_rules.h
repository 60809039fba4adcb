#pragma once

#include <limits>
#include <string_view>

#include "common/core/timestamp.h"
#include "common/schema/fields.h"

// What fields may hold, and the rules that more than one description needs. Private to the .cpp
// files of this folder.
namespace league::envelope {

using schema::EnumName;
using schema::Fields;
using schema::Of;
using schema::Rule;

namespace rule {

/// A text of at most `longest` characters.
constexpr Rule text(std::string_view description, int longest) {
  return {.description = description, .max_length = longest};
}
constexpr Rule text(std::string_view description, int shortest, int longest) {
  return {.description = description, .min_length = shortest, .max_length = longest};
}
/// An integer of at least `least`.
constexpr Rule number(std::string_view description, int least,
                      int most = std::numeric_limits<int>::max()) {
  return {.description = description, .minimum = least, .maximum = most};
}
/// Everything else: a truth value, an object, a list.
constexpr Rule value(std::string_view description) { return {.description = description}; }

inline bool is_time(std::string_view text) {
  return static_cast<bool>(core::UtcTimestamp::parse(text));
}

inline bool is_hex_digest(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// A time; whether it exists in the calendar is for its reader to say.
constexpr Rule time(std::string_view description) {
  constexpr int kLongest = 40;
  return text(description, kLongest)
      .matching(R"(^[0-9-]+T[0-9:.]+(Z|\+00:00)$)", is_time)
      .such_as("2025-01-15T10:30:00Z");
}

inline constexpr Rule kSecretText = text("", 256);
inline constexpr Rule kRow = value("One row of the table.");
inline constexpr Rule kEachMatchId = text("", 1, 64);
inline constexpr Rule kPlayedMatch = value("A match that was played.");
inline constexpr Rule kDisplayName = text("Name for people.", 50).such_as("AlphaBot");
inline constexpr Rule kScheduledMatch = value("A match of the schedule.");
inline constexpr Rule kNameOfGame = text("Name of a game.", 1, 64).such_as("even_odd");
inline constexpr Rule kPoints = number("", 0, 100);
inline constexpr Rule kFailure = value("A call to a player that failed.");
inline constexpr Rule kAnswersOfOne = value("The answers of one player.");
inline constexpr Rule kCount = number("", 0);
inline constexpr Rule kName = text("", 64);
inline constexpr Rule kReceiptsOfOne = value("The receipts of one player.");
inline constexpr Rule kMatch = value(
    "A match. Copies for a referee carry more: attempt, conversation_id, addresses, credentials "
    "and the seed of the draw.");
inline constexpr Rule kGameType = text("Name of the game.", 1, 64).such_as("even_odd");
inline constexpr Rule kOpponentId = text("The opponent.", 1, 64).such_as("P01");
inline constexpr Rule kRoundId = number("Number of the round.", 1).such_as("1");
inline constexpr Rule kAttemptOfReceipt =
    number("The attempt at the match, from 1; part of the text of a receipt.", 1).such_as("1");
inline constexpr Rule kPlayOfReceipt =
    number(
        "How often this attempt was played before and did not count, since the referee was late; "
        "part of the text of a receipt.",
        0)
        .such_as("0");
inline constexpr Rule kOwnId = text("Your own id.", 1, 64).such_as("P01");
inline constexpr Rule kPlayerId =
    text("Id of a player, as the league manager gave it.", 1, 64).such_as("P01");
inline constexpr Rule kErrorCode = text("Code of the error.", 1, 16).such_as("E012");
inline constexpr Rule kRefusalCode = text("Code of the reason when rejected.", 16).such_as("E019");
inline constexpr Rule kErrorName = text("Name of the error.", 64).such_as("AUTH_TOKEN_INVALID");
inline constexpr Rule kErrorDescription = text("What is wrong, for people.", 8192);
inline constexpr Rule kErrorFacts = value("Facts about the error, such as the field.");
inline constexpr Rule kResult = value("The result.");
inline constexpr Rule kDrawnNumber =
    value("The number that was drawn, in Even/Odd 1 to 10; null if none was.").such_as("4");
inline constexpr Rule kNumberParity =
    text("What kind of number it is, in the game's words; null if none was drawn.", 64)
        .such_as("even");
inline constexpr Rule kChoices =
    value("What each player chose, by player id; null for none.").each(kSecretText);
inline constexpr Rule kDrawProof = text(
    "The seed of the draw, revealed, in hexadecimal. SHA-256 of its 32 bytes followed by match_id "
    "is the draw_commitment that was announced.",
    256);
inline constexpr Rule kDrawVersion =
    number("How the number follows from the seed: 2 where at least one player committed, else 1.",
           1)
        .such_as("2");
inline constexpr Rule kChoiceCommitments =
    value("The commitments that count, by player id.").each(kSecretText).at_most(2);
inline constexpr Rule kChoiceNonces =
    value("The nonces that opened them, by player id.").each(kSecretText).at_most(2);
inline constexpr Rule kMatchId = text("The match.", 1, 64).such_as("R1M1");
inline constexpr Rule kPlayerAId = text("Player in role A.", 1, 64).such_as("P01");
inline constexpr Rule kPlayerBId = text("Player in role B.", 1, 64).such_as("P01");
inline constexpr Rule kRefereeId = text("The match's referee.", 1, 64).such_as("REF01");
inline constexpr Rule kAboutItself = value("What the agent says about itself.");
inline constexpr Rule kAgentVersion = text("Semantic version of the agent.", 32)
                                          .matching(R"(^[0-9]+\.[0-9]+\.[0-9]+([-+].+)?$)")
                                          .such_as("1.0.0");
inline constexpr Rule kGameTypes = value("Games that the agent knows; at least one.")
                                       .each(kNameOfGame)
                                       .at_least(1)
                                       .at_most(32)
                                       .such_as(R"(["even_odd"])");
inline constexpr Rule kProtocolVersion = text(
                                             "Version of the protocol that the agent speaks; 2.0.0 "
                                             "up to but not including 3.0.0 is accepted.",
                                             32)
                                             .matching(R"(^[0-9]+\.[0-9]+\.[0-9]+([-+].+)?$)")
                                             .such_as("2.1.0");
inline constexpr Rule kLogPublicKey =
    text(
        "The Ed25519 key, 64 hexadecimal digits, with which the seals of the agent's conversation "
        "log can be verified.",
        64)
        .such_as("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
inline constexpr Rule kHearsEvents = value(
    "True if the agent listens to the league's events on the bus: broadcasts then reach it there, "
    "published once and signed, and not by calls.");
inline constexpr Rule kRegistrationNonce = text(
    "Chosen by the agent; repeating the request with the same nonce gets the same identity, so a "
    "lost reply does no harm.",
    1, 128);
inline constexpr Rule kRegistrationStatus =
    value("Whether the registration was accepted.").such_as("ACCEPTED");
inline constexpr Rule kRefusalReason = text("Why it was rejected; null when accepted.", 4096);
inline constexpr Rule kBroadcastKey = text(
    "The manager's Ed25519 public key, 64 hexadecimal digits, which verifies the broadcasts that "
    "it publishes on a message bus.",
    64);
inline constexpr Rule kLeagueKey =
    text("The league's Ed25519 public key, 64 hexadecimal digits: the identity of the league.", 64);
inline constexpr Rule kGameDefinition = value(
    "The definition of the league's game: its choices and payoffs (docs/games.md). Absent: "
    "Even/Odd.");
inline constexpr Rule kTakesDefinitions = value(
    "True if the agent takes the game's definition from the answer, and so plays games that "
    "game_types does not list. Absent: no.");
inline constexpr Rule kGameOfMatch =
    value("What can be chosen, and which of how many meetings of the two players this is.");
inline constexpr Rule kMeeting = value("An earlier meeting of the two players.");
inline constexpr Rule kHistory = value(
                                     "The earlier meetings of the two players that count, the "
                                     "oldest first, at most the last 100. Absent: none.")
                                     .each(kMeeting);
inline constexpr Rule kChosenThen =
    text("What was chosen then; null where the match ended without it.", 64).such_as("even");
inline constexpr Rule kMeetingNumber =
    number("Which meeting of the two players it is.", 1).such_as("1");
inline constexpr Rule kMeetings = number("How often the two players meet.", 1).such_as("1");
inline constexpr Rule kMatchCredentials = value(
    "Whether the calls of this league's manager and referees carry credentials that the agent can "
    "check. Absent: no.");

}  // namespace rule
}  // namespace league::envelope
