#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/journal/journal.h"
#include "league_manager/events/events.h"

namespace league::league_manager::events {

/// Reads the journal's JSON text. All its numbers are integers: any other number throws, since it
/// could not be converted without loss. So does text that is no JSON.
[[nodiscard]] nlohmann::json parse_journal_json(std::string_view text);

/// `MATCH_REPORTED`: the name of an event in the journal. Never changes.
[[nodiscard]] std::string_view event_type(const EventBody& body);

/// The event as a record; `from_record` reads it back without loss.
[[nodiscard]] journal::EventRecord to_record(const Event& event);

/// All of `events`, in order.
[[nodiscard]] std::vector<journal::EventRecord> to_records(const Events& events);

/// Reads an event. Fails with kInternalError and a text that names the record's type and what is
/// wrong with it.
[[nodiscard]] core::Result<Event> from_record(const journal::EventRecord& record);

}  // namespace league::league_manager::events
