#include "league_manager/spectators/webhooks.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>

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

/// Kept alive by running calls, whose callbacks use it.
class Webhooks::State : public std::enable_shared_from_this<State> {
 public:
  State(std::vector<transport::link::Endpoint> targets, std::string secret, Parts parts)
      : secret_(std::move(secret)), parts_(std::move(parts)) {
    for (auto& endpoint : targets) {
      targets_.emplace_back();
      targets_.back().endpoint = std::move(endpoint);
    }
  }

  void add(std::string_view type, std::string_view id, const nlohmann::json& data) {
    const nlohmann::ordered_json body = {
        {"type", type}, {"timestamp", parts_.clock.utc_now().to_wire()}, {"data", data}};
    Message message{std::string(id),
                    std::make_shared<const std::string>(
                        body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)),
                    0};
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      {
        std::lock_guard lock(mutex_);
        Target& target = targets_[i];
        if (is_ended_ || target.is_gone) continue;
        // Keep the first message, whose delivery can be running.
        if (target.waiting.size() >= kMostWaiting) target.waiting.erase(target.waiting.begin() + 1);
        target.waiting.push_back(message);
        if (target.is_busy) continue;
        target.is_busy = true;
      }
      attempt(i);
    }
  }

  void finish(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] {
      return std::ranges::none_of(targets_, [](const Target& target) {
        return !target.waiting.empty() && target.waiting.front().attempts == 0;
      });
    });
    is_ended_ = true;
  }

 private:
  struct Message {
    std::string id;
    std::shared_ptr<const std::string> body;
    std::size_t attempts = 0;  ///< failed attempts so far
  };
  struct Target {
    transport::link::Endpoint endpoint;
    std::deque<Message> waiting;  ///< the first one is being delivered, or waits for its next
                                  ///< attempt
    bool is_busy = false;
    bool is_gone = false;  ///< it has answered 410 (gone): nothing more is sent to it
  };

  void attempt(std::size_t place) {
    transport::link::OutboundCall call;
    {
      std::lock_guard lock(mutex_);
      if (is_ended_) return;
      const Target& target = targets_[place];
      const Message& message = target.waiting.front();
      const auto now = parts_.clock.utc_now().instant().time_since_epoch();
      const std::string timestamp =
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
      call.endpoint = target.endpoint;
      call.bytes = message.body;
      call.headers = {
          {"webhook-id", message.id},
          {"webhook-timestamp", timestamp},
          {"webhook-signature", webhook_signature(secret_, message.id, timestamp, *message.body)}};
      call.deadline = parts_.clock.steady_now() + kAttempt;
    }
    parts_.caller.call(std::move(call), [self = shared_from_this(), place](auto outcome) {
      self->on_outcome(place, outcome);
    });
  }

  void on_outcome(std::size_t place, const transport::link::CallOutcome& outcome) {
    std::string trouble;
    std::chrono::seconds pause{0};
    {
      std::lock_guard lock(mutex_);
      if (is_ended_) return;
      Target& target = targets_[place];
      Message& message = target.waiting.front();
      const bool is_taken = !outcome.error && outcome.http_status / 100 == 2;
      const std::string url = target.endpoint.url();
      const std::string why =
          outcome.error ? outcome.error->message : "HTTP " + std::to_string(outcome.http_status);
      if (is_taken) {
        target.waiting.pop_front();
      } else if (!outcome.error && outcome.http_status == kGone) {
        target.is_gone = true;
        target.waiting.clear();
        trouble = "the webhook " + url + " answered 410 (gone); nothing more is sent to it";
      } else if (message.attempts == pauses().size()) {
        trouble = "the webhook " + url + " did not take " + message.id + " in " +
                  std::to_string(message.attempts + 1) + " attempts: " + why;
        target.waiting.pop_front();
      } else {
        if (message.attempts == 0)
          trouble = "the webhook " + url + " is tried again, since " + message.id +
                    " was not taken: " + why;
        pause = pauses()[message.attempts++];
      }
      target.is_busy = !target.waiting.empty();
      if (!target.is_busy || pause.count() > 0) changed_.notify_all();
      if (!target.is_busy && trouble.empty()) return;
    }
    if (!trouble.empty()) parts_.on_failure(std::move(trouble));
    if (pause.count() > 0) {
      parts_.timer.schedule(pause, [weak = weak_from_this(), place] {
        if (auto self = weak.lock()) self->attempt(place);
      });
    } else if (is_waiting(place)) {
      attempt(place);
    }
  }

  bool is_waiting(std::size_t place) {
    std::lock_guard lock(mutex_);
    return !targets_[place].waiting.empty();
  }

  const std::string secret_;
  const Parts parts_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::vector<Target> targets_;
  bool is_ended_ = false;
};

Webhooks::Webhooks(std::vector<transport::link::Endpoint> targets, std::string secret, Parts parts)
    : state_(std::make_shared<State>(std::move(targets), std::move(secret), std::move(parts))) {}

Webhooks::~Webhooks() { state_->finish(std::chrono::milliseconds(0)); }

void Webhooks::send(std::string_view type, std::string_view id, const nlohmann::json& data) {
  state_->add(type, id, data);
}

void Webhooks::finish(std::chrono::milliseconds patience) { state_->finish(patience); }

}  // namespace league::league_manager::spectators
