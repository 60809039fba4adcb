#include "common/core/csv.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

using Fields = std::vector<std::string>;

TEST(Csv, ReadsWhatSpreadsheetsWrite) {
  auto csv = parse_csv(
      "\xEF\xBB\xBF"
      "code,name\r\n x , \"Ann, \"\"the\"\" first\" \r\n,,\r\n\r\n\"two\nlines\",b\n\nlast");
  ASSERT_TRUE(csv) << csv.error().message;
  ASSERT_EQ(csv->records.size(), 4U);
  EXPECT_EQ(csv->records[0].fields, (Fields{"code", "name"}));
  EXPECT_EQ(csv->records[1].fields, (Fields{"x", "Ann, \"the\" first"}));
  EXPECT_EQ(csv->records[2].fields, (Fields{"two\nlines", "b"}));
  EXPECT_EQ(csv->records[2].line, 5);
  EXPECT_EQ(csv->records[3].fields, (Fields{"last"}));
  EXPECT_EQ(csv->records[3].line, 8);
}

TEST(Csv, TakesTheSeparatorOfTheFirstLine) {
  for (const char separator : {',', ';', '\t'}) {
    auto csv = parse_csv(std::string("a") + separator + "b\n1" + separator + "2");
    ASSERT_TRUE(csv);
    EXPECT_EQ(csv->separator, separator);
    EXPECT_EQ(csv->records[1].fields, (Fields{"1", "2"}));
  }
  EXPECT_EQ(parse_csv("name\nx;y")->records[1].fields, (Fields{"x;y"}));
  EXPECT_TRUE(parse_csv("")->records.empty());
}

TEST(Csv, ReadsWhatExcelAndOldMacsWrite) {
  for (const std::string& text :
       {std::string("sep=;\r\na;\u00e9\r\n1,0;2"), std::string("a;\u00e9\r1,0;2\r"),
        std::string("\xFF\xFE"
                    "a\0;\0\xE9\0\n\0"
                    "1\0,\0"
                    "0\0;\0"
                    "2\0",
                    20),
        std::string("\xFE\xFF"
                    "\0a\0;\0\xE9\0\n\0"
                    "1\0,\0"
                    "0\0;\0"
                    "2",
                    20)}) {
    auto csv = parse_csv(text);
    ASSERT_TRUE(csv) << csv.error().message;
    EXPECT_EQ(csv->separator, ';');
    ASSERT_EQ(csv->records.size(), 2U) << text;
    EXPECT_EQ(csv->records[0].fields, (Fields{"a", "\u00e9"}));
    EXPECT_EQ(csv->records[1].fields, (Fields{"1,0", "2"}));
  }
  EXPECT_EQ(parse_csv("sep=;\na;b\n")->records[0].line, 2);
  EXPECT_TRUE(parse_csv("sep=;")->records.empty());
}

TEST(Csv, NamesTheLineOfAQuoteThatIsOutOfPlace) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"a\n\"b\nc", "line 2: a field"}, {"a\nb\n\"c\" d", "line 3: text follows"}}) {
    auto csv = parse_csv(text);
    ASSERT_FALSE(csv) << text;
    EXPECT_NE(csv.error().message.find(expected), std::string::npos) << csv.error().message;
  }
}

TEST(Csv, ReadsWhatItWrites) {
  const Fields fields{"plain", " space ", "a,b", "\"", "two\nlines", "", "semi;colon"};
  for (const char separator : {',', ';'}) {
    auto csv = parse_csv(csv_line(Fields(7, "head"), separator) + csv_line(fields, separator));
    ASSERT_TRUE(csv);
    EXPECT_EQ(csv->records.at(1).fields, fields);
  }
}

}  // namespace
}  // namespace league::core
