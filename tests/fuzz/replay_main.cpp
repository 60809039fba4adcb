// Stands in for libFuzzer where there is none: gives the target every file of a directory and
// seeded mutations of them, the same ones in every run.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kMutations = 4000;  // unless the command line says otherwise
constexpr std::size_t kLongest = 4096;

const std::string* current = nullptr;  // what the target is looking at

/// Shows what broke the target; only what a handler of signals may call.
extern "C" void show_current(int /*signal*/) {
  constexpr std::string_view kTitle = "this input broke the target:\n";
  if (::write(STDERR_FILENO, kTitle.data(), kTitle.size()) < 0) return;
  if (current != nullptr && ::write(STDERR_FILENO, current->data(), current->size()) < 0) return;
}

void try_one(const std::string& bytes) {
  current = &bytes;
  // A copy of exactly this size, so that a read past the end is one past the allocation.
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

std::string mutated(std::string bytes, const std::vector<std::string>& seeds,
                    std::mt19937_64& random) {
  auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % (end + 1)); };
  constexpr std::string_view kSpecial("\0\n\r\"\\{}[]:,\xff\x80 ", 15);
  for (auto steps = 1 + below(4); steps > 0; --steps) {
    std::size_t at = below(bytes.size());
    switch (random() % 5) {
      case 0:
        bytes.insert(at, 1, kSpecial[below(kSpecial.size() - 1)]);
        break;
      case 1:
        bytes.erase(at, 1 + below(8));
        break;
      case 2:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random());
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(32)));
        break;
      default: {
        const auto& other = seeds[below(seeds.size() - 1)];
        bytes = bytes.substr(0, at) + other.substr(below(other.size()));
      }
    }
  }
  return bytes.substr(0, kLongest);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return EXIT_FAILURE;
  std::signal(SIGABRT, show_current);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds{""};
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  if (seeds.size() < 2) {
    std::fprintf(stderr, "no seeds in %s\n", arguments[1]);
    return EXIT_FAILURE;
  }
  for (const auto& seed : seeds) try_one(seed);
  std::mt19937_64 random(20250115);  // NOLINT: the same in every run
  const std::size_t mutations = count > 2 ? std::stoul(arguments[2]) : kMutations;
  for (std::size_t i = 0; i < mutations; ++i) {
    try_one(mutated(seeds[random() % seeds.size()], seeds, random));
  }
  std::printf("%zu seeds and %zu mutations: nothing found\n", seeds.size(), mutations);
  return EXIT_SUCCESS;
}
