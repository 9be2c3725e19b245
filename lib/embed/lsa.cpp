#include "embed/lsa.h"

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace stoka::embed {
namespace {

using Matrix = Eigen::MatrixXf;
using Panel = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::SparseMatrix<float>;  // rows are terms, columns are chunks

constexpr Eigen::Index kOversampling = 16;
constexpr int kPowerIterations = 3;
// The number of columns of A * Q that exist at a time; the whole product would need much memory.
constexpr Eigen::Index kPanelWidth = 128;
// In single precision, singular values below this share of the largest one are noise.
constexpr double kMinSingularRatio = 1e-3;
constexpr size_t kSmallCorpus = 200;  // in fewer chunks, terms of only one chunk are kept, too
constexpr size_t kFullRank = 16;      // for up to so many chunks, each may have a dimension

// Uniform random numbers in [-1, 1) from the splitmix64 sequence. Unlike the distributions of
// <random>, they are the same with every standard library.
class RandomSequence {
 public:
  float next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    z ^= z >> 31U;
    return static_cast<float>(static_cast<double>(z >> 11U) * 0x1p-52 - 1.0);
  }

 private:
  uint64_t state_ = 0x73746f6b61U;
};

struct Vocabulary {
  std::vector<uint32_t> terms;  // the chosen terms, ascending
  std::vector<float> weights;   // the idf of each chosen term
  std::vector<int> row_of;      // for every term its position in `terms`, or -1
};

Vocabulary choose_terms(std::span<const ChunkTerms> chunks, size_t vocabulary,
                        const FitOptions& options) {
  std::vector<uint32_t> df(vocabulary);
  for (const ChunkTerms& chunk : chunks)
    for (const TermCount& entry : chunk) ++df[entry.term];

  const uint32_t min_df = chunks.size() < kSmallCorpus ? 1 : 2;
  Vocabulary chosen;
  for (uint32_t term = 0; term < vocabulary; ++term)
    if (df[term] >= min_df) chosen.terms.push_back(term);
  if (chosen.terms.size() > options.max_terms) {
    std::stable_sort(chosen.terms.begin(), chosen.terms.end(),
                     [&](uint32_t a, uint32_t b) { return df[a] > df[b]; });
    chosen.terms.resize(options.max_terms);
    std::sort(chosen.terms.begin(), chosen.terms.end());
  }

  chosen.row_of.assign(vocabulary, -1);
  const auto n = static_cast<double>(chunks.size());
  for (size_t i = 0; i < chosen.terms.size(); ++i) {
    chosen.row_of[chosen.terms[i]] = static_cast<int>(i);
    const double in_chunks = df[chosen.terms[i]];
    chosen.weights.push_back(
        static_cast<float>(std::log(1.0 + (n - in_chunks + 0.5) / (in_chunks + 0.5))));
  }
  return chosen;
}

float log_tf(uint32_t count) { return 1.0F + std::log(static_cast<float>(count)); }

// Builds the matrix A. A chunk without a chosen term has no column.
Sparse build_matrix(std::span<const ChunkTerms> chunks, const Vocabulary& chosen) {
  std::vector<Eigen::Triplet<float>> entries;
  int column = 0;
  for (const ChunkTerms& chunk : chunks) {
    const size_t begin = entries.size();
    double norm2 = 0;
    for (const auto& [term, count] : chunk) {
      const int row = chosen.row_of[term];
      if (row < 0 || count == 0) continue;
      const float value = log_tf(count) * chosen.weights[static_cast<size_t>(row)];
      norm2 += static_cast<double>(value) * value;
      entries.emplace_back(row, column, value);
    }
    if (entries.size() == begin) continue;
    const auto scale = static_cast<float>(std::pow(norm2, -0.25));
    for (size_t i = begin; i < entries.size(); ++i)
      entries[i] = {entries[i].row(), entries[i].col(), entries[i].value() * scale};
    ++column;
  }
  Sparse a(static_cast<Eigen::Index>(chosen.terms.size()), column);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

// Computes A' (A q) for the matrix A of terms and chunks.
Matrix apply_gram(const Sparse& a, const Matrix& q) {
  Matrix out(q.rows(), q.cols());
  Panel term_space;
  Panel chunk_space;
  for (Eigen::Index at = 0; at < q.cols(); at += kPanelWidth) {
    const Eigen::Index width = std::min(kPanelWidth, q.cols() - at);
    chunk_space = q.middleCols(at, width);
    term_space.noalias() = a * chunk_space;
    chunk_space.noalias() = a.transpose() * term_space;
    out.middleCols(at, width) = chunk_space;
  }
  return out;
}

void orthonormalize(Matrix& y) {
  Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(y);
  y = Matrix(qr.householderQ() * Matrix::Identity(y.rows(), y.cols()));
}

struct Spectrum {
  Matrix right;            // right singular vectors: chunks x number of values
  Eigen::VectorXf values;  // singular values, descending
};

// Applies the Rayleigh-Ritz method to the subspace q: returns the largest singular values of A, at
// most `wanted`, without the values that are noise.
Spectrum rayleigh_ritz(const Sparse& a, const Matrix& q, Eigen::Index wanted) {
  const Matrix small = q.transpose() * apply_gram(a, q);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
      (0.5F * (small + small.transpose())).cast<double>());
  const auto& lambda = eigen.eigenvalues();  // the eigenvalues in ascending order
  const Eigen::Index last = lambda.size() - 1;
  const double min_eigenvalue = lambda[last] * kMinSingularRatio * kMinSingularRatio;
  Eigen::Index found = 0;
  while (found < wanted && lambda[last - found] > min_eigenvalue) ++found;

  Spectrum spectrum;
  const Matrix rotation = eigen.eigenvectors().rightCols(found).rowwise().reverse().cast<float>();
  spectrum.right.noalias() = q * rotation;
  spectrum.values = lambda.tail(found).reverse().cwiseSqrt().cast<float>();
  return spectrum;
}

}  // namespace

