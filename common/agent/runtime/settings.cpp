#include "common/agent/runtime/settings.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/agent/runtime/config_file.h"

namespace league::agent::runtime {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;

/// One number that an operator may set; the tables below define the whole file format.
struct Field {
  std::string_view section;
  std::string_view key;
  long min;
  long max;
  std::function<long(const Settings&)> get;
  std::function<void(Settings&, long)> set;
};

template <typename Section, typename Number>
Field number(std::string_view section, std::string_view key, long min, long max,
             Section Settings::*part, Number Section::*member) {
  return {section,
          key,
          min,
          max,
          [=](const Settings& s) { return static_cast<long>(s.*part.*member); },
          [=](Settings& s, long value) { s.*part.*member = static_cast<Number>(value); }};
}

template <typename Section>
Field duration(std::string_view section, std::string_view key, long min, Section Settings::*part,
               Settings::Milliseconds Section::*member) {
  constexpr long kDay = 86'400'000;
  return {section,
          key,
          min,
          kDay,
          [=](const Settings& s) { return static_cast<long>((s.*part.*member).count()); },
          [=](Settings& s, long value) { s.*part.*member = Settings::Milliseconds(value); }};
}

std::vector<Field> http_and_call_fields() {
  using S = Settings;
  constexpr long kGiB = 1L << 30;
  return {
      number("http", "max_head_bytes", 1024, 1 << 20, &S::http, &S::Http::max_head_bytes),
      number("http", "max_body_bytes", 1024, kGiB, &S::http, &S::Http::max_body_bytes),
      duration("http", "request_time_ms", 10, &S::http, &S::Http::request_time),
      duration("http", "idle_time_ms", 100, &S::http, &S::Http::idle_time),
      number("http", "connections_per_address", 1, 1'000'000, &S::http,
             &S::Http::connections_per_address),
      number("http", "local_connections", 1, 1'000'000, &S::http, &S::Http::local_connections),
      number("http", "max_connections", 1, 1'000'000, &S::http, &S::Http::max_connections),
      number("http", "workers", 0, 1024, &S::http, &S::Http::workers),
      number("calls", "game", 1, 10000, &S::calls, &S::Calls::game),
      number("calls", "broadcast", 1, 10000, &S::calls, &S::Calls::broadcast),
      number("calls", "control", 1, 10000, &S::calls, &S::Calls::control),
      number("calls", "per_peer", 1, 10000, &S::calls, &S::Calls::per_peer),
      number("calls", "max_reply_bytes", 1024, kGiB, &S::calls, &S::Calls::max_reply_bytes),
      duration("calls", "mcp_probe_ms", 10, &S::calls, &S::Calls::mcp_probe),
  };
}

std::vector<Field> budget_fields() {
  using S = Settings;
  using B = Settings::Budgets;
  constexpr long kMost = 1'000'000;
  auto budget = [](std::string_view key, int B::*member) {
    return number("budgets", key, 1, kMost, &S::budgets, member);
  };
  return {
      number("budgets", "burst_seconds", 1, 3600, &S::budgets, &B::burst_seconds),
      budget("staff_requests_per_second", &B::staff_requests),
      budget("staff_log_kib_per_second", &B::staff_log_kib),
      budget("player_requests_per_second", &B::player_requests),
      budget("player_log_kib_per_second", &B::player_log_kib),
      budget("registrations_per_second", &B::registrations),
      budget("registration_log_kib_per_second", &B::registration_log_kib),
      budget("stranger_requests_per_second", &B::stranger_requests),
      budget("stranger_log_kib_per_second", &B::stranger_log_kib),
  };
}

std::vector<Field> league_fields() {
  using S = Settings;
  return {
      duration("bus", "keep_alive_ms", 50, &S::bus, &S::Bus::keep_alive),
      number("bus", "replicas", 1, 5, &S::bus, &S::Bus::replicas),
      number("bus", "events_max_mib", 0, 1 << 20, &S::bus, &S::Bus::events_max_mib),
      number("bus", "journal_max_mib", 0, 1 << 20, &S::bus, &S::Bus::journal_max_mib),
      number("retry", "max_attempts", 1, 100, &S::retry, &S::Retry::max_attempts),
      duration("retry", "delay_ms", 0, &S::retry, &S::Retry::delay),
      number("retry", "max_invalid_answers", 1, 100, &S::retry, &S::Retry::max_invalid_answers),
      duration("seat_limits", "invitation_ms", 1, &S::seat_limits, &S::SeatLimits::invitation),
      duration("seat_limits", "choice_ms", 1, &S::seat_limits, &S::SeatLimits::choice),
      number("breaker", "failures", 1, 1000, &S::breaker, &S::Breaker::failures),
      duration("breaker", "open_ms", 0, &S::breaker, &S::Breaker::open),
      number("life_cycle", "suspend_after_failed_matches", 1, 1'000'000, &S::life_cycle,
             &S::LifeCycle::suspend_after_failed_matches),
      number("life_cycle", "shutdown_after_failed_matches", 0, 1'000'000, &S::life_cycle,
             &S::LifeCycle::shutdown_after_failed_matches),
      duration("league", "start_delay_ms", 0, &S::league, &S::League::start_delay),
      duration("league", "announcement_grace_ms", 0, &S::league, &S::League::announcement_grace),
      duration("league", "referee_ping_interval_ms", 10, &S::league,
               &S::League::referee_ping_interval),
      number("league", "referee_ping_failures", 1, 1000, &S::league,
             &S::League::referee_ping_failures),
      number("league", "max_match_attempts", 1, 100, &S::league, &S::League::max_match_attempts),
      duration("league", "match_watchdog_ms", 0, &S::league, &S::League::match_watchdog),
      duration("league", "start_watchdog_ms", 1, &S::league, &S::League::start_watchdog),
      duration("league", "round_watchdog_ms", 0, &S::league, &S::League::round_watchdog),
      number("league", "broadcasts", 0, 1, &S::league, &S::League::broadcasts),
      number("league", "require_commitments", 0, 1, &S::league, &S::League::require_commitments),
      number("league", "people", 0, 32'000, &S::league, &S::League::people),
      number("log", "queue_mib", 1, 65536, &S::log, &S::Log::queue_mib),
      number("log", "segment_mib", 1, 65536, &S::log, &S::Log::segment_mib),
      number("log", "min_free_mib", 0, 1 << 20, &S::log, &S::Log::min_free_mib),
      number("log", "compress", 0, 1, &S::log, &S::Log::compresses),
      number("log", "verifiable", 0, 1, &S::log, &S::Log::verifiable),
      duration("log", "seal_interval_ms", 1, &S::log, &S::Log::seal_interval),
  };
}

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = [] {
    auto all = http_and_call_fields();
    for (auto& field : budget_fields()) all.push_back(std::move(field));
    for (auto& field : league_fields()) all.push_back(std::move(field));
    return all;
  }();
  return kFields;
}

Error refuse(const std::string& pointer, const std::string& why) {
  return {ErrorCode::kInvalidFieldValue, "limits: " + pointer + ": " + why, pointer};
}

Result<long> read_number(const json& value, const std::string& pointer, long min, long max) {
  long number = 0;
  if (value.is_boolean()) {
    number = value.get<bool>() ? 1 : 0;
  } else if (value.is_number_integer()) {
    number = value.get<long>();
  } else {
    return refuse(pointer, "must be a whole number");
  }
  if (number < min || number > max) {
    return refuse(pointer, std::to_string(number) + " is not between " + std::to_string(min) +
                               " and " + std::to_string(max));
  }
  return number;
}

Result<void> read_time_limit(const std::string& name, const json& value, Settings& settings) {
  const std::string pointer = "/time_limits_ms/" + name;
  auto type = envelope::message_type_from_wire(name);
  if (!type) return refuse(pointer, "is not a message type of league.v2");
  auto number = read_number(value, pointer, 1, 86'400'000);
  if (!number) return number.error();
  settings.time_limits[*type] = Settings::Milliseconds(*number);
  return {};
}

Result<void> read_setting(const std::string& section, const std::string& key, const json& value,
                          Settings& settings) {
  const std::string pointer = "/" + section + "/" + key;
  const auto field = std::ranges::find_if(fields(), [&](const Field& candidate) {
    return candidate.section == section && candidate.key == key;
  });
  if (field == fields().end())
    return refuse(pointer, "is not a setting (docs/settings.md lists all)");
  auto number = read_number(value, pointer, field->min, field->max);
  if (!number) return number.error();
  field->set(settings, *number);
  return {};
}

/// As parse_settings; `file` says where the limits are.
Result<Settings> read_settings(const json& document, const ConfigFile* file) {
  Settings settings;
  std::optional<Error> faults;
  const auto add = [&](Error fault) {
    if (file != nullptr) fault.message = file->place_of_limit(fault.field) + ": " + fault.message;
    faults ? void(faults->message += "\n" + fault.message) : void(faults = std::move(fault));
  };
  for (const auto& [name, section] : document.items()) {
    if (!section.is_object()) {
      add(refuse("/" + name, "must be an object"));
      continue;
    }
    for (const auto& [key, value] : section.items()) {
      auto read = name == "time_limits_ms" ? read_time_limit(key, value, settings)
                                           : read_setting(name, key, value, settings);
      if (!read) add(read.error());
    }
  }
  if (faults) return *faults;
  return settings;
}

}  // namespace

