#include "league_manager/table/davidson.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace league::league_manager::table {
namespace {

/// The prior: strengths have this standard deviation (350 points), the draw parameter the other.
constexpr double kSpread = 350 * std::numbers::ln10 / 400;
constexpr double kPrior = 1 / (kSpread * kSpread);
constexpr double kDrawPrior = 1.0 / 4;

constexpr std::size_t kBatch = 16;  // right sides that are solved together
using Batch = std::array<double, kBatch>;

double dot(const double* one, const double* other, std::size_t count) {
  std::array<double, 4> sums{};  // independent of each other, so that they are added in parallel
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += one[i + k] * other[i + k];
  }
  for (; i < count; ++i) sums[0] += one[i] * other[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

void subtract(Batch& from, double factor, const Batch& what) {
  for (std::size_t s = 0; s < kBatch; ++s) from[s] -= factor * what[s];
}

/// Independent standard normal numbers, by Box and Muller.
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : bits_(seed) {}
  double next() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    second_ = radius * std::sin(angle);
    has_second_ = true;
    return radius * std::cos(angle);
  }

 private:
  double uniform() { return static_cast<double>(bits_.next() >> 11U) * 0x1p-53; }

  SplitMix bits_;
  double second_ = 0;
  bool has_second_ = false;
};

}  // namespace

Davidson::Davidson(std::size_t players, std::span<const CountedMatch> matches)
    : strengths_(players), diagonal_(players) {
  add_up(matches);
  std::vector<double> gradient;
  constexpr int kMostSteps = 100;
  for (int i = 0; i < kMostSteps; ++i) {
    const double before = look(gradient);
    const std::vector<double> step = newton_step(gradient);
    double part = 1;
    move(step, part);
    const double slack = 1e-9 * (1 + std::abs(before));
    for (; log_posterior() < before - slack && part > 1e-9; part /= 2) move(step, -part / 2);
    const double largest =
        std::abs(*std::ranges::max_element(step, {}, [](double one) { return std::abs(one); }));
    if (largest < 1e-11) break;
  }
  look(gradient);
  const double mean = std::accumulate(strengths_.begin(), strengths_.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(1, players));
  for (double& strength : strengths_) strength -= mean;
}

void Davidson::add_up(std::span<const CountedMatch> matches) {
  pairs_.reserve(matches.size());
  for (const CountedMatch& match : matches) {
    const auto a = static_cast<std::size_t>(match.player_a);
    const auto b = static_cast<std::size_t>(match.player_b);
    const auto winner = game::winner_of(match.outcome);
    Pair pair{.i = std::min(a, b), .j = std::max(a, b), .matches = 1};
    pair.draws = winner ? 0 : 1;
    if (winner) pair.score = (*winner == game::Side::kA) == (a < b) ? 0.5 : -0.5;
    pairs_.push_back(pair);
  }
  const auto players = [](const Pair& pair) { return std::pair(pair.i, pair.j); };
  std::ranges::sort(pairs_, {}, players);
  std::size_t count = 0;  // of pairs so far, of which each has all of its matches
  for (const Pair& single : pairs_) {
    if (count > 0 && players(pairs_[count - 1]) == players(single)) {
      pairs_[count - 1].matches += single.matches;
      pairs_[count - 1].score += single.score;
      pairs_[count - 1].draws += single.draws;
    } else {
      pairs_[count++] = single;
    }
  }
  pairs_.resize(count);
}

void Davidson::move(const std::vector<double>& step, double part) {
  for (std::size_t i = 0; i < strengths_.size(); ++i) strengths_[i] += part * step[i];
  draw_ += part * step.back();
}

double Davidson::log_posterior() const {
  double sum = -draw_ * draw_ * kDrawPrior / 2;
  for (double strength : strengths_) sum -= strength * strength * kPrior / 2;
  for (const Pair& pair : pairs_) {
    const double d = strengths_[pair.i] - strengths_[pair.j];
    sum += pair.score * d + pair.draws * draw_ -
           pair.matches * std::log(std::exp(d / 2) + std::exp(-d / 2) + std::exp(draw_));
  }
  return sum;
}

double Davidson::look(std::vector<double>& gradient) {
  gradient.assign(strengths_.size() + 1, 0);
  for (std::size_t i = 0; i < strengths_.size(); ++i) gradient[i] = -strengths_[i] * kPrior;
  gradient.back() = -draw_ * kDrawPrior;
  std::ranges::fill(diagonal_, kPrior);
  draw_curvature_ = kDrawPrior;
  for (Pair& pair : pairs_) {
    const double d = strengths_[pair.i] - strengths_[pair.j];
    const double won = std::exp(d / 2);
    const double lost = std::exp(-d / 2);
    const double drawn = std::exp(draw_);
    const double all = won + lost + drawn;
    const double mean = (won - lost) / all / 2;
    const double p_draw = drawn / all;
    pair.curvature = pair.matches * ((won + lost) / all / 4 - mean * mean);
    pair.mixed = -pair.matches * p_draw * mean;
    const double slope = pair.score - pair.matches * mean;
    gradient[pair.i] += slope;
    gradient[pair.j] -= slope;
    gradient.back() += pair.draws - pair.matches * p_draw;
    diagonal_[pair.i] += pair.curvature;
    diagonal_[pair.j] += pair.curvature;
    draw_curvature_ += pair.matches * p_draw * (1 - p_draw);
  }
  return log_posterior();
}

