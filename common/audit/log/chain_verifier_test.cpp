#include "common/audit/log/chain_verifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "common/audit/log/audit_log.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

using namespace std::chrono_literals;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return text;
}

/// A log of three segments that was renamed, started again, and closed in order.
class ChainVerifierTest : public ::testing::Test {
 protected:
  ChainVerifierTest() {
    path_ = *agent_log_path(directory_, "P01");
    core::CryptoRandom random;
    options_.key = std::make_shared<core::SigningKey>(core::SigningKey::generate(random));
    options_.writer = std::make_shared<LogWriter>();
    options_.agent = "player:alpha";
    run();
    run();
  }

  void run() {
    options_.path = directory_ / "agents" / "player_alpha.log.jsonl";
    auto log = std::move(AuditLog::open(options_, time_)).value();
    append(*log, 2);
    ASSERT_TRUE(log->retarget(path_, "player:P01", {"league_1"}));
    append(*log, 4);
    ASSERT_TRUE(log->seal_now(10s));
    append(*log, 4);
    log->close();
  }

  static void append(AuditLog& log, int count) {
    for (int i = 0; i < count; ++i) {
      record::Record record;
      record.body = "body " + std::to_string(i);
      log.append(std::move(record));
    }
  }

  [[nodiscard]] VerifiedChain verify() const {
    auto logs = find_log_segments(directory_);
    EXPECT_EQ(logs.size(), 1U);
    return verify_chain(logs.at(0));
  }

  /// The damage is found in `line` or beside it.
  void expect_fault(const std::filesystem::path& file, std::size_t line, const std::string& what) {
    auto chain = verify();
    bool located = std::ranges::any_of(chain.faults, [&](const LogFault& fault) {
      return fault.file == file.string() && fault.line + 1 >= line && fault.line <= line + 1;
    });
    EXPECT_TRUE(located) << what << " of line " << line << ": " << chain.faults.size()
                         << " faults elsewhere";
  }

  testing::FakeTime time_;
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
  std::filesystem::path path_;
  AuditLogOptions options_;
};

TEST_F(ChainVerifierTest, FindsNothingInAGoodLog) {
  auto chain = verify();
  for (const auto& fault : chain.faults) ADD_FAILURE() << fault.file << fault.line << fault.text;
  EXPECT_EQ(chain.records, 20U);
  EXPECT_EQ(chain.agent, "player:P01");
  EXPECT_EQ(chain.names, (std::set<std::string>{"player:P01", "player:alpha"}));
  EXPECT_TRUE(chain.closed);
  EXPECT_TRUE(chain.complete);
  EXPECT_EQ(chain.unsealed, 0U);
}

TEST_F(ChainVerifierTest, FindsEveryLineThatIsMissingExchangedOrAdded) {
  for (const auto& file : {segment_path(path_, 1), path_}) {
    std::string good = content(file);
    auto lines = split(good);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto damaged = lines;
      damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(i));
      write(file, join(damaged));
      // What is missing at the end of a segment shows where the next one names that end: in the
      // second header of a file that began under a temporary name.
      bool last_of_segment = i + 1 == lines.size() && file != path_;
      expect_fault(last_of_segment ? path_ : file, last_of_segment ? 4 : i + 1, "loss");
      damaged = lines;
      damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(i),
                     lines[(i * 5) % lines.size()]);
      write(file, join(damaged));
      expect_fault(file, i + 1, "addition");
      if (i == 0) continue;
      damaged = lines;
      std::swap(damaged[i - 1], damaged[i]);
      write(file, join(damaged));
      expect_fault(file, i, "exchange");
    }
    write(file, good);
  }
}

TEST_F(ChainVerifierTest, FindsWhereALogWasCutOff) {
  auto lines = split(content(path_));
  for (std::size_t left = 0; left < lines.size(); ++left) {
    auto cut = lines;
    cut.resize(left);
    write(path_, join(cut));
    expect_fault(path_, left, "cut");
    if (left == 0) continue;
    write(path_, join(cut).substr(0, join(cut).size() - 20));
    expect_fault(path_, left, "cut within the line");
  }
  std::filesystem::remove(path_);
  EXPECT_FALSE(verify().faults.empty());
}

TEST_F(ChainVerifierTest, FindsEachOfAThousandFlippedBits) {
  std::vector<std::filesystem::path> files = {segment_path(path_, 1), path_, seal_path(path_)};
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto& file = files[random() % files.size()];
    std::string good = content(file);
    std::string bad = good;
    std::size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    write(file, bad);
    auto line = static_cast<std::size_t>(std::count(
                    good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
                1;
    expect_fault(file, line, "flip at " + std::to_string(at));
    write(file, good);
  }
}

TEST_F(ChainVerifierTest, AProgramThatWasKilledLeavesNoFault) {
  options_.path = directory_ / "agents" / "player_alpha.log.jsonl";
  auto log = std::move(AuditLog::open(options_, time_)).value();
  ASSERT_TRUE(log->retarget(path_, "player:P01", {"league_1"}));
  append(*log, 3);
  ASSERT_TRUE(log->seal_now(10s));
  append(*log, 3);
  ASSERT_TRUE(log->flush(10s));
  // What the disk has now, and a part of a line.
  std::string now = content(path_);
  std::string seal = content(seal_path(path_));
  log->close();
  write(path_, now + R"({"seq":31,"ti)");
  write(seal_path(path_), seal);
  auto chain = verify();
  for (const auto& fault : chain.faults) ADD_FAILURE() << fault.file << fault.line << fault.text;
  EXPECT_EQ(chain.unsealed, 3U);
  EXPECT_TRUE(chain.torn);
  EXPECT_FALSE(chain.closed);
  run();  // the next process ends in order, but the last words of this one stay missing
  chain = verify();
  for (const auto& fault : chain.faults) ADD_FAILURE() << fault.file << fault.line << fault.text;
  EXPECT_TRUE(chain.closed);
  EXPECT_FALSE(chain.complete);
}

TEST_F(ChainVerifierTest, WhoseSealItIsMatters) {
  core::CryptoRandom random;
  auto lines = split(content(path_));
  auto other = core::SigningKey::generate(random);
  std::string seal = content(seal_path(path_));
  auto at = seal.find(options_.key->public_key());
  ASSERT_NE(at, seal.npos);
  seal.replace(at, 64, other.public_key());
  write(seal_path(path_), seal);
  EXPECT_EQ(verify().faults.at(0).rule, "seal.signature");
  std::filesystem::remove(seal_path(path_));
  EXPECT_EQ(verify().faults.at(0).rule, "seal.missing");
}

}  // namespace
}  // namespace league::audit::log
