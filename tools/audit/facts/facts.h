#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/audit/log/chain_verifier.h"
#include "game/definition.h"
#include "tools/audit/facts/facts.h"

namespace league::tools::auditor {
/// A line of a log; `file` is valid as long as the log from which it was read.
struct LogPosition {
  const std::string* file = nullptr;
  std::size_t line = 0;
};

/// A message of an attempt, or a missing one, as the referee recorded it.
struct MatchEvent {
  std::int64_t mono_ns = 0;
  bool outbound = false;
  bool request = false;
  bool failed = false;  ///< no answer, a refused one, or a JSON-RPC error
  bool unknown_method = false;  ///< the peer has no such tool: another name is tried, no attempt
  std::string peer;
  std::string type;  ///< of an answer: only if the call asks for this type
  std::int64_t time_us = 0;
  std::optional<std::int64_t> allowed_us;  ///< of a call with a deadline
  bool accepts = true;  ///< of GAME_JOIN_ACK
  bool is_normal = false;  ///< of a report: both chose
  int replays = 0;  ///< of a report: earlier plays of the match that did not count
  LogPosition place;
};

/// The messages between a referee and its two players in one attempt at a match.
struct MatchConversation {
  std::string match_id;
  std::vector<MatchEvent> events;
};

/// An attempt in which both players had chosen, so that everybody who knew the seed knew the
/// result.
struct DecidedAttempt {
  std::string match_id;
  std::string conversation;
  LogPosition place;
};

/// An invitation or a call for a choice, and its answer, in the log of the player or the referee.
struct GameCall {
  std::string match_id;
  std::string conversation;
  std::string player;  ///< `P01`
  std::string referee;  ///< `referee:REF01`
  bool is_invitation = false;
  bool is_accepted = true;  ///< the recipient did not refuse the call, and checked its token
  bool knows_opponent = false;  ///< a call that could carry the opponent's commitment
  std::string draw_commitment;  ///< as the message names it; empty: none
  std::string opponent_commitment;
  std::optional<std::int64_t> attempt;  ///< as `context` says
  std::optional<std::int64_t> play;
  std::size_t run = 0;  ///< index of the process that recorded it
  std::int64_t time_us = 0;
  std::int64_t mono_ns = 0;
  std::int64_t stated_us = 0;  ///< the timestamp of a message with a deadline, by its sender
  std::optional<std::int64_t> allowed_us;  ///< of a call with a deadline
  LogPosition place;

  bool is_answered = false;
  bool is_answer_accepted = false;  ///< by the agent that wrote the record
  bool accepts = false;
  std::string commitment;
  std::string choice;
  std::string nonce;
  std::string receipt;
  std::int64_t answered_us = 0;
  std::int64_t answered_mono_ns = 0;
  LogPosition answer_place;
};

/// The description of a match by an agent that is entitled to it: the manager, or the match's
/// referee.
struct Described {
  std::string match_id;
  std::string sender;
  std::string game_type;
  std::string player_a;  ///< empty: not stated
  std::string player_b;
  std::string commitment;
  std::int64_t round = 0;
  std::int64_t time_us = 0;
  LogPosition place;
};

/// The manager gave a match to a referee.
struct Assignment {
  std::string match_id;
  std::string referee;  ///< `REF01`
  std::string conversation;
  std::int64_t attempt = 0;  ///< 0: not said
  std::int64_t time_us = 0;
};

/// A report that the manager accepted.
struct AcceptedReport {
  std::string match_id;
  std::string sender;
  std::string conversation;
  nlohmann::json result;
  nlohmann::json round = nullptr;
  std::string game_type = {};
  std::int64_t time_us = 0;
  LogPosition place;
};

/// A registration that the manager accepted, for the id in its answer.
struct Registration {
  std::string agent;  ///< `player:P01`
  std::string log_key;  ///< empty: it keeps no sealed log
  bool match_credentials = false;  ///< of a referee: it is one of this project
  bool receipts = false;  ///< of a player: it puts receipts into its answers
};

/// The manager asked a player which calls of a match it got.
struct Question {
  std::string match_id;
  std::string player;  ///< `P01`
  std::int64_t time_us = 0;
};

/// The end of an agent's log, as the agent told it to the manager.
struct AgentHead {
  std::string agent;  ///< `player:P01`
  audit::record::LogHead head;
  LogPosition place;
};

/// The end of the journal, as the manager told it to everybody.
struct ToldJournal {
  audit::record::LogHead head;
  std::int64_t time_us = 0;
  LogPosition place;
};

/// A LEAGUE_COMPLETED in the manager's log or a recipient's.
struct ToldEnd {
  struct Attestation {
    std::string statement;
    std::string signature;
  };
  nlohmann::json standings;
  std::optional<Attestation> attestation;
  LogPosition place;
};

/// A GAME_OVER that a player accepted.
struct ReceivedGameOver {
  std::string match_id;
  std::string sender;
  std::string seed;  ///< the revealed seed; empty: none
  std::string conversation;
  nlohmann::json message;
  std::int64_t time_us = 0;
  LogPosition place;
};

/// A message without which its receiver would not know what happened, sent and acknowledged: the
/// receiver's log must have it.
struct DeliveredCall {
  std::uint64_t body = 0;  ///< the first half of the hash
  std::string peer;
  std::string type;
  std::int64_t time_us = 0;
  LogPosition place;
};

/// A player disputed a result at the manager.
struct Dispute {
  std::string match_id;
  std::string player;
  std::string reason;
  std::int64_t time_us = 0;
  LogPosition place;
};

/// The table of a LEAGUE_COMPLETED that the manager sent.
struct FinalTable {
  nlohmann::json standings;
  std::set<std::string> voided;  ///< the void matches that the message lists
  std::optional<int> meetings;  ///< of each pair; nothing: once, in a league of an older manager
  std::int64_t time_us = 0;
  LogPosition place;
};

/// The facts in one log about one league. Facts are taken only from the message that states them,
/// sent by the agent that is entitled to them, in a delivery whose token was checked: protocol §8.
/// Not thread-safe.
struct LogFacts {
  struct Received {
    std::uint64_t body = 0;  ///< the first half of the hash
    std::string peer;
    std::int64_t time_us = 0;
    std::int64_t asked_us = 0;  ///< of a reply: the time of its request
    LogPosition place;
  };
  struct ReceivedHead {
    audit::record::LogHead head;
    LogPosition place;
  };

