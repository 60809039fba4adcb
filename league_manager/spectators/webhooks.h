#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/task/task.h"
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
/// that answers 410 gets no more. Thread-safe.
class Webhooks {
 public:
  /// All references must outlive the webhooks. `on_failure` gets a sentence for the operator, on
  /// any thread.
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
  /// Queues a message for every target. `type` is for example `round.completed`. `id` is the same
  /// for the same news, in every run of the manager, so that a receiver can detect repetitions.
  /// Never blocks.
  void send(std::string_view type, std::string_view id, const nlohmann::json& data);
  /// Gives running first attempts this long to end, then ends everything.
  void finish(std::chrono::milliseconds patience);

 private:
  struct Message {
    std::string id;
    std::shared_ptr<const std::string> body;
  };
  struct Target {
    transport::link::Endpoint endpoint;
    std::deque<Message> waiting = {};  ///< the first one is being delivered
    bool is_gone = false;  ///< it has answered 410 (gone): nothing more is sent to it
    bool is_fresh = false;  ///< the first message has not been attempted yet
  };

  task::Task<void> queue(Message message);
  /// Delivers what waits for `target`, one message after the other.
  task::Task<void> serve(Target* target);
  /// Sends the first message of `target` until it is taken or given up.
  task::Task<void> deliver(Target* target);
  task::Task<transport::link::CallOutcome> attempt(transport::link::Endpoint target,
                                                   Message message);
  void set_fresh(Target& target, bool is_fresh);

  const std::string secret_;
  const Parts parts_;
  std::deque<Target> targets_;  // used by the tasks only
  std::mutex mutex_;  // guards fresh_, for which finish() waits
  std::condition_variable changed_;
  int fresh_ = 0;  // targets
  task::Scope tasks_;  // last: they use everything above
};

/// `v1,` and the base64 of the HMAC-SHA256 of `ID.TIMESTAMP.BODY`. Pure.
[[nodiscard]] std::string webhook_signature(std::string_view secret, std::string_view id,
                                            std::string_view timestamp, std::string_view body);

}  // namespace league::league_manager::spectators
