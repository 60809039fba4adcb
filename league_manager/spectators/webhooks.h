#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/transport/link/caller.h"

namespace league::league_manager::spectators {

/// The bytes of the secret that webhooks are signed with: `whsec_` and base64 in `file`, which is
/// made (mode 0600) if it is missing. Refuses a file that others may read, and fewer than 24 bytes.
[[nodiscard]] core::Result<std::string> open_webhook_secret(const std::filesystem::path& file,
                                                            core::RandomSource& random);

/// Parses the targets of webhooks: `http` and `https` only. Fails with the first invalid target.
[[nodiscard]] core::Result<std::vector<transport::link::Endpoint>> parse_webhook_targets(
    const std::vector<std::string>& urls);

/// Sends news of a league to other servers, as standardwebhooks.com specifies: each message is a
/// POST of JSON with the headers webhook-id, webhook-timestamp and webhook-signature. A target gets
/// its messages in order; each is retried until a 2xx or until the attempts are used up. A target
/// that answers 410 gets no more. Never blocks. Thread-safe.
class Webhooks {
 public:
  /// All references must outlive the webhooks and the last completion of `caller`. `on_failure`
  /// gets a sentence for the operator.
  struct Parts {
    transport::link::Caller& caller;
    core::Timer& timer;
    const core::Clock& clock;
    std::function<void(std::string text)> on_failure;
  };
  /// Pauses before the second attempt and those after it.
  static const std::vector<std::chrono::seconds>& pauses();
  /// The longest that one attempt may take.
  static constexpr std::chrono::seconds kAttempt{10};
  /// The maximum number of messages that wait for one target; beyond it the oldest are dropped.
  static constexpr std::size_t kMostWaiting = 1000;

  Webhooks(std::vector<transport::link::Endpoint> targets, std::string secret, Parts parts);
  ~Webhooks();
  Webhooks(const Webhooks&) = delete;
  Webhooks& operator=(const Webhooks&) = delete;

  /// Queues a message for every target. `type` is for example `round.completed`. `id` is the same
  /// for the same news, in every run of the manager, so that a receiver can detect repetitions.
  void send(std::string_view type, std::string_view id, const nlohmann::json& data);
  /// Gives running first attempts this long to end, then ends everything.
  void finish(std::chrono::milliseconds patience);

 private:
  class State;
  const std::shared_ptr<State> state_;
};

/// `v1,` and the base64 of the HMAC-SHA256 of `ID.TIMESTAMP.BODY`. Pure.
[[nodiscard]] std::string webhook_signature(std::string_view secret, std::string_view id,
                                            std::string_view timestamp, std::string_view body);

}  // namespace league::league_manager::spectators