void Davidson::multiply(const std::vector<double>& by, std::vector<double>& product) const {
  const double draw = by.back();
  for (std::size_t i = 0; i < strengths_.size(); ++i) product[i] = diagonal_[i] * by[i];
  product.back() = draw_curvature_ * draw;
  for (const Pair& pair : pairs_) {
    product[pair.i] += pair.mixed * draw - pair.curvature * by[pair.j];
    product[pair.j] -= pair.mixed * draw + pair.curvature * by[pair.i];
    product.back() += pair.mixed * (by[pair.i] - by[pair.j]);
  }
}

/// By conjugate gradients, so that thousands of players need no matrix.
std::vector<double> Davidson::newton_step(const std::vector<double>& gradient) const {
  const std::size_t size = gradient.size();
  std::vector<double> step(size);
  std::vector<double> rest = gradient;
  std::vector<double> scaled(size);
  const auto scale = [&] {
    for (std::size_t i = 0; i + 1 < size; ++i) scaled[i] = rest[i] / diagonal_[i];
    scaled.back() = rest.back() / draw_curvature_;
    return dot(rest.data(), scaled.data(), size);
  };
  double left = scale();
  const double enough = left * 1e-24;
  std::vector<double> direction = scaled;
  std::vector<double> product(size);
  for (std::size_t i = 0; i < 10 * size && left > enough; ++i) {
    multiply(direction, product);
    const double length = left / dot(direction.data(), product.data(), size);
    for (std::size_t k = 0; k < size; ++k) {
      step[k] += length * direction[k];
      rest[k] -= length * product[k];
    }
    const double before = std::exchange(left, scale());
    for (std::size_t k = 0; k < size; ++k) direction[k] = scaled[k] + left / before * direction[k];
  }
  return step;
}

std::vector<double> Davidson::factor(const std::stop_token& stop) const {
  const std::size_t size = strengths_.size();
  std::vector<double> mixed(size);  // of each player's strength and the draw parameter
  std::vector<double> l(size * size);
  for (std::size_t i = 0; i < size; ++i) l[i * size + i] = diagonal_[i];
  for (const Pair& pair : pairs_) {
    l[pair.j * size + pair.i] -= pair.curvature;
    mixed[pair.i] += pair.mixed;
    mixed[pair.j] -= pair.mixed;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (stop.stop_requested()) return {};
    double* row = &l[i * size];
    for (std::size_t j = 0; j <= i; ++j) {
      row[j] -= mixed[i] * mixed[j] / draw_curvature_ + dot(row, &l[j * size], j);
      row[j] = i == j ? std::sqrt(row[j]) : row[j] / l[j * size + j];
    }
  }
  return l;
}

std::vector<double> Davidson::errors(const std::vector<double>& factor,
                                     const std::stop_token& stop) const {
  // The variance of player i is the sum of the squares in column i of the factor's inverse. What
  // all strengths have in common is nobody's error: the mean is 0.
  const std::size_t size = strengths_.size();
  const double common = 1 / kPrior / static_cast<double>(size);
  std::vector<double> errors(size);
  std::vector<Batch> columns(size);
  for (std::size_t first = 0; first < size; first += kBatch) {
    if (stop.stop_requested()) return {};
    Batch squares{};
    for (std::size_t k = first; k < size; ++k) {
      columns[k] = {};
      if (k < first + kBatch) columns[k][k - first] = 1;
      for (std::size_t j = first; j < k; ++j)
        subtract(columns[k], factor[k * size + j], columns[j]);
      for (std::size_t s = 0; s < kBatch; ++s) {
        columns[k][s] /= factor[k * size + k];
        squares[s] += columns[k][s] * columns[k][s];
      }
    }
    for (std::size_t i = first; i < std::min(first + kBatch, size); ++i)
      errors[i] = std::sqrt(std::max(0.0, squares[i - first] - common));
  }
  return errors;
}

std::vector<double> Davidson::first_places(const std::vector<double>& factor, std::uint64_t seed,
                                           const std::stop_token& stop) const {
  const std::size_t size = strengths_.size();
  Normals normals(seed);
  std::vector<double> first(size);
  std::vector<Batch> samples(size);
  static_assert(kSamples % kBatch == 0);
  for (std::size_t begin = 0; begin < kSamples; begin += kBatch) {
    for (std::size_t s = 0; s < kBatch; ++s)
      for (Batch& player : samples) player[s] = normals.next();
    Batch best;
    best.fill(-HUGE_VAL);
    for (std::size_t i = size; i-- > 0;) {
      if (stop.stop_requested()) return {};
      for (double& value : samples[i]) value /= factor[i * size + i];
      for (std::size_t k = 0; k < i; ++k) subtract(samples[k], factor[i * size + k], samples[i]);
      for (std::size_t s = 0; s < kBatch; ++s) {
        samples[i][s] += strengths_[i];
        best[s] = std::max(best[s], samples[i][s]);
      }
    }
    for (std::size_t s = 0; s < kBatch; ++s) {
      const auto equal =
          std::ranges::count_if(samples, [&](const Batch& player) { return player[s] == best[s]; });
      for (std::size_t i = 0; i < size; ++i)
        if (samples[i][s] == best[s]) first[i] += 1 / static_cast<double>(equal);
    }
  }
  return first;
}

}  // namespace league::league_manager::table
