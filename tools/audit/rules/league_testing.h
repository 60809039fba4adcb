#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/signing_key.h"
#include "common/core/timestamp.h"
#include "game/judge.h"
#include "tools/audit/rules/audit_verify.h"

namespace league::tools::auditor {

/// The key with which an agent of a test seals its log.
[[nodiscard]] const core::SigningKey& test_key_of(const std::string& agent);
/// So many microseconds after 1970.
[[nodiscard]] core::UtcTimestamp test_time(std::int64_t us);

/// A message in one log, before it is written. The two sides of a message are two of these.
struct TestRecord {
  nlohmann::ordered_json fields;
  nlohmann::json message;  ///< null: a failure
  bool is_reply = false;
};

/// The logs of an honest league of REF01, P01 and P02 that play R1M1 with commitments, made by hand
/// so that a test can change anything before it is written. Every log is closed in order and sealed
/// with its owner's key unless a test says otherwise.
class TestLeague {
 public:
  /// `commits`: who commits. `is_old`: as logs were before they had `call` and `league_key`.
  explicit TestLeague(std::vector<std::string> commits = {"P01", "P02"}, bool is_old = false);

  [[nodiscard]] std::vector<TestRecord>& log(const std::string& agent) { return logs_[agent]; }
  /// Changes the message of every record of that type; in the log of `agent` only, unless empty.
  void change(const std::string& agent, const std::string& type,
              const std::function<void(nlohmann::json&)>& change);
  /// Takes records of that type, and their answers, out of one log.
  void drop(const std::string& agent, const std::string& type);
  /// A request and its answer, in the logs of both; null: a failure. Who has no log writes none.
  void call(const std::string& from, const std::string& to, const nlohmann::json& request,
            const nlohmann::json& reply);
  [[nodiscard]] nlohmann::json message(const std::string& type, const std::string& sender) const;
  void wait(std::int64_t milliseconds) { now_us_ += milliseconds * 1000; }
  /// The steps of the match, which the constructor has played once: the announcement of `promised`,
  /// invitations and choices in `conversation`, the report of `attempt`.
  void announce();
  void invite_and_choose();
  void report();
  /// GAME_OVER to both players, with the result that the referee reports.
  void end_match();
  /// P01 disputes the match, and the manager notes it.
  void dispute();
  /// Another seed, and its promise.
  void set_seed(const std::string& hexadecimal);
  /// The operator goes on from an older journal with so many results (data/results.json says it).
  void give_up(std::size_t kept_results);
  /// The report's result of a match that P02 lost by `code` at `call`.
  void lose(const std::string& termination, const std::string& call, const std::string& code);

  /// Writes everything into `directory`.
  void write(const std::filesystem::path& directory) const;
  /// `fault choice.differs`, `missing log.absent`, `incident log.tail_lost`, sorted, each once.
  [[nodiscard]] std::vector<std::string> found(const VerifyOptions& options = {}) const;

  /// More keys of the headers: `league_id`, `league_key`.
  std::map<std::string, std::string> headers;
  std::vector<std::string> unclosed;  ///< agents whose program was killed
  std::vector<std::string> absent;  ///< agents whose logs are not written
  bool has_results = true;  ///< data/results.json
  nlohmann::json kept = nlohmann::json::object();  ///< more keys of data/results.json
  nlohmann::json kept_row = nlohmann::json::object();  ///< more keys of its row for R1M1
  bool seals = true;  ///< in time, not only at the end
  int version = 2;  ///< of the logs' format; from 3 on, each request says who said it
  std::vector<nlohmann::ordered_json> notes;  ///< lines at the end of the manager's log
  std::string seed = std::string(64, '5');
  std::string promised;
  std::string conversation = "convr1m1001";
  int attempt = 1;
  std::map<std::string, std::int64_t> clocks_us;  ///< how far the clock of an agent is ahead
  std::map<std::string, nlohmann::json> files;  ///< more of them, by path; a string is the text
  std::map<std::string, std::string> choices{{"P01", "even"}, {"P02", "odd"}};
  std::map<std::string, std::string> nonces{{"P01", std::string(64, 'a')},
                                            {"P02", std::string(64, 'b')}};
  [[nodiscard]] std::string commitment(const std::string& player) const;

 private:
  void register_all();
  [[nodiscard]] nlohmann::json result() const;
  TestRecord& note(const std::string& agent, const char* dir, const char* kind,
                   const std::string& peer, const nlohmann::json& request,
                   const nlohmann::json& message, int number);
  [[nodiscard]] std::string text_of(const std::string& agent,
                                    const std::filesystem::path& seal) const;

  std::vector<std::string> commits_;
  bool is_old_;
  std::map<std::string, std::vector<TestRecord>> logs_;
  std::map<std::string, int> numbers_;
  nlohmann::json given_up_;  ///< null: nothing
  std::int64_t now_us_ = 1'768'473'000'000'000;
};

}  // namespace league::tools::auditor
