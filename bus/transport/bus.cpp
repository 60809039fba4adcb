#include "bus/transport/bus.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "common/core/text.h"
#include "common/rpc/http_headers.h"

namespace league::transport::bus {
namespace {

/// Far below a broker's limit for a line (4,096 bytes), which holds two subjects.
constexpr std::size_t kMaxBusSubject = 1024;
/// `NATS/1.0`, its line's end, and the empty line.
constexpr std::size_t kHeaderFrame = 12;
/// Colon, blank, and the line's end.
constexpr std::size_t kHeaderLine = 4;

core::Error bus_refusal(std::string_view field, std::string text) {
  return {core::ErrorCode::kInvalidFieldValue, std::move(text), std::string(field)};
}

/// Returns the first token and removes it from `rest`.
std::string_view take_token(std::string_view& rest) {
  auto dot = rest.find('.');
  auto token = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  return token;
}

bool is_subject_text(std::string_view text) {
  bool is_printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  return is_printable && !text.empty() && text.size() <= kMaxBusSubject && text.front() != '.' &&
         text.back() != '.' && text.find("..") == std::string_view::npos;
}

bool is_wildcard(char c) { return c == '*' || c == '>'; }

bool is_plain_subject(std::string_view text) {
  return is_subject_text(text) && std::none_of(text.begin(), text.end(), is_wildcard);
}

bool is_subject_pattern(std::string_view text) {
  if (!is_subject_text(text)) return false;
  for (auto rest = text; !rest.empty();) {
    auto token = take_token(rest);
    if (token == "*" || (token == ">" && rest.empty())) continue;
    if (std::any_of(token.begin(), token.end(), is_wildcard)) return false;
  }
  return true;
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](char c) { return c > ' ' && c < 127 && c != ':'; });
}

bool is_header_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

std::size_t framed_size(const BusMessage& message) {
  std::size_t size = message.payload.size();
  if (!message.headers.empty()) size += kHeaderFrame;
  for (const auto& [name, value] : message.headers) {
    size += name.size() + value.size() + kHeaderLine;
  }
  return size;
}

}  // namespace

std::string_view bus_header(const BusMessage& message, std::string_view name) {
  for (const auto& [key, value] : message.headers) {
    if (core::equals_ignoring_case(key, name)) return value;
  }
  return {};
}

core::Result<void> check_bus_message(const BusMessage& message, std::size_t max_payload) {
  if (!is_plain_subject(message.subject)) {
    return bus_refusal("subject",
                       "the subject is invalid: it needs tokens of printable "
                       "characters between dots, without wildcards");
  }
  if (!message.reply.empty() && !is_plain_subject(message.reply)) {
    return bus_refusal("reply", "the reply subject is invalid");
  }
  for (const auto& [name, value] : message.headers) {
    if (is_header_name(name) && is_header_value(value)) continue;
    return bus_refusal("headers", "a header has an invalid name, or a value with a line end");
  }
  if (auto size = framed_size(message); size > max_payload) {
    return core::Error{core::ErrorCode::kReplyTooLarge,
                       "a message of " + std::to_string(size) + " bytes is beyond the broker's " +
                           std::to_string(max_payload) + " (max_payload)",
                       {}};
  }
  return {};
}

core::Result<void> check_bus_subscription(std::string_view subject, std::string_view queue) {
  if (!is_subject_pattern(subject)) {
    return bus_refusal("subject",
                       "the subject is invalid: it needs tokens of printable characters "
                       "between dots, of which one may be * and the last may be >");
  }
  if (!queue.empty() && !is_plain_subject(queue)) {
    return bus_refusal("queue", "the name of a queue group may only have printable characters");
  }
  return {};
}

std::shared_ptr<const rpc::ConnectionInfo> bus_connection_info(const Bus& bus,
                                                               const link::BusSession& session) {
  constexpr std::size_t kShown = 8;  // a session's name is worth as much as a credential
  static std::atomic<std::uint64_t> next = 1;
  rpc::ConnectionInfo info;
  info.remote_address = bus.url();
  info.connection_id = "nats-" + session.str().substr(0, kShown) + "-" + std::to_string(next++);
  return std::make_shared<const rpc::ConnectionInfo>(std::move(info));
}

rpc::MessageContext bus_context(const BusMessage& message, const link::BusSession& session,
                                rpc::MessageDirection direction,
                                std::shared_ptr<const rpc::ConnectionInfo> connection,
                                const core::Clock& clock) {
  auto context = rpc::MessageContext::now(
      clock, direction,
      rpc::TransportContext::nats({message.subject, message.reply, bus_trace(message)})
          .with_connection(std::move(connection)));
  context.session = rpc::SessionId(session.str());
  return context;
}

std::string bus_trace(const BusMessage& message) {
  constexpr std::size_t kMaxTrace = 256;
  return std::string(bus_header(message, kTraceHeader).substr(0, kMaxTrace));
}

BusMessage bus_message(std::string subject, std::string payload, const link::BusSession& session,
                       rpc::MessageDirection direction, const std::string& trace_id) {
  BusMessage message;
  message.subject = std::move(subject);
  message.payload = std::move(payload);
  message.headers = {{std::string(rpc::kSessionHeader), session.str()},
                     {kDirectionHeader, std::string(rpc::to_string(direction))}};
  if (!trace_id.empty()) message.headers.emplace_back(kTraceHeader, trace_id);
  return message;
}

}  // namespace league::transport::bus
