#include <algorithm>
#include <fstream>
#include <set>

#include "common/audit/record/log_chain.h"
#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "tests/support/temporary_directory.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/league_testing.h"

namespace league::tools::auditor {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

fs::path log_path_of(const std::string& agent) {
  return agent == "league_manager" ? "logs/league/l/league.log.jsonl"
                                   : "logs/agents/" + id_of(agent) + ".log.jsonl";
}

}  // namespace

core::UtcTimestamp test_time(std::int64_t us) {
  return core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::microseconds(us)));
}

const core::SigningKey& test_key_of(const std::string& agent) {
  static std::map<std::string, core::SigningKey> keys;
  if (auto found = keys.find(agent); found != keys.end()) return found->second;
  core::CryptoRandom random;
  return keys.emplace(agent, core::SigningKey::generate(random)).first->second;
}

std::string TestLeague::text_of(const std::string& agent, const fs::path& seal_path) const {
  const core::SigningKey& key = test_key_of(agent);
  audit::record::LogChain chain;
  std::string out;
  auto add = [&](const ordered_json& line) {
    std::size_t begin = out.size();
    std::string text = line.dump();
    out.append(text, 0, text.size() - 1);
    chain.close_line(begin, out);
  };
  ordered_json header = {
      {"format", "league.conversation-log"}, {"version", version}, {"agent", agent}};
  for (const auto& [name, value] : headers) header[name] = value;
  header["created"] = test_time(now_us_).to_log();
  header["segment"] = 1;
  header["first_seq"] = 1;
  header["public_key"] = key.public_key();
  header["starts"] = true;
  add(header);
  std::uint64_t seq = 0;
  auto put_seal = [&](bool closed) {
    audit::record::Seal seal{.agent = agent,
                             .seq = seq,
                             .time = test_time(now_us_),
                             .closed = closed,
                             .head = chain.hash(),
                             .signature = {}};
    seal.signature = core::to_hex(key.sign(audit::record::signed_text(seal)));
    ordered_json line = {{"seal", seq}, {"time", seal.time.to_log()}};
    if (closed) line["closed"] = true;
    line["signature"] = seal.signature;
    add(line);
    std::ofstream(seal_path, std::ios::binary)
        << audit::record::seal_file_text(seal, key.public_key());
  };
  std::int64_t unsealed_ns = 0;
  for (const TestRecord& record : logs_.at(agent)) {
    const auto mono_ns = number_at(record.fields, "mono_ns").value_or(0);
    constexpr std::int64_t kInterval = 5'000'000'000;
    if (seals && unsealed_ns != 0 && mono_ns - unsealed_ns > kInterval) {
      put_seal(false);
      unsealed_ns = 0;
    }
    if (unsealed_ns == 0) unsealed_ns = mono_ns;
    ordered_json line = {{"seq", ++seq}};
    line.update(record.fields);
    constexpr int kFirstThatSays = 3;
    const std::string& sender = text_at(record.message, "sender");
    if (version >= kFirstThatSays && line["dir"] == "in" && line["peer"] == sender)
      line["said_by"] = sender;
    if (!record.message.is_null()) {
      json frame = {{"jsonrpc", "2.0"}, {"id", 1}};
      frame[record.is_reply ? "result" : "params"] = record.message;
      if (!record.is_reply && text_at(record.message, "message_type").starts_with("get_"))
        frame["method"] = text_at(record.message, "message_type");  // a tool that is no message
      std::string raw = frame.dump();
      if (!line.contains("raw_sha256")) line["raw_sha256"] = core::to_hex(core::sha256(raw));
      line["raw"] = raw;
    }
    add(line);
  }
  if (std::ranges::find(unclosed, agent) != unclosed.end()) return out;
  if (agent == "league_manager") {
    for (const ordered_json& line : notes) add(line);
  }
  put_seal(true);
  return out;
}

void TestLeague::write(const fs::path& directory) const {
  for (const auto& [agent, log] : logs_) {
    if (std::ranges::find(absent, agent) != absent.end()) continue;
    fs::path path = directory / log_path_of(agent);
    fs::create_directories(path.parent_path());
    std::string seal = path.string();
    seal.replace(seal.size() - 10, 10, ".seal.json");
    std::ofstream(path, std::ios::binary) << text_of(agent, seal);
  }
  for (const auto& [path, content] : files) {
    fs::create_directories((directory / path).parent_path());
    std::ofstream(directory / path)
        << (content.is_string() ? content.get<std::string>() : content.dump());
  }
  if (!has_results) return;
  fs::create_directories(directory / "data");
  json rows = json::array();
  for (const TestRecord& record : logs_.at("league_manager")) {
    if (text_at(record.message, "message_type") != "MATCH_RESULT_REPORT") continue;
    if (!rows.empty() && given_up_.is_null()) continue;
    rows.clear();
    const json& score = field_at(field_at(record.message, "result"), "score");
    auto a = number_at(score, "P01"), b = number_at(score, "P02");
    rows.push_back({{"match_id", "R1M1"},
                    {"outcome", a == 3   ? "A"
                                : b == 3 ? "B"
                                : a == 1 ? "DRAW"
                                         : "NONE"},
                    {"by", "REPORT"}});
    rows.back().update(kept_row);
  }
  json content = {{"format", "league.results"}, {"version", 1}, {"results", rows}};
  if (!given_up_.is_null()) content["given_up"] = given_up_;
  content.update(kept);
  std::ofstream(directory / "data" / "results.json") << content;
}

std::vector<std::string> TestLeague::found(const VerifyOptions& options) const {
  const league::testing::TemporaryDirectory temporary;
  write(temporary.path());
  auto report = verify_directory(temporary.path(), options);
  if (!report) return {report.error().message};
  std::set<std::string> rules;
  for (const auto& one : report->faults) rules.insert("fault " + one.rule);
  for (const auto& one : report->missing) rules.insert("missing " + one.rule);
  for (const auto& one : report->incidents) rules.insert("incident " + one.rule);
  return {rules.begin(), rules.end()};
}

}  // namespace league::tools::auditor
