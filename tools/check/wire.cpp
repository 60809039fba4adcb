#include "tools/check/wire.h"

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <future>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "common/transport/caller/endpoint_caller.h"
#include "common/transport/client/response_reader.h"
#include "common/transport/link/resolver.h"
#include "common/transport/link/socket.h"
#include "common/transport/link/sse_parser.h"

namespace league::tools::check {

namespace {

using Steady = std::chrono::steady_clock;
constexpr std::size_t kMaxAnswer = 16U << 20U;
constexpr std::size_t kMaxHead = 64U << 10U;

/// Collects the parts of an answer; of an event stream only the last event, which is the answer.
class AnswerSink final : public transport::client::ResponseSink {
 public:
  void on_head(const transport::client::ResponseHead& head) override {
    answer_.status = head.status;
    const auto type = rpc::find_header(*head.headers, "content-type");
    if (type) answer_.content_type = *type;
    is_events_ = answer_.content_type.find("text/event-stream") != std::string::npos;
  }
  void on_body(std::string_view piece) override {
    size_ += piece.size();
    if (!is_events_) {
      answer_.body += piece;
    } else {
      (void)events_.feed(piece, [this](transport::link::SseEvent event) {
        if (!event.data.empty()) answer_.body = std::move(event.data);
      });
    }
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] RawAnswer take() { return std::move(answer_); }

