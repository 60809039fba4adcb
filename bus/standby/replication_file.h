#pragma once

#include <filesystem>
#include <string>

#include "bus/standby/core/effects.h"
#include "common/core/random_source.h"
#include "common/core/result.h"

namespace league::league_manager::stream {

/// What a manager of several must know after a restart, beside its journal: its own name and
/// Knowledge. A copy of the file in another directory gets another name, since no two managers may
/// have the same. Not thread-safe.
class ReplicationFile {
 public:
  /// Reads the file, or begins one. Fails if it cannot be read or is damaged, with the remedy.
  [[nodiscard]] static core::Result<ReplicationFile> open(std::filesystem::path file,
                                                          core::RandomSource& random);

  /// `HOST-4f2a`, readable for operators.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// As of the beginning.
  [[nodiscard]] const Knowledge& knowledge() const { return knowledge_; }
  /// Durable when this returns.
  [[nodiscard]] core::Result<void> write(const Knowledge& knowledge) const;

 private:
  std::filesystem::path file_;
  std::string name_;
  Knowledge knowledge_;
};

}  // namespace league::league_manager::stream
