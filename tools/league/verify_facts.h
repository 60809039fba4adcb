#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/audit/chain_verifier.h"

namespace league::tools {

/// A line of a log; `file` lives as long as the facts that it came from.
struct Place {
  const std::string* file = nullptr;
  std::size_t line = 0;
};

/// What one agent said or did not say in an attempt, as its referee recorded it.
struct MatchEvent {
  std::int64_t mono_ns = 0;
  bool outbound = false;
  bool request = false;
  bool failed = false;  ///< no answer, a refused one, or a JSON-RPC error
  bool unknown_method = false;  ///< the peer has no such tool: another name is tried, no attempt
  std::string peer;
  std::string type;
  std::int64_t time_us = 0;
  std::optional<std::int64_t> allowed_us;  ///< of a call with a deadline
  bool accepts = true;  ///< of GAME_JOIN_ACK
  bool is_normal = false;  ///< of a report: both chose
  int replays = 0;  ///< of a report: how often the match was played before and did not count
  Place place;
};

/// What a referee and its two players said in one attempt of a match.
struct Talk {
  std::string match_id;
  std::vector<MatchEvent> events;
};

/// An attempt in which both players had chosen, so that whoever knew the seed knew the result.
struct DecidedAttempt {
  std::string match_id;
  std::string conversation;
  Place place;
};

/// A report that the manager accepted.
struct AcceptedReport {
  std::string match_id;
  std::string sender;
  std::string conversation;
  nlohmann::json result;
  Place place;
};

/// What one log contributes to the verdict about the league. Not thread-safe.
struct LogFacts {
  struct Received {
    std::uint64_t body = 0;  ///< the first half of the hash
    std::string peer;
    std::int64_t time_us = 0;
    Place place;
  };
  struct Witness {
    audit::LogHead head;
    Place place;
  };
  struct Pairing {
    std::string player_a;
    std::string player_b;
  };

  std::deque<std::string> files;  ///< that places refer to
  std::unordered_set<std::uint64_t> sent;  ///< bodies
  std::vector<Received> received;
  std::map<std::string, Place> senders;  ///< in whose name it sent, and where first
  std::vector<Witness> witnesses;
  std::map<std::string, std::map<std::string, Place>> commitments;  ///< by match
  std::map<std::string, Pairing> pairings;  ///< by match
  std::map<std::string, std::string> assignments;  ///< conversation to referee
  std::map<std::string, Talk> talks;  ///< by conversation; of referees
  std::map<std::string, DecidedAttempt> choices;  ///< made, by conversation; of players
  std::map<std::string, std::set<std::string>> keys;  ///< registered, by agent; of the manager
  std::vector<AcceptedReport> reports;  ///< of the manager
  std::map<std::string, std::map<std::string, Place>> proofs;  ///< revealed seeds, by match
  nlohmann::json final_standings;  ///< of LEAGUE_COMPLETED; null while the league runs
  Place final_place;
  std::vector<audit::LogFault> faults;
};

}  // namespace league::tools
