#include "tools/bench/bench_sampler.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace league::tools::bench {
namespace {

constexpr std::uint64_t kSampleNanoseconds = 1'009'000;  // no multiple of the kernel's own tick
// As much as the system grants to users without privileges: five seconds.
constexpr std::size_t kBufferPages = 32;

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

/// What the kernel writes for PERF_SAMPLE_IP and PERF_SAMPLE_TID.
struct SampleRecord {
  perf_event_header header;
  std::uint64_t address;
  std::uint32_t pid;
  std::uint32_t tid;
};

perf_event_attr sampling() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = kSampleNanoseconds;
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return attributes;
}

core::Error refused(int reason) {
  return {core::ErrorCode::kInternalError,
          std::string("the system does not permit samples of running code (perf_event_open: ") +
              std::strerror(reason) + "); see kernel.perf_event_paranoid",
          {}};
}

}  // namespace

CodeSampler::Buffer::Buffer(Buffer&& other) noexcept
    : event_(std::move(other.event_)), memory_(std::exchange(other.memory_, nullptr)) {}

CodeSampler::Buffer::~Buffer() {
  if (memory_ != nullptr) ::munmap(memory_, (kBufferPages + 1) * page_bytes());
}

template <typename Sample>
void CodeSampler::Buffer::drain(Sample sample) {
  auto* control = static_cast<perf_event_mmap_page*>(memory_);
  const char* data = static_cast<const char*>(memory_) + page_bytes();
  const std::uint64_t size = kBufferPages * page_bytes();
  const auto read = [&](std::uint64_t at, void* out, std::size_t bytes) {
    const std::size_t first = std::min(bytes, static_cast<std::size_t>(size - at % size));
    std::memcpy(out, data + at % size, first);
    std::memcpy(static_cast<char*>(out) + first, data, bytes - first);
  };
  const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
  std::uint64_t at = control->data_tail;
  while (at < head) {
    SampleRecord record{};
    read(at, &record.header, sizeof record.header);
    if (record.header.size == 0) break;
    if (record.header.type == PERF_RECORD_SAMPLE && record.header.size >= sizeof record) {
      read(at, &record, sizeof record);
      sample(record);
    }
    at += record.header.size;
  }
  std::atomic_ref(control->data_tail).store(at, std::memory_order_release);
}

core::Result<CodeSampler> CodeSampler::start() {
  CodeSampler sampler;
  auto attributes = sampling();
  const auto processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  int reason = 0;
  for (int processor = 0; processor < processors; ++processor) {
    core::FileDescriptor event(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, 0, processor, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!event.is_open()) {
      reason = errno;
      if (reason == ENODEV) continue;  // this processor is switched off
      return refused(reason);
    }
    void* memory = ::mmap(nullptr, (kBufferPages + 1) * page_bytes(), PROT_READ | PROT_WRITE,
                          MAP_SHARED, event.get(), 0);
    if (memory == MAP_FAILED) return refused(errno);
    sampler.buffers_.emplace_back(std::move(event), memory);
  }
  if (sampler.buffers_.empty()) return refused(reason);
  return sampler;
}

void CodeSampler::collect() {
  for (auto& buffer : buffers_) {
    buffer.drain([this](const SampleRecord& record) {
      ++seen_[static_cast<pid_t>(record.pid)][record.address];
    });
  }
}

void CodeSampler::restart(pid_t pid) {
  collect();
  seen_.erase(pid);
}

WorkCounts CodeSampler::work_of(pid_t pid) {
  collect();
  return code_.work_of(pid, seen_[pid]);
}

}  // namespace league::tools::bench
