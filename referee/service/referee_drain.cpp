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

std::future<RefereeDrain::Answer> RefereeDrain::ask_for_no_more() {
  auto promise = std::make_shared<std::promise<Answer>>();
  auto answer = promise->get_future();
  const nlohmann::json arguments = {{"sender", "referee:" + identity_->id},
                                    {"auth_token", identity_->token.reveal()}};
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
  if (patience_.count() == 0 || !identity_) return;
  const auto assigned = wait(stop);
  if (const auto left = std::max(service_.running_matches(), assigned.value_or(0)); left > 0) {
    agent::runtime::log::warn("unfinished matches: {}; another referee starts them over", left);
  } else if (!assigned) {
    agent::runtime::log::warn(
        "the league manager has not said whether more matches are assigned to this referee; if "
        "there are any, another referee plays them");
  }
}

std::optional<std::size_t> RefereeDrain::wait(transport::link::StopSignal& stop) {
  auto plays = service_.running_matches();
  if (plays > 0) {
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
  if (!identity_->is_at_home()) last = 0;
  const auto look = [&] {
    if (asked.valid() && asked.wait_for(milliseconds(0)) == std::future_status::ready)
      last = asked.get();
    // The manager has counted matches that have ended since.
    const auto still = service_.running_matches();
    if (still < plays && identity_->is_at_home()) last.reset();
    plays = still;
  };
  do {
    look();
    if (asked.valid()) continue;
    const bool has_failed = last && !*last;
    // A match that is assigned but not running either has not arrived yet, or its report was
    // refused.
    const bool has_assigned = last && *last && **last > 0;
    if (last && plays == 0 && !has_assigned) break;
    if ((!last || has_failed || plays == 0) && steady_clock::now() >= ask_at) {
      asked = ask_for_no_more();
      ask_at = steady_clock::now() + kAskAgainAfter;
    }
  } while (steady_clock::now() < deadline && stop.wait_for(kInterval) < 0);
  look();
  return last && *last ? std::optional(**last) : std::nullopt;
}

}  // namespace league::referee::service
