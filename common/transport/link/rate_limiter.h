#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/transport/link/request_budgets.h"

namespace league::transport::link {

/// Decides on a request before it is parsed, logged or dispatched: identifies its sender by a valid
/// credential in it, otherwise by address, and checks whether that sender has budget left. It
/// admits nobody: the message's reader checks later whether the credential fits the message.
/// Thread-safe.
class RateLimiter {
 public:
  /// The owner of the credential that stands in `body` as the value `shown` of `member`
  /// (`auth_token`, `operator_key`, `admission_key`, `session` of a seat); nothing if it is
  /// nobody's. Called from several threads at once; must not block.
  using Recognise = std::function<std::optional<RequestSender>(
      std::string_view member, std::string_view shown, std::string_view body)>;

  struct Pass {
    Standing standing = Standing::kStranger;
    std::optional<std::chrono::milliseconds> retry_after;  ///< set: it is refused
    bool is_pressing = false;  ///< see RequestBudgets::Charge
    std::shared_ptr<LogMeter> meter;

    /// Whether it has shown a credential.
    [[nodiscard]] bool is_known() const {
      return standing == Standing::kStaff || standing == Standing::kPlayer;
    }
  };

  /// `clock` outlives the rate limiter, and so does what `recognise` refers to.
  RateLimiter(const RequestBudgetOptions& options, Recognise recognise, const core::Clock& clock)
      : recognise_(std::move(recognise)), clock_(clock), budgets_(options) {}

  /// Charges a request to its sender, and says whether it may pass. `body` is the request's JSON
  /// text and may be empty; `address` is the peer's, without port.
  [[nodiscard]] Pass admit(std::string_view body, std::string_view address);
  /// See RequestBudgets::take_overruns.
  [[nodiscard]] std::vector<Overrun> take_overruns();
  /// See RequestBudgets::set_options.
  void set_budgets(const RequestBudgetOptions& options);

 private:
  [[nodiscard]] RequestSender sender_of(std::string_view body, std::string_view address) const;

  const Recognise recognise_;
  const core::Clock& clock_;
  std::mutex mutex_;
  RequestBudgets budgets_;  // guarded by mutex_
};

/// The text of the first member `name` of `body` that is a string without escapes, wherever it
/// stands; empty where there is none, or it is longer than 256 bytes.
[[nodiscard]] std::string_view text_member(std::string_view body, std::string_view name);

/// The address by which a stranger is charged: for IPv6 the /64 block, since one host can use all
/// addresses of its block; all loopback addresses count as one.
[[nodiscard]] std::string budget_address(std::string_view address);

/// The text for people: the budget is used up, and when to retry.
[[nodiscard]] std::string over_budget_text(std::chrono::milliseconds retry_after);
/// The JSON-RPC error for a request beyond its budget; `id` is a JSON text. Its `data` has
/// `error_code` (E091) and `retry_after_ms`.
[[nodiscard]] std::string over_budget_body(std::chrono::milliseconds retry_after,
                                           std::string_view id);
/// The HTTP response with over_budget_body: status 429, Retry-After in whole seconds; the
/// connection stays open.
[[nodiscard]] std::string over_budget_response(std::chrono::milliseconds retry_after);

}  // namespace league::transport::link
