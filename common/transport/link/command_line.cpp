#include "common/transport/link/command_line.h"

#include <utility>

namespace league::transport::link {

core::Result<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  char quote = '\0';
  for (std::size_t at = 0; at < command.size(); ++at) {
    char c = command[at];
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (c == '\\' && quote != '\'' && at + 1 < command.size()) {
      word.push_back(command[++at]);
      has_word = true;
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
      has_word = true;  // also of an empty pair of quotes
    } else if (quote == '\0' && (c == ' ' || c == '\t')) {
      if (has_word) words.push_back(std::exchange(word, {}));
      has_word = false;
    } else {
      word.push_back(c);
      has_word = true;
    }
  }
  if (has_word) words.push_back(std::move(word));
  if (quote != '\0' || words.empty() || words.front().empty()) {
    return core::Error{core::ErrorCode::kEndpointNotAllowed,
                       "the command \"" + std::string(command.substr(0, 80)) +
                           (quote != '\0' ? "\" has an open quote" : "\" names no program"),
                       {}};
  }
  return words;
}

}  // namespace league::transport::link
