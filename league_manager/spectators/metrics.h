#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/audit/record/record.h"
#include "league_manager/core/league.h"
#include "league_manager/spectators/registration_board.h"
#include "league_manager/spectators/replication_figures.h"

namespace league::league_manager::spectators {

/// The current figures of the program itself.
struct MetricFigures {
  std::size_t log_queue_bytes = 0;
  std::uint64_t log_records = 0;
  bool is_log_healthy = true;
  std::size_t spectators = 0;
  int journal_waiting = 0;  ///< commits that are not durable yet
  double journal_seconds = 0;  ///< how long the last one took to become durable
  RegistrationBoard::RefusalCounts refused = {};  ///< registrations
  /// Nothing: the league has one manager only.
  std::optional<ReplicationFigures> replication = std::nullopt;
};

/// Metrics for Prometheus. Figures of matches are counted from the journal's events, so they
/// continue after a restart; figures of calls come from the conversation log of this process. All
/// label sets are bounded: a code, a role or a type of message that is not in our tables is
/// `other`, and names are those of the league's managers. Thread-safe.
class Metrics {
 public:
  /// For Ledger::observe.
  void on_events(const events::Events& events);
  /// For audit::log::AuditLogOptions::on_record.
  void on_record(const audit::record::Record& record);
  /// All metrics in Prometheus' text format, version 0.0.4.
  [[nodiscard]] std::string text(const League& league, const MetricFigures& figures) const;

 private:
  /// A histogram of durations with the buckets that Prometheus expects.
  struct Histogram {
    static constexpr std::array<double, 9> kBounds{0.001, 0.005, 0.025, 0.1, 0.25, 1, 5, 10, 30};
    std::array<std::uint64_t, kBounds.size() + 1> counts{};  ///< per bucket; the last one counts
                                                             ///< longer durations
    double sum = 0;

    void add(double seconds);
    void append(std::string& out, std::string_view name, const std::string& labels) const;
  };

  /// Calls of one kind: their direction (`in`, `out`), the role of the other side as it is known or
  /// claimed, and the type of the request.
  struct CallKind {
    std::string_view direction;
    std::string_view role;
    std::string_view type;

    auto operator<=>(const CallKind&) const = default;
  };
  struct Calls {
    Histogram elapsed;
    std::map<std::string_view, std::uint64_t> errors;  ///< by code
  };

  void append_calls(std::string& out) const;
  void count_answer(std::string_view call, const std::optional<int>& us);

  mutable std::mutex mutex_;
  std::map<std::string_view, std::uint64_t>
      results_;  ///< reported and forfeited, by how they ended
  std::map<std::string_view, std::uint64_t> losses_;  ///< technical ones, by error code
  std::map<std::string_view, std::uint64_t> forfeits_;  ///< by reason
  std::map<std::string_view, std::uint64_t> acts_;  ///< of the operator
  std::map<std::string_view, std::uint64_t> registrations_;  ///< by role
  std::uint64_t assigned_ = 0;
  std::uint64_t taken_back_ = 0;
  std::uint64_t voided_ = 0;
  std::map<std::string_view, Histogram> answers_;  ///< of players, by call
  std::map<CallKind, Calls> calls_;
  std::unordered_map<std::uint64_t, CallKind> unanswered_;  ///< our own calls, by number of the
                                                            ///< call
};

}  // namespace league::league_manager::spectators
