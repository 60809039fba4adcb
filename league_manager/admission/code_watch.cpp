#include "league_manager/admission/code_watch.h"

#include <sys/stat.h>

namespace league::league_manager::admission {

CodeWatch::Version CodeWatch::version() const {
  struct stat status {};
  if (::stat(file_.c_str(), &status) != 0) return {};
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {status.st_ino, status.st_size,
          std::int64_t{status.st_ctim.tv_sec} * kSecond + status.st_ctim.tv_nsec};
}

core::Result<CodeWatch::Codes> CodeWatch::read() {
  seen_ = version();  // read before the content, so that the next check detects a change in between
  auto table = agent::identity::CodeTable::read(file_);
  if (!table) return table.error();
  auto codes = std::make_shared<const RegistrationCodes>(*table, digest_of_);
  if (codes->codes() == 0) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       file_.string() +
                           ": no line has a code, so nobody could register; run `league admin "
                           "codes make` to add codes",
                       ""};
  }
  return codes;
}

void CodeWatch::start(core::Timer& timer, OnChange on_change) {
  constexpr std::chrono::seconds kInterval{1};
  timer.schedule(kInterval, [this, &timer, on_change = std::move(on_change)]() mutable {
    if (version() != seen_) on_change(read());
    start(timer, std::move(on_change));
  });
}

}  // namespace league::league_manager::admission
