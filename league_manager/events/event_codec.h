#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/journal/journal.h"
#include "league_manager/events/events.h"

namespace league::league_manager::events {

/// Parses JSON text of the journal. Throws for text that is not JSON, and for a number that is not
/// an integer: the journal contains only integers, and others cannot be converted without loss.
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
