#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/transport/link/request_budgets.h"

namespace league::agent::runtime {

class ConfigFile;

/// Every limit of the league that an operator may change, with the protocol's values as defaults.
/// Read from `[limits]` of the file given with `--config`. config/league.toml contains the
/// defaults, and docs/settings.md explains each limit. A value type; copy it.
struct Settings {
  using Milliseconds = std::chrono::milliseconds;

  /// Per message type, where it differs from the protocol table (protocol §4).
  std::map<envelope::MessageType, Milliseconds> time_limits;
  /// Time that one attempt of a call may take.
  [[nodiscard]] Milliseconds time_limit(envelope::MessageType type) const;

  struct Retry {
    int max_attempts = 3;  ///< protocol §6
    Milliseconds delay{2000};  ///< between attempts
    int max_invalid_answers = 3;
  } retry;

  /// Of players that are people or chat programs; the referee gets them with the match.
  struct SeatLimits {
    Milliseconds invitation{60000};
    Milliseconds choice{60000};
  } seat_limits;

  struct Http {
    std::size_t max_head_bytes = 16 * 1024;
    std::size_t max_body_bytes = 256 * 1024;
    Milliseconds request_time{5000};  ///< from the first byte of a request to its last
    Milliseconds idle_time{60000};  ///< of a kept connection
    int connections_per_address = 64;  ///< of strangers; not from loopback
    int local_connections = 1024;  ///< of strangers from loopback
    int max_connections = 20000;
    int workers = 0;  ///< 0: one per core, at least 2
  } http;

  /// The requests per second, and the bytes in the conversation log, that one sender may cause.
  /// Referees, the operator and the manager are staff; each player has a budget of its own;
  /// registrations and all other senders are counted by address.
  struct Budgets {
    int burst_seconds = 30;  ///< a burst may use the budget of this many seconds
    int staff_requests = 20'000;
    int staff_log_kib = 64 * 1024;
    int player_requests = 200;
    int player_log_kib = 128;
    int registrations = 100;
    int registration_log_kib = 128;
    int stranger_requests = 300;
    int stranger_log_kib = 256;
  } budgets;

  struct Calls {
    int game = 256;  ///< calls in flight at once, per budget
    int broadcast = 64;
    int control = 64;
    int per_peer = 16;  ///< of one budget to one peer
    std::size_t max_reply_bytes = 1024 * 1024;
    Milliseconds mcp_probe{2000};  ///< as mcp::client::SessionOptions::longest_probe
  } calls;

  struct Bus {
    Milliseconds keep_alive{5000};  ///< docs/distributed.md, "Keep-alives"
    int replicas = 1;  ///< of each stream in a cluster of brokers; never lowered
    long events_max_mib = 256;  ///< event stream; beyond it the oldest are removed; 0: no limit
    long journal_max_mib = 512;  ///< journal stream; beyond it nothing more is stored; 0: no limit
  } bus;

  struct Breaker {
    int failures = 5;  ///< in a row, until it opens
    Milliseconds open{60000};  ///< then one trial call
  } breaker;

  struct LifeCycle {
    int suspend_after_failed_matches = 3;  ///< in a row
    int shutdown_after_failed_matches = 0;  ///< in a row; 0: nobody is shut down automatically
  } life_cycle;

  struct League {
    Milliseconds start_delay{100};  ///< between the last registration and the first round
    Milliseconds announcement_grace{
        250};  ///< how long a round waits for players to take its announcement
    Milliseconds referee_ping_interval{2000};
    int referee_ping_failures = 3;  ///< in a row, until the referee counts as gone
    Milliseconds start_watchdog{30000};  ///< how long a third-party referee that has acknowledged a
                                         ///< match may take to begin it
    int max_match_attempts = 3;  ///< then the match ends without a winner
    Milliseconds match_watchdog{
        0};  ///< 0: the longest that the limits above allow a match, plus 10 s
    Milliseconds round_watchdog{0};  ///< 0: as long as all matches with all their attempts may take
    bool broadcasts = true;  ///< off only to measure the match path alone
    bool require_commitments = false;  ///< only players that declare receipts may register
    int people = 32'000;  ///< most players that are people or chat programs
  } league;

  struct Log {
    int queue_mib = 64;
    int segment_mib = 256;
    int min_free_mib = 64;  ///< of disk: below it no new match starts
    bool compresses = true;  ///< closed segments
    bool verifiable = true;  ///< off only to measure what hashes and seals cost
    Milliseconds seal_interval{5000};  ///< the longest that a record stays unsealed
  } log;

  /// `budgets` as rate limiters take them.
  [[nodiscard]] transport::link::RequestBudgetOptions request_budgets() const;

  /// The longest time in which a live referee must have reported a match: all attempts of both
  /// calls.
  [[nodiscard]] Milliseconds longest_match() const;
  /// The same for a match in which a person or a chat program plays.
  [[nodiscard]] Milliseconds longest_slow_match() const;

 private:
  [[nodiscard]] Milliseconds all_attempts(envelope::MessageType type) const;
};

/// Reads settings from a JSON object of sections. Fails for an unknown section or key, a wrong type
/// or a value out of range, with the key's name and the range; the error has a line for each fault.
[[nodiscard]] core::Result<Settings> parse_settings(const nlohmann::json& document);
/// As parse_settings, from `[limits]` of a file; each fault begins with the place of the limit.
[[nodiscard]] core::Result<Settings> settings_of(const ConfigFile& file);
/// All settings, as the JSON that parse_settings reads.
[[nodiscard]] nlohmann::json to_json(const Settings& settings);

}  // namespace league::agent::runtime
