#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/rpc/shared_text.h"

namespace league::rpc {

/// The name of the session that a message belongs to. It works like a credential while the session
/// lives, so logs show only its beginning.
class SessionId {
 public:
  explicit SessionId(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::string_view view() const { return text_.view(); }
  bool operator==(const SessionId&) const = default;
  auto operator<=>(const SessionId&) const = default;

 private:
  SharedText text_;
};

}  // namespace league::rpc