bool is_in_sample(size_t i, size_t n, size_t max) {
  if (n <= max) return true;
  return (i + 1) * max / n != i * max / n;
}

Result<Basis> fit(std::span<const ChunkTerms> chunks, size_t vocabulary, const FitOptions& options,
                  const Progress& progress, std::stop_token stop) {
  std::vector<ChunkTerms> sample;
  for (size_t i = 0; i < chunks.size(); ++i)
    if (is_in_sample(i, chunks.size(), options.max_chunks)) sample.push_back(chunks[i]);

  const Vocabulary chosen = choose_terms(sample, vocabulary, options);
  const Sparse a = build_matrix(sample, chosen);
  Basis basis;
  const auto n = static_cast<size_t>(a.cols());
  basis.fitted_chunks = n;
  if (n == 0 || options.max_dim == 0) return basis;

  const auto wanted = static_cast<Eigen::Index>(
      std::min({options.max_dim, std::max(n / 2, std::min(n, kFullRank)), chosen.terms.size()}));
  const Eigen::Index width = std::min(wanted + kOversampling, a.cols());
  const double steps = kPowerIterations + 2;
  int step = 0;
  const auto advance = [&] {
    if (progress) progress(++step / steps);
  };

  RandomSequence random;
  Matrix q(a.cols(), width);
  for (Eigen::Index j = 0; j < q.cols(); ++j)
    for (Eigen::Index i = 0; i < q.rows(); ++i) q(i, j) = random.next();
  for (int i = 0; i < kPowerIterations; ++i) {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "fitting was stopped");
    q = apply_gram(a, q);
    orthonormalize(q);
    advance();
  }
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, "fitting was stopped");
  Spectrum spectrum = rayleigh_ritz(a, q, wanted);
  q.resize(0, 0);
  advance();

  basis.dim = static_cast<int>(spectrum.values.size());
  const Panel scaled = spectrum.right * spectrum.values.cwiseSqrt().cwiseInverse().asDiagonal();
  spectrum.right.resize(0, 0);
  const Eigen::SparseMatrix<float, Eigen::RowMajor> by_term = a;
  basis.rows.resize(chosen.terms.size());
  for (size_t i = 0; i < chosen.terms.size(); ++i) {
    BasisTerm& row = basis.rows[i];
    row.term = chosen.terms[i];
    row.weight = chosen.weights[i];
    row.values.resize(static_cast<size_t>(basis.dim));
    Eigen::Map<Eigen::RowVectorXf> values(row.values.data(), basis.dim);
    values.setZero();
    using Entry = Eigen::SparseMatrix<float, Eigen::RowMajor>::InnerIterator;
    for (Entry entry(by_term, static_cast<Eigen::Index>(i)); entry; ++entry)
      values += entry.value() * scaled.row(entry.col());
  }
  advance();
  return basis;
}

void FoldInSum::add(float weight, uint32_t count, std::span<const float> values) {
  if (count == 0) return;
  const float factor = weight * log_tf(count);
  for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += static_cast<double>(factor) * values[i];
}

Vector normalized(std::span<const double> values) {
  const double length =
      std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
  if (!std::isfinite(length) || length < 1e-9) return {};
  Vector out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [&](double value) { return static_cast<float>(value / length); });
  return out;
}

}  // namespace stoka::embed
