#pragma once

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace league::rpc {

/// Text that never changes, so that copies share it: a copy allocates nothing whatever the length.
/// Copies may be used from several threads at once.
class SharedText {
 public:
  SharedText() = default;
  /// Takes over `text`.
  explicit SharedText(std::string text)
      : owner_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

  /// Refers to text with static storage, such as a string literal; allocates nothing at all.
  [[nodiscard]] static SharedText literal(std::string_view text) {
    SharedText shared;
    shared.literal_ = text;
    return shared;
  }

  [[nodiscard]] std::string_view view() const {
    return owner_ ? std::string_view(*owner_) : literal_;
  }
  [[nodiscard]] std::string str() const { return std::string(view()); }
  [[nodiscard]] bool empty() const { return view().empty(); }

  bool operator==(const SharedText& other) const { return view() == other.view(); }
  auto operator<=>(const SharedText& other) const { return view() <=> other.view(); }

 private:
  std::shared_ptr<const std::string> owner_;
  std::string_view literal_;  ///< used while there is no owner
};

}  // namespace league::rpc
