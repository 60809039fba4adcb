#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "common/core/timer.h"
#include "league_manager/admission/registration_codes.h"

namespace league::league_manager::admission {

/// Reads the file of registration codes, and reads it again whenever it changes: an operator's edit
/// takes effect within a second, and also after a restart. Not thread-safe; `on_change` runs on
/// the timer's thread.
class CodeWatch {
 public:
  using Codes = std::shared_ptr<const RegistrationCodes>;
  /// Called once for each change of the file with its codes, or why it cannot be used.
  using OnChange = std::function<void(core::Result<Codes>)>;

  CodeWatch(std::filesystem::path file, RegistrationCodes::DigestOf digest_of)
      : file_(std::move(file)), digest_of_(std::move(digest_of)) {}

  /// Fails like CodeTable::read, and if no entry has a code.
  [[nodiscard]] core::Result<Codes> read();
  /// Checks the file every second, as long as the timer lives; `timer` must outlive this object,
  /// whose destructor waits for the last check.
  void start(core::Timer& timer, OnChange on_change);

 private:
  /// Differs whenever the file was replaced or its content or mode has changed.
  struct Version {
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Version&) const = default;
  };
  [[nodiscard]] Version version() const;

  const std::filesystem::path file_;
  const RegistrationCodes::DigestOf digest_of_;
  Version seen_;
};

}  // namespace league::league_manager::admission
