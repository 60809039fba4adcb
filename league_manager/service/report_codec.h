#pragma once

#include "common/core/result.h"
#include "common/envelope/envelope.h"
#include "common/envelope/game_messages.h"
#include "league_manager/core/report_rules.h"

namespace league::league_manager::service {

/// A MATCH_RESULT_REPORT in the core's types; kMatchNotFound if its match_id does not have this
/// protocol's form.
[[nodiscard]] core::Result<MatchReport> report_of(const envelope::Envelope& envelope,
                                                  const envelope::MatchResultReport& message);

}  // namespace league::league_manager::service
