#include "common/rpc/frame_peek.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

namespace league::rpc {
namespace {

/// A set of characters to search for in every message: uses a table look-up for each character,
/// while find_first_of makes a function call.
class CharacterSet {
 public:
  constexpr explicit CharacterSet(std::string_view members) {
    for (char c : members) holds_[static_cast<unsigned char>(c)] = true;
  }
  /// The position of the first such character in `text`, from `at` on; the size of the text if
  /// there is none.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t at) const {
    while (at < text.size() && !holds_[static_cast<unsigned char>(text[at])]) ++at;
    return at;
  }

 private:
  std::array<bool, 256> holds_{};
};

constexpr CharacterSet kEndsOfStringRun("\"\\");
constexpr CharacterSet kEndsOfScalar(",]} \t\r\n");
constexpr CharacterSet kBracketsAndQuotes("\"{}[]");

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void append_utf8(std::string& out, std::uint32_t point) {
  auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0U | (point >> 6U));
    put(0x80U | (point & 0x3FU));
  } else if (point < 0x10000) {
    put(0xE0U | (point >> 12U));
    put(0x80U | ((point >> 6U) & 0x3FU));
    put(0x80U | (point & 0x3FU));
  } else {
    put(0xF0U | (point >> 18U));
    put(0x80U | ((point >> 12U) & 0x3FU));
    put(0x80U | ((point >> 6U) & 0x3FU));
    put(0x80U | (point & 0x3FU));
  }
}

/// The four digits of a \u escape at `at`.
std::optional<std::uint32_t> hex4(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return std::nullopt;
  std::uint32_t value = 0;
  const char* begin = raw.data() + at;
  auto [end, fault] = std::from_chars(begin, begin + 4, value, 16);
  if (fault != std::errc{} || end != begin + 4) return std::nullopt;
  return value;
}

/// Appends the code point whose escape begins at `at` (after `\u`) and moves `at` past it.
bool append_unicode_escape(std::string_view raw, std::size_t& at, std::string& out) {
  auto first = hex4(raw, at);
  if (!first || (*first >= 0xDC00 && *first <= 0xDFFF)) return false;
  at += 4;
  std::uint32_t point = *first;
  if (point >= 0xD800 && point <= 0xDBFF) {
    if (raw.substr(at, 2) != "\\u") return false;
    auto second = hex4(raw, at + 2);
    if (!second || *second < 0xDC00 || *second > 0xDFFF) return false;
    at += 6;
    point = 0x10000 + ((point - 0xD800) << 10U) + (*second - 0xDC00);
  }
  append_utf8(out, point);
  return true;
}

/// The text of a JSON string, given the raw text between its quotes; nothing for an invalid escape.
std::optional<std::string> unescape(std::string_view raw) {
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    auto slash = raw.find('\\', at);
    out.append(raw.substr(at, slash - at));
    if (slash == std::string_view::npos) break;
    if (slash + 1 >= raw.size()) return std::nullopt;
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    char escape = raw[slash + 1];
    at = slash + 2;
    if (escape == 'u') {
      if (!append_unicode_escape(raw, at, out)) return std::nullopt;
      continue;
    }
    auto which = kEscapes.find(escape);
    if (which == std::string_view::npos) return std::nullopt;
    out.push_back(kMeanings[which]);
  }
  return out;
}

