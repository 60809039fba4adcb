// Hostile identity files of agents: opening never throws, and who was read from one is read again
// from the file that is then written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/agent/identity/identity_keeper.h"
#include "common/core/private_file.h"
#include "common/core/random_source.h"
#include "tests/support/temporary_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using league::agent::IdentityKeeper;
  static const league::testing::TemporaryDirectory directory;
  static const auto agents = directory.path() / "agents";
  std::filesystem::create_directories(agents);
  auto file = agents / "player_alpha.json";
  std::string_view content(reinterpret_cast<const char*>(data), size);
  if (!league::core::write_private_file(file, content, league::core::Flush::kLater)) std::abort();
  league::core::CryptoRandom random;
  auto open = [&random] {
    return IdentityKeeper::open({.data = directory.path(),
                                 .role = league::envelope::Role::kPlayer,
                                 .display_name = "alpha",
                                 .manager = "http://localhost:8000/mcp"},
                                random);
  };
  auto keeper = open();
  if (!keeper) {
    if (keeper.error().message.empty()) std::abort();
    return 0;
  }
  std::string id = (*keeper)->id();
  auto port = (*keeper)->port();
  league::agent::RegistrationOptions registration;
  if (!(*keeper)->prepare(registration, port)) std::abort();
  keeper->reset();
  auto again = open();
  if (!again || (*again)->id() != id || (*again)->port() != port) std::abort();
  return 0;
}
