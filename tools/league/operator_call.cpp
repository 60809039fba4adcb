#include "tools/league/operator_call.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "common/agent/identity/secret_file.h"
#include "tools/league/up/manager_client.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

int fail(const std::string& message, int exit_code) {
  std::cerr << "error: " << safe_text(message) << '\n';
  return exit_code;
}

}  // namespace

int call_as_operator(const OperatorAccess& access, const std::string& tool,
                     nlohmann::json arguments, const std::string& done) {
  const auto key = agent::read_secret_file(access.key_file);
  if (!key)
    return fail(key.error().message +
                    "; it is the file behind the manager's --operator-key (default: "
                    "DATA/operator.key)",
                2);
  auto client = ManagerClient::connect(access.url);
  if (!client) return fail(client.error().message, 2);
  arguments["operator_key"] = key->reveal();
  auto answer = client->call(tool, arguments);
  if (!answer) {
    const auto code = answer.error().code;
    const bool nobody =
        code == core::ErrorCode::kConnectionError || code == core::ErrorCode::kTimeout;
    return fail(answer.error().message, nobody ? 2 : 1);
  }
  if (access.json) {
    std::cout << answer->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  } else {
    std::cout << safe_text(done) << '\n';
  }
  return 0;
}

}  // namespace league::tools
