#include "common/audit/record/log_chain.h"

#include <algorithm>

#include "common/schema/json_string.h"

namespace league::audit::record {
namespace {

constexpr std::string_view kPrev = ",\"prev\":\"";
constexpr std::string_view kHash = "\",\"hash\":\"";
constexpr std::string_view kEnd = "\"}";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kTail = kDigits + kHash.size() + kDigits + kEnd.size();

bool is_hash(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

void LogChain::close_line(std::size_t begin, std::string& out) {
  out.append(kPrev).append(hash_);
  core::Digest digest = sha256_(std::string_view(out).substr(begin));
  hash_.clear();
  core::append_hex(digest, hash_);
  out.append(kHash).append(hash_).append("\"}\n");
}

std::optional<ChainedLine> chained_line(std::string_view line) {
  if (line.size() < kPrev.size() + kTail || !line.ends_with(kEnd)) return std::nullopt;
  std::size_t prev = line.size() - kTail;
  ChainedLine parts{.covered = line.substr(0, prev + kDigits),
                    .prev = line.substr(prev, kDigits),
                    .hash = line.substr(prev + kDigits + kHash.size(), kDigits)};
  if (!line.substr(0, prev).ends_with(kPrev) || !is_hash(parts.prev) || !is_hash(parts.hash) ||
      line.substr(prev + kDigits, kHash.size()) != kHash)
    return std::nullopt;
  return parts;
}

std::string signed_text(const Seal& seal) {
  return "league.conversation-log seal 2\n" + seal.agent + '\n' + std::to_string(seal.seq) + '\n' +
         seal.time.to_log() + '\n' + (seal.closed ? "closed" : "open") + '\n' + seal.head + '\n';
}

std::string seal_file_text(const Seal& seal, std::string_view public_key) {
  std::string out = "{\"format\":\"league.conversation-log.seal\",\"version\":2,\"agent\":";
  schema::append_json_string(out, seal.agent);
  out.append(",\"public_key\":\"").append(public_key);
  out.append("\",\"seal\":").append(std::to_string(seal.seq));
  out.append(",\"time\":\"").append(seal.time.to_log());
  out.append("\",\"closed\":").append(seal.closed ? "true" : "false");
  out.append(",\"head\":\"").append(seal.head);
  out.append("\",\"signature\":\"").append(seal.signature).append("\"}\n");
  return out;
}

}  // namespace league::audit::record
