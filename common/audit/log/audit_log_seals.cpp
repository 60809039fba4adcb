// The part of AuditLog that seals what is written, on the writer's thread.
#include <algorithm>
#include <string>
#include <utility>

#include "common/audit/log/audit_log.h"

namespace league::audit::log {

core::Result<void> AuditLog::sync() { return file_->sync(); }

void AuditLog::note_unsealed() {
  if (!options_.verifiable) return;
  closing_seal_tried_ = false;
  if (unsealed_++ == 0) seal_due_ = std::chrono::steady_clock::now() + options_.seal_interval;
}

/// A record of `now` follows. If it comes long after the first unsealed one, because the program
/// was frozen, the disk was full, or a call took long, a note says so before it: otherwise it would
/// look as if seals had been removed. One note covers everything that waits.
void AuditLog::note_late_seal(core::Clock::Steady now) {
  constexpr std::chrono::seconds kAllowance{2};
  if (!options_.verifiable) return;
  first_unsealed_ = first_unsealed_ ? std::min(*first_unsealed_, now) : now;
  if (now - *first_unsealed_ <= options_.seal_interval + kAllowance) return;
  if (delay_noted_to_ && now <= *delay_noted_to_) return;
  delay_noted_to_ = now;
  for (std::size_t i = next_; i < batch_.size(); ++i)
    delay_noted_to_ = std::max(*delay_noted_to_, batch_[i].mono);
  const auto nanoseconds = [](core::Clock::Steady at) {
    return std::to_string(at.time_since_epoch().count());
  };
  writer_.append(record::note_of(std::string(record::kSealDelayed),
                                 R"({"from":)" + nanoseconds(*first_unsealed_) + R"(,"to":)" +
                                     nanoseconds(*delay_noted_to_) + "}",
                                 clock_),
                 seq_, text_);
  note_unsealed();
}

/// Under mutex_. What the caller calls without it.
std::vector<std::function<void()>> AuditLog::note_sealed(std::uint64_t finished) {
  sealed_ = finished;
  done_.notify_all();
  std::vector<std::function<void()>> granted;
  std::erase_if(seal_wishes_, [&](auto& wish) {
    const bool is_granted = wish.first <= finished;
    if (is_granted) granted.push_back(std::move(wish.second));
    return is_granted;
  });
  return granted;
}

/// True if text_ now contains a seal. Only when everything else is written.
bool AuditLog::seal_if_due() {
  if (!options_.verifiable) return false;
  bool wanted = false;
  {
    std::unique_lock lock(mutex_);
    // Records may have been appended just before closing: nothing may follow the closing seal.
    if (closing_ && (!queue_.empty() || retarget_)) return false;
    if (closing_) {
      is_ending_ = true;
      lock.unlock();
      if (std::exchange(closing_seal_tried_, true)) return false;
      return seal(true);
    }
    std::vector<std::function<void()>> granted;
    if (unsealed_ == 0) granted = note_sealed(finished_);
    wanted = seal_wish_ > sealed_ && queue_.empty();
    lock.unlock();
    for (const auto& done : granted) done();
  }
  bool due = wanted || unsealed_ >= options_.seal_records ||
             (std::chrono::steady_clock::now() >= seal_due_);
  return due && unsealed_ > 0 && seal(false);
}

/// Waits until the records are on the disk, then signs them. False if writing failed or seals are
/// switched off.
bool AuditLog::seal(bool closed) {
  if (!options_.verifiable) return false;
  if (auto synced = sync(); !synced) {
    // After a failed sync the disk may have lost the data. The next seal is tried later; the hashes
    // show whether it is correct.
    report_problem(synced.error());
    seal_due_ = std::chrono::steady_clock::now() + options_.seal_interval;
    return false;
  }
  new_seal_ = record::Seal{.agent = options_.agent,
                           .seq = seq_,
                           .time = clock_.utc_now(),
                           .closed = closed,
                           .head = writer_.chain().hash(),
                           .signature = {}};
  if (!has_seal_file_) {
    if (auto kept = begin_seal_file(*new_seal_); !kept) {
      new_seal_.reset();
      report_problem(kept.error());
      seal_due_ = std::chrono::steady_clock::now() + options_.seal_interval;
      return false;
    }
  }
  new_seal_->signature = core::to_hex(options_.key->sign(signed_text(*new_seal_)));
  writer_.append_seal(*new_seal_, text_);
  {
    std::lock_guard lock(mutex_);
    new_seal_covers_ = finished_;
  }
  unsealed_ = 0;
  first_unsealed_.reset();
  delay_noted_to_.reset();
  return true;
}

/// A log with a seal in it but no seal file looks tampered with. So the seal file is written first;
/// a full disk may refuse it.
core::Result<void> AuditLog::begin_seal_file(record::Seal seal) {
  seal.closed = false;  // the log does not contain the seal yet
  seal.signature = core::to_hex(options_.key->sign(signed_text(seal)));
  auto kept = options_.files->replace(seal_path(options_.path),
                                      record::seal_file_text(seal, options_.key->public_key()));
  has_seal_file_ = kept.has_value();
  return kept;
}

/// The seal file says how far the log must reach, even if somebody cuts the log off.
void AuditLog::publish_seal() {
  record::Seal seal = *std::exchange(new_seal_, std::nullopt);
  if (seal.closed && file_) {
    if (auto synced = sync(); !synced) report_problem(synced.error());
  }
  // From now on nothing reuses the previous file, so a reader may take its time with it.
  if (seal.closed) options_.files->end_replacing(seal_path(options_.path));
  auto kept = options_.files->replace(seal_path(options_.path),
                                      record::seal_file_text(seal, options_.key->public_key()));
  if (!kept) report_problem(kept.error());
  if (seal.closed) options_.files->end_replacing(seal_path(options_.path));
  std::vector<std::function<void()>> granted;
  {
    std::lock_guard lock(mutex_);
    sealed_head_ = record::LogHead{.seq = seal.seq, .hash = std::move(seal.head)};
    granted = note_sealed(new_seal_covers_);
  }
  for (const auto& done : granted) done();
}

}  // namespace league::audit::log
