#include "league_manager/view/public_text.h"

#include <gtest/gtest.h>

namespace league::league_manager::view {
namespace {

TEST(PublicText, HidesAddresses) {
  EXPECT_EQ(public_text("P03 'alpha' registered from http://10.1.2.3:9000/mcp; 3 of 4 are in"),
            "P03 'alpha' registered from [address]; 3 of 4 are in");
  EXPECT_EQ(public_text("player 'x' at unix:/run/p01.sock is refused: E019 late"),
            "player 'x' at [address] is refused: E019 late");
  EXPECT_EQ(public_text("nats:9731fd6f is silent"), "[address] is silent");
  EXPECT_EQ(public_text("connect to 192.168.0.7:8101: refused"), "connect to [address]: refused");
  EXPECT_EQ(public_text("from 192.168.0.7."), "from [address].");
  EXPECT_EQ(public_text("[2001:db8::1] and ::1"), "[[address]] and [address]");
  EXPECT_EQ(public_text("socket /run/bots/p01.sock, localhost:8101"),
            "socket [address], [address]");
}

TEST(PublicText, HidesMailAddressesAndTokens) {
  EXPECT_EQ(public_text("write to <a.b+c@example.org>"), "write to <[address]>");
  const auto text = public_text("token tok_P01_0123456789abcdef0123456789abcdef is unknown");
  EXPECT_EQ(text.find("9abcdef0123456789abcdef"), text.npos) << text;
}

TEST(PublicText, LeavesSentencesAlone) {
  for (const char* text : {"round 3 of 7 is over after 1.2 s: 3 won, 1 drawn", "", "R1M1, R1M2",
                           "E001 TIMEOUT_ERROR", "P01 'version 1.2.3' at 10:30:00.5",
                           "a/b 50:50 10:30:00", "</script>", "CHOOSE_PARITY_CALL: E001"})
    EXPECT_EQ(public_text(text), text);
}

}  // namespace
}  // namespace league::league_manager::view
