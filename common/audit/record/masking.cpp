#include "common/audit/record/masking.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/audit/record/unescaped_text.h"
#include "common/schema/byte_blocks.h"

namespace league::audit::record {
namespace {

using schema::bits_of_block;
using schema::Block;
using schema::kBlock;
using schema::load_block;
using schema::splat;

constexpr std::size_t kShown = 8;
constexpr std::string_view kCut = "...";
constexpr std::size_t kLongestKey = 96;
constexpr std::size_t kShortestToken = 12;
constexpr std::size_t kShortestBareSecret = 8;

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

constexpr bool is_word(char c) {
  c = lower(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

constexpr std::uint32_t letters_of(std::string_view word) {
  std::uint32_t letters = 0;
  for (char c : word) {
    if (c >= 'a' && c <= 'z') letters |= 1U << (c - 'a');
  }
  return letters;
}

constexpr std::uint32_t kQuoteBit = 1U << 30U;
constexpr std::uint32_t kOtherBit = 1U << 31U;

/// Of each character: its letter's bit; whether it ends a key with quotes; whether it ends one
/// without.
constexpr std::array<std::uint32_t, 256> kBits = [] {
  std::array<std::uint32_t, 256> bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (!is_word(static_cast<char>(i))) bits[i] = kOtherBit;
  }
  for (std::size_t i = 0; i < 26; ++i) bits['a' + i] = bits['A' + i] = 1U << i;
  bits['"'] = bits['\''] = kQuoteBit | kOtherBit;
  return bits;
}();

constexpr std::uint32_t bits_of(char c) { return kBits[static_cast<unsigned char>(c)]; }

struct SecretWord {
  std::string_view word;
  std::uint32_t letters;  ///< quick check: a key without all of them cannot contain the word
  std::size_t shown = kShown;  ///< so many characters of the value at most
};

/// Letters that few keys have; each secret word has one.
constexpr std::string_view kRareLetters = "zgwkc";  // SecretFinder::key_is_plain names them too
constexpr SecretWord secret(std::string_view word) { return {word, letters_of(word)}; }
/// A secret whose value is hidden entirely: people make codes short, and an e-mail address begins
/// with its owner's name.
constexpr SecretWord hidden(std::string_view word) { return {word, letters_of(word), 0}; }

/// The words that make a key secret. `draw_seed` stands in assignments; revealed seeds are called
/// `draw_proof`. `registration_nonce` restores an identity (protocol §8).
constexpr std::array kSecretWords{
    secret("token"),
    secret("credential"),
    secret("operatorkey"),
    secret("drawseed"),
    secret("secret"),
    secret("password"),
    secret("cookie"),
    secret("authorization"),
    secret("registrationnonce"),
    secret("privatekey"),
    secret("admissionkey"),
    secret("receiptkey"),
    hidden("registrationcode"),
    hidden("contactemail"),
};
/// Not credentials, so they are no fault in logs written before they were masked.
constexpr std::string_view kPersonalWord = "contactemail";
constexpr std::string_view kPublicSuffix = "tokenhash";

/// The secret words that a key with these letters could contain, as bits; for most keys none.
std::uint32_t possible_words(std::uint32_t letters) {
  if ((letters & letters_of(kRareLetters)) == 0) return 0;
  std::uint32_t possible = 0;
  for (std::size_t i = 0; i < kSecretWords.size(); ++i) {
    if ((letters & kSecretWords[i].letters) == kSecretWords[i].letters) possible |= 1U << i;
  }
  return possible;
}

/// The first of the secret words `possible` that `key`, at most kLongestKey long, contains; null
/// for none.
const SecretWord* find_secret_word(std::string_view key, std::uint32_t possible) {
  std::array<char, kLongestKey> buffer;
  std::size_t size = 0;
  for (char c : key) {
    buffer[size] = lower(c);
    size += c != '_' && c != '-' ? 1 : 0;
  }
  std::string_view plain(buffer.data(), size);
  for (; possible != 0; possible &= possible - 1) {
    const SecretWord& secret_word =
        kSecretWords[static_cast<std::size_t>(std::countr_zero(possible))];
    if (plain.find(secret_word.word) != plain.npos)
      return plain.ends_with(kPublicSuffix) ? nullptr : &secret_word;
  }
  return nullptr;
}

/// Finds the next `:` or `=` after a key, or the end of a name that may be the beginning of a
/// token, a block at a time, since messages contain many of both.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// The next `:` or `=` at or behind `from`; the size if there is none.
  std::size_t separator(std::size_t from) {
    return find(
        from,
        [](const char* at) {
          Block here = load_block(at);
          return bits_of_block((here == splat(':')) | (here == splat('=')));
        },
        [](const char* at) { return *at == ':' || *at == '='; });
  }

  /// The next `_` behind a `k` or `K`. `from` is greater than 0.
  std::size_t k_underscore(std::size_t from) {
    return find(
        from,
        [](const char* at) {
          return bits_of_block((load_block(at) == splat('_')) &
                               ((load_block(at - 1) | splat(0x20)) == splat('k')));
        },
        [](const char* at) { return *at == '_' && lower(at[-1]) == 'k'; });
  }

 private:
  /// `in_block` says which of the sixteen places from one on are looked for, `here` whether one is.
  template <typename InBlock, typename Here>
  std::size_t find(std::size_t from, InBlock in_block, Here here) {
    const char* data = text_.data();
    while (true) {
      if (from < next_block_) {
        std::uint32_t left = found_ >> (kBlock - (next_block_ - from));
        if (left != 0) return from + static_cast<std::size_t>(std::countr_zero(left));
        from = next_block_;
      }
      if (from + kBlock > text_.size()) break;
      found_ = in_block(data + from);
      next_block_ = from + kBlock;
    }
    while (from < text_.size() && !here(data + from)) ++from;
    return from;
  }

  std::string_view text_;
  std::size_t next_block_ = 0;  ///< `found_` is about the block before it
  std::uint32_t found_ = 0;
};

/// Bytes of the raw text that are not shown.
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// Finds the secrets of one text. Indices are those of the unescaped text, spans those of the raw
/// one.
class SecretFinder {
 public:
  SecretFinder(const UnescapedText& text, std::vector<Span>& spans, bool is_second)
      : text_(text), chars_(text.chars()), spans_(spans), is_second_(is_second) {}

