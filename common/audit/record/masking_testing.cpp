#include "common/audit/record/masking_testing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "common/audit/record/unescaped_text.h"

namespace league::audit::record::reference {
namespace {

constexpr std::size_t kShown = 8;
constexpr std::size_t kLongestKey = 96;
constexpr std::size_t kShortestToken = 12;
constexpr std::size_t kShortestBareSecret = 8;

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

constexpr bool is_word(char c) {
  c = lower(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

constexpr std::array<std::string_view, 14> kSecretWords{
    "token",        "credential", "operatorkey",      "drawseed",          "secret",
    "password",     "cookie",     "authorization",    "registrationnonce", "privatekey",
    "admissionkey", "receiptkey", "registrationcode", "contactemail",
};
constexpr std::size_t kFirstHidden = 12;  // from here on nothing of a value is shown
constexpr std::string_view kPublicSuffix = "tokenhash";

/// The first secret word in `key`, as an index; the number of words for none.
std::size_t secret_word_in(std::string_view key) {
  if (key.size() > kLongestKey) key.remove_prefix(key.size() - kLongestKey);
  std::string plain;
  for (char c : key) {
    if (c != '_' && c != '-') plain += lower(c);
  }
  if (plain.ends_with(kPublicSuffix)) return kSecretWords.size();
  auto found = std::find_if(kSecretWords.begin(), kSecretWords.end(),
                            [&](std::string_view word) { return plain.find(word) != plain.npos; });
  return static_cast<std::size_t>(found - kSecretWords.begin());
}

/// Bytes of the raw text that are not shown.
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// Finds the secrets of one text. Indices are those of the unescaped text, spans those of the raw
/// one.
class SecretFinder {
 public:
  explicit SecretFinder(const UnescapedText& text, std::vector<Span>& spans)
      : text_(text), chars_(text.chars()), spans_(spans) {}

  void find() {
    find_values();
    find_tokens();
  }

 private:
  void find_values() {
    next_equals_ = next('=', 0);
    for (std::size_t i = next_separator(0); i < chars_.size(); i = next_separator(i)) {
      std::size_t word = secret_word_before(i);
      most_shown_ = word < kFirstHidden ? kShown : 0;
      std::size_t after = word < kSecretWords.size() ? hide_value(i + 1) : i + 1;
      i = std::max(after, i + 1);
    }
  }

  /// Equals signs are rare, so where the next one stands is remembered.
  [[nodiscard]] std::size_t next_separator(std::size_t from) {
    if (next_equals_ < from) next_equals_ = next('=', from);
    return std::min(next_equals_, next(':', from));
  }

  [[nodiscard]] std::size_t next(char c, std::size_t from) const {
    return std::min(chars_.find(c, from), chars_.size());
  }

  /// The key that ends before the separator at `end`, quoted or not.
  [[nodiscard]] std::size_t secret_word_before(std::size_t end) const {
    while (end > 0 && text_.is_space(end - 1)) --end;
    bool quoted = end > 0 && is_quote(end - 1);
    while (end > 0 && is_quote(end - 1)) --end;
    std::size_t begin = end;
    std::size_t limit = end > kLongestKey ? end - kLongestKey : 0;
    if (quoted) {
      while (begin > limit && !is_quote(begin - 1)) --begin;
    } else {
      while (begin > limit && is_word(chars_[begin - 1])) --begin;
    }
    return begin < end ? secret_word_in(chars_.substr(begin, end - begin)) : kSecretWords.size();
  }

  [[nodiscard]] bool is_quote(std::size_t i) const { return chars_[i] == '"' || chars_[i] == '\''; }

  std::size_t hide_value(std::size_t i) {
    while (i < chars_.size() && text_.is_space(i)) ++i;
    if (i == chars_.size()) return i;
    if (is_quote(i)) return hide_string(i);
    if (chars_[i] == '[' || chars_[i] == '{') return hide_nested(i);
    return hide_bare(i);
  }

  [[nodiscard]] std::size_t end_of_string(std::size_t open) const {
    std::size_t i = open + 1;
    while (i < chars_.size() && !(chars_[i] == chars_[open] && text_.closes(open, i))) ++i;
    return i;
  }

  std::size_t hide_string(std::size_t open) {
    std::size_t end = end_of_string(open);
    hide(open + 1, end);
    return std::min(end + 1, chars_.size());
  }

  /// Every string value up to the bracket that closes the one at `i`; keys stay readable.
  std::size_t hide_nested(std::size_t i) {
    int depth = 0;
    for (; i < chars_.size(); ++i) {
      char c = chars_[i];
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      if (depth == 0) return i + 1;
      if (!is_quote(i)) continue;
      std::size_t end = end_of_string(i);
      std::size_t next = std::min(end + 1, chars_.size());
      while (next < chars_.size() && text_.is_space(next)) ++next;
      if (next >= chars_.size() || chars_[next] != ':') hide(i + 1, end);
      i = end;
    }
    return i;
  }

  /// A number or an unquoted word; null, true and false say nothing secret.
  std::size_t hide_bare(std::size_t i) {
    std::size_t end = i;
    while (end < chars_.size() && std::strchr(",;&}])\"'\n\r", chars_[end]) == nullptr) ++end;
    std::string_view value = chars_.substr(i, end - i);
    bool header = value.starts_with("Bearer ") || value.starts_with("Basic ");
    if (!header) value = value.substr(0, value.find(' '));
    if (value.size() >= kShortestBareSecret) {
      std::size_t scheme = header ? value.find(' ') + 1 : 0;
      hide(i + scheme, i + value.size());
    }
    return i + value.size();
  }

  void find_tokens() {
    most_shown_ = kShown;
    for (std::size_t i = 3; i < chars_.size(); ++i) {
      const void* found = std::memchr(chars_.data() + i, '_', chars_.size() - i);
      if (found == nullptr) return;
      i = static_cast<std::size_t>(static_cast<const char*>(found) - chars_.data());
      if (lower(chars_[i - 1]) != 'k' || lower(chars_[i - 2]) != 'o' || lower(chars_[i - 3]) != 't')
        continue;
      std::size_t end = i;
      while (end < chars_.size() && is_word(chars_[end])) ++end;
      if (end - (i - 3) >= kShortestToken) hide(i - 3, end);
      i = end;
    }
  }

  void hide(std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    std::size_t shown = std::min(most_shown_, (end - begin) / 2);
    spans_.push_back({text_.position(begin + shown), text_.position(end)});
  }

  const UnescapedText& text_;
  std::string_view chars_;
  std::vector<Span>& spans_;
  std::size_t next_equals_ = 0;
  std::size_t most_shown_ = kShown;
};

void append_without(std::string_view raw, std::vector<Span>& spans, std::string& out) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::size_t done = 0;
  for (const Span& span : spans) {
    if (span.end <= done) continue;
    if (span.begin >= done) {
      out.append(raw.substr(done, span.begin - done));
      out.append("...");
    }
    done = span.end;
  }
  out.append(raw.substr(done));
}

}  // namespace

bool is_secret_key(std::string_view key) {
  std::size_t word = secret_word_in(key);
  return word < kSecretWords.size() && kSecretWords[word] != "contactemail";
}

std::string mask_secrets(std::string_view raw) {
  std::string out;
  std::vector<Span> spans;
  UnescapedText text(raw);
  SecretFinder(text, spans).find();
  append_without(raw, spans, out);
  return out;
}

}  // namespace league::audit::record::reference
