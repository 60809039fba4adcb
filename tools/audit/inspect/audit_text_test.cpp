#include "tools/audit/inspect/audit_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/envelope/leniency.h"

namespace league::tools::auditor {
namespace {

TEST(AuditText, ExplainsEveryLeniency) {
  for (envelope::Leniency leniency : envelope::all_leniencies()) {
    EXPECT_NE(explain_leniency(envelope::leniency_name(leniency)), "")
        << envelope::leniency_name(leniency);
  }
  EXPECT_EQ(explain_leniency("unheard_of"), "");
}

TEST(AuditText, FindsTheMessageWhereverItSits) {
  for (std::string raw :
       {R"({"result":{"accept":true}})", R"({"result":{"response":{"accept":true}}})",
        R"({"accept":true})", R"({"params":{"message":{"accept":true}}})",
        R"({"result":{"content":[{"type":"text","text":"{\"accept\":true}"}]}})",
        R"({"error":{"code":-32602,"message":"bad","data":{"accept":true}}})"}) {
    audit::log::LogEntry entry;
    entry.raw = raw;
    EXPECT_EQ(message_of(entry).value("accept", false), true) << raw;
  }
  audit::log::LogEntry garbage;
  garbage.raw = "[1,2";
  EXPECT_TRUE(message_of(garbage).is_null());
}

TEST(AuditText, WritesDurationsAsPeopleReadThem) {
  EXPECT_EQ(duration_text(412), "412 us");
  EXPECT_EQ(duration_text(3210), "3.2 ms");
  EXPECT_EQ(duration_text(30000000), "30.00 s");
}

}  // namespace
}  // namespace league::tools::auditor
