#include "league_manager/spectators/webhooks.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/exception_guard.h"
#include "common/core/base64.h"
#include "common/core/crypto.h"
#include "common/core/private_file.h"

namespace league::league_manager::spectators {
namespace {

using core::Error;
using core::ErrorCode;

constexpr std::string_view kSecretStart = "whsec_";
constexpr std::size_t kShortestSecret = 24;
constexpr int kGone = 410;

}  // namespace

core::Result<std::string> open_webhook_secret(const std::filesystem::path& file,
                                              core::RandomSource& random) {
  const auto refuse = [&file](const std::string& why) {
    return Error{ErrorCode::kInternalError, "webhook secret: " + file.string() + ": " + why, {}};
  };
  auto content = core::read_private_file(file);
  if (!content)
    return Error{ErrorCode::kInternalError, "webhook secret: " + content.error().message, {}};
  if (!*content) {
    const auto bytes = random.bytes<32>();
    std::string secret(bytes.begin(), bytes.end());
    std::string text(kSecretStart);
    core::append_base64(secret, text);
    if (auto written = core::write_private_file(file, text + "\n"); !written)
      return refuse(written.error().message);
    return secret;
  }
  std::string_view line(**content);
  line = line.substr(0, line.find_first_of("\r\n"));
  auto secret = line.starts_with(kSecretStart)
                    ? core::decode_base64(line.substr(kSecretStart.size()))
                    : std::nullopt;
  if (!secret || secret->size() < kShortestSecret)
    return refuse("its first line must be whsec_ and the base64 of at least 24 bytes");
  return *secret;
}

core::Result<std::vector<transport::link::Endpoint>> parse_webhook_targets(
    const std::vector<std::string>& urls) {
  std::vector<transport::link::Endpoint> targets;
  for (const auto& url : urls) {
    auto endpoint = transport::link::parse_endpoint(url);
    if (!endpoint) return Error{endpoint.error().code, "webhook: " + endpoint.error().message, {}};
    if (endpoint->scheme != "http" && endpoint->scheme != "https")
      return Error{ErrorCode::kInvalidFieldValue,
                   "webhook: " + url + " must begin with http:// or https://",
                   {}};
    targets.push_back(std::move(*endpoint));
  }
  return targets;
}

std::string webhook_signature(std::string_view secret, std::string_view id,
                              std::string_view timestamp, std::string_view body) {
  std::string text(id);
  text.append(".").append(timestamp).append(".").append(body);
  const auto digest = core::hmac_sha256(core::as_bytes(secret), core::as_bytes(text));
  std::string signature = "v1,";
  core::append_base64({reinterpret_cast<const char*>(digest.data()), digest.size()}, signature);
  return signature;
}

const std::vector<std::chrono::seconds>& Webhooks::pauses() {
  using std::chrono::seconds;
  static const std::vector<seconds> kPauses{seconds(1),   seconds(5),   seconds(30),
                                            seconds(120), seconds(600), seconds(1800)};
  return kPauses;
}

Webhooks::Webhooks(std::vector<transport::link::Endpoint> targets, std::string secret, Parts parts)
    : secret_(std::move(secret)),
      parts_(std::move(parts)),
      tasks_(task::Executor(), agent::runtime::failures_logged("calling webhooks")) {
  for (auto& endpoint : targets) targets_.push_back({std::move(endpoint)});
}

void Webhooks::send(std::string_view type, std::string_view id, const nlohmann::json& data) {
  const nlohmann::ordered_json body = {
      {"type", type}, {"timestamp", parts_.clock.utc_now().to_wire()}, {"data", data}};
  tasks_.spawn(
      queue({std::string(id), std::make_shared<const std::string>(body.dump(
                                  -1, ' ', false, nlohmann::json::error_handler_t::replace))}));
}

void Webhooks::finish(std::chrono::milliseconds patience) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return fresh_ == 0; });
  }
  tasks_.stop();
}

task::Task<void> Webhooks::queue(Message message) {
  for (Target& target : targets_) {
    if (target.is_gone) continue;
    // Keep the first message, whose delivery is running.
    if (target.waiting.size() >= kMostWaiting) target.waiting.erase(target.waiting.begin() + 1);
    target.waiting.push_back(message);
    if (target.waiting.size() == 1) tasks_.spawn(serve(&target));
  }
  co_return;
}

task::Task<void> Webhooks::serve(Target* target) {
  while (!target->waiting.empty()) {
    set_fresh(*target, true);
    co_await deliver(target);
    if (target->is_gone) {
      target->waiting.clear();
    } else {
      target->waiting.pop_front();
    }
  }
  set_fresh(*target, false);
}

task::Task<void> Webhooks::deliver(Target* target) {
  const Message message = target->waiting.front();
  const std::string webhook = "the webhook " + target->endpoint.url();
  for (std::size_t attempts = 1;; ++attempts) {
    const auto outcome = co_await attempt(target->endpoint, message);
    if (!outcome.error && outcome.http_status / 100 == 2) co_return;
    if (!outcome.error && outcome.http_status == kGone) {
      target->is_gone = true;
      co_return parts_.on_failure(webhook + " answered 410 (gone); nothing more is sent to it");
    }
    const std::string why =
        outcome.error ? outcome.error->message : "HTTP " + std::to_string(outcome.http_status);
    if (attempts > pauses().size()) {
      co_return parts_.on_failure(webhook + " did not take " + message.id + " in " +
                                  std::to_string(attempts) + " attempts: " + why);
    }
    if (attempts == 1)
      parts_.on_failure(webhook + " is tried again, since " + message.id +
                        " was not taken: " + why);
    set_fresh(*target, false);
    co_await task::sleep_for(parts_.timer, pauses()[attempts - 1]);
  }
}

task::Task<transport::link::CallOutcome> Webhooks::attempt(transport::link::Endpoint target,
                                                           Message message) {
  const auto now = parts_.clock.utc_now().instant().time_since_epoch();
  const std::string timestamp =
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  transport::link::OutboundCall call;
  call.endpoint = std::move(target);
  call.bytes = message.body;
  call.headers = {
      {"webhook-id", message.id},
      {"webhook-timestamp", timestamp},
      {"webhook-signature", webhook_signature(secret_, message.id, timestamp, *message.body)}};
  call.deadline = parts_.clock.steady_now() + kAttempt;
  return task::called_back<transport::link::CallOutcome>(
      [this, call = std::move(call)](auto then) mutable {
        parts_.caller.call(std::move(call), std::move(then));
      });
}

void Webhooks::set_fresh(Target& target, bool is_fresh) {
  if (std::exchange(target.is_fresh, is_fresh) == is_fresh) return;
  std::lock_guard lock(mutex_);
  fresh_ += is_fresh ? 1 : -1;
  changed_.notify_all();
}

}  // namespace league::league_manager::spectators
