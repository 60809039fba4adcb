#include "common/agent/runtime/delay_meter.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "common/transport/link/endpoint.h"
#include "common/transport/link/rate_limiter.h"

namespace league::agent::runtime {
namespace {

using core::ErrorCode;
using Duration = std::chrono::nanoseconds;
using Instant = core::Clock::Steady;

constexpr auto kTick = std::chrono::milliseconds(25);
constexpr int kTicksPerCanary = 10;
constexpr auto kCanaryLimit = std::chrono::seconds(10);
constexpr auto kRemembered = std::chrono::minutes(10);

}  // namespace

struct ProbingDelayMeter::Probe : std::enable_shared_from_this<Probe> {
  class CanaryHandler final : public transport::link::MessageHandler {
   public:
    void on_message(transport::link::Inbound /*message*/,
                    transport::link::ReplySlot reply) override {
      transport::link::OutboundReply answer;
      answer.bytes = R"({"jsonrpc":"2.0","id":1,"result":{"status":"ok"}})";
      reply.send(std::move(answer));
    }
  };

  Probe(transport::link::Caller& its_caller, core::Timer& its_timer, const core::Clock& its_clock)
      : caller(its_caller),
        timer(its_timer),
        clock(its_clock),
        token(core::to_hex(core::CryptoRandom().bytes<16>())),
        frame(std::make_shared<const std::string>(
            R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"auth_token":")" + token +
            R"("}})")) {}

  void begin() {
    std::lock_guard lock(mutex);
    running = {.from = clock.steady_now(), .to = {}, .own = {}};
    schedule_tick();
  }

  void schedule_tick() {
    due = clock.steady_now() + kTick;
    timer.schedule(kTick, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->tick();
    });
  }

  void tick() {
    bool sends = false;
    Instant now = clock.steady_now();
    {
      std::lock_guard lock(mutex);
      running.own.scheduling = std::max<Duration>(running.own.scheduling, now - due);
      if (++ticks % kTicksPerCanary == 0) {
        running.to = now;
        remember(std::exchange(running, {.from = now, .to = {}, .own = {}}));
        sends = !canary_since;
        if (sends) canary_since = now;
      }
      schedule_tick();
    }
    if (sends) send_canary(now);
  }

  void send_canary(Instant since) {
    transport::link::OutboundCall call;
    call.endpoint = endpoint;
    call.bytes = frame;
    call.deadline = since + kCanaryLimit;
    call.budget = transport::link::Budget::kGame;
    caller.call(std::move(call),
                [weak = weak_from_this(), since](const transport::link::CallOutcome& outcome) {
                  if (auto self = weak.lock()) self->on_canary(since, outcome);
                });
  }

  void on_canary(Instant since, const transport::link::CallOutcome& outcome) {
    std::lock_guard lock(mutex);
    canary_since.reset();
    // A failure other than a time-out says nothing about delays.
    if (outcome.error && outcome.error->code != ErrorCode::kTimeout) return;
    Instant now = clock.steady_now();
    remember({.from = since, .to = now, .own = {.scheduling = {}, .canary = now - since}});
  }

  struct Sample {
    Instant from{};
    Instant to{};
    core::OwnDelay own;
  };

  void remember(Sample sample) {
    while (!samples.empty() && samples.front().to + kRemembered < sample.to) samples.pop_front();
    samples.push_back(sample);
  }

  core::OwnDelay worst_since(Instant from) {
    std::lock_guard lock(mutex);
    Instant now = clock.steady_now();
    core::OwnDelay worst = running.own;
    worst.scheduling = std::max<Duration>(worst.scheduling, now - due);
    if (canary_since) worst.canary = std::max<Duration>(worst.canary, now - *canary_since);
    for (auto it = samples.rbegin(); it != samples.rend() && it->to >= from; ++it) {
      worst.scheduling = std::max(worst.scheduling, it->own.scheduling);
      worst.canary = std::max(worst.canary, it->own.canary);
    }
    return worst;
  }

  transport::link::Caller& caller;
  core::Timer& timer;
  const core::Clock& clock;
  const std::string token;
  const std::shared_ptr<const std::string> frame;
  CanaryHandler handler;
  transport::link::Endpoint endpoint;
  std::unique_ptr<transport::front::HttpServer> server;

  std::mutex mutex;  // guards the rest
  Instant due{};  ///< of the awaited tick
  std::uint64_t ticks = 0;
  std::optional<Instant> canary_since;  ///< when the pending canary was sent
  Sample running;  ///< of the ticks since the last canary
  std::deque<Sample> samples;  ///< ordered by their end
};

core::Result<std::unique_ptr<ProbingDelayMeter>> ProbingDelayMeter::start(
    transport::front::HttpRuntime& runtime, transport::link::Caller& caller, core::Timer& timer,
    const core::Clock& clock, std::unique_ptr<BrokerDelay> broker) {
  auto probe = std::make_shared<Probe>(caller, timer, clock);
  transport::http::HttpServerOptions options;
  options.bind_address = "127.0.0.1";
  options.port = 0;
  // Other programs on this machine may find the port; the rate limiter treats them as strangers.
  options.limiter = std::make_shared<transport::link::RateLimiter>(
      transport::link::RequestBudgetOptions(),
      [token = probe->token](std::string_view, std::string_view shown,
                             std::string_view) -> std::optional<transport::link::RequestSender> {
        if (shown != token) return std::nullopt;
        return transport::link::RequestSender{transport::link::Standing::kStaff, "canary"};
      },
      clock);
  auto server = transport::front::HttpServer::start(runtime, options, probe->handler);
  if (!server) return server.error();
  probe->server = std::move(*server);
  auto endpoint = transport::link::parse_endpoint(
      "http://127.0.0.1:" + std::to_string(probe->server->port()) + "/mcp");
  if (!endpoint) return endpoint.error();
  probe->endpoint = std::move(*endpoint);
  probe->begin();
  std::unique_ptr<ProbingDelayMeter> meter(new ProbingDelayMeter(std::move(probe)));
  meter->broker_ = std::move(broker);
  return meter;
}

ProbingDelayMeter::ProbingDelayMeter(std::shared_ptr<Probe> probe) : probe_(std::move(probe)) {}

ProbingDelayMeter::~ProbingDelayMeter() { stop(); }

core::OwnDelay ProbingDelayMeter::worst_since(Instant from, Route route) {
  auto worst = probe_->worst_since(from);
  if (route == Route::kBus && broker_)
    worst.canary = std::max(worst.canary, broker_->worst_since(from));
  return worst;
}

void ProbingDelayMeter::stop() {
  if (broker_) broker_->stop();
  if (probe_->server) probe_->server->stop();
}

}  // namespace league::agent::runtime
