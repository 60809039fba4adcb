#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "league_manager/events/events.h"

namespace league::league_manager {

// The journal's JSON of the values that events are made of, found by nlohmann's argument-dependent
// look-up. Reading throws nlohmann's exceptions or std::invalid_argument; event_codec.cpp turns
// them into an Error.

/// Reads the journal's JSON text. All its numbers are integers: any other number throws, since it
/// could not be converted without loss.
[[nodiscard]] nlohmann::json parse_journal_json(std::string_view text);

void to_json(nlohmann::json& json, const AgentRef& ref);
void from_json(const nlohmann::json& json, AgentRef& ref);
void to_json(nlohmann::json& json, const MatchKey& match);
void from_json(const nlohmann::json& json, MatchKey& match);
void to_json(nlohmann::json& json, const AgentProfile& profile);
void from_json(const nlohmann::json& json, AgentProfile& profile);
void to_json(nlohmann::json& json, const Credential& credential);
void from_json(const nlohmann::json& json, Credential& credential);
void to_json(nlohmann::json& json, const FailureCause& cause);
void from_json(const nlohmann::json& json, FailureCause& cause);
void to_json(nlohmann::json& json, const ReportEvidence& evidence);
void from_json(const nlohmann::json& json, ReportEvidence& evidence);
void to_json(nlohmann::json& json, const MatchSummary& summary);
void from_json(const nlohmann::json& json, MatchSummary& summary);

// Named functions, since MatchResult is in another namespace, where argument-dependent look-up
// would not find to_json and from_json.
[[nodiscard]] nlohmann::json result_to_json(const MatchResult& result);
[[nodiscard]] MatchResult result_from_json(const nlohmann::json& json);

}  // namespace league::league_manager
