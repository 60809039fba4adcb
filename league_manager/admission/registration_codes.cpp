#include "league_manager/admission/registration_codes.h"

#include "common/envelope/display_name.h"

namespace league::league_manager::admission {

RegistrationCodes::RegistrationCodes(const agent::identity::CodeTable& table, DigestOf digest_of)
    : digest_of_(std::move(digest_of)) {
  for (const agent::identity::CodeRow& row : table.rows()) {
    const std::size_t index = entries_.size();
    entries_.push_back(
        {row.name, row.team, row.code.empty() ? std::string() : digest_of_(row.code.reveal())});
    by_name_.emplace(envelope::comparable_name(row.name), index);
    if (row.code.empty()) continue;
    by_digest_.emplace(entries_.back().digest, index);
    const std::string typed = digest_of_(agent::identity::comparable_code(row.code.reveal()));
    // Two codes that differ only in how they are typed have to be typed exactly.
    if (const auto other = by_typed_.find(typed); other != by_typed_.end()) {
      other->second = kAmbiguous;
    } else {
      by_typed_.emplace(typed, index);
    }
  }
}

const RegistrationCodes::Entry* RegistrationCodes::find(std::string_view code) const {
  if (code.empty()) return nullptr;
  const auto found = by_digest_.find(digest_of_(code));
  if (found != by_digest_.end()) return &entries_[found->second];
  const auto typed = by_typed_.find(digest_of_(agent::identity::comparable_code(code)));
  return typed == by_typed_.end() || typed->second == kAmbiguous ? nullptr
                                                                 : &entries_[typed->second];
}

const RegistrationCodes::Entry* RegistrationCodes::find_name(std::string_view name) const {
  const auto found = by_name_.find(envelope::comparable_name(name));
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

}  // namespace league::league_manager::admission