 private:
  RawAnswer answer_;
  std::size_t size_ = 0;
  bool is_events_ = false;
  transport::link::SseParser events_{transport::link::SseLimits{kMaxAnswer, kMaxAnswer}};
};

RawAnswer raw_trouble(std::string why, bool has_timed_out, bool is_refused) {
  RawAnswer answer;
  answer.trouble = std::move(why);
  answer.has_timed_out = has_timed_out;
  answer.is_refused = is_refused;
  return answer;
}

core::Result<core::FileDescriptor> connect_any(const transport::link::Endpoint& endpoint,
                                               Steady::time_point deadline) {
  std::vector<std::string> addresses = {"127.0.0.1", "::1"};
  if (endpoint.host != "localhost") {
    auto resolved = transport::link::resolve(endpoint.host);
    if (!resolved) return resolved.error();
    addresses = std::move(*resolved);
  }
  core::Result<core::FileDescriptor> socket =
      core::Error{core::ErrorCode::kConnectionError, "no address", {}};
  for (const std::string& address : addresses) {
    socket = transport::link::connect_to(address, endpoint.port, deadline);
    if (socket) return socket;
  }
  return socket;
}

/// False if the peer accepts no more bytes, which is no fault, since it may have answered already.
/// The program ignores SIGPIPE (transport::link::StopSignal).
bool write_all(int fd, std::string_view bytes, Steady::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if ((errno != EAGAIN && errno != EINTR) ||
               !transport::link::wait_ready(fd, POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<RawAnswer> raw_http(const transport::link::Endpoint& endpoint,
                                const RawRequest& request, std::size_t answers) {
  std::vector<RawAnswer> out;
  const auto deadline = Steady::now() + request.limit;
  auto socket = connect_any(endpoint, deadline);
  if (!socket) {
    const bool is_slow = socket.error().code == core::ErrorCode::kTimeout;
    out.push_back(raw_trouble("no connection: " + socket.error().message, is_slow, !is_slow));
    return out;
  }
  const int fd = socket->get();
  for (std::size_t i = 0; i < request.pieces.size(); ++i) {
    if (i > 0) std::this_thread::sleep_for(request.between);
    if (!write_all(fd, request.pieces[i], deadline)) break;
  }
  std::optional<transport::client::ResponseReader> reader(kMaxHead);
  AnswerSink sink;
  std::string rest;  // bytes after an answer
  char buffer[16384];
  while (out.size() < answers) {
    if (!reader->feed(std::exchange(rest, {}), sink)) {
      out.push_back(raw_trouble(reader->fault(), false, false));
      break;
    }
    if (reader->is_done()) {
      out.push_back(sink.take());
      rest = reader->take_rest();
      reader.emplace(kMaxHead);
      sink = {};
      continue;
    }
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count > 0) {
      rest.assign(buffer, static_cast<std::size_t>(count));
      if (sink.size() > kMaxAnswer) {
        out.push_back(raw_trouble("the answer is longer than 16 MiB", false, false));
        break;
      }
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      RawAnswer answer = sink.take();
      if (!reader->finish()) {
        answer.trouble = reader->has_begun()
                             ? "the connection was closed in the middle of the answer"
                             : "the connection was closed without an answer";
      }
      out.push_back(std::move(answer));
      break;
    } else if (!transport::link::wait_ready(fd, POLLIN, deadline)) {
      out.push_back(raw_trouble("no answer within " + std::to_string(request.limit.count()) + " ms",
                                true, false));
      break;
    }
  }
  return out;
}

std::string http_post(const transport::link::Endpoint& endpoint, const std::string& body,
                      const std::string& headers, bool keeps_alive) {
  return "POST " + endpoint.path + " HTTP/1.1\r\nHost: " + endpoint.authority() +
         "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
         "Connection: " + (keeps_alive ? "keep-alive" : "close") + "\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

core::Result<std::unique_ptr<Wire>> Wire::open(const agent::bus::BusOptions& bus, bool needs_bus) {
  std::unique_ptr<CheckerBus> joined;
  if (needs_bus || bus.is_wanted()) {
    auto place = CheckerBus::join(bus);
    if (!place) return place.error();
    joined = std::move(*place);
  }
  transport::caller::EndpointCallerOptions options;
  options.repeats_refused = false;  // checks need the bot's actual answer
  auto caller = transport::caller::StandaloneCaller::create(options);
  if (!caller) return caller.error();
  return std::unique_ptr<Wire>(new Wire(std::move(*caller), std::move(joined)));
}

Exchange exchange_of(const std::string& url, std::string sent,
                     const transport::link::CallOutcome& outcome) {
  Exchange exchange;
  exchange.url = url;
  exchange.sent = outcome.wire_request.empty() ? std::move(sent) : outcome.wire_request.str();
  exchange.received = outcome.wire_answer.empty() ? outcome.bytes.str() : outcome.wire_answer.str();
  exchange.status = outcome.http_status;
  if (outcome.refusal_headers) {
    if (const auto type = rpc::find_header(*outcome.refusal_headers, "content-type"))
      exchange.content_type = *type;
  }
  if (outcome.error) {
    exchange.trouble = outcome.error->message;
    exchange.has_timed_out = outcome.error->code == core::ErrorCode::kTimeout;
    exchange.is_refused = outcome.error->code == core::ErrorCode::kConnectionError;
  }
  return exchange;
}

Exchange Wire::send(const transport::link::Endpoint& endpoint, std::string bytes, const rpc::Id& id,
                    milliseconds limit) {
  Exchange exchange;
  exchange.url = endpoint.url();
  const auto begun = Steady::now();
  if (endpoint.scheme == "http") {
    RawAnswer answer =
        raw_http(endpoint, {.pieces = {http_post(endpoint, bytes)}, .limit = limit}).front();
    exchange.received = std::move(answer.body);
    exchange.status = answer.status;
    exchange.content_type = std::move(answer.content_type);
    exchange.trouble = std::move(answer.trouble);
    exchange.has_timed_out = answer.has_timed_out;
    exchange.is_refused = answer.is_refused;
  } else {
    std::promise<transport::link::CallOutcome> promise;
    transport::link::OutboundCall question;
    question.bytes = bytes;
    question.endpoint = endpoint;
    question.deadline = begun + limit;
    question.budget = transport::link::Budget::kGame;
    question.id = id;
    const bool is_ours = is_seat(endpoint) || (bus_ && endpoint.scheme == "nats");
    transport::link::Caller& way = is_ours ? seats_.caller() : *caller_;
    way.call(std::move(question),
             [&](transport::link::CallOutcome outcome) { promise.set_value(std::move(outcome)); });
    exchange = exchange_of(exchange.url, bytes, promise.get_future().get());
  }
  exchange.elapsed = Steady::now() - begun;
  exchange.sent = std::move(bytes);
  return exchange;
}

core::Result<std::unique_ptr<CheckerBus>> CheckerBus::join(const agent::bus::BusOptions& options) {
  auto loop = transport::link::EventLoop::start();
  if (!loop) return loop.error();
  std::unique_ptr<CheckerBus> bus(new CheckerBus(std::move(*loop)));
  auto link = BusLink::join(options, bus->context());
  if (!link) return link.error();
  bus->link_ = std::move(*link);
  bus->caller_ = std::make_unique<transport::caller::LinkCaller>(*bus->link_->connector(),
                                                                 bus->clock_, bus->timer_);
  return bus;
}

core::Result<std::shared_ptr<void>> CheckerBus::serve_league(
    transport::link::MessageHandler& handler, const std::string& league_id) {
  return link_->serve_league(handler, league_id, context());
}

}  // namespace league::tools::check
