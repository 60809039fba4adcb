#include "player/service/registration_code.h"

#include "common/agent/identity/code_table.h"
#include "common/core/private_file.h"
#include "common/core/text.h"

namespace league::player::service {

core::Result<core::AuthToken> read_registration_code(const std::filesystem::path& file,
                                                     const std::string& name) {
  if (file.empty()) return core::AuthToken();
  auto failed = [&file](const std::string& why) {
    return core::Error{core::ErrorCode::kInternalError, file.string() + ": " + why, ""};
  };
  auto content = core::read_private_file(file);
  // A failed read is no error yet: a list can be longer than a private file, and CodeTable reads it
  // or reports the error.
  if (content && !*content) return failed("there is no such file");
  if (content) {
    // A code alone; a list has separators, or a second line.
    const std::string_view line = core::secret_line(**content);
    const bool is_list =
        core::trimmed(**content, " \t\r\n").find_first_of(",;\t\n") != std::string::npos;
    if (!line.empty() && !is_list) return core::AuthToken(std::string(line));
  }
  auto table = agent::identity::CodeTable::read(file);
  if (!table) return table.error();
  const auto row = table->find_name(name);
  if (!row || table->rows()[*row].code.empty())
    return failed("there is no registration code for \"" + name + "\" in it");
  return table->rows()[*row].code;
}

}  // namespace league::player::service
