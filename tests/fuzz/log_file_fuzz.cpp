// Hostile conversation logs: neither the reader nor the verifier of the chain throws, crashes or
// hands on a record that is not in the file. Each input is a whole file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "common/audit/log/chain_verifier.h"
#include "common/audit/log/log_reader.h"
#include "tests/support/temporary_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const league::testing::TemporaryDirectory directory;
  static const auto path = directory.path() / "P01.log.jsonl";
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  std::uint64_t read = 0;
  auto summary = league::audit::log::read_log(path, [&](const league::audit::log::LogEntry& entry) {
    ++read;
    if (entry.file != path.string() || entry.line == 0) std::abort();
  });
  if (summary && summary->records != read) std::abort();
  if (!summary && summary.error().message.empty()) std::abort();
  std::uint64_t verified = 0;
  auto chain = league::audit::log::verify_chain({path, {path}}, [&](const auto&) { ++verified; });
  if (chain.records != verified) std::abort();
  for (const auto& fault : chain.faults) {
    if (fault.rule.empty() || fault.text.empty()) std::abort();
  }
  return 0;
}
