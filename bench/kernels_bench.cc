// Speed of the CPU kernels on one core: products in GFLOP/s, compared with a plain call of OpenBLAS
// of the same size; everything else in GB/s of operands read and output written.

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cmath>

#include "tutti/base/random.h"
#include "tutti/kernels/kernel.h"

namespace tutti {
namespace {

struct Numbers {
  Shape shape;
  std::vector<float> data;

  explicit Numbers(Shape its_shape) : shape(std::move(its_shape)) {
    Rng rng(1);
    data.resize(static_cast<size_t>(element_count(shape)));
    for (float& x : data) x = static_cast<float>(2 * rng.uniform() - 1);
  }
};

struct Case {
  const char* name;
  const char* kind;
  std::vector<Shape> shapes;
  Attributes::Pairs attributes;
};

void run_case(benchmark::State& state, const Case& work) {
  std::vector<Numbers> operands(work.shapes.begin(), work.shapes.end());
  const Attributes attributes(work.attributes);
  const OpFacts facts = *infer_op(work.kind, attributes, work.shapes);
  if (std::string_view(work.kind) == "potrf" || std::string_view(work.kind) == "trsm") {
    const auto n = static_cast<size_t>(work.shapes[0][0]);  // heavy diagonals
    for (size_t i = 0; i < n; ++i) operands[0].data[i * n + i] += static_cast<float>(2 * n);
  }
  if (std::string_view(work.kind) == "embedding") {
    for (float& id : operands[0].data) id = std::floor((id + 1) * 500);
  }
  std::vector<ConstBlock> blocks;
  for (const Numbers& operand : operands) {
    blocks.emplace_back(operand.shape, DType::f32, operand.data.data());
  }
  Numbers output(facts.output);
  const Block out{output.shape, DType::f32, output.data.data()};
  for (auto _ : state) {
    if (const auto done = run_cpu(work.kind, attributes, blocks, out); !done) {
      state.SkipWithError(done.error().message.c_str());
      return;
    }
    benchmark::DoNotOptimize(output.data.data());
    benchmark::ClobberMemory();
  }
  const auto runs = static_cast<double>(state.iterations());
  using benchmark::Counter;
  state.counters["GFLOP/s"] = Counter(facts.flops * runs / 1e9, Counter::kIsRate);
  state.counters["GB/s"] = Counter(facts.elements_moved * 4 * runs / 1e9, Counter::kIsRate);
}

using Gemm = void (*)(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                      const float* a, int a_step, const float* b, int b_step, float beta, float* c,
                      int c_step);

// The reference for matmul of square matrices.
void plain_gemm(benchmark::State& state) {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return state.SkipWithError("OpenBLAS cannot be opened");
  reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"))(1);
  const auto gemm = reinterpret_cast<Gemm>(dlsym(library, "cblas_sgemm"));
  const auto n = static_cast<int>(state.range(0));
  const Numbers a({n, n});
  const Numbers b({n, n});
  Numbers c({n, n});
  for (auto _ : state) {
    gemm(101, 111, 111, n, n, n, 1, a.data.data(), n, b.data.data(), n, 0, c.data.data(), n);
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * n * n * n * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(flops / 1e9, benchmark::Counter::kIsRate);
}

void matmul(benchmark::State& state) {
  const int64_t n = state.range(0);
  run_case(state, {"", "matmul", {{n, n}, {n, n}}, {}});
}

constexpr int64_t kMany = 1 << 22;  // 16 MiB of floats: more than the caches next to a core hold

const std::vector<Case> kCases = {
    {"matmul/turned_first", "matmul", {{512, 512}, {512, 512}}, {{"einsum", "ki,kj->ij"}}},
    {"matmul/turned_second", "matmul", {{512, 512}, {512, 512}}, {{"einsum", "ik,jk->ij"}}},
    {"matmul/turned_result", "matmul", {{512, 512}, {512, 512}}, {{"einsum", "ik,kj->ji"}}},
    {"matmul/attention_scores",
     "matmul",
     {{2, 256, 8, 64}, {2, 256, 8, 64}},
     {{"einsum", "abcd,aecd->acbe"}}},
    {"matmul/attention_values",
     "matmul",
     {{2, 8, 256, 256}, {2, 256, 8, 64}},
     {{"einsum", "abcd,adbe->acbe"}}},
    {"matmul/packed", "matmul", {{16, 512, 32}, {512, 16, 32}}, {{"einsum", "abc,bde->adce"}}},
    {"gemm", "gemm", {{512, 512}, {512, 512}, {512, 512}}, {}},
    {"syrk", "syrk", {{512, 512}, {512, 512}}, {}},
    {"trsm", "trsm", {{512, 512}, {512, 512}}, {}},
    {"potrf", "potrf", {{512, 512}}, {}},
    {"add", "add", {{kMany}, {kMany}}, {}},
    {"add/small", "add", {{4096}, {4096}}, {}},
    {"add/bias", "add", {{4096, 1024}, {1024}}, {{"einsum", "ab,b->ab"}}},
    {"multiply/rows", "multiply", {{4096, 1024}, {4096}}, {{"einsum", "ab,a->ab"}}},
    {"scale", "scale", {{kMany}}, {{"factor", "0.5"}}},
    {"relu", "relu", {{kMany}}, {}},
    {"relu_gradient", "relu_gradient", {{kMany}, {kMany}}, {}},
    {"silu", "silu", {{kMany}}, {}},
    {"sum/4", "sum", {{kMany}, {kMany}, {kMany}, {kMany}}, {}},
    {"max/2", "max", {{kMany}, {kMany}}, {}},
    {"softmax", "softmax", {{4096, 1024}}, {}},
    {"softmax/first_axis", "softmax", {{4096, 1024}}, {{"axis", "0"}}},
    {"rms_norm", "rms_norm", {{4096, 1024}, {1024}}, {}},
    {"rope", "rope", {{8, 512, 8, 128}}, {{"axis", "1"}}},
    {"reduce_sum/first_axis", "reduce_sum", {{4096, 1024}}, {{"axis", "0"}}},
    {"reduce_sum/last_axis", "reduce_sum", {{4096, 1024}}, {}},
    {"reduce_max/last_axis", "reduce_max", {{4096, 1024}}, {}},
    {"transpose", "transpose", {{2048, 2048}}, {{"permutation", "1,0"}}},
    {"transpose/heads", "transpose", {{8, 512, 8, 128}}, {{"permutation", "0,2,1,3"}}},
    {"slice", "slice", {{4096, 1024}}, {{"begin", "0,256"}, {"shape", "4096,512"}}},
    {"assemble",
     "assemble",
     {{4096, 512}, {4096, 512}},
     {{"shape", "4096,1024"}, {"offsets", "0,0;0,512"}}},
    {"embedding", "embedding", {{4096}, {1000, 1024}}, {}},
    {"last_token", "last_token", {{64, 16, 4096}}, {}},
};

void add_benchmarks() {
  for (const int64_t n : {64, 128, 256, 512, 1024}) {
    benchmark::RegisterBenchmark("sgemm", plain_gemm)->Arg(n);
    benchmark::RegisterBenchmark("matmul", matmul)->Arg(n);
  }
  for (const Case& work : kCases) {
    benchmark::RegisterBenchmark(work.name,
                                 [&work](benchmark::State& state) { run_case(state, work); });
  }
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  tutti::add_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
