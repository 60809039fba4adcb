#include "common/core/csv.h"

#include <algorithm>
#include <array>

#include "common/core/text.h"
#include "common/core/utf8.h"

namespace league::core {
namespace {

constexpr std::string_view kSpace = " \t\r";

char separator_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  constexpr std::array<char, 3> kSeparators{',', ';', '\t'};
  return *std::ranges::max_element(kSeparators, {}, [first](char one) {
    return std::ranges::count(first, one);  // a tie means the first of the separators
  });
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    // Excel's own hint, which it writes and reads but does not show.
    const bool has_hint = text.size() > 4 && equals_ignoring_case(text.substr(0, 4), "sep=") &&
                          trimmed(text.substr(5, text.find('\n') - 5), kSpace).empty();
    if (!has_hint) {
      out_.separator = separator_of(text);
      return;
    }
    out_.separator = text[4];
    at_ = std::min(text.find('\n'), text.size() - 1) + 1;
    line_ = 2;
  }

  Result<CsvText> run() {
    while (at_ < text_.size()) {
      CsvRecord record{line_, {}};
      do {
        auto field = next_field();
        if (!field) return field.error();
        record.fields.push_back(std::move(*field));
      } while (take(out_.separator));
      if (take('\n')) ++line_;
      if (std::ranges::any_of(record.fields, [](const auto& field) { return !field.empty(); }))
        out_.records.push_back(std::move(record));
    }
    return std::move(out_);
  }

 private:
  bool take(char expected) {
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] std::size_t end_of_plain() const {
    return std::min(text_.find_first_of(std::string({out_.separator, '\n'}), at_), text_.size());
  }
  [[nodiscard]] static Error fault(int line, const char* why) {
    return {ErrorCode::kInvalidFieldValue, "line " + std::to_string(line) + ": " + why, ""};
  }

  Result<std::string> next_field() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (take('"')) return quoted();
    at_ = end_of_plain();
    return std::string(trimmed(text_.substr(begin, at_ - begin), kSpace));
  }

  Result<std::string> quoted() {
    const int opened = line_;
    std::string field;
    for (;;) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == text_.npos)
        return fault(opened, "a field that begins with a quote has no closing quote");
      const auto part = text_.substr(at_, quote - at_);
      line_ += static_cast<int>(std::ranges::count(part, '\n'));
      field += part;
      at_ = quote + 1;
      if (!take('"')) break;
      field += '"';
    }
    const std::size_t end = end_of_plain();
    if (!trimmed(text_.substr(at_, end - at_), kSpace).empty())
      return fault(opened, "text follows a closing quote; write a quote inside a field twice");
    at_ = end;
    return field;
  }

  std::string_view text_;
  CsvText out_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

Result<CsvText> parse_csv(std::string_view text) {
  std::string copy;
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    copy = from_utf16(text);
    text = copy;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find('\n') == text.npos && text.find('\r') != text.npos) {
    copy = replaced(std::string(text), "\r", "\n");
    text = copy;
  }
  return Parser(text).run();
}

std::string csv_line(std::span<const std::string> fields, char separator) {
  std::string out;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) out += separator;
    const bool is_plain = field.find_first_of(std::string("\"\r\n,;\t")) == field.npos &&
                          trimmed(field, kSpace) == field;
    if (is_plain) {
      out += field;
      continue;
    }
    out += '"';
    for (char c : field) out.append(c == '"' ? 2 : 1, c);
    out += '"';
  }
  return out + "\r\n";
}

}  // namespace league::core
