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
      : owner_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))),
        view_(owner_ ? std::string_view(*owner_) : std::string_view()) {}

  /// Refers to text with static storage, such as a string literal; allocates nothing at all.
  [[nodiscard]] static SharedText literal(std::string_view text) {
    SharedText shared;
    shared.view_ = text;
    return shared;
  }

  [[nodiscard]] std::string_view view() const { return view_; }
  [[nodiscard]] std::string str() const { return std::string(view_); }
  [[nodiscard]] bool empty() const { return view_.empty(); }

  bool operator==(const SharedText& other) const { return view_ == other.view_; }
  auto operator<=>(const SharedText& other) const { return view_ <=> other.view_; }

 private:
  std::shared_ptr<const std::string> owner_;
  std::string_view view_;
};

}  // namespace league::rpc
