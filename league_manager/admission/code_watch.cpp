#include "league_manager/admission/code_watch.h"

#include <sys/stat.h>

namespace league::league_manager {

CodeWatch::Version CodeWatch::version() const {
  struct stat status {};
  if (::stat(file_.c_str(), &status) != 0) return {};
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {status.st_ino, status.st_size,
          std::int64_t{status.st_ctim.tv_sec} * kSecond + status.st_ctim.tv_nsec};
}

core::Result<CodeWatch::Codes> CodeWatch::read() {
  seen_ = version();  // read before the content, so that the next check detects a change in between
  auto table = agent::CodeTable::read(file_);
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

void CodeWatch::look(const Callbacks& callbacks) {
  if (version() == seen_) return;
  auto codes = read();
  if (codes) {
    callbacks.on_codes(std::move(*codes));
  } else {
    callbacks.on_fault(codes.error());
  }
}

void CodeWatch::start(core::Timer& timer, Callbacks callbacks) {
  constexpr std::chrono::seconds kInterval{1};
  timer.schedule(kInterval, [this, &timer, callbacks = std::move(callbacks)]() mutable {
    look(callbacks);
    start(timer, std::move(callbacks));
  });
}

}  // namespace league::league_manager
