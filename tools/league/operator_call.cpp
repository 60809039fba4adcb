#include "tools/league/operator_call.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "common/agent/identity/secret_file.h"
#include "tools/league/commands.h"
#include "tools/league/up/manager_client.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
int call_as_operator(const OperatorAccess& access, const std::string& tool,
                     nlohmann::json arguments, const std::string& done) {
  const auto key = agent::read_secret_file(access.key_file);
  if (!key)
    return fail(key.error().message +
                "; it is the file behind the manager's --operator-key (default: "
                "DATA/operator.key)");
  auto client = ManagerClient::connect(access.url);
  if (!client) return fail(client.error());
  arguments["operator_key"] = key->reveal();
  auto answer = client->call(tool, arguments);
  if (!answer) return fail(answer.error(), exit_code_of(answer.error()));
  if (access.json) {
    print_json(*answer);
  } else {
    std::cout << safe_text(done) << '\n';
  }
  return 0;
}

}  // namespace league::tools
