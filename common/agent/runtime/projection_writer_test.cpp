#include "common/agent/runtime/projection_writer.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_directory.h"

namespace league::agent::runtime {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

std::string content_of(const fs::path& file) {
  std::stringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

ProjectionWriter::Render text(std::string content) {
  return [content = std::move(content)](core::DraftFile& draft) { return draft.write(content); };
}

/// Collects what a writer reports.
class Reports {
 public:
  void add(const std::optional<core::Error>& error) {
    std::lock_guard lock(mutex_);
    all_.push_back(error ? error->message : "well");
    changed_.notify_all();
  }
  /// Waits until there are so many; false if they do not come.
  [[nodiscard]] bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return all_.size() >= count; });
  }
  [[nodiscard]] std::vector<std::string> all() {
    std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

class ProjectionWriterTest : public ::testing::Test {
 protected:
  [[nodiscard]] ProjectionWriter::Options options(milliseconds interval) {
    ProjectionWriter::Options options;
    options.interval = interval;
    options.retry_interval = milliseconds(5);
    options.report = [this](const auto& error) { reports_.add(error); };
    return options;
  }

  testing::TemporaryDirectory directory_;
  const fs::path file_ = directory_.path() / "matches" / "L" / "R1M1.json";
  Reports reports_;
};

constexpr milliseconds kNever{3'600'000};

TEST_F(ProjectionWriterTest, WritesByItselfAndMakesDirectories) {
  ProjectionWriter writer(options(milliseconds(1)));
  std::condition_variable done;
  std::mutex mutex;
  bool is_rendered = false;
  writer.update({.path = file_}, [&](core::DraftFile& draft) {
    std::lock_guard lock(mutex);
    is_rendered = true;
    done.notify_all();
    return draft.write("content");
  });
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(done.wait_for(lock, std::chrono::seconds(20), [&] { return is_rendered; }));
  }
  writer.stop();
  EXPECT_EQ(content_of(file_), "content");
  EXPECT_EQ(std::distance(fs::directory_iterator(file_.parent_path()), {}), 1);
}

TEST_F(ProjectionWriterTest, OnlyTheNewestStateIsWritten) {
  ProjectionWriter writer(options(kNever));
  for (int i = 0; i < 100; ++i)
    writer.update({.path = file_, .is_precious = true}, text(std::to_string(i)));
  writer.stop();
  EXPECT_EQ(writer.written(), 1U);
  EXPECT_EQ(content_of(file_), "99");
}

TEST_F(ProjectionWriterTest, TakesItsTimeUntilTheLeagueIsOver) {
  auto slow = options(milliseconds(1));
  slow.share = 1e-9;
  std::mutex mutex;  // these outlive the writer, whose thread uses them
  std::condition_variable changed;
  int rendered = 0;
  ProjectionWriter writer(slow);
  auto render = [&](core::DraftFile& draft) {
    std::lock_guard lock(mutex);
    ++rendered;
    changed.notify_all();
    return draft.write("x");
  };
  auto wait_for = [&](int count, std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, longest, [&] { return rendered >= count; });
  };
  for (int i = 0; i < 3; ++i)
    writer.update({.path = directory_.path() / std::to_string(i)}, render);
  ASSERT_TRUE(wait_for(1, std::chrono::seconds(20)));
  EXPECT_FALSE(wait_for(2, milliseconds(50))) << "one file takes the share of a long time";
  writer.write_all_now();
  EXPECT_TRUE(wait_for(3, std::chrono::seconds(20)));
}

TEST_F(ProjectionWriterTest, JobsRunSoonWhateverTheyCostOrWhenItIsQuiet) {
  auto slow = options(milliseconds(1));
  slow.share = 1e-9;
  std::mutex mutex;  // these outlive the writer, whose thread uses them
  std::condition_variable changed;
  std::string done;
  ProjectionWriter writer(slow);
  auto job = [&](char name) {
    return [&, name]() -> core::Result<void> {
      std::lock_guard lock(mutex);
      done += name;
      changed.notify_all();
      return {};
    };
  };
  auto wait_for = [&](std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return done.size() >= count; });
  };
  writer.run("quiet", ProjectionWriter::When::kWhenQuiet, job('q'));
  ASSERT_TRUE(wait_for(1));
  for (std::size_t i = 2; i < 5; ++i) {  // the share of a long time is used up
    writer.run("soon", ProjectionWriter::When::kSoon, job('s'));
    ASSERT_TRUE(wait_for(i));
  }
  writer.run("quiet", ProjectionWriter::When::kWhenQuiet, job('-'));
  writer.run("quiet", ProjectionWriter::When::kWhenQuiet, job('Q'));
  writer.stop();
  EXPECT_EQ(done, "qsssQ");
}

TEST_F(ProjectionWriterTest, AfterTheStopNothingIsWritten) {
  ProjectionWriter writer(options(kNever));
  writer.stop();
  writer.update({.path = file_}, text("late"));
  writer.stop();
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(ProjectionWriterTest, AFailureIsReportedOnceAndTriedAgain) {
  std::ofstream(directory_.path() / "matches") << "in the way";
  ProjectionWriter writer(options(milliseconds(1)));
  writer.update({.path = file_}, text("old"));
  ASSERT_TRUE(reports_.wait_for(1));
  EXPECT_NE(reports_.all()[0].find("R1M1.json: Not a directory"), std::string::npos)
      << reports_.all()[0];
  writer.update({.path = file_}, text("new"));
  fs::remove(directory_.path() / "matches");
  ASSERT_TRUE(reports_.wait_for(2));
  EXPECT_EQ(reports_.all()[1], "well");
  writer.stop();
  EXPECT_EQ(content_of(file_), "new");
  EXPECT_EQ(reports_.all().size(), 2U);
}

TEST_F(ProjectionWriterTest, WhatCannotBeWrittenAtTheEndIsReported) {
  std::ofstream(directory_.path() / "matches") << "in the way";
  ProjectionWriter writer(options(kNever));
  writer.update({.path = file_}, text("x"));
  writer.update({.path = directory_.path() / "good"}, text("y"));
  writer.stop();
  EXPECT_EQ(reports_.all().size(), 1U);
  EXPECT_EQ(writer.failed(), 1U);
  EXPECT_EQ(content_of(directory_.path() / "good"), "y");
}

TEST_F(ProjectionWriterTest, AHalfWrittenFileNeverReplacesTheOldOne) {
  fs::create_directories(file_.parent_path());
  std::ofstream(file_) << "whole";
  ProjectionWriter writer(options(kNever));
  writer.update({.path = file_}, [](core::DraftFile& draft) -> core::Result<void> {
    if (auto written = draft.write("hal"); !written) return written;
    return core::Error{core::ErrorCode::kInternalError, "no space left", ""};
  });
  writer.stop();
  EXPECT_EQ(content_of(file_), "whole");
  EXPECT_EQ(std::distance(fs::directory_iterator(file_.parent_path()), {}), 1);
}

}  // namespace
}  // namespace league::agent::runtime
