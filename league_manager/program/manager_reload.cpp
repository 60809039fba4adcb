#include "league_manager/program/manager_reload.h"

#include <nlohmann/json.hpp>

#include "common/core/text.h"

namespace league::league_manager {
namespace {

using nlohmann::json;

/// `section.key` of every limit that differs, except budgets; separated by commas.
std::string waiting_limits(const json& before, const json& after) {
  std::string names;
  for (const auto& [section, limits] : after.items()) {
    if (section == "budgets") continue;
    for (const auto& [key, value] : limits.items()) {
      if (before.at(section).at(key) == value) continue;
      names.append(names.empty() ? "" : ", ").append(section).append(".").append(key);
    }
  }
  return names;
}

}  // namespace

void ManagerReload::follow(core::Timer& timer, agent::runtime::Settings now,
                           agent::host::AgentPort& port, rounds::OperatorLog& log) {
  now_ = std::move(now);
  run(timer, port, log);
}

void ManagerReload::run(core::Timer& timer, agent::host::AgentPort& port,
                        rounds::OperatorLog& log) {
  constexpr std::chrono::milliseconds kInterval{200};
  if (signal_.take()) reload(port, log);
  timer.schedule(kInterval, [this, &timer, &port, &log] { run(timer, port, log); });
}

void ManagerReload::reload(agent::host::AgentPort& port, rounds::OperatorLog& log) {
  auto options = read_();
  const auto* good = std::get_if<ProgramOptions>(&options);
  if (good == nullptr) {
    return log.say(true, "SETTINGS_REFUSED",
                   "the settings are unchanged; the lines above say what is wrong");
  }
  auto settings = good->common.settings();
  if (!settings) {
    return log.say(
        true, "SETTINGS_REFUSED",
        "the settings are unchanged: " + core::replaced(settings.error().message, "\n", "; "));
  }
  const json before = agent::runtime::to_json(now_);
  const json after = agent::runtime::to_json(*settings);
  std::string text = before.at("budgets") == after.at("budgets")
                         ? "the settings were reloaded; the budgets are unchanged"
                         : "the settings were reloaded; the new budgets apply from now on";
  if (const auto waiting = waiting_limits(before, after); !waiting.empty())
    text += "; a restart is needed for " + waiting;
  now_.budgets = settings->budgets;
  port.set_budgets(now_.request_budgets());
  log.say(false, "SETTINGS_READ", text);
}

}  // namespace league::league_manager
