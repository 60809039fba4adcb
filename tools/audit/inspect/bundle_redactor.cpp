#include "tools/audit/inspect/bundle_redactor.h"

#include <nlohmann/json.hpp>

#include "common/audit/record/masking.h"
#include "common/core/crypto.h"
#include "common/core/text.h"
#include "tools/audit/facts/journal.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;

/// Shorter words are names and numbers, not secrets.
constexpr std::size_t kShortestSecret = 16;
constexpr std::size_t kShownOfSecret = 8;

bool is_of_word(char c) { return core::is_alphanumeric(c) || c == '_' || c == '-'; }

/// Calls `each` with every run of word characters that is long enough for a secret.
template <typename Each>
void for_each_word(std::string_view text, Each each) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_of_word(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_of_word(text[end])) ++end;
    if (end - i >= kShortestSecret) each(i, text.substr(i, end - i));
    i = end;
  }
}

bool holds_token(std::string_view word) {
  std::size_t at = word.find("tok_");
  return at != word.npos && word.size() - at >= kShortestSecret;
}

std::string shortened(std::string_view secret) {
  return std::string(secret.substr(0, kShownOfSecret)) + "...";
}

}  // namespace

void BundleRedactor::add(std::string_view secret) {
  if (secret.size() >= kShortestSecret) words_.insert(std::string(secret));
}

void BundleRedactor::add_keys_of(const fs::path& file) {
  std::string content = bytes_of(file);
  if (file.extension() != ".json") {
    for_each_word(content, [&](std::size_t, std::string_view word) { add(word); });
    return;
  }
  nlohmann::json identity = nlohmann::json::parse(content, nullptr, false);
  if (!identity.is_object()) return;
  for (const auto& [key, value] : identity.items()) {
    if (audit::record::is_secret_key(key) && value.is_string())
      add(value.get_ref<const std::string&>());
  }
}

core::Result<BundleRedactor> BundleRedactor::for_data(const fs::path& data) {
  BundleRedactor redactor;
  for (const char* name : {"operator.key", "referee.key", "log.key"}) {
    std::string content = bytes_of(data / name);
    for_each_word(content, [&](std::size_t, std::string_view word) {
      redactor.add(word);
      redactor.parts_.emplace_back(word);
    });
  }
  if (std::string key = bytes_of(data / "secret.key"); key.size() >= kShortestSecret) {
    for (const std::string& text :
         {core::to_hex(core::as_bytes(key)), core::to_base32(core::as_bytes(key))}) {
      redactor.add(text);
      redactor.parts_.push_back(text);
    }
    for_each_word(key, [&](std::size_t, std::string_view word) { redactor.add(word); });
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data / "agents", error)) {
    // Players' notes of open matches are not read: choices and nonces are public once they are
    // revealed.
    const bool is_note = entry.path().extension() == ".jsonl";
    if (entry.is_regular_file(error) && !is_note) redactor.add_keys_of(entry.path());
  }
  auto secrets = kept_secrets(data);
  if (!secrets) return secrets.error();
  for (const std::string& secret : *secrets) redactor.add(secret);
  return redactor;
}

std::string BundleRedactor::redacted(std::string_view text) const {
  // The manager has published these keys, so that everybody can recompute the receipts.
  if (text.starts_with(R"({"note":"receipt_keys")")) return std::string(text);
  // A record with a reference to another one contains only pieces of a body; a piece of a masked
  // token would look like a secret and be masked again.
  bool is_piece = text.find(",\"raw_ref\":") != text.npos;
  std::string masked = is_piece ? std::string(text) : audit::record::mask_again(text);
  for (const std::string& part : parts_) {
    for (std::size_t at = masked.find(part); at != masked.npos; at = masked.find(part, at))
      masked.replace(at, part.size(), shortened(part));
  }
  std::string out;
  std::size_t copied = 0;
  std::string word_text;
  for_each_word(masked, [&](std::size_t at, std::string_view word) {
    word_text.assign(word);
    if (!words_.contains(word_text) && !holds_token(word)) return;
    out.append(masked, copied, at - copied).append(shortened(word));
    copied = at + word.size();
  });
  if (copied == 0) return masked;
  return out.append(masked, copied);
}

}  // namespace league::tools::auditor
