#include "tools/league/new_bot/new_bot.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/core/file_descriptor.h"
#include "common/core/text.h"
#include "common/core/utf8.h"
#include "tools/league/new_bot/bot_files.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;
using core::Error;
using core::ErrorCode;

constexpr std::size_t kLongestBotName = 50;  ///< of a player

struct Language {
  std::string_view name;
  std::string_view example;
  std::string_view bot;
  std::string_view program;
  std::string_view library;
  std::string_view types;  ///< empty: the library has them
  std::string_view needs;
  /// Makes `library` a module for versions that do not find out; empty: not needed.
  std::string_view package;
};

constexpr std::array<Language, 2> kLanguages{{
    {"python", "example.py", "bot.py", "python3", "league_player.py", "", "Python 3.9 or later",
     ""},
    {"javascript", "example.mjs", "bot.mjs", "node", "league_player.js", "league_player.d.ts",
     "Node.js 18 or later", "{\n  \"private\": true,\n  \"type\": \"module\"\n}\n"},
}};

std::string bot_file(std::string_view name) {
  const auto files = bot_files();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return std::string(found->text);
}

Error bot_fault(std::string text) { return {ErrorCode::kInvalidFieldValue, std::move(text), {}}; }

core::Result<std::string> bot_name_of(const NewBot& bot) {
  const std::string name =
      bot.name.empty()
          ? fs::absolute(bot.directory / ".").lexically_normal().parent_path().filename().string()
          : bot.name;
  const bool has_control = std::ranges::any_of(
      name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  const std::size_t length = core::count_characters(name);
  if (core::is_utf8(name) && !has_control && length > 0 && length <= kLongestBotName) return name;
  return bot_fault(core::shown(name) +
                   " cannot be the name of a bot, which has 1 to 50 characters" +
                   (bot.name.empty() ? "; give it one with --name" : ""));
}

/// Fails if the directory exists and has files.
core::Result<void> check_bot_place(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) return {};
  fs::directory_iterator entries(directory, error);
  if (error) return bot_fault(directory.string() + " cannot be used: " + error.message());
  std::vector<std::string> present;
  for (const auto& entry : entries) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with('.')) present.push_back(std::move(name));
  }
  if (present.empty()) return {};
  std::ranges::sort(present);
  std::string text = directory.string() + " is not empty, and nothing is overwritten: it has " +
                     core::shown(present.front());
  if (present.size() > 1) text += " and " + std::to_string(present.size() - 1) + " more";
  return bot_fault(std::move(text));
}

core::Result<void> write_new(const fs::path& path, std::string_view text) {
  const auto failed = [&] {
    return bot_fault(path.string() +
                     " cannot be written: " + std::generic_category().message(errno));
  };
  const core::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return failed();
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno != EINTR) return failed();
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

std::string bot_readme(const Language& language, const std::string& name,
                       const std::string& command) {
  std::string text = bot_file("readme.txt");
  for (auto [what, with] : {std::pair<std::string_view, std::string_view>{"@NAME@", name},
                            {"@BOT@", language.bot},
                            {"@LIBRARY@", language.library},
                            {"@NEEDS@", language.needs},
                            {"@COMMAND@", command}})
    text = core::replaced(std::move(text), what, with);
  return core::replaced(std::move(text), "@TYPES@",
                        language.types.empty() ? language.library : language.types);
}

}  // namespace

core::Result<WrittenBot> write_bot(const NewBot& bot) {
  const auto* language = std::ranges::find(kLanguages, bot.language, &Language::name);
  if (language == kLanguages.end()) return bot_fault("the languages are python and javascript");
  auto name = bot_name_of(bot);
  if (!name) return name.error();
  if (auto place = check_bot_place(bot.directory); !place) return place.error();

  const std::string command = std::string(language->program) + " " + std::string(language->bot);
  // A text of JSON is one of both languages.
  std::string code =
      core::replaced(bot_file(language->example), "\"my-bot\"", nlohmann::json(*name).dump());
  code = core::replaced(std::move(code), language->example, language->bot);
  std::vector<std::pair<std::string_view, std::string>> files;
  files.emplace_back(language->bot, std::move(code));
  files.emplace_back(language->library, bot_file(language->library));
  if (!language->types.empty()) files.emplace_back(language->types, bot_file(language->types));
  if (!language->package.empty()) files.emplace_back("package.json", language->package);
  files.emplace_back("README.md", bot_readme(*language, *name, command));

  std::error_code error;
  fs::create_directories(bot.directory, error);
  if (error) return bot_fault(bot.directory.string() + " cannot be made: " + error.message());
  WrittenBot written{.name = std::move(*name), .files = {}, .command = command};
  for (const auto& [file, text] : files) {
    written.files.push_back(bot.directory / file);
    if (auto done = write_new(written.files.back(), text); !done) return done.error();
  }
  return written;
}

}  // namespace league::tools
