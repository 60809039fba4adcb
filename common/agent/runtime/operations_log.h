#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/core/timer.h"

namespace league::agent::runtime {

/// The format in which a program writes its operations log to stderr.
enum class LogFormat : std::uint8_t { kText, kJson };

/// `text` made safe for a terminal: control characters and characters that change the direction of
/// writing become `?`, and a long text is cut.
[[nodiscard]] std::string printable_line(std::string_view text);

/// Sets up the program's log on stderr, or only changes the level if it is already set up: one line
/// per message, made printable, with repeated warnings counted. `level` is a level name of spdlog.
/// In JSON each line is an object with `at`, `program`, `level`, `message`, and for league events
/// also `event` and the event's fields.
void set_up_log(const std::string& program, const std::string& level, LogFormat format);

/// Writes the counts of repeated warnings to the log every second, as long as the timer lives.
void flush_log_regularly(core::Timer& timer);

/// The prefix by which messages that are events are recognised inside the log.
inline constexpr std::string_view kEventStart = R"({"event":)";
/// A league event as one log message: JSON of `fields`, `event` and `text`.
[[nodiscard]] std::string event_text(std::string_view event, std::string_view text,
                                     nlohmann::json fields);
/// Writes one league event: in the text format only `text`, in JSON also `event` and `fields`, an
/// object.
void write_event(bool is_warning, std::string_view event, std::string_view text,
                 const nlohmann::json& fields);

}  // namespace league::agent::runtime
