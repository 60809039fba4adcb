#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "tools/league/commands.h"
#include "tools/league/new_bot/new_bot.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

int make_bot(const NewBot& bot) {
  const auto written = write_bot(bot);
  if (!written) return fail(written.error());
  for (const auto& file : written->files) std::cout << safe_text(file.string()) << '\n';
  std::cout << "To play in a league: cd " << safe_text(bot.directory.string()) << " && "
            << written->command << " --manager http://localhost:8000" << std::endl;
  return 0;
}

}  // namespace

void add_new_bot_command(CLI::App& app, std::function<int()>& chosen) {
  auto bot = std::make_shared<NewBot>();
  CLI::App* command =
      app.add_subcommand("new-bot", "write a bot of ten lines, with the library that it needs");
  command->add_option("LANGUAGE", bot->language, "python or javascript")
      ->required()
      ->check(CLI::IsMember({"python", "javascript"}));
  command->add_option("DIR", bot->directory, "a directory that is new or empty")->required();
  command->add_option("--name", bot->name,
                      "the bot's name in the table of the league (that of the directory)");
  command->footer(
      "Examples:\n"
      "  league new-bot python my-bot\n"
      "  league new-bot javascript bots/clever --name \"Clever one\"\n"
      "The README.md that is written says how the bot is run and checked.\n"
      "Exit codes: 0 the bot is there, 2 wrong usage, a file is in the way, or the directory "
      "cannot be written.");
  agent::host::when_given(*command, chosen, [bot] { return make_bot(*bot); });
}

}  // namespace league::tools