/// Steps through JSON text. Every step returns false if the text cannot be JSON.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// The next character that is no blank; 0 at the end.
  char peek() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool is_at_end() {
    peek();
    return at_ >= text_.size();
  }

  /// `raw` is set to the text between the quotes.
  bool string(std::string_view& raw) {
    if (!take('"')) return false;
    std::size_t begin = at_;
    for (;;) {
      auto found = kEndsOfStringRun.find(text_, at_);
      if (found >= text_.size()) return false;
      if (text_[found] == '"') {
        raw = text_.substr(begin, found - begin);
        at_ = found + 1;
        return true;
      }
      at_ = found + 2;
    }
  }

  /// `raw` is set to the text of the value. Brackets are only counted, so depth costs no memory.
  bool value(std::string_view& raw) {
    char first = peek();
    std::size_t begin = at_;
    bool is_good = false;
    if (first == '"') {
      std::string_view inner;
      is_good = string(inner);
    } else if (first == '{' || first == '[') {
      is_good = container();
    } else {
      at_ = kEndsOfScalar.find(text_, at_);
      is_good = at_ > begin;
    }
    raw = text_.substr(begin, at_ - begin);
    return is_good;
  }

 private:
  bool container() {
    std::size_t depth = 0;
    do {
      auto found = kBracketsAndQuotes.find(text_, at_);
      if (found >= text_.size()) return false;
      at_ = found;
      char c = text_[found];
      if (c == '"') {
        std::string_view skipped;
        if (!string(skipped)) return false;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') {
        ++depth;
      } else {
        --depth;
      }
    } while (depth > 0);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<std::string> text_of_value(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') return std::nullopt;
  return unescape(raw.substr(1, raw.size() - 2));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The whole of `raw` as a number; nothing if it is none of this type.
template <typename Number>
std::optional<Number> parsed(std::string_view raw) {
  Number number{};
  auto [end, fault] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
  if (fault != std::errc{} || end != raw.data() + raw.size()) return std::nullopt;
  return number;
}

/// A number as JSON writes it: no plus, no leading zero. `-0` is 0, and `1.0` is 1.
std::optional<Id> number_id(std::string_view raw) {
  std::string_view digits = raw.starts_with('-') ? raw.substr(1) : raw;
  if (digits.empty() || !is_digit(digits.front())) return std::nullopt;
  if (digits.size() > 1 && digits.front() == '0' && is_digit(digits[1])) return std::nullopt;
  if (auto number = parsed<std::int64_t>(raw)) return Id(*number);
  // Integers beyond 64 bits are not read as floating-point numbers.
  if (std::ranges::all_of(digits, is_digit)) return std::nullopt;
  auto number = parsed<double>(raw);
  return number ? Id::from_number(*number) : std::nullopt;
}

Id id_of_value(std::string_view raw) {
  if (raw.starts_with('"')) {
    auto text = text_of_value(raw);
    return text ? Id(std::move(*text)) : Id();
  }
  return number_id(raw).value_or(Id());
}

/// The members that determine the kind of a frame, as raw text.
struct Members {
  std::optional<std::string_view> method;
  std::optional<std::string_view> id;
  bool has_outcome = false;

  void note(std::string_view key, std::string_view value) {
    // The longest of the keys is `method`, and each character may be an escape of six characters.
    constexpr std::size_t kLongestKey = 6 * 6;
    if (key.size() > kLongestKey) return;
    std::optional<std::string> plain;
    if (key.find('\\') != std::string_view::npos) {
      plain = unescape(key);
      if (!plain) return;
      key = *plain;
    }
    if (key == "method") method = value;
    if (key == "id") id = value;
    if (key == "result" || key == "error") has_outcome = true;
  }
};

bool read_members(Scanner& scanner, Members& members) {
  if (!scanner.take('{')) return false;
  if (scanner.take('}')) return scanner.is_at_end();
  do {
    std::string_view key;
    std::string_view value;
    if (!scanner.string(key) || !scanner.take(':') || !scanner.value(value)) return false;
    members.note(key, value);
  } while (scanner.take(','));
  return scanner.take('}') && scanner.is_at_end();
}

}  // namespace

FramePeek peek_frame(std::string_view bytes) {
  Scanner scanner(bytes);
  FramePeek out;
  if (scanner.peek() == '[') {
    std::string_view whole;
    if (scanner.value(whole) && scanner.is_at_end()) out.kind = FrameKind::kBatch;
    return out;
  }
  Members members;
  if (!read_members(scanner, members)) return out;
  if (members.method) {
    auto method = text_of_value(*members.method);
    if (!method) return out;
    out.method = std::move(*method);
    out.kind = members.id ? FrameKind::kRequest : FrameKind::kNotification;
  } else if (members.has_outcome) {
    out.kind = FrameKind::kResponse;
  }
  if (members.id) out.id = id_of_value(*members.id);
  return out;
}

std::optional<std::vector<std::string_view>> batch_messages(std::string_view bytes,
                                                            std::size_t most) {
  Scanner scanner(bytes);
  if (!scanner.take('[')) return std::nullopt;
  std::vector<std::string_view> messages;
  do {
    if (messages.size() == most || !scanner.value(messages.emplace_back())) return std::nullopt;
  } while (scanner.take(','));
  if (!scanner.take(']') || !scanner.is_at_end()) return std::nullopt;
  return messages;
}

}  // namespace league::rpc
