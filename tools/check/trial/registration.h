#pragma once

#include <optional>
#include <set>
#include <string>

#include "common/core/result.h"
#include "common/envelope/message_schemas.h"
#include "common/envelope/mode.h"

namespace league::tools::check {

/// What a league manager makes of a player's registration.
struct JudgedRegistration {
  std::optional<core::Error> refusal = std::nullopt;  ///< nothing: it is accepted
  std::set<std::string> leniencies = {};
  /// The style in which the bot called, if it is not that of the protocol: it is called likewise.
  std::optional<std::string> dialect = std::nullopt;
};

/// Reads and decides a registration, the first of an even_odd league, as a league manager does.
/// `bytes`: the body of the request.
[[nodiscard]] JudgedRegistration judge_registration(const std::string& bytes,
                                                    const envelope::MessageSchemas& schemas,
                                                    envelope::Mode mode = envelope::Mode::kOpen);

}  // namespace league::tools::check
