#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace league::rpc {

/// Immutable text that copies share: a copy allocates nothing, whatever the length. Copies may be
/// used from several threads at once. Converts implicitly from and to a text.
class SharedText {
 public:
  SharedText() = default;
  /// Takes over `text`.
  SharedText(std::string text)
      : owner_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  /// Shares `text`, which may be null.
  SharedText(std::shared_ptr<const std::string> text) : owner_(std::move(text)) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}

  /// Refers to text with static storage, such as a string literal; allocates nothing at all.
  [[nodiscard]] static SharedText literal(std::string_view text) {
    SharedText shared;
    shared.literal_ = text;
    return shared;
  }

  [[nodiscard]] std::string_view view() const {
    return owner_ ? std::string_view(*owner_) : literal_;
  }
  operator std::string_view() const { return view(); }
  [[nodiscard]] std::string str() const { return std::string(view()); }
  [[nodiscard]] bool empty() const { return view().empty(); }
  [[nodiscard]] std::size_t size() const { return view().size(); }
  [[nodiscard]] const char* begin() const { return view().data(); }
  [[nodiscard]] const char* end() const { return begin() + size(); }
  /// The same as a pointer, for what outlives this; null where it is empty.
  [[nodiscard]] std::shared_ptr<const std::string> share() const {
    if (empty()) return nullptr;
    return owner_ ? owner_ : std::make_shared<const std::string>(literal_);
  }

  bool operator==(const SharedText& other) const { return view() == other.view(); }
  auto operator<=>(const SharedText& other) const { return view() <=> other.view(); }

 private:
  std::shared_ptr<const std::string> owner_;
  std::string_view literal_;  ///< used while there is no owner
};

}  // namespace league::rpc
