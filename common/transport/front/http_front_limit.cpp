#include <chrono>

#include "common/core/text.h"
#include "common/transport/front/http_front.h"
#include "common/transport/link/rate_limiter.h"

// Rate limiting of complete requests, before they are parsed.
namespace league::transport::front {
namespace {

/// The refusal of a sender that continues although it is refused is delayed by this long; otherwise
/// both sides would waste time on further requests.
constexpr std::chrono::milliseconds kHold{250};
constexpr std::chrono::milliseconds kFullQueue{1000};

/// The part of a complete request after the head.
std::string_view body_of(std::string_view request) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t end = request.find(kEnd);
  return end == request.npos ? std::string_view() : request.substr(end + kEnd.size());
}

/// Whether the client expects the connection to be closed after the answer.
bool wants_close(std::string_view request) {
  const std::string head = core::lower_case(request.substr(0, request.find("\r\n\r\n")));
  return head.find(" http/1.0\r\n") != head.npos || head.find("\r\nconnection: close") != head.npos;
}

}  // namespace

void HttpFront::limit_rate(const ConnectionPtr& connection) {
  link::RateLimiter* const limiter = connection->server->options.limiter.get();
  connection->is_first_served = true;
  if (limiter == nullptr) return enqueue(connection);
  const auto request = std::string_view(connection->in).substr(0, connection->scanner.length());
  auto pass = limiter->admit(body_of(request), connection->address);
  if (pass.retry_after) return refuse_for_now(connection, *pass.retry_after, pass.is_pressing);
  if (pass.is_known()) {
    note_known(*connection);
  } else if (queue_.strangers() >= options_.max_waiting_strangers) {
    return refuse_for_now(connection, kFullQueue, true);
  }
  connection->is_first_served = pass.is_known();
  connection->meter = std::move(pass.meter);
  enqueue(connection);
}

void HttpFront::note_known(Connection& connection) {
  if (std::exchange(connection.is_known, true)) return;
  std::lock_guard lock(mutex_);
  unauthenticated_.remove(connection.address, connection.id);
}

void HttpFront::refuse_for_now(const ConnectionPtr& connection,
                               std::chrono::milliseconds retry_after, bool is_held) {
  connection->out = link::over_budget_response(retry_after);
  connection->close_after =
      connection->server->is_stopping || connection->peer_finished || wants_close(connection->in);
  if (!is_held) return finish_sending(connection);
  connection->is_held = true;
  arm(connection, 0, std::chrono::steady_clock::now() + kHold);
}

}  // namespace league::transport::front
