#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "game/judge.h"
#include "tools/league/audit_verify.h"

namespace league::tools {

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
  /// The report's result of a match that P02 lost by `code` at `call`.
  void lose(const std::string& termination, const std::string& call, const std::string& code);

  /// Writes everything into `directory`.
  void write(const std::filesystem::path& directory) const;
  /// `fault choice.differs`, `missing log.absent`, `incident log.tail_lost`, sorted, each once.
  [[nodiscard]] std::vector<std::string> found(const VerifyOptions& options = {}) const;

  std::map<std::string, std::string> headers;  ///< extra keys of the headers: `league_key`
  std::vector<std::string> unclosed;  ///< agents whose program was killed
  std::vector<std::string> absent;  ///< agents whose logs are not written
  bool has_results = true;  ///< data/results.json
  std::string seed = std::string(64, '5');
  std::string promised;
  std::map<std::string, std::string> choices{{"P01", "even"}, {"P02", "odd"}};
  std::map<std::string, std::string> nonces{{"P01", std::string(64, 'a')},
                                            {"P02", std::string(64, 'b')}};
  [[nodiscard]] std::string commitment(const std::string& player) const;

 private:
  void play();
  void register_all();
  void announce();
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
  std::int64_t now_us_ = 1'768'473'000'000'000;
};

}  // namespace league::tools
