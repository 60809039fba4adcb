#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/timestamp.h"
#include "common/rpc/json_text.h"

namespace league::league_manager::view {

/// The time unit of the live page.
[[nodiscard]] inline std::int64_t milliseconds_of(core::UtcTimestamp at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.instant().time_since_epoch())
      .count();
}

/// Writes a JSON array, element after element. Not thread-safe.
class Rows {
 public:
  explicit Rows(std::string& out) : out_(out) { out_ += '['; }
  std::string& next() {
    if (!is_empty_) out_ += ',';
    is_empty_ = false;
    return out_;
  }
  Rows& number(std::int64_t value) {
    next() += std::to_string(value);
    return *this;
  }
  Rows& text(std::string_view value) {
    rpc::append_json_string(next(), value);
    return *this;
  }
  Rows& null() {
    next() += "null";
    return *this;
  }
  Rows& optional_number(const std::optional<int>& value) { return value ? number(*value) : null(); }
  void end() { out_ += ']'; }

 private:
  std::string& out_;
  bool is_empty_ = true;
};

}  // namespace league::league_manager::view
