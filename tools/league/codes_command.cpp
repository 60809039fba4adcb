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

int fail(const std::string& message, int exit_code) {
  std::cerr << "error: " << safe_text(message) << '\n';
  return exit_code;
}

int write_table(const CodesOptions& options, const agent::CodeTable& table) {
  auto written = core::write_private_file(options.codes, table.text());
  return written ? 0 : fail(written.error().message, 2);
}

/// 80 random bits in groups that can be read out: `mfrg-g2lt-n5xc-4y3p`.
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
                    ": there is no such file; --names FILE says who is to get "
                    "a code",
                2);
  auto names = options.names.empty() ? agent::CodeTable::read(options.codes)
                                     : agent::CodeTable::read_names(options.names);
  if (!names) return fail(names.error().message, 2);
  auto table = is_there ? agent::CodeTable::read(options.codes) : names;
  if (!table) return fail(table.error().message, 2);
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
    std::cout << nlohmann::json{{"made", made}, {"players", table->rows().size()}} << std::endl;
    return 0;
  }
  std::cout << safe_text(options.codes.string()) << ": " << made << " new codes, "
            << table->rows().size() << " players in all. Give each its own line's code only.\n"
            << "Start the manager with --registration-codes " << safe_text(options.codes.string())
            << "; one that runs reads the file again within a second." << std::endl;
  return 0;
}

int revoke(const CodesOptions& options) {
  auto table = agent::CodeTable::read(options.codes);
  if (!table) return fail(table.error().message, 2);
  std::optional<std::size_t> found = table->find_name(options.who);
  for (std::size_t row = 0; row < table->rows().size() && !found; ++row) {
    if (table->rows()[row].code.matches(options.who)) found = row;
  }
  if (!found) return fail(options.codes.string() + ": nobody in it has this code or name", 1);
  const agent::CodeRow row = table->rows()[*found];
  if (row.code.empty()) return fail("\"" + row.name + "\" has no code", 1);
  table->set_code(*found, {});
  if (const int failed = write_table(options, *table)) return failed;
  if (options.json) {
    std::cout << nlohmann::json{{"revoked", row.name}}.dump(
                     -1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
    return 0;
  }
  std::cout
      << "The code of \"" << safe_text(row.name) << "\" is good for nothing any more, within "
      << "a second also where a manager runs.\n"
      << "Whoever has registered with it stays: league admin shut-down ends that. A new code: "
      << "league admin codes make --codes " << safe_text(options.codes.string()) << std::endl;
  return 0;
}

}  // namespace

void add_codes_commands(CLI::App& admin, ChosenCommand& chosen) {
  CLI::App* codes = admin.add_subcommand(
      "codes",
      "make and revoke the codes with which players register, in the file behind the "
      "manager's --registration-codes");
  codes->require_subcommand(1);
  auto options = std::make_shared<CodesOptions>();
  const auto add = [&](const char* name, const char* about, int (*run)(const CodesOptions&)) {
    CLI::App* command = codes->add_subcommand(name, about);
    command
        ->add_option("--codes", options->codes,
                     "the file (mode 0600): CSV with the columns code, name, team, email and any "
                     "others")
        ->capture_default_str();
    command->add_flag("--json", options->json, "print one JSON object for machines");
    command->callback(
        [options, &chosen, run] { chosen = [options, run] { return run(*options); }; });
    return command;
  };
  CLI::App* making = add("make", "give everybody a code who has none", &make);
  making->add_option("--names", options->names,
                     "CSV file with the column name, and team and email where you have them: who "
                     "is not in the file of codes is added");
  making->footer(
      "Example:\n"
      "  league admin codes make --names course.csv --codes codes.csv\n"
      "  league_manager --players 30 --registration-codes codes.csv\n"
      "Codes that are there stay. Exit codes: 0 the file is written, 2 a file cannot be used.");
  CLI::App* revoking = add("revoke", "take a code away", &revoke);
  revoking->add_option("WHO", options->who, "the code, or the name it was made for")->required();
  revoking->footer(
      "Example:\n"
      "  league admin codes revoke 'Ann Author'\n"
      "Exit codes: 0 the code is revoked, 1 there is no such code or name, 2 the file cannot be "
      "used.");
}

}  // namespace league::tools
