#include "tutti/runtime/local/cuda/partition.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tutti/kernels/cuda/error.h"
#include "tutti/runtime/local/cuda/multiprocessors_testing.h"
#include "tutti/runtime/local/cuda/testing.h"

namespace tutti {
namespace {

constexpr size_t kMost = 1024;  // multiprocessors of any GPU

// Puts the work into all streams before it waits for any.
std::vector<std::set<size_t>> multiprocessors_of(const std::vector<CudaStream>& streams) {
  std::vector<unsigned*> counts;
  for (size_t i = 0; i < streams.size(); ++i) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, kMost * sizeof(unsigned)), cudaSuccess);
    EXPECT_EQ(cudaMemset(memory, 0, kMost * sizeof(unsigned)), cudaSuccess);
    counts.push_back(static_cast<unsigned*>(memory));
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (size_t i = 0; i < streams.size(); ++i) {
    mark_multiprocessors(streams[i].get(), counts[i]);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
  std::vector<std::set<size_t>> found(streams.size());
  for (size_t i = 0; i < streams.size(); ++i) {
    const Result<void> waited = streams[i].wait();
    EXPECT_TRUE(waited) << waited.error().message;
    std::vector<unsigned> seen(kMost);
    EXPECT_EQ(cudaMemcpy(seen.data(), counts[i], kMost * sizeof(unsigned), cudaMemcpyDeviceToHost),
              cudaSuccess);
    cudaFree(counts[i]);
    for (size_t j = 0; j < kMost; ++j) {
      if (seen[j] > 0) found[i].insert(j);
    }
  }
  return found;
}

void expect_disjoint(const std::vector<int>& counts) {
  const auto partitions = Partition::split(counts);
  ASSERT_TRUE(partitions) << partitions.error().message;
  std::vector<CudaStream> streams;
  for (const auto& partition : *partitions) {
    Result<CudaStream> stream = partition->open_stream();
    ASSERT_TRUE(stream) << stream.error().message;
    streams.push_back(std::move(*stream));
  }
  const std::vector<std::set<size_t>> found = multiprocessors_of(streams);
  std::set<size_t> all;
  for (size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(found[i].size(), static_cast<size_t>(counts[i])) << "of partition " << i;
    all.insert(found[i].begin(), found[i].end());
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(std::accumulate(counts.begin(), counts.end(), 0)))
      << "partitions share multiprocessors";
}

TEST(CudaPartition, HasItsMultiprocessorsToItself) {
  TUTTI_NEEDS_MULTIPROCESSORS(128);
  expect_disjoint({64, 32, 16, 16});
  expect_disjoint({32, 32, 32, 32});
  expect_disjoint(std::vector<int>(8, 16));
}

TEST(CudaPartition, StreamsOfOneShareIts) {
  TUTTI_NEEDS_MULTIPROCESSORS(32);
  const auto partitions = Partition::split(std::vector<int>{16, 16});
  ASSERT_TRUE(partitions) << partitions.error().message;
  std::vector<CudaStream> streams;
  for (int i = 0; i < 2; ++i) {
    Result<CudaStream> stream = (*partitions)[1]->open_stream();
    ASSERT_TRUE(stream) << stream.error().message;
    streams.push_back(std::move(*stream));
  }
  const auto found = multiprocessors_of(streams);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0].size(), 16u);
}

TEST(CudaPartition, IsRefusedWhereTheGpuHasTooFew) {
  TUTTI_NEEDS_MULTIPROCESSORS(16);
  const auto too_many = Partition::split(std::vector<int>{16, 1008});
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().kind, Error::Kind::invalid_input);
  EXPECT_NE(too_many.error().message.find("16 + 1008"), std::string::npos)
      << too_many.error().message;
  const auto odd = Partition::split(std::vector<int>{17});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, Error::Kind::invalid_input);
}

TEST(CudaPartition, CanBeMadeAgain) {
  TUTTI_NEEDS_MULTIPROCESSORS(32);
  for (int i = 0; i < 5; ++i) {
    const auto partitions = Partition::split(std::vector<int>{16, 16});
    ASSERT_TRUE(partitions) << partitions.error().message;
    const Result<CudaStream> stream = (*partitions)[0]->open_stream();
    ASSERT_TRUE(stream) << stream.error().message;
    ASSERT_TRUE(stream->wait());
  }
}

}  // namespace
}  // namespace tutti
