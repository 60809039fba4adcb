#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/check/change.h"
#include "tools/check/player/player_bench.h"
#include "tools/check/verdict.h"

namespace league::tools::check {

using Checks = std::vector<Check>;
using enum Level;

// What few cases have; may be combined with `|`.
inline constexpr unsigned kBasic = 1;  ///< CheckInfo::is_basic
inline constexpr unsigned kAlways = 2;  ///< not CheckInfo::needs_play
inline constexpr unsigned kNeedsWord = 4;  ///< CheckInfo::needs_word
inline constexpr unsigned kSlow = 8;  ///< CheckInfo::is_slow
inline constexpr unsigned kLast = 16;  ///< CheckInfo::is_last

[[nodiscard]] CheckInfo case_info(std::string id, Level level, std::string text, std::string fix,
                                  unsigned traits = 0);

/// A case that a function with a bench of type `Bench` tries.
template <typename Bench>
struct Probe {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  Verdict (*run)(Bench&);
  unsigned traits = 0;
};

/// Says why a bench cannot try some cases, so that they are skipped; empty: it can.
template <typename Bench>
using Obstacle = std::string (*)(Bench&);

/// Adds the cases of a table, which `run` tries with the bench and their row, and which all have
/// `traits` besides their own. All arguments outlive the checks.
template <typename Bench, typename Row>
void add_cases(Bench& bench, std::span<const Row> rows, Checks& out,
               Verdict (*run)(std::type_identity_t<Bench>&, const std::type_identity_t<Row>&),
               std::type_identity_t<Obstacle<Bench>> obstacle = nullptr, unsigned traits = 0) {
  for (const Row& row : rows) {
    out.push_back({case_info(row.id, row.level, row.text, row.fix, row.traits | traits),
                   [&bench, &row, run, obstacle] {
                     std::string why = obstacle == nullptr ? std::string() : obstacle(bench);
                     return why.empty() ? run(bench, row) : skip(std::move(why));
                   }});
  }
}

template <typename Bench>
void add_probes(Bench& bench, std::span<const std::type_identity_t<Probe<Bench>>> probes,
                Checks& out, std::type_identity_t<Obstacle<Bench>> obstacle = nullptr) {
  add_cases(
      bench, probes, out, [](Bench& with, const Probe<Bench>& probe) { return probe.run(with); },
      obstacle);
}

/// What a field has to be: a value in JSON, which may be `"$NAME"`, or whatever `is_right` takes.
struct Wanted {
  constexpr Wanted(const char* as_json) : json(as_json) {}
  constexpr Wanted(bool (*predicate)(const nlohmann::json&)) : is_right(predicate) {}

  const char* json = nullptr;
  bool (*is_right)(const nlohmann::json&) = nullptr;

  [[nodiscard]] bool takes(const nlohmann::json& value, const Names& names) const;
};

// What `Wanted` may be.
[[nodiscard]] bool is_any_text(const nlohmann::json& value);
[[nodiscard]] bool is_time(const nlohmann::json& value);
/// A text of 1 to 200 bytes, which is what 50 characters may need.
[[nodiscard]] bool is_short_name(const nlohmann::json& value);
/// Whether it is `MAJOR.MINOR.PATCH`, perhaps with an addition.
[[nodiscard]] bool is_semver(const nlohmann::json& value);
/// An array that contains the tested game.
[[nodiscard]] bool has_tested_game(const nlohmann::json& value);

/// `pass` if the bot accepts the invitation, otherwise the failure.
[[nodiscard]] Verdict expect_accepted(const BotReply& reply, const std::string& why);
/// `pass` if the bot makes a choice, otherwise the failure.
[[nodiscard]] Verdict expect_choice(const BotReply& reply, const std::string& why);
/// Expects `is_right` of a field of the message in the answer; `expected` describes its value.
[[nodiscard]] Verdict expect_field(bool is_right, const BotReply& reply, const std::string& field,
                                   std::string expected);
/// `pass` if both answers have the same choice_commitment; `expected` describes the first.
[[nodiscard]] Verdict expect_same_commitment(const BotReply& first, const BotReply& second,
                                             const std::string& expected);
/// `pass` for a JSON-RPC error, whatever its code.
[[nodiscard]] Verdict expect_refused(const BotReply& reply, const std::string& why);
/// `pass` for any result without an error, or an empty 2xx body.
[[nodiscard]] Verdict expect_acknowledged(const BotReply& reply);
/// `pass` if `secret` is not in the answer; `pointer`, `expected` and `got` as in `fail`.
[[nodiscard]] Verdict expect_untold(const BotReply& reply, std::string_view secret,
                                    std::string pointer, std::string expected, std::string got);
/// `pass` if the bot accepts an ordinary invitation now; otherwise a failure that shows `before`.
[[nodiscard]] Verdict expect_alive(PlayerBench& bench, const BotReply& before);
/// Obstacles: why a case cannot be tried with a bot that has no address of HTTP, or no token.
[[nodiscard]] std::string only_over_http(PlayerBench& bench);
[[nodiscard]] std::string only_with_token(PlayerBench& bench);
/// Why a check of receipts is skipped.
inline constexpr const char* kNoReceipts =
    "the bot does not declare receipts (player_meta.receipts) at this checker";
/// An obstacle: empty if the bot gives receipts.
[[nodiscard]] std::string only_with_receipts(PlayerBench& bench);
/// Announces `match` to the bot, with the commitment to its seed.
void announce(PlayerBench& bench, const TestMatch& match);
/// `pass` if the receipts in both answers of `game` are right, otherwise the failure.
[[nodiscard]] Verdict expect_receipts(PlayerBench& bench, const PlayedGame& game);
inline constexpr const char* kOnlyHttpHasNoIds =
    "this can be checked over HTTP only, because other transports find the answer by its id";
/// Sends `bytes` over HTTP as they are, then expects the bot to play on; skipped for a bot without
/// HTTP. `id`: of the request in `bytes`.
[[nodiscard]] Verdict survive_bytes(PlayerBench& bench, const std::string& bytes,
                                    const rpc::Id& id = rpc::Id(1));
/// A call to the checker, as evidence; null: there was none.
[[nodiscard]] Exchange seen_call(const InboundCall* call);
/// `"abc"`, `7`, `missing`; at most 80 characters.
[[nodiscard]] std::string shown_value(const nlohmann::json& object, const std::string& field);
/// The value of `field` in an answer; if there is none, a description of the answer.
[[nodiscard]] std::string shown_field(const BotReply& reply, const std::string& field);
/// Why a league refuses an answer; if it gives no reason, as shown_field.
[[nodiscard]] std::string shown_fault(const BotReply& reply, const std::string& field);
/// The first 120 characters of an answer, or the reason why there is none.
[[nodiscard]] std::string shown_answer(const BotReply& reply);

/// A case that is decided by one field of a message.
struct FieldCase {
  const char* id;
  Level level;
  const char* text;
  const char* fix;
  const char* field;  ///< a JSON pointer without the first slash
  Wanted wanted;
  const char* expected = nullptr;  ///< for the verdict; null: `text`
  unsigned traits = 0;
};

/// Judges the field of `message`, which is at `place` of what came. `expected` of the verdict is
/// `expected`, or what the row says.
[[nodiscard]] Verdict judge_field(const FieldCase& row, const nlohmann::json& message,
                                  const Names& names, Exchange exchange, const std::string& place,
                                  const char* expected = nullptr);

/// The same of a field of the request with which an agent has registered.
[[nodiscard]] Verdict judge_registered(const FieldCase& row, const InboundCall& call);

}  // namespace league::tools::check