Settings::Milliseconds Settings::time_limit(envelope::MessageType type) const {
  auto own = time_limits.find(type);
  return own != time_limits.end() ? own->second : envelope::spec(type).time_limit;
}

transport::link::RequestBudgetOptions Settings::request_budgets() const {
  constexpr double kKiB = 1024;
  auto allowance = [](int requests, int log_kib) {
    return transport::link::Allowance{static_cast<double>(requests), log_kib * kKiB};
  };
  const Budgets& b = budgets;
  transport::link::RequestBudgetOptions options;
  options.burst = std::chrono::seconds(b.burst_seconds);
  options.allowances = {allowance(b.staff_requests, b.staff_log_kib),
                        allowance(b.player_requests, b.player_log_kib),
                        allowance(b.registrations, b.registration_log_kib),
                        allowance(b.stranger_requests, b.stranger_log_kib)};
  return options;
}

Settings::Milliseconds Settings::all_attempts(envelope::MessageType type) const {
  return time_limit(type) * retry.max_attempts + retry.delay * (retry.max_attempts - 1);
}

Settings::Milliseconds Settings::longest_match() const {
  using enum envelope::MessageType;
  return all_attempts(kGameInvitation) + all_attempts(kChooseParityCall) +
         all_attempts(kMatchResultReport);
}

Settings::Milliseconds Settings::longest_slow_match() const {
  using enum envelope::MessageType;
  return std::max(all_attempts(kGameInvitation), seat_limits.invitation) +
         std::max(all_attempts(kChooseParityCall), seat_limits.choice) +
         all_attempts(kMatchResultReport);
}

Result<Settings> parse_settings(const json& document) {
  if (!document.is_object()) return refuse("/", "must be an object of sections");
  return read_settings(document, nullptr);
}

Result<Settings> settings_of(const ConfigFile& file) { return read_settings(file.limits(), &file); }

json to_json(const Settings& settings) {
  json document = json::object();
  for (const auto& row : envelope::all_messages()) {
    if (row.time_limit.count() > 0) {
      document["time_limits_ms"][std::string(row.wire_name)] =
          settings.time_limit(row.type).count();
    }
  }
  for (const auto& field : fields()) {
    document[std::string(field.section)][std::string(field.key)] = field.get(settings);
  }
  return document;
}

}  // namespace league::agent::runtime
