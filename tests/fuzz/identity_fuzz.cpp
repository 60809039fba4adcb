// Hostile identity files of agents: opening never throws, and who was read from one is read again
// from the file that is then written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/agent/identity/identity_store.h"
#include "common/core/private_file.h"
#include "common/core/random_source.h"
#include "tests/support/temporary_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using league::agent::identity::IdentityStore;
  static const league::testing::TemporaryDirectory directory;
  static const auto agents = directory.path() / "agents";
  std::filesystem::create_directories(agents);
  auto file = agents / "player_alpha.json";
  std::string_view content(reinterpret_cast<const char*>(data), size);
  if (!league::core::write_private_file(file, content, league::core::Flush::kLater)) std::abort();
  league::core::CryptoRandom random;
  auto open = [&random] {
    return IdentityStore::open({.data = directory.path(),
                                .role = league::envelope::Role::kPlayer,
                                .display_name = "alpha",
                                .manager = "http://localhost:8000/mcp"},
                               random);
  };
  auto identity_store = open();
  if (!identity_store) {
    if (identity_store.error().message.empty()) std::abort();
    return 0;
  }
  std::string id = (*identity_store)->id();
  auto port = (*identity_store)->port();
  league::agent::identity::RegistrationOptions registration;
  if (!(*identity_store)->prepare(registration, port)) std::abort();
  identity_store->reset();
  auto again = open();
  if (!again || (*again)->id() != id || (*again)->port() != port) std::abort();
  return 0;
}
