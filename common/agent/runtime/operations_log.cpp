#include "common/agent/runtime/operations_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/agent/runtime/repeat_filter.h"
#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "common/schema/json_fields.h"

namespace league::agent::runtime {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLine = 2000;

std::string_view payload_of(const spdlog::details::log_msg& message) {
  return {message.payload.data(), message.payload.size()};
}

/// The text for people; for a league event, the text inside it.
std::string text_of(std::string_view payload) {
  if (!payload.starts_with(kEventStart)) return printable_line(payload);
  const auto event = json::parse(payload, nullptr, false);
  const auto* text = schema::field_at(event, "message").get_ptr<const std::string*>();
  return printable_line(text != nullptr ? *text : payload);
}

class PrintablePayload final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string text = text_of(payload_of(message));
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintablePayload>();
  }
};

std::string_view level_name(spdlog::level::level_enum level) {
  const auto name = spdlog::level::to_string_view(level);
  return {name.data(), name.size()};
}

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto at = core::UtcTimestamp(
        std::chrono::time_point_cast<core::UtcTimestamp::TimePoint::duration>(message.time));
    json line = json::object();
    const auto payload = payload_of(message);
    if (payload.starts_with(kEventStart)) line = json::parse(payload, nullptr, false);
    if (!line.is_object()) line = json::object();
    if (line.empty()) line["message"] = core::excerpt(payload, kLongestLine);
    line["at"] = at.to_log();
    line["program"] = std::string(message.logger_name.data(), message.logger_name.size());
    line["level"] = level_name(message.level);
    // Safe, so that no control sequence can reach a terminal.
    std::string text = core::safe_text(line.dump(-1, ' ', false, json::error_handler_t::replace));
    text += '\n';
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

/// stderr behind a RepeatFilter. Thread-safe.
class CountingSink final : public spdlog::sinks::sink {
 public:
  CountingSink() = default;
  ~CountingSink() override {
    std::lock_guard lock(mutex_);
    write(filter_.take_all_counts(), spdlog::log_clock::now());
  }
  CountingSink(const CountingSink&) = delete;
  CountingSink& operator=(const CountingSink&) = delete;

  void log(const spdlog::details::log_msg& message) override {
    std::lock_guard lock(mutex_);
    program_.assign(message.logger_name.data(), message.logger_name.size());
    write(filter_.pass(message.time, message.level >= spdlog::level::warn,
                       {static_cast<int>(message.level), std::string(payload_of(message))}),
          message.time);
  }
  void flush() override {
    std::lock_guard lock(mutex_);
    const auto now = spdlog::log_clock::now();
    write(filter_.take_counts(now), now);
    inner_.flush();
  }
  void set_pattern(const std::string& pattern) override { inner_.set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    inner_.set_formatter(std::move(formatter));
  }

 private:
  void write(const std::vector<RepeatFilter::Line>& lines, spdlog::log_clock::time_point at) {
    for (const auto& line : lines) {
      inner_.log(spdlog::details::log_msg(
          at, {}, program_, static_cast<spdlog::level::level_enum>(line.level), line.text));
    }
  }

  spdlog::sinks::stderr_color_sink_mt inner_;
  std::mutex mutex_;
  RepeatFilter filter_;
  std::string program_;
};

std::unique_ptr<spdlog::formatter> formatter_for(LogFormat format) {
  if (format == LogFormat::kJson) return std::make_unique<JsonFormatter>();
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<PrintablePayload>('*').set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %n %^%l%$ %*");
  return formatter;
}

}  // namespace

std::string printable_line(std::string_view text) { return core::shown(text, kLongestLine); }

namespace log {

void write(Level level, std::string_view form, std::initializer_list<LogValue> parts) {
  const auto as = level == Level::kError     ? spdlog::level::err
                  : level == Level::kWarning ? spdlog::level::warn
                                             : spdlog::level::info;
  auto logger = spdlog::default_logger();
  if (!logger->should_log(as)) return;
  std::string text;
  for (const auto& part : parts) {
    const auto place = form.find("{}");
    text.append(form.substr(0, place));
    text.append(part.text());
    form.remove_prefix(place == std::string_view::npos ? form.size() : place + 2);
  }
  text.append(form);
  logger->log(as, spdlog::string_view_t(text.data(), text.size()));
}

void flush() { spdlog::default_logger()->flush(); }

std::string program_name() { return spdlog::default_logger()->name(); }

}  // namespace log

void set_up_log(const std::string& program, const std::string& level, LogFormat format) {
  // The logger is kept, because other threads may be writing to it.
  if (spdlog::default_logger()->name() == program)
    return spdlog::set_level(spdlog::level::from_str(level));
  auto logger = std::make_shared<spdlog::logger>(program, std::make_shared<CountingSink>());
  logger->set_formatter(formatter_for(format));
  spdlog::set_default_logger(std::move(logger));
  spdlog::set_level(spdlog::level::from_str(level));
}

void flush_log_regularly(core::Timer& timer) {
  constexpr std::chrono::seconds kInterval{1};
  log::flush();
  timer.schedule(kInterval, [&timer] { flush_log_regularly(timer); });
}

std::string event_text(std::string_view event, std::string_view text, json fields) {
  fields.erase("event");
  fields["message"] = text;
  const std::string rest = fields.dump(-1, ' ', false, json::error_handler_t::replace);
  return std::string(kEventStart) + json(event).dump() + "," + rest.substr(1);
}

void write_event(bool is_warning, std::string_view event, std::string_view text,
                 const json& fields) {
  const auto level = is_warning ? spdlog::level::warn : spdlog::level::info;
  auto logger = spdlog::default_logger();
  if (logger->should_log(level)) logger->log(level, "{}", event_text(event, text, fields));
}

}  // namespace league::agent::runtime
