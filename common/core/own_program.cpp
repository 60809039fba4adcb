#include "common/core/own_program.h"

#include <sys/auxv.h>

namespace league::core {

std::filesystem::path own_program() {
  namespace fs = std::filesystem;
  std::error_code failed;
  auto program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) return program;
  // What the kernel was asked to execute; found in PATH it is a whole path.
  // The system passes the address as a number. NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (name == nullptr) return {};
  program = fs::canonical(name, failed);
  return failed ? fs::path() : program;
}

}  // namespace league::core
