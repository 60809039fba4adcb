#include "tools/bench/bench_work.h"

#include <gtest/gtest.h>

#include <set>

namespace league::tools::bench {
namespace {

TEST(BenchWork, EveryKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (WorkKind kind : kAllWorkKinds) {
    EXPECT_FALSE(work_text(kind).empty());
    names.insert(work_name(kind));
  }
  EXPECT_EQ(names.size(), kAllWorkKinds.size());
}

TEST(BenchWork, AFunctionOfOursBelongsToItsNamespace) {
  EXPECT_EQ(work_of_function("league::transport::front::HttpFront::sweep()"), WorkKind::kTransport);
  EXPECT_EQ(work_of_function("league::audit::record::(anonymous namespace)::Finder::find()"),
            WorkKind::kLog);
  EXPECT_EQ(work_of_function("league::league_manager::Ledger::append(int)"), WorkKind::kLeague);
  EXPECT_EQ(work_of_function("league::core::sha256(std::string_view)"), WorkKind::kBasics);
}

TEST(BenchWork, AnIdOrAResultDoesNotSayWhoseAFunctionIs) {
  EXPECT_EQ(work_of_function("league::core::Result<int> league::envelope::decode<int>(int)"),
            WorkKind::kProtocol);
}

TEST(BenchWork, ATemplateForATypeOfOursBelongsToTheType) {
  EXPECT_EQ(work_of_function("std::vector<league::audit::record::Record>::push_back()"),
            WorkKind::kLog);
  EXPECT_EQ(work_of_function("std::vector<int>::push_back(int const&)"), WorkKind::kContainers);
}

TEST(BenchWork, JsonIsParsedValidatedAndWritten) {
  EXPECT_EQ(work_of_function("league::schema::parse_json(std::string_view)"), WorkKind::kParse);
  EXPECT_EQ(work_of_function("league::schema::CompiledSchema::is_valid() const"),
            WorkKind::kValidate);
  EXPECT_EQ(work_of_function("league::schema::append_json_string(std::string&)"),
            WorkKind::kEncode);
  EXPECT_EQ(
      work_of_function("nlohmann::json_abi::detail::serializer<nlohmann::basic_json>::dump()"),
      WorkKind::kEncode);
  EXPECT_EQ(work_of_function("nlohmann::json_abi::basic_json<std::map>::basic_json()"),
            WorkKind::kJson);
}

TEST(BenchWork, ALibraryIsKnownByItsFile) {
  EXPECT_EQ(work_of_library("libcrypto.so.3"), WorkKind::kCrypto);
  EXPECT_EQ(work_of_library("libc.so.6"), WorkKind::kLibrary);
  EXPECT_EQ(work_of_library("libcpp-httplib.so.0.11.4"), WorkKind::kTransport);
}

TEST(BenchWork, WhatIsUnknownIsOther) {
  EXPECT_EQ(work_of_library("libunheard.so.1"), WorkKind::kOther);
  EXPECT_EQ(work_of_function("main"), WorkKind::kOther);
  EXPECT_EQ(work_of_function("league::tools::bench::run_bench()"), WorkKind::kOther);
}

}  // namespace
}  // namespace league::tools::bench
