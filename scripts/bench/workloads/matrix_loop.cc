// Two threads multiply matrices, without any synchronisation in between: what recording a plain access costs.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kSize = 96;
using Matrix = std::vector<double>;

void multiply(const Matrix& a, const Matrix& b, Matrix& product, int first_row, int last_row) {
  for (int row = first_row; row < last_row; ++row) {
    for (int column = 0; column < kSize; ++column) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k) {
        sum += a[row * kSize + k] * b[k * kSize + column];
      }
      product[row * kSize + column] += sum;
    }
  }
}

}  // namespace

int main(int, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  Matrix a(kSize * kSize, 1.5), b(kSize * kSize, 0.5), product(kSize * kSize);
  const auto work = [&](int first_row, int last_row) {
    for (int round = 0; round < rounds; ++round) {
      multiply(a, b, product, first_row, last_row);
    }
  };
  std::thread upper(work, 0, kSize / 2), lower(work, kSize / 2, kSize);
  upper.join();
  lower.join();
  std::printf("%.1f\n", product[kSize + 1]);
}
