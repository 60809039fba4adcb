#include "league_manager/program/manager_codes.h"

#include <algorithm>

namespace league::league_manager {

core::Result<void> ManagerCodes::check(const std::filesystem::path& file) {
  if (file.empty()) return {};
  admission::CodeWatch once(file, [](std::string_view code) { return std::string(code); });
  auto codes = once.read();
  return codes ? core::Result<void>() : codes.error();
}

void ManagerCodes::take(admission::CodeWatch::Codes codes) {
  board_.on_codes(codes);
  admission_.replace_codes(std::move(codes));
}

core::Result<void> ManagerCodes::read(const files::Ledger& ledger) {
  if (!has_file_) {
    const bool has_had_codes = ledger.read([](const League& league) {
      return std::ranges::any_of(
          league.roster().agents(events::AgentKind::kPlayer),
          [](const events::Agent& one) { return one.profile.code_digest.has_value(); });
    });
    if (!has_had_codes) return {};
    // If the option was forgotten, at a restart or at a stand-by manager, the league must not
    // become open to everybody.
    log_.say(true, "REGISTRATION_CODES_MISSING",
             "players of this league have registered with codes, and there is no "
             "--registration-codes: no new player is admitted");
    admission_.replace_codes(std::make_shared<const admission::RegistrationCodes>(
        agent::identity::CodeTable(), [](std::string_view) { return std::string(); }));
    return {};
  }
  auto codes = watch_.read();
  if (!codes) return codes.error();
  take(std::move(*codes));
  return {};
}

void ManagerCodes::follow(core::Timer& timer) {
  if (!has_file_) return;
  watch_.start(timer, [this](core::Result<admission::CodeWatch::Codes> codes) {
    if (!codes) {
      return log_.say(true, "REGISTRATION_CODES_REFUSED",
                      "the registration codes are unchanged: " + codes.error().message);
    }
    log_.say(false, "REGISTRATION_CODES_READ",
             "the registration codes were reloaded: " + std::to_string((*codes)->codes()) +
                 " codes for " + std::to_string((*codes)->entries().size()) + " players");
    take(std::move(*codes));
  });
}

}  // namespace league::league_manager
