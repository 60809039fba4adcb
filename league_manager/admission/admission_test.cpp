#include "league_manager/admission/admission.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::league_manager {
namespace {

using rpc::TransportContext;
using rpc::TransportType;

TransportContext from(const std::string& remote, TransportType type = TransportType::kHttp) {
  TransportContext context;
  context.type = type;
  auto connection = std::make_shared<rpc::ConnectionInfo>();
  connection->remote_address = remote;
  context.connection = std::move(connection);
  return context;
}

TransportContext relayed(const std::string& header) {
  auto context = from("127.0.0.1:4711");
  auto headers = std::make_shared<rpc::HeaderMap>();
  headers->emplace(header, "192.0.2.7");
  rpc::HttpMetadata http;
  http.headers = std::move(headers);
  context.metadata = std::move(http);
  return context;
}

TEST(IsFromLoopback, IsOnlyWhatComesFromThisMachineItself) {
  for (const char* remote :
       {"127.0.0.1:4711", "127.1.2.3:80", "[::1]:4711", "[::ffff:127.0.0.1]:1"})
    EXPECT_TRUE(is_from_loopback(from(remote))) << remote;
  for (const char* remote : {"10.0.0.1:4711", "192.168.0.9:80", "[fe80::1]:80",
                             "[::ffff:10.0.0.1]:1", "[2001:db8::127]:1", ""}) {
    EXPECT_FALSE(is_from_loopback(from(remote))) << remote;
  }
  EXPECT_TRUE(is_from_loopback(from("", TransportType::kUnix)));
  EXPECT_FALSE(is_from_loopback(from("127.0.0.1:4222", TransportType::kNats))) << "over a bus";
  EXPECT_FALSE(is_from_loopback(TransportContext())) << "nobody knows from where";
}

TEST(IsFromLoopback, IsNotWhatAProxyPassesOn) {
  for (const char* header : {"Forwarded", "X-Forwarded-For", "X-Real-IP", "Via", "x-forwarded-for"})
    EXPECT_FALSE(is_from_loopback(relayed(header))) << header;
  EXPECT_TRUE(is_from_loopback(relayed("User-Agent")));
  auto web_socket = from("127.0.0.1:4711", TransportType::kWebSocket);
  web_socket.metadata = rpc::WebSocketMetadata{};
  EXPECT_TRUE(is_from_loopback(web_socket));
  web_socket.metadata = rpc::WebSocketMetadata{.is_relayed = true};
  EXPECT_FALSE(is_from_loopback(web_socket));
}

Admission admission(RefereeAdmission referees) {
  return Admission({.referees = referees, .referee_key = core::AuthToken("ref_the_right_key")});
}

TEST(Admission, AsksRefereesOfOtherMachinesForTheKey) {
  auto usual = admission(RefereeAdmission::kKeyFromElsewhere);
  EXPECT_FALSE(usual.refusal_of_referee(true, ""));
  EXPECT_FALSE(usual.refusal_of_referee(false, "ref_the_right_key"));
  auto refused = usual.refusal_of_referee(false, "");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, core::ErrorCode::kNotAuthorized);
  EXPECT_NE(refused->message.find("referee.key"), std::string::npos);
  refused = usual.refusal_of_referee(false, "ref_a_wrong_key_xyz");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message.find("xyz"), std::string::npos) << "not even a wrong key is echoed";
}

TEST(Admission, CanAskAllRefereesOrNone) {
  EXPECT_FALSE(admission(RefereeAdmission::kOpen).refusal_of_referee(false, ""));
  auto all = admission(RefereeAdmission::kKeyFromAll);
  EXPECT_TRUE(all.refusal_of_referee(true, ""));
  EXPECT_FALSE(all.refusal_of_referee(true, "ref_the_right_key"));
  EXPECT_TRUE(Admission({}).refusal_of_referee(false, "")) << "no key: nobody has the right one";
}

TEST(Admission, AsksPlayersForACodeWhereThereAreCodes) {
  EXPECT_FALSE(Admission({}).refusal_of_player("", "alpha"));
  auto codes = RegistrationCodes::parse("code-of-alpha Alpha \ncode-of-beta  the Beta\n");
  ASSERT_TRUE(codes) << codes.error().message;
  Admission limited({.codes = *codes});
  EXPECT_FALSE(limited.refusal_of_player("code-of-alpha", "alpha"));
  EXPECT_FALSE(limited.refusal_of_player("code-of-beta", " the beta"));
  for (const auto& [code, name] :
       std::vector<std::pair<std::string, std::string>>{{"", "alpha"},
                                                        {"code-of-gamma", "alpha"},
                                                        {"code-of-beta", "alpha"},
                                                        {"Alpha", "alpha"}}) {
    auto refused = limited.refusal_of_player(code, name);
    ASSERT_TRUE(refused) << code;
    EXPECT_EQ(refused->code, core::ErrorCode::kNotAuthorized);
    EXPECT_EQ(refused->message.find("code-of"), std::string::npos) << refused->message;
  }
}

TEST(RegistrationCodes, ReadsOneLineForEachBot) {
  auto codes = RegistrationCodes::parse("# a comment\n\n\tcode-of-alpha\talpha\r\n12345678 b c");
  ASSERT_TRUE(codes) << codes.error().message;
  EXPECT_EQ(codes->size(), 2U);
  EXPECT_EQ(*codes->name_of("code-of-alpha"), "alpha");
  EXPECT_EQ(*codes->name_of("12345678"), "b c");
  EXPECT_EQ(codes->name_of("alpha"), nullptr);
  EXPECT_EQ(codes->name_of(""), nullptr);
}

TEST(RegistrationCodes, SaysWhichLineIsWrongAndNoCode) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "no code"},
           {"code-of-alpha alpha\ncode-of-beta", "line 2: write a code"},
           {"code-of-alpha alpha\ncode-of-beta ALPHA", "line 2: \"ALPHA\" has a code already"},
           {"code-of-alpha alpha\ncode-of-alpha beta", "line 2: this code stands on an earlier"},
           {"short alpha", "line 1: the code has 5 characters"},
           {std::string(257, 'x') + " alpha", "257 characters"}}) {
    auto codes = RegistrationCodes::parse(text);
    ASSERT_FALSE(codes) << text;
    EXPECT_NE(codes.error().message.find(expected), std::string::npos) << codes.error().message;
    EXPECT_EQ(codes.error().message.find("code-of"), std::string::npos) << codes.error().message;
  }
}

TEST(RegistrationCodes, AreReadFromAFileThatOthersMayNotRead) {
  league::testing::TemporaryDirectory directory;
  auto file = directory.path() / "codes.txt";
  EXPECT_FALSE(RegistrationCodes::read(file));
  std::ofstream(file) << "code-of-alpha alpha\n";
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  EXPECT_TRUE(RegistrationCodes::read(file));
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  auto exposed = RegistrationCodes::read(file);
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message.find("chmod 600"), std::string::npos);
}

}  // namespace
}  // namespace league::league_manager
