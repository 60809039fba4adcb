#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/core/ids.h"
#include "league_manager/admission/admission.h"

namespace league::league_manager {

/// How a league ended, in one sentence for its operator. `status` is ManagerService::status() of a
/// league that is over.
[[nodiscard]] std::string end_of_league(const core::LeagueId& id, const nlohmann::json& status);
/// The progress of a league that continues at `url`, in one sentence. `status` as above, of any
/// league.
[[nodiscard]] std::string continuation_of(const core::LeagueId& id, const std::string& url,
                                          const nlohmann::json& status);
/// Who can register, if programs of other machines can call the manager; otherwise empty.
[[nodiscard]] std::string who_can_register(const std::string& bind_address, bool is_on_bus,
                                           const Admission& admission);

}  // namespace league::league_manager
