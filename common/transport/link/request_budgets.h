#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/core/clock.h"
#include "common/transport/link/log_meter.h"

namespace league::transport::link {

/// What we know about a sender before its request is read.
enum class Standing : std::uint8_t {
  kStaff,  ///< showed a credential of the operator, the manager or a referee
  kPlayer,  ///< showed that of a registered player
  kNewcomer,  ///< wants to register; known by its address or session only
  kStranger,  ///< everybody else, by address or session
};
inline constexpr std::size_t kStandings = 4;

/// Whose budget a request is charged to.
struct RequestSender {
  Standing standing = Standing::kStranger;
  std::string name;  ///< `REF01`, `operator`, an address, or `session 9731fd6f...`
  bool operator==(const RequestSender&) const = default;
};

/// The prefix of the name of a sender that is identified by its session on a bus, not by its
/// address.
inline constexpr std::string_view kSessionSender = "session ";

/// For people: `referee or operator REF01`, `address 10.0.0.1 (registrations)`.
[[nodiscard]] std::string shown_sender(const RequestSender& sender);

/// The limits of one sender.
struct Allowance {
  double requests_per_second = 100;
  double log_bytes_per_second = 128 * 1024;  ///< of the lines of its requests and their answers
};

struct RequestBudgetOptions {
  std::array<Allowance, kStandings> allowances{};  ///< by Standing
  /// A burst may be as large as the allowance for this long.
  std::chrono::seconds burst{20};
  /// The number of addresses per standing with a budget of their own; all others share one. Senders
  /// with a credential are never more than the league has agents.
  std::size_t max_addresses = 4096;
};

/// A sender whose requests were refused.
struct Overrun {
  RequestSender sender;
  std::uint64_t refused = 0;
};

/// The remaining budget of every sender: a token bucket of requests and one of log bytes for each.
/// Log bytes are known only once they are written, so that bucket may become negative and must
/// refill before the next request passes. Pure: time is an argument. Not thread-safe.
class RequestBudgets {
 public:
  using Instant = core::Clock::Steady;
  struct Charge {
    /// How long to wait; nothing: the request may pass.
    std::optional<std::chrono::milliseconds> retry_after;
    /// The sender goes on although it is refused: an immediate answer would only bring the next
    /// request.
    bool is_pressing = false;
    std::shared_ptr<LogMeter> meter;  ///< of the sender
  };

  explicit RequestBudgets(const RequestBudgetOptions& options) : options_(options) {}
  /// Applies from now on; a sender keeps what it has left, up to the new maximum.
  void set_options(const RequestBudgetOptions& options) { options_ = options; }

  /// Charges `requests` to `sender`, if it has anything left. `now` never goes back.
  [[nodiscard]] Charge charge(const RequestSender& sender, std::size_t requests, Instant now);
  /// The senders that were refused since the last call, and how often.
  [[nodiscard]] std::vector<Overrun> take_overruns();
  [[nodiscard]] std::size_t senders() const;

 private:
  struct Account {
    RequestSender sender;
    double requests = 0;
    double log_bytes = 0;
    double forgiven = 0;  ///< of the debt, until the budget is full again
    Instant at{};
    double patience = 0;  ///< refusals that are still answered at once
    std::uint64_t refused = 0;
    std::shared_ptr<LogMeter> meter = std::make_shared<LogMeter>();
  };

  Account& account_of(const RequestSender& sender, Instant now);
  void refill(Account& account, Instant now) const;
  [[nodiscard]] static bool note_refusal(Account& account);
  [[nodiscard]] bool refill_and_check_idle(Account& account, Instant now) const;
  using Accounts = std::unordered_map<std::string, Account>;  ///< by the sender's name
  void forget_idle(Accounts& accounts, Instant now);
  [[nodiscard]] const Allowance& allowance(Standing standing) const {
    return options_.allowances[static_cast<std::size_t>(standing)];
  }
  [[nodiscard]] double capacity(double per_second) const {
    return per_second * static_cast<double>(options_.burst.count());
  }

  RequestBudgetOptions options_;
  std::array<Accounts, kStandings> accounts_;  ///< by Standing
  std::optional<Instant> forgot_at_;
};

}  // namespace league::transport::link