  void find() {
    find_values();
    find_tokens();
  }

 private:
  void find_values() {
    Scanner scanner(chars_);
    for (std::size_t i = scanner.separator(0); i < chars_.size(); i = scanner.separator(i)) {
      const SecretWord* word = secret_word_before(i);
      most_shown_ = word != nullptr ? word->shown : kShown;
      std::size_t after = word != nullptr ? hide_value(i + 1) : i + 1;
      i = std::max(after, i + 1);
    }
  }

  /// Whether a short quoted key that ends before the separator at `end` contains none of the
  /// letters of which every secret word has one; false if unsure. This is sufficient for nearly all
  /// keys of a message.
  [[nodiscard]] bool key_is_plain(std::size_t end) const {
    if (end < kBlock + 1 || !is_quote(end - 1)) return false;
    Block key = load_block(chars_.data() + end - 1 - kBlock);
    std::uint32_t quotes = bits_of_block((key == splat('"')) | (key == splat('\'')));
    Block small = key | splat(0x20);
    std::uint32_t rare =
        bits_of_block((small == splat('z')) | (small == splat('g')) | (small == splat('w')) |
                      (small == splat('k')) | (small == splat('c')));
    // The key begins after the last quote; a quote right before its end needs the slow search.
    return quotes != 0 && (quotes >> (kBlock - 1)) == 0 && rare < std::bit_floor(quotes);
  }

  /// The secret word in the key that ends before the separator at `end`, quoted or not; null for
  /// none.
  [[nodiscard]] const SecretWord* secret_word_before(std::size_t end) const {
    if (key_is_plain(end)) return nullptr;
    bool quoted = end > 0 && is_quote(end - 1);
    if (!quoted) {
      while (end > 0 && text_.is_space(end - 1)) --end;
      quoted = end > 0 && is_quote(end - 1);
    }
    std::uint32_t ends = quoted ? kQuoteBit : kOtherBit;
    while (end > 0 && is_quote(end - 1)) --end;
    std::size_t begin = end;
    std::size_t limit = end > kLongestKey ? end - kLongestKey : 0;
    std::uint32_t letters = 0;
    while (begin > limit) {
      std::uint32_t bits = bits_of(chars_[begin - 1]);
      if ((bits & ends) != 0) break;
      letters |= bits;
      --begin;
    }
    std::uint32_t possible = possible_words(letters);
    if (possible == 0) return nullptr;
    return find_secret_word(chars_.substr(begin, end - begin), possible);
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

  /// Hides a number or an unquoted word; null, true and false are not secret.
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
    Scanner scanner(chars_);
    for (std::size_t i = scanner.k_underscore(3); i < chars_.size();
         i = scanner.k_underscore(i + 1)) {
      if (lower(chars_[i - 2]) != 'o' || lower(chars_[i - 3]) != 't') continue;
      std::size_t end = i;
      while (end < chars_.size() && is_word(chars_[end])) ++end;
      if (end - (i - 3) >= kShortestToken) hide(i - 3, end);
      i = end;
    }
  }

  void hide(std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    if (is_second_ && end - begin <= kShown + kCut.size() &&
        chars_.substr(begin, end - begin).ends_with(kCut))
      return;
    std::size_t shown = std::min(most_shown_, (end - begin) / 2);
    spans_.push_back({text_.position(begin + shown), text_.position(end)});
  }

  const UnescapedText& text_;
  std::string_view chars_;
  std::vector<Span>& spans_;
  bool is_second_;
  std::size_t most_shown_ = kShown;  ///< of the value that is being hidden
};

void append_without(std::string_view raw, std::vector<Span>& spans, std::string& out) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::size_t done = 0;
  for (const Span& span : spans) {
    if (span.end <= done) continue;
    if (span.begin >= done) {
      out.append(raw.substr(done, span.begin - done));
      out.append(kCut);
    }
    done = span.end;
  }
  out.append(raw.substr(done));
}

}  // namespace

bool is_secret_key(std::string_view key) {
  if (key.size() > kLongestKey) key.remove_prefix(key.size() - kLongestKey);
  std::uint32_t letters = 0;
  for (char c : key) letters |= bits_of(c);
  const SecretWord* word = find_secret_word(key, possible_words(letters));
  return word != nullptr && word->word != kPersonalWord;
}

void append_masked(std::string_view raw, std::string& out) {
  std::vector<Span> spans;
  UnescapedText text(raw);
  SecretFinder(text, spans, false).find();
  append_without(raw, spans, out);
}

std::string mask_again(std::string_view masked) {
  std::vector<Span> spans;
  UnescapedText text(masked);
  SecretFinder(text, spans, true).find();
  std::string out;
  append_without(masked, spans, out);
  return out;
}

std::string mask_secrets(std::string_view raw) {
  std::string out;
  out.reserve(raw.size() + 16);
  append_masked(raw, out);
  return out;
}

}  // namespace league::audit::record
