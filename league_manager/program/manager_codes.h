#pragma once

#include "common/core/timer.h"
#include "league_manager/admission/admission.h"
#include "league_manager/admission/code_watch.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/spectators/registration_board.h"

namespace league::league_manager {

/// The registration codes of a running manager: admission uses them, the page shows the expected
/// players, and the operator is told about changes. Without a file everybody may register, unless
/// players of the league have registered with codes. Not thread-safe.
class ManagerCodes {
 public:
  /// All arguments must outlive this object; `file` may be empty.
  ManagerCodes(const std::filesystem::path& file, admission::RegistrationCodes::DigestOf digest_of,
               admission::Admission& admission, spectators::RegistrationBoard& board,
               rounds::OperatorLog& log)
      : has_file_(!file.empty()),
        watch_(file, std::move(digest_of)),
        admission_(admission),
        board_(board),
        log_(log) {}

  /// Checks that the file can be used; call it before anything is opened.
  [[nodiscard]] static core::Result<void> check(const std::filesystem::path& file);
  /// Reads the file; call it before anybody registers, once `ledger` is open.
  [[nodiscard]] core::Result<void> read(const files::Ledger& ledger);
  /// Watches the file as long as `timer` lives, which must outlive this object.
  void follow(core::Timer& timer);

 private:
  void take(admission::CodeWatch::Codes codes);

  const bool has_file_;
  admission::CodeWatch watch_;
  admission::Admission& admission_;
  spectators::RegistrationBoard& board_;
  rounds::OperatorLog& log_;
};

}  // namespace league::league_manager
