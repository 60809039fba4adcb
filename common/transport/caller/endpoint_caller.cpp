#include "common/transport/caller/endpoint_caller.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <shared_mutex>
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

}  // namespace

std::optional<milliseconds> wait_asked_for(const link::CallOutcome& outcome) {
  if (outcome.error) return std::nullopt;
  if (outcome.http_status != 0 && outcome.http_status != kTooManyRequests) return std::nullopt;
  if (auto asked = asked_in_body(outcome.bytes)) return asked;
  if (outcome.http_status != kTooManyRequests) return std::nullopt;
  return asked_in_header(outcome.context.transport).value_or(milliseconds(1000));
}

/// Shared with calls, completions and the timer; the callers are removed at the end.
struct EndpointCaller::Shared : std::enable_shared_from_this<Shared> {
  struct Attempt {
    link::OutboundCall call;
    Completion completion;
    int refusals = 0;
  };
  using AttemptPtr = std::shared_ptr<Attempt>;

  Shared(Callers its_ways, core::Timer& its_timer, const core::Clock& its_clock, bool repeats)
      : timer(its_timer),
        clock(its_clock),
        repeats_refused(repeats),
        callers(std::make_unique<Callers>(std::move(its_ways))) {}

  void send(const AttemptPtr& attempt) {
    {
      std::shared_lock lock(callers_mutex);
      if (callers) {
        // The callers only queue the call here. Completions run later on other threads, except for
        // a call that is refused at once.
        link::Caller& way = is_http(attempt->call.endpoint) ? *callers->http : *callers->links;
        way.call(attempt->call, [self = shared_from_this(), attempt](link::CallOutcome outcome) {
          self->on_outcome(attempt, std::move(outcome));
        });
        return;
      }
    }
    end(attempt);
  }

  static void end(const AttemptPtr& attempt) {
    attempt->completion(failed_call(attempt->call, core::ErrorCode::kShuttingDown, "wait",
                                    "this program is stopping"));
  }

  void on_outcome(const AttemptPtr& attempt, link::CallOutcome outcome) {
    if (auto asked = repeats_refused ? wait_asked_for(outcome) : std::nullopt) {
      const auto own =
          std::min(kFirstWait * (1 << std::min(attempt->refusals++, 5)), kLongestOwnWait);
      const auto wait = std::max(*asked, own);
      if (clock.steady_now() + wait < attempt->call.deadline && wait_and_send(attempt, wait))
        return;
    }
    attempt->completion(std::move(outcome));
  }

  /// False if no new calls may start.
  bool wait_and_send(const AttemptPtr& attempt, milliseconds wait) {
    std::lock_guard lock(waiting_mutex);
    if (is_ending) return false;
    const std::uint64_t number = next_number++;
    waiting.emplace(number, attempt);
    timer.schedule(wait, [weak = weak_from_this(), number] {
      if (auto self = weak.lock()) self->wake(number);
    });
    return true;
  }

  void wake(std::uint64_t number) {
    AttemptPtr attempt;
    {
      std::lock_guard lock(waiting_mutex);
      auto node = waiting.extract(number);
      if (node.empty()) return;
      attempt = std::move(node.mapped());
    }
    send(attempt);
  }

  void close() {
    std::map<std::uint64_t, AttemptPtr> left;
    {
      std::lock_guard lock(waiting_mutex);
      is_ending = true;
      left.swap(waiting);
    }
    std::unique_ptr<Callers> closing;
    {
      std::unique_lock lock(callers_mutex);
      closing = std::move(callers);
    }
    closing.reset();
    for (const auto& [number, attempt] : left) end(attempt);
  }

  core::Timer& timer;
  const core::Clock& clock;
  const bool repeats_refused;
  std::shared_mutex callers_mutex;  // shared: the callers are in use; exclusive: they are removed
  std::unique_ptr<Callers> callers;
  std::mutex waiting_mutex;  // guards the rest
  bool is_ending = false;
  std::uint64_t next_number = 0;
  std::map<std::uint64_t, AttemptPtr> waiting;
};

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
    : shared_(std::make_shared<Shared>(std::move(callers), timer, clock, repeats_refused)) {}

void EndpointCaller::call(link::OutboundCall call, Completion completion) {
  shared_->send(std::make_shared<Shared::Attempt>(
      Shared::Attempt{std::move(call), std::move(completion), 0}));
}

void EndpointCaller::close() { shared_->close(); }

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
