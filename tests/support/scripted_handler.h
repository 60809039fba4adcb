#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/timer.h"
#include "common/transport/link/message_handler.h"

namespace league::testing {

/// What a scripted agent does with a message in place of answering it as it should.
struct Deviation {
  /// Never answers.
  [[nodiscard]] static Deviation silence();
  /// Answers as it should, but late.
  [[nodiscard]] static Deviation late(std::chrono::milliseconds delay);
  /// Answers with these bytes.
  [[nodiscard]] static Deviation bytes(std::string text, int http_status = 200);
  /// Answers as it should, but for `change` to the league message in `result`.
  [[nodiscard]] static Deviation edit(std::function<void(nlohmann::json& message)> change);
  /// As edit, with `result` replaced or moved by `change`, which gets the whole frame.
  [[nodiscard]] static Deviation edit_frame(std::function<void(nlohmann::json& frame)> change);

  bool is_silent = false;
  std::chrono::milliseconds delay{0};
  std::function<transport::link::OutboundReply(transport::link::OutboundReply)> change;
};

/// Stands before an agent and makes it deviate. Thread-safe.
class ScriptedHandler final : public transport::link::MessageHandler {
 public:
  static constexpr int kAlways = -1;

  /// Both outlive the handler.
  ScriptedHandler(transport::link::MessageHandler& inner, core::Timer& timer)
      : inner_(inner), timer_(timer) {}

  /// The next `times` messages of `type` (a message type, or a method such as `ping`) are met with
  /// `deviation`.
  void on(const std::string& type, Deviation deviation, int times = kAlways);
  void behave();
  /// How many messages of `type` have arrived.
  [[nodiscard]] int arrived(const std::string& type) const;

  void on_message(transport::link::Inbound message, transport::link::ReplySlot slot) override;

 private:
  struct Line {
    Deviation deviation;
    int times;
  };

  transport::link::MessageHandler& inner_;
  core::Timer& timer_;
  mutable std::mutex mutex_;
  std::map<std::string, Line> lines_;
  std::map<std::string, int> arrived_;
  std::vector<std::shared_ptr<transport::link::ReplySlot>> silent_;
};

}  // namespace league::testing
