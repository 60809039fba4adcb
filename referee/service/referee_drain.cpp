#include "referee/service/referee_drain.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/schema/json_fields.h"

namespace league::referee::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kInterval{50};
constexpr milliseconds kAskAgainAfter{500};
constexpr milliseconds kAskTimeLimit{5000};

}  // namespace

void RefereeDrain::set_identity(const agent::identity::Identity& identity) {
  std::lock_guard lock(mutex_);
  identity_ = identity;
}

std::optional<agent::identity::Identity> RefereeDrain::identity() const {
  std::lock_guard lock(mutex_);
  return identity_;
}

std::future<RefereeDrain::Answer> RefereeDrain::ask_for_no_more(
    const agent::identity::Identity& identity) {
  auto promise = std::make_shared<std::promise<Answer>>();
  auto answer = promise->get_future();
  const nlohmann::json arguments = {{"sender", "referee:" + identity.id},
                                    {"auth_token", identity.token.reveal()}};
  peers_.call_tool({.endpoint = manager_,
                    .peer = "league_manager",
                    .tool = "drain_referee",
                    .arguments = arguments.dump(),
                    .time_limit = kAskTimeLimit},
                   [promise](core::Result<nlohmann::json> said) {
                     if (!said) return promise->set_value(said.error());
                     const auto open = schema::number_at(*said, "open_matches").value_or(0);
                     promise->set_value(static_cast<std::size_t>(std::max<std::int64_t>(0, open)));
                   });
  return answer;
}

void RefereeDrain::run(transport::link::StopSignal& stop) {
  if (patience_.count() == 0) return;
  const auto assigned = wait(stop);
  const auto running = service_.running_matches();
  // While matches run, the manager was not asked again, so its number may be too large.
  if (const auto left = running > 0 ? running : assigned; left > 0)
    agent::runtime::log::warn("unfinished matches: {}; another referee starts them over", left);
}

std::size_t RefereeDrain::wait(transport::link::StopSignal& stop) {
  const auto identity = this->identity();
  if (!identity) return 0;
  if (const auto plays = service_.running_matches(); plays > 0) {
    agent::runtime::log::info(
        "running matches: {}; they have up to {} s to finish, and a second signal ends "
        "the referee at once",
        plays, patience_.count());
  }
  const auto deadline = steady_clock::now() + patience_;
  auto ask_at = steady_clock::now();
  std::future<Answer> asked;
  std::optional<Answer> last;
  // A third-party manager lacks the tool, so wait only for running matches.
  if (!identity->is_at_home()) last = 0;
  do {
    if (asked.valid() && asked.wait_for(milliseconds(0)) == std::future_status::ready)
      last = asked.get();
    if (asked.valid()) continue;
    const bool plays = service_.running_matches() > 0;
    const bool has_failed = last && !*last;
    // A match that is assigned but not running either has not arrived yet, or its report was
    // refused.
    const bool has_assigned = last && *last && **last > 0;
    if (last && !plays && !has_assigned) return 0;
    if ((!last || has_failed || !plays) && steady_clock::now() >= ask_at) {
      asked = ask_for_no_more(*identity);
      ask_at = steady_clock::now() + kAskAgainAfter;
    }
  } while (steady_clock::now() < deadline && stop.wait_for(kInterval) < 0);
  if (asked.valid() && asked.wait_for(milliseconds(0)) == std::future_status::ready)
    last = asked.get();
  return last && *last ? **last : 0;
}

}  // namespace league::referee::service
