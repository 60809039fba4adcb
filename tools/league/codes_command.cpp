#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/agent/identity/code_table.h"
#include "common/core/crypto.h"
#include "common/core/private_file.h"
#include "common/core/random_source.h"
#include "tools/league/commands.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

struct CodesOptions {
  std::filesystem::path names;
  std::filesystem::path codes = "codes.csv";
  std::string who;
  bool json = false;
};

int write_table(const CodesOptions& options, const agent::identity::CodeTable& table) {
  auto written = core::write_private_file(options.codes, table.text());
  return written ? 0 : fail(written.error());
}

/// 80 random bits in groups that can be read aloud: `mfrg-g2lt-n5xc-4y3p`.
core::AuthToken fresh_code(core::RandomSource& random) {
  constexpr std::size_t kBytes = 10;
  constexpr std::size_t kGroup = 5;
  std::string code = core::to_base32(random.bytes<kBytes>());
  for (std::size_t at = kGroup - 1; at < code.size(); at += kGroup) code.insert(at, "-");
  return core::AuthToken(std::move(code));
}

int make(const CodesOptions& options) {
  const bool is_there = std::filesystem::exists(options.codes);
  if (!is_there && options.names.empty())
    return fail(options.codes.string() +
                    ": this file does not exist; use --names FILE to say who gets a code",
                2);
  auto names = options.names.empty() ? agent::identity::CodeTable::read(options.codes)
                                     : agent::identity::CodeTable::read_names(options.names);
  if (!names) return fail(names.error());
  auto table = is_there ? agent::identity::CodeTable::read(options.codes) : names;
  if (!table) return fail(table.error());
  table->add_missing(*names);
  core::CryptoRandom random;
  std::size_t made = 0;
  for (std::size_t row = 0; row < table->rows().size(); ++row) {
    if (!table->rows()[row].code.empty()) continue;
    table->set_code(row, fresh_code(random));
    ++made;
  }
  if (const int failed = write_table(options, *table)) return failed;
  if (options.json) {
    print_json(nlohmann::json{{"made", made},
                              {"players", table->rows().size()},
                              {"unknown_columns", names->unknown_columns()}});
    return 0;
  }
  if (const auto unknown = names->unknown_columns(); !unknown.empty()) {
    std::string text;
    for (const std::string& name : unknown) text += (text.empty() ? "" : ", ") + safe_text(name);
    std::cerr << "note: the league does not use these columns, and keeps them in the file: " << text
              << '\n';
  }
  std::cout << safe_text(options.codes.string()) << ": " << made
            << (made == 1 ? " new code, " : " new codes, ") << table->rows().size()
            << (table->rows().size() == 1 ? " player" : " players")
            << " in total. Give each player only the code of its own line.\n"
            << "Start the manager with --registration-codes " << safe_text(options.codes.string())
            << "; a running manager rereads the file within a second." << std::endl;
  return 0;
}

int revoke(const CodesOptions& options) {
  auto table = agent::identity::CodeTable::read(options.codes);
  if (!table) return fail(table.error());
  std::optional<std::size_t> found = table->find_name(options.who);
  for (std::size_t row = 0; row < table->rows().size() && !found; ++row) {
    const core::AuthToken& code = table->rows()[row].code;
    const std::string typed = agent::identity::comparable_code(options.who);
    if (!code.empty() && agent::identity::comparable_code(code.reveal()) == typed) found = row;
  }
  if (!found) return fail(options.codes.string() + ": no line has this code or name", 1);
  const agent::identity::CodeRow row = table->rows()[*found];
  if (row.code.empty()) return fail("\"" + row.name + "\" has no code", 1);
  table->set_code(*found, {});
  if (const int failed = write_table(options, *table)) return failed;
  if (options.json) {
    print_json(nlohmann::json{{"revoked", row.name}});
    return 0;
  }
  std::cout << "The code of \"" << safe_text(row.name)
            << "\" is revoked; a running manager refuses it within a second.\n"
            << "A player that has registered with it stays registered; to remove it, use league "
               "admin remove. To make a new code: "
            << "league admin codes make --codes " << safe_text(options.codes.string()) << std::endl;
  return 0;
}

}  // namespace

void add_codes_commands(CLI::App& admin, ChosenCommand& chosen) {
  CLI::App* codes = admin.add_subcommand(
      "codes",
      "make and revoke registration codes, in the file of the manager's --registration-codes");
  codes->require_subcommand(1);
  auto options = std::make_shared<CodesOptions>();
  const auto add = [&](const char* name, const char* about, int (*run)(const CodesOptions&)) {
    CLI::App* command = codes->add_subcommand(name, about);
    command
        ->add_option("--codes", options->codes,
                     "file of codes (mode 0600): CSV with the columns code, name, team, email and "
                     "any others")
        ->capture_default_str();
    command->add_flag("--json", options->json, "print one JSON object for machines");
    agent::host::when_given(*command, chosen, [options, run] { return run(*options); });
    return command;
  };
  CLI::App* making = add("make", "give a code to everybody who has none", &make);
  making->add_option("--names", options->names,
                     "CSV file with the column name, and optionally team and email; people who are "
                     "not in the file of codes are added to it");
  making->footer(
      "Example:\n"
      "  league admin codes make --names course.csv --codes codes.csv\n"
      "  league_manager --players 30 --registration-codes codes.csv\n"
      "Existing codes are kept. Exit codes: 0 the file was written, 2 a file cannot be read or "
      "written.");
  CLI::App* revoking = add("revoke", "revoke a code", &revoke);
  revoking->add_option("WHO", options->who, "the code, or the name for which it was made")
      ->required();
  revoking->footer(
      "Example:\n"
      "  league admin codes revoke 'Ann Author'\n"
      "Exit codes: 0 the code was revoked, 1 there is no such code or name, 2 the file cannot be "
      "read or written.");
}

}  // namespace league::tools
