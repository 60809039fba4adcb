#include "tools/audit/inspect/probability.h"

#include <algorithm>
#include <cmath>

namespace league::tools::auditor {
namespace {

constexpr int kMostTerms = 10'000;
constexpr double kSmall = 1e-14;

/// The upper regularised incomplete gamma function Q(a, x): series below a + 1, continued fraction
/// above.
double gamma_tail(double a, double x) {
  if (x <= 0) return 1;
  double scale = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (int i = 1; i < kMostTerms && term > sum * kSmall; ++i) {
      term *= x / (a + i);
      sum += term;
    }
    return 1 - sum * scale;
  }
  double b = x + 1 - a;
  double c = 1e300;
  double d = 1 / b;
  double h = d;
  for (int i = 1; i < kMostTerms; ++i) {  // Lentz's method
    double an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::abs(d * c - 1) < kSmall) break;
  }
  return scale * h;
}

double binomial_point(double k, double n, double p) {
  if (p <= 0) return k == 0 ? 1 : 0;
  if (p >= 1) return k == n ? 1 : 0;
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                  k * std::log(p) + (n - k) * std::log1p(-p));
}

}  // namespace

double chi_squared_tail(double x, double freedom, double noncentrality) {
  if (noncentrality <= 0) return gamma_tail(freedom / 2, x / 2);
  // The noncentral distribution is a Poisson-weighted mixture of central ones.
  double mean = noncentrality / 2;
  double sum = 0;
  double begin = std::max(0.0, std::floor(mean - 12 * std::sqrt(mean) - 12));
  for (double j = begin; j < begin + kMostTerms; ++j) {
    double weight = std::exp(-mean + j * std::log(mean) - std::lgamma(j + 1));
    sum += weight * gamma_tail(freedom / 2 + j, x / 2);
    if (j > mean && weight < kSmall) break;
  }
  return std::min(1.0, sum);
}

double chi_squared_critical(double p, double freedom) {
  double low = 0;
  double high = freedom + 1;
  while (chi_squared_tail(high, freedom) > p) high *= 2;
  for (int i = 0; i < 100; ++i) {
    double middle = (low + high) / 2;
    (chi_squared_tail(middle, freedom) > p ? low : high) = middle;
  }
  return high;
}

double binomial_two_sided(std::uint64_t k, std::uint64_t n, double p) {
  auto total = static_cast<double>(n);
  double below = 0;
  double above = 0;
  for (std::uint64_t i = 0; i <= n; ++i) {
    double point = binomial_point(static_cast<double>(i), total, p);
    if (i <= k) below += point;
    if (i >= k) above += point;
  }
  return std::min(1.0, 2 * std::min(below, above));
}

double binomial_power(std::uint64_t n, double p, double truth, double alpha) {
  auto total = static_cast<double>(n);
  double power = 0;
  for (bool from_below : {true, false}) {
    double tail = 0;
    for (std::uint64_t i = 0; i <= n; ++i) {
      auto k = static_cast<double>(from_below ? i : n - i);
      tail += binomial_point(k, total, p);
      if (2 * tail >= alpha) break;
      power += binomial_point(k, total, truth);
    }
  }
  return std::min(1.0, power);
}

}  // namespace league::tools::auditor
