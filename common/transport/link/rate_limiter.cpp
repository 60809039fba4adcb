#include "common/transport/link/rate_limiter.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "common/core/error_code.h"
#include "common/rpc/json_text.h"

namespace league::transport::link {
namespace {

constexpr std::array<std::string_view, 4> kCredentials{"auth_token", "operator_key",
                                                       "admission_key", "session"};
constexpr std::array<std::string_view, 4> kRegistrations{
    "register_player", "register_referee", "LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST"};
constexpr std::size_t kMostTried = 4;  ///< values of one name in one request
constexpr std::size_t kLongestCredential = 256;

/// As `text.find(word, from)`, which compares byte by byte.
std::size_t find(std::string_view text, std::string_view word, std::size_t from = 0) {
  if (from >= text.size()) return text.npos;
  const void* found = ::memmem(text.data() + from, text.size() - from, word.data(), word.size());
  return found == nullptr ? text.npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

bool has_any(std::string_view text, const auto& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return find(text, word) != text.npos; });
}

/// The string value of the member whose name ends before `at`; empty if it is not a string.
std::string_view value_after(std::string_view body, std::size_t at) {
  auto skip = [&](char expected) {
    at = body.find_first_not_of(" \t\r\n", at);
    if (at == body.npos || body[at] != expected) return false;
    ++at;
    return true;
  };
  if (at >= body.size() || body[at] != '"') return {};
  ++at;
  if (!skip(':') || !skip('"')) return {};
  const std::size_t end = body.find('"', at);
  if (end == body.npos || end - at > kLongestCredential) return {};
  return body.substr(at, end - at);
}

/// The number of requests in a body; more than one for a batch.
std::size_t requests_in(std::string_view body) {
  const std::size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == body.npos || body[begin] != '[') return 1;
  std::size_t count = 0;
  for (std::size_t at = find(body, "\"method\""); at != body.npos;
       at = find(body, "\"method\"", at + 1))
    ++count;
  return std::max<std::size_t>(count, 1);
}

}  // namespace

RequestSender RateLimiter::sender_of(std::string_view body, std::string_view address) const {
  for (std::string_view name : kCredentials) {
    std::size_t at = find(body, name);
    for (std::size_t tried = 0; at != body.npos && tried < kMostTried; ++tried) {
      const std::string_view shown = value_after(body, at + name.size());
      if (!shown.empty()) {
        if (auto known = recognise_(name, shown, body)) return *std::move(known);
      }
      at = find(body, name, at + name.size());
    }
  }
  return {has_any(body, kRegistrations) ? Standing::kNewcomer : Standing::kStranger,
          budget_address(address)};
}

RateLimiter::Pass RateLimiter::admit(std::string_view body, std::string_view address) {
  const RequestSender sender = sender_of(body, address);
  const std::size_t requests = requests_in(body);
  std::lock_guard lock(mutex_);
  auto charge = budgets_.charge(sender, requests, clock_.steady_now());
  return {sender.standing, charge.retry_after, charge.is_pressing, std::move(charge.meter)};
}

void RateLimiter::set_budgets(const RequestBudgetOptions& options) {
  std::lock_guard lock(mutex_);
  budgets_.set_options(options);
}

std::vector<Overrun> RateLimiter::take_overruns() {
  std::lock_guard lock(mutex_);
  return budgets_.take_overruns();
}

std::string_view text_member(std::string_view body, std::string_view name) {
  for (std::size_t at = find(body, name); at != body.npos;
       at = find(body, name, at + name.size())) {
    if (auto value = value_after(body, at + name.size()); !value.empty()) return value;
  }
  return {};
}

std::string budget_address(std::string_view address) {
  in6_addr bytes{};
  std::string text(address);
  if (text.starts_with("127.") || text == "::1") return "127.0.0.1";
  if (::inet_pton(AF_INET6, text.c_str(), &bytes) != 1) return text;
  if (IN6_IS_ADDR_V4MAPPED(&bytes)) return text.substr(text.rfind(':') + 1);
  constexpr std::size_t kNetwork = 8;
  std::fill(std::begin(bytes.s6_addr) + kNetwork, std::end(bytes.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> shown{};
  if (::inet_ntop(AF_INET6, &bytes, shown.data(), shown.size()) == nullptr) return text;
  return std::string(shown.data()) + "/64";
}

std::string over_budget_text(std::chrono::milliseconds retry_after) {
  return "too many requests, or requests that are too long to be logged at this rate: this "
         "sender's budget is used up; try again in " +
         std::to_string(retry_after.count()) + " ms";
}

std::string over_budget_body(std::chrono::milliseconds retry_after, std::string_view id) {
  constexpr int kServerError = -32000;
  std::string text;
  rpc::append_json_string(text, over_budget_text(retry_after));
  const auto& row = core::error_info(core::ErrorCode::kOverloaded);
  std::string out = R"({"jsonrpc":"2.0","error":{"code":)" + std::to_string(kServerError);
  out.append(R"(,"message":)").append(text).append(R"(,"data":{"error_code":")");
  out.append(row.wire_code).append(R"(","error_name":")").append(row.name);
  out.append(R"(","retry_after_ms":)").append(std::to_string(retry_after.count()));
  return out.append("}},\"id\":").append(id).append("}");
}

std::string over_budget_response(std::chrono::milliseconds retry_after) {
  constexpr std::int64_t kSecond = 1000;
  const std::string body = over_budget_body(retry_after, "null");
  std::string out = "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\n";
  out += "Retry-After: " + std::to_string((retry_after.count() + kSecond - 1) / kSecond);
  out += "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  return out;
}

}  // namespace league::transport::link
