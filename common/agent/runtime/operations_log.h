#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace league::agent {

/// How a program writes what its operator should know to stderr.
enum class LogFormat : std::uint8_t { kText, kJson };

/// `text` made fit for a terminal: no control characters, nothing that turns the direction of
/// writing, and of a long one the beginning. What is replaced becomes `?`.
[[nodiscard]] std::string printable_line(std::string_view text);

/// Sets up the program's log on stderr, or changes the level of one that is set up: one line per
/// message, made printable, repeated warnings counted. `level` is a name of spdlog. In JSON each
/// line is an object with `at`, `program`, `level`, `message`, and for events of a league `event`
/// and what belongs to it.
void set_up_log(const std::string& program, const std::string& level, LogFormat format);

/// What the messages of events begin with on their way through the log.
inline constexpr std::string_view kEventStart = R"({"event":)";
/// An event of a league as one message for the log: JSON of `fields`, `event` and `text`.
[[nodiscard]] std::string event_text(std::string_view event, std::string_view text,
                                     nlohmann::json fields);
/// Writes one event of a league: in text `text`, in JSON also `event` and `fields`, an object.
void write_event(bool is_warning, std::string_view event, std::string_view text,
                 const nlohmann::json& fields);

}  // namespace league::agent
