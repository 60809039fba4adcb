#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/core/timer.h"
#include "common/transport/link/caller.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// One call to a player, and its answer.
struct TrialCall {
  std::string type;  ///< wire name of the message, such as `GAME_INVITATION`
  std::string endpoint;
  Exchange exchange;
  transport::link::Budget budget = transport::link::Budget::kControl;
  bool is_done = false;
  bool is_in_session = false;  ///< of MCP, which the caller has negotiated
  /// How the answer was judged by whoever called: verdict, fault and leniencies.
  std::shared_ptr<const rpc::MessageNotes> notes;
};

/// Keeps the calls of one agent. Thread-safe.
class Recorder {
 public:
  using Calls = std::vector<std::shared_ptr<TrialCall>>;

  /// The calls so far, in the order in which they were sent.
  [[nodiscard]] std::vector<TrialCall> calls() const;
  /// Forgets them, also those that are not answered yet.
  void forget();
  /// Waits until `condition`, which is called under the lock, returns true. False: it has not
  /// within `limit`.
  bool wait(std::chrono::milliseconds limit,
            const std::function<bool(const Calls&)>& condition) const;

 private:
  friend class RecordingCaller;
  [[nodiscard]] std::shared_ptr<TrialCall> begin(const transport::link::OutboundCall& call);
  void answer(TrialCall& call, const transport::link::CallOutcome& outcome);
  void end(TrialCall& call);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Calls calls_;  // their contents are guarded, too
};

/// Records what passes between an agent and its peers. It can answer in the place of a peer. All
/// references outlive it. Thread-safe after the last `stand_in`.
class RecordingCaller final : public transport::link::Caller {
 public:
  /// Answers a request in the place of a peer.
  using StandIn = std::function<std::string(const std::string& request)>;

  /// `bus` calls endpoints on a message bus and at seats; null: `caller` does.
  RecordingCaller(Recorder& recorder, transport::link::Caller& caller, core::Timer& timer,
                  transport::link::Caller* bus = nullptr)
      : recorder_(recorder), caller_(caller), timer_(timer), bus_(bus) {}

  /// Calls of this URL are answered by `answer`, and not recorded.
  void stand_in(const std::string& url, StandIn answer) { stand_ins_[url] = std::move(answer); }
  void call(transport::link::OutboundCall call, Completion completion) override;

 private:
  Recorder& recorder_;
  transport::link::Caller& caller_;
  core::Timer& timer_;
  transport::link::Caller* const bus_;
  std::map<std::string, StandIn> stand_ins_;
};

}  // namespace league::tools::check