  audit::log::LeagueIdentity league;
  std::int64_t begins_us = 0;  ///< times of the first and the last record
  std::int64_t ends_us = 0;
  std::vector<Received> received;
  std::map<std::string, LogPosition> senders;  ///< the senders that its messages named, each with
                                               ///< the first place
  std::vector<ReceivedHead> received_heads;
  std::vector<Described> matches;
  std::vector<Assignment> assignments;  ///< of the manager
  std::map<std::string, MatchConversation> conversations;  ///< by conversation; of referees
  std::vector<GameCall> calls;  ///< of players and referees
  std::vector<Registration> registrations;  ///< of the manager
  /// The first two different games that the manager told agents, each with its first place;
  /// further ones prove nothing more.
  std::vector<std::pair<game::Definition, LogPosition>> games;
  std::vector<AcceptedReport> reports;  ///< of the manager
  std::vector<ReceivedGameOver> ends;  ///< of players
  std::vector<AcceptedReport> sent_reports;  ///< of referees: the manager accepted them
  std::vector<DeliveredCall> delivered;
  std::vector<Dispute> disputes;  ///< of the manager
  std::vector<Question> questions;  ///< of the manager
  std::vector<AgentHead> agent_heads;  ///< of the manager
  std::vector<ToldJournal> journal_heads;
  std::vector<ToldEnd> told_ends;
  std::vector<FinalTable> finals;  ///< of the manager: the first one of each process

  /// The final table that counts; null while the league runs.
  [[nodiscard]] const FinalTable* final_table() const {
    return finals.empty() ? nullptr : &finals.front();
  }
};

/// The part of a log that one process wrote.
struct LogRun {
  std::int64_t begins_us = 0;
  std::int64_t ends_us = 0;
  LogPosition end;
};

/// The text that a log holds of a message with a digest. Both copies of a message must be alike.
struct BodyCopy {
  std::uint64_t body = 0;  ///< the first half of the digest of its bytes on the wire
  std::uint64_t text = 0;  ///< the same of the recorded text
  bool is_out = false;
  bool is_whole = true;  ///< not cut off
  LogPosition place;
};

/// An answer that does not fit its log: without its request, or another one than before.
struct StrayAnswer {
  bool is_second = false;
  std::int64_t time_us = 0;
  LogPosition place;
};

/// The extracted content of one log. Not thread-safe.
struct LogContents {
  std::deque<std::string> files;  ///< file names, to which LogPosition points
  std::unordered_map<std::uint64_t, std::int64_t> sent;  ///< by body: when it was first sent
  std::unordered_map<std::uint64_t, std::int64_t> got;  ///< by body: when a request first came
  std::vector<BodyCopy> copies;
  std::vector<StrayAnswer> strays;
  std::map<std::size_t, LogRun> runs;  ///< by index of the process
  std::deque<LogFacts> leagues;
  std::vector<audit::log::LogFault> faults;
};

/// Whether two headers name the same league: by its key, or by its id if one of them lacks the key.
/// Two headers that name no league are of the same unknown league.
[[nodiscard]] bool is_same_league(const audit::log::LeagueIdentity& a,
                                  const audit::log::LeagueIdentity& b);
/// The league's identity from both headers together.
[[nodiscard]] audit::log::LeagueIdentity merged(const audit::log::LeagueIdentity& a,
                                                const audit::log::LeagueIdentity& b);
/// Appends `more` to `facts`; both are from one log, about one league.
void append_facts(LogFacts&& more, LogFacts& facts);

}  // namespace league::tools::auditor
