#include "league_manager/admission/admission.h"

#include <gtest/gtest.h>

#include <tuple>

namespace league::league_manager::admission {
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

Admission::Codes codes(const std::string& text) {
  auto table = agent::identity::CodeTable::parse(text);
  EXPECT_TRUE(table) << table.error().message;
  return std::make_shared<const RegistrationCodes>(
      *table, [](std::string_view code) { return "digest of " + std::string(code); });
}

TEST(Admission, AsksPlayersForACodeWhereThereAreCodes) {
  EXPECT_EQ(*Admission({}).admit_player("", "alpha"), AdmittedPlayer{"alpha"});
  Admission limited({.codes = codes("code,name\ncode-of-alpha,Alpha\ncode-of-beta,the Beta\n")});
  const AdmittedPlayer alpha{"Alpha", "digest of code-of-alpha"};
  EXPECT_EQ(*limited.admit_player("code-of-alpha", "alpha"), alpha);
  EXPECT_EQ(*limited.admit_player("code-of-alpha", "my bot"), alpha) << "the list names it";
  EXPECT_EQ(limited.admit_player("code-of-beta", " the beta")->name, "the Beta");
  for (const char* typed :
       {"CODE-OF-ALPHA\n", "codeofalpha", "code of alpha", "code\u2013of\u2013alpha"})
    EXPECT_EQ(*limited.admit_player(typed, "alpha"), alpha) << typed;
  EXPECT_EQ(limited.owner_of("codeofalpha"), "Alpha");
  EXPECT_EQ(limited.owner_of("codeofgamma"), "");
  for (const auto& [code, name, expected] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"", "alpha", "is missing"},
           {"code-of-gamma", "alpha", "is not a code of this league"},
           {"code-of-alph", "alpha", "is not a code of this league"},
           {"code-of-beta", "alpha", "belongs to \"the Beta\", not to \"alpha\""},
           {"Alpha", "alpha", "is not a code of this league"}}) {
    auto refused = limited.admit_player(code, name);
    ASSERT_FALSE(refused) << code;
    EXPECT_EQ(refused.error().code, core::ErrorCode::kNotAuthorized);
    EXPECT_NE(refused.error().message.find(expected), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().message.find("code-of"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_TRUE(limited.is_code("code-of-beta"));
  EXPECT_FALSE(limited.is_code("the Beta"));
}

TEST(Admission, CodesThatDifferOnlyInTheirTypingHaveToBeExact) {
  Admission limited({.codes = codes("code,name\ncode-of-a,Ann\nCODE-OF-A,Bob\n")});
  EXPECT_EQ(limited.owner_of("code-of-a"), "Ann");
  EXPECT_EQ(limited.owner_of("CODE-OF-A"), "Bob");
  EXPECT_EQ(limited.owner_of("codeofa"), "");
}

TEST(Admission, TakesNewCodesAndForgetsOldOnes) {
  Admission limited({.codes = codes("code,name\ncode-of-alpha,alpha\n,beta\n")});
  EXPECT_FALSE(limited.admit_player("", "beta")) << "no code is no code";
  limited.replace_codes(codes("code,name\n,alpha\ncode-of-beta,beta\n"));
  EXPECT_FALSE(limited.admit_player("code-of-alpha", "alpha"));
  EXPECT_TRUE(limited.admit_player("code-of-beta", "beta"));
}

}  // namespace
}  // namespace league::league_manager::admission
