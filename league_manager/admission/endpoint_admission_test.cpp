#include "league_manager/admission/endpoint_admission.h"

#include <gtest/gtest.h>

#include <future>

namespace league::league_manager::admission {
namespace {

core::Result<transport::link::Endpoint> admit(EndpointAdmission& admission,
                                              const std::string& url) {
  std::promise<core::Result<transport::link::Endpoint>> promise;
  admission.admit(url,
                  [&](core::Result<transport::link::Endpoint> one) { promise.set_value(one); });
  return promise.get_future().get();
}

TEST(EndpointAdmission, DecidesNumericHostsAtOnceAndNamesElsewhere) {
  std::thread::id resolved_on;
  EndpointAdmission admission(transport::link::EndpointPolicy::local().with_resolver(
      [&](const std::string&) -> core::Result<std::vector<std::string>> {
        resolved_on = std::this_thread::get_id();
        return std::vector<std::string>{"10.1.2.3"};
      }));
  bool is_decided = false;
  admission.admit("http://127.0.0.1:8101/mcp", [&](const auto& one) { is_decided = bool(one); });
  EXPECT_TRUE(is_decided);
  auto named = admit(admission, "http://bots.example.org:8101/mcp");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_NE(resolved_on, std::this_thread::get_id());
  // Pinned: the name may say something else tomorrow.
  EXPECT_EQ(named->url(), "http://10.1.2.3:8101/mcp");
  EXPECT_EQ(admit(admission, "ws://bots.example.org:1/mcp")->url(), "ws://10.1.2.3:1/mcp");
  EXPECT_EQ(admit(admission, "tcp://bots.example.org:1")->url(), "tcp://10.1.2.3:1");
  EXPECT_EQ(admit(admission, "wss://bots.example.org:1/")->url(), "wss://bots.example.org:1/");
  auto secure = admit(admission, "https://bots.example.org/mcp");
  ASSERT_TRUE(secure);
  EXPECT_EQ(secure->host, "bots.example.org");  // its certificate is for the name
  EXPECT_EQ(secure->pinned_address, "10.1.2.3");
}

TEST(EndpointAdmission, SocketsAndCommandsThatAreNamedStayWhatTheyAre) {
  EndpointAdmission admission(*transport::link::EndpointPolicy::parse("unix:/run/,stdio:bot"));
  EXPECT_EQ(admit(admission, "unix:/run/a.sock")->url(), "unix:/run/a.sock");
  EXPECT_EQ(admit(admission, "stdio:bot --fast")->url(), "stdio:bot --fast");
  EXPECT_FALSE(admit(admission, "stdio:rm -r /"));
}

TEST(EndpointAdmission, RefusesWhatMustNotBeCalled) {
  EndpointAdmission admission(transport::link::EndpointPolicy::local().with_resolver(
      [](const std::string&) -> core::Result<std::vector<std::string>> {
        return std::vector<std::string>{"169.254.169.254"};
      }));
  for (const char* url : {"ftp://127.0.0.1/", "http://8.8.8.8/", "http://169.254.169.254/",
                          "http://metadata.example/", "http://user@127.0.0.1/", "nonsense", ""}) {
    auto endpoint = admit(admission, url);
    ASSERT_FALSE(endpoint) << url;
    EXPECT_EQ(endpoint.error().code, core::ErrorCode::kEndpointNotAllowed) << url;
  }
}

rpc::MessageContext came_by(const std::string& subject) {
  rpc::MessageContext context;
  context.transport = rpc::TransportContext::nats({subject, "_INBOX.session-of-p01.1", {}});
  return context;
}

TEST(ForeignSession, AnAgentIsCalledByTheSessionThatItSpeaksBy) {
  auto on_bus = came_by("mcp.session.session-of-p01.in");
  EXPECT_FALSE(foreign_session("nats:session-of-p01", on_bus));
  EXPECT_FALSE(foreign_session("NATS:session-of-p01", on_bus));
  auto refused = foreign_session("nats:session-of-p02", on_bus);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, core::ErrorCode::kEndpointNotAllowed);
  EXPECT_EQ(refused->field, "/contact_endpoint");
}

TEST(ForeignSession, AnMcpSessionOnTheBusChangesNothing) {
  auto context = came_by("mcp.session.session-of-p01.in");
  context.session = rpc::SessionId(std::string("0123456789abcdef"));
  EXPECT_FALSE(foreign_session("nats:session-of-p01", context));
  EXPECT_TRUE(foreign_session("nats:0123456789abcdef", context));
}

TEST(ForeignSession, WhoIsCalledElsewhereMayComeByAnyWay) {
  for (const char* url : {"http://localhost:8101/mcp", "stdio:bot", "nats:short", "nonsense", ""}) {
    EXPECT_FALSE(foreign_session(url, came_by("mcp.session.session-of-p01.in"))) << url;
    EXPECT_FALSE(foreign_session(url, rpc::MessageContext())) << url;
  }
}

TEST(ForeignSession, NoOtherWayThanTheSessionsOwnSubjectWillDo) {
  for (const char* subject :
       {"", "mcp.discovery", "mcp.session.session-of-p01.out", "mcp.session.session-of-p01",
        "mcp.session.session-of-p01.in.x", "x.mcp.session.session-of-p01.in"}) {
    EXPECT_TRUE(foreign_session("nats:session-of-p01", came_by(subject))) << subject;
  }
  rpc::MessageContext by_http;
  by_http.session = rpc::SessionId(std::string("session-of-p01"));
  EXPECT_TRUE(foreign_session("nats:session-of-p01", by_http));
  EXPECT_TRUE(foreign_session("nats:manager", came_by("mcp.session.manager.in")))
      << "the manager is nobody's session";
}

}  // namespace
}  // namespace league::league_manager::admission
