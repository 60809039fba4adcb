#include "common/transport/caller/endpoint_caller.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/rpc/http_headers.h"
#include "common/transport/caller/http_call.h"

namespace league::transport::caller {
namespace {

using std::chrono::milliseconds;

constexpr int kTooManyRequests = 429;
constexpr milliseconds kFirstWait{100};
constexpr milliseconds kLongestOwnWait{3200};

/// The number at the start of `text`, after optional white space; nothing if there is none.
std::optional<std::int64_t> number_at(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  std::int64_t number = 0;
  auto [end, fault] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  constexpr std::int64_t kDay = 86'400'000;
  if (fault != std::errc() || number < 0 || number > kDay) return std::nullopt;
  return number;
}

std::optional<milliseconds> asked_in_body(std::string_view body) {
  constexpr std::string_view kMember = "\"retry_after_ms\":";
  constexpr std::size_t kLongestRefusal = 4096;
  if (body.size() > kLongestRefusal) return std::nullopt;
  const std::size_t at = body.find(kMember);
  if (at == body.npos || body.find("\"error\"") == body.npos) return std::nullopt;
  auto number = number_at(body.substr(at + kMember.size()));
  return number ? std::optional(milliseconds(*number)) : std::nullopt;
}

std::optional<milliseconds> asked_in_header(const rpc::TransportContext& transport) {
  const auto* http = transport.as_http();
  if (http == nullptr || !http->headers) return std::nullopt;
  auto value = rpc::find_header(*http->headers, "Retry-After");
  auto seconds = value ? number_at(*value) : std::nullopt;
  return seconds ? std::optional(milliseconds(std::chrono::seconds(*seconds))) : std::nullopt;
}

link::CallOutcome stopping(const link::OutboundCall& call) {
  return failed_call(call, core::ErrorCode::kShuttingDown, "wait", "this program is stopping");
}

}  // namespace

std::optional<milliseconds> wait_asked_for(const link::CallOutcome& outcome) {
  if (outcome.error) return std::nullopt;
  if (outcome.http_status != 0 && outcome.http_status != kTooManyRequests) return std::nullopt;
  if (auto asked = asked_in_body(outcome.bytes)) return asked;
  if (outcome.http_status != kTooManyRequests) return std::nullopt;
  return asked_in_header(outcome.context.transport).value_or(milliseconds(1000));
}

core::Result<std::unique_ptr<EndpointCaller>> EndpointCaller::create(
    link::EventLoop& loop, core::Timer& timer, const core::Clock& clock,
    const EndpointCallerOptions& options) {
  auto http = HttpCaller::create(options.http);
  if (!http) return http.error();
  AnyConnectorOptions connector_options;
  connector_options.lines = options.lines;
  auto connector = make_connector(loop, connector_options);
  auto links = std::make_unique<LinkCaller>(*connector, clock, timer, options.links);
  return std::make_unique<EndpointCaller>(
      Callers{std::move(*http), std::move(connector), std::move(links)}, timer, clock,
      options.repeats_refused);
}

EndpointCaller::EndpointCaller(Callers callers, core::Timer& timer, const core::Clock& clock,
                               bool repeats_refused)
    : timer_(timer),
      clock_(clock),
      repeats_refused_(repeats_refused),
      http_(std::move(callers.http)),
      connector_(std::move(callers.connector)),
      links_(std::move(callers.links)),
      repetitions_(std::in_place, task::Executor(),
                   [](const std::exception_ptr&) { std::terminate(); }) {}

void EndpointCaller::call(link::OutboundCall call, Completion completion) {
  if (!repeats_refused_) return send(std::move(call), std::move(completion));
  link::OutboundCall first = call;
  send(std::move(first), [this, call = std::move(call),
                          completion = std::move(completion)](link::CallOutcome outcome) {
    const auto wait = wait_after(outcome, call, 0);
    if (!wait) return completion(std::move(outcome));
    repetitions_->spawn(repeat(call, completion, *wait));
  });
}

void EndpointCaller::send(link::OutboundCall call, Completion completion) {
  ClosableCaller& way = is_http(call.endpoint) ? http_ : links_;
  if (!way.try_call(call, completion)) completion(stopping(call));
}

task::Task<void> EndpointCaller::repeat(link::OutboundCall call, Completion completion,
                                        milliseconds wait) {
  link::CallOutcome outcome;
  try {
    for (int refusals = 1;; ++refusals) {
      co_await task::sleep_for(timer_, wait);
      outcome = co_await task::called_back<link::CallOutcome>(
          [&](auto go_on) { send(call, std::move(go_on)); });
      const auto next = wait_after(outcome, call, refusals);
      if (!next) break;
      wait = *next;
    }
  } catch (const std::exception& fault) {
    if (!task::is_cancellation(fault)) throw;
    outcome = stopping(call);
  }
  completion(std::move(outcome));
}

std::optional<milliseconds> EndpointCaller::wait_after(const link::CallOutcome& outcome,
                                                       const link::OutboundCall& call,
                                                       int refusals) const {
  const auto asked = wait_asked_for(outcome);
  if (!asked) return std::nullopt;
  const auto own = std::min(kFirstWait * (1 << std::min(refusals, 5)), kLongestOwnWait);
  const auto wait = std::max(*asked, own);
  return clock_.steady_now() + wait < call.deadline ? std::optional(wait) : std::nullopt;
}

void EndpointCaller::close() {
  http_.close();
  links_.close();
  connector_.reset();
  // No call can be refused any more, so none is repeated that is not yet.
  repetitions_.reset();
}

core::Result<std::unique_ptr<StandaloneCaller>> StandaloneCaller::create(
    const EndpointCallerOptions& options) {
  auto loop = link::EventLoop::start();
  if (!loop) return loop.error();
  std::unique_ptr<StandaloneCaller> made(new StandaloneCaller(std::move(*loop)));
  auto caller = EndpointCaller::create(*made->loop_, made->timer_, made->clock_, options);
  if (!caller) return caller.error();
  made->caller_ = std::move(*caller);
  return made;
}

}  // namespace league::transport::caller
