#include "common/agent/identity/code_table.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::agent::identity {
namespace {

constexpr const char* kTable =
    "Name;Code;Team;E-mail;Student id\r\n"
    "Ann;code-of-ann;red;ann@example.org;17\r\n"
    "Bob;;;bob@example.org;\r\n";

TEST(CodeTable, ReadsItsColumnsInAnyOrderAndKeepsOthers) {
  auto table = CodeTable::parse(kTable);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows().size(), 2U);
  EXPECT_EQ(table->rows()[0].code.reveal(), "code-of-ann");
  EXPECT_EQ(table->rows()[0].name, "Ann");
  EXPECT_EQ(table->rows()[0].team, "red");
  EXPECT_TRUE(table->rows()[1].code.empty());
  EXPECT_EQ(table->find_name(" ANN"), 0U);
  EXPECT_FALSE(table->find_name("Cid"));
  EXPECT_EQ(table->text(), kTable);
}

TEST(CodeTable, ChangesCodesAndAddsPlayers) {
  auto table = CodeTable::parse(kTable);
  ASSERT_TRUE(table);
  table->set_code(0, {});
  table->set_code(1, core::AuthToken("code-of-bob"));
  table->add_missing(
      *CodeTable::parse("code,name,student ID,hobby\nx-of-cid-1,Cid,18,chess\n,ann,9,"));
  auto again = CodeTable::parse(table->text());
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->rows().size(), 3U);
  EXPECT_TRUE(again->rows()[0].code.empty());
  EXPECT_EQ(again->rows()[1].code.reveal(), "code-of-bob");
  EXPECT_EQ(again->rows()[2].code.reveal(), "x-of-cid-1");
  EXPECT_NE(table->text().find("Cid;x-of-cid-1;;;18"), std::string::npos) << table->text();
}

TEST(CodeTable, NamesTheLineAndTheRuleAndNoCode) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "first line names the columns"},
           {"code-of-ann ann\n", "line 1: there is no column \"name\""},
           {"name,team\nann,red", "line 1: there is no column \"code\""},
           {"code,name\nshort,ann", "line 2: the code has 5 characters"},
           {"code,name\n" + std::string(257, 'x') + ",ann", "line 2: the code has 257"},
           {"code,name\ncode of ann,ann", "line 2: the code has a character"},
           {"code,name\n\ncode-of-ann,", "line 3: there is no name"},
           {"code,name\ncode-of-ann,ann\ncode-of-bob,ANN ",
            "line 3: \"ANN\" is also the name in line 2"},
           {"code,name\ncode-of-ann,ann\ncode-of-ann,bob", "line 3: the code is also in line 2"},
           {"code,name\ncode-of-ann,ann,b", "line 2: there are more fields"},
           {"code,name\ncode-of-ann,\"a\nb\"", "line 2: the name has the character U+000A"},
           {"code,name\ncode-of-ann,J\xFCrgen", "line 2: the name is not UTF-8"},
           {"code,name\ncode-of-ann," + std::string(51, 'n'), "has 51 characters"},
           {"code,name,team\ncode-of-ann,ann," + std::string(51, 't'), "line 2: the team"},
           {"code,name\n\"code-of-ann,ann", "line 2: a field"}}) {
    auto table = CodeTable::parse(text);
    ASSERT_FALSE(table) << text;
    EXPECT_NE(table.error().message.find(expected), std::string::npos) << table.error().message;
    EXPECT_EQ(table.error().message.find("code-of"), std::string::npos) << table.error().message;
  }
}

TEST(CodeTable, ReadsTheListsOfMoodleAndCanvas) {
  league::testing::TemporaryDirectory directory;
  const auto file = directory.path() / "course.csv";
  const auto names_in = [&file](const std::string& text) {
    std::ofstream(file, std::ios::trunc) << text;
    auto table = CodeTable::read_names(file);
    std::string names;
    if (!table) return table.error().message;
    for (const CodeRow& row : table->rows()) names += row.name + '|';
    return names;
  };
  EXPECT_EQ(names_in("First name,Surname,ID number,Email address\nAnn,Author,17,a@example.org\n"),
            "Ann Author|");
  EXPECT_EQ(names_in("Vorname;Surname;last name;FIRST NAME;;\nx;y;z;Ann;;;;\n"), "Ann y|");
  EXPECT_EQ(names_in("Student,ID,SIS Login ID,Section\n    Points Possible,,,\n"
                     "\"Author, Ann\",1,ann,A\n"),
            "Author, Ann|");
  EXPECT_NE(names_in("Vorname;Nachname\nx;y\n").find("found: \"Vorname\", \"Nachname\""),
            std::string::npos);
  std::ofstream(file, std::ios::trunc) << "Name,Mail,Hobby\nAnn,a@example.org,chess\n";
  EXPECT_EQ(CodeTable::read_names(file)->unknown_columns(), std::vector<std::string>{"Hobby"});
  auto table = CodeTable::parse("code,name,E-Mail\n,Bob,b@example.org\n");
  table->add_missing(*CodeTable::read_names(file));
  EXPECT_EQ(table->text(), "code,name,E-Mail\r\n,Bob,b@example.org\r\n,Ann,a@example.org\r\n");
}

TEST(ComparableCode, IgnoresHowACodeIsTyped) {
  for (const char* typed : {"mfrg-g2lt-n5xc", "MFRG-G2LT-N5XC", "mfrgg2ltn5xc", "mfrg g2lt n5xc\n",
                            "mfrg\u2013g2lt\u2013n5xc", "mfrg\u00a0g2lt\u2011n5xc\r\n"})
    EXPECT_EQ(comparable_code(typed), "mfrgg2ltn5xc") << typed;
  EXPECT_NE(comparable_code("mfrg-g2lt-n5xd"), comparable_code("mfrg-g2lt-n5xc"));
}

TEST(CodeTable, IsReadFromAFileThatOthersMayNotRead) {
  league::testing::TemporaryDirectory directory;
  auto file = directory.path() / "codes.csv";
  EXPECT_FALSE(CodeTable::read(file));
  EXPECT_FALSE(CodeTable::read_names(file));
  std::ofstream(file) << "name,team\nann,red\n";
  auto names = CodeTable::read_names(file);
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(names->text(), "code,name,team\r\n,ann,red\r\n");
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  auto exposed = CodeTable::read(file);
  ASSERT_FALSE(exposed);
  EXPECT_NE(exposed.error().message.find("chmod 600"), std::string::npos);
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  auto codeless = CodeTable::read(file);
  ASSERT_FALSE(codeless);
  EXPECT_EQ(codeless.error().message.find(file.string() + ": line 1: "), 0U);
}

}  // namespace
}  // namespace league::agent::identity
