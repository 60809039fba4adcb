#include "league_manager/manager_codes.h"

namespace league::league_manager {

core::Result<void> ManagerCodes::check(const std::filesystem::path& file) {
  if (file.empty()) return {};
  CodeWatch once(file, [](std::string_view code) { return std::string(code); });
  auto codes = once.read();
  return codes ? core::Result<void>() : codes.error();
}

void ManagerCodes::take(CodeWatch::Codes codes) {
  board_.on_codes(codes);
  admission_.replace_codes(std::move(codes));
}

core::Result<void> ManagerCodes::read() {
  if (!has_file_) return {};
  auto codes = watch_.read();
  if (!codes) return codes.error();
  take(std::move(*codes));
  return {};
}

void ManagerCodes::follow(core::Timer& timer) {
  if (!has_file_) return;
  watch_.start(timer, {.on_codes =
                           [this](CodeWatch::Codes codes) {
                             log_.say(false, "REGISTRATION_CODES_READ",
                                      "the registration codes were read again: " +
                                          std::to_string(codes->codes()) + " codes for " +
                                          std::to_string(codes->entries().size()) + " players");
                             take(std::move(codes));
                           },
                       .on_fault =
                           [this](const core::Error& error) {
                             log_.say(true, "REGISTRATION_CODES_REFUSED",
                                      "the registration codes stay as they were: " + error.message);
                           }});
}

}  // namespace league::league_manager
