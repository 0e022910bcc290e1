// The functions that run on a GPU, as host code calls them. Each puts its work into a stream and
// returns at once; whether it could be started is cudaGetLastError's to say. Addresses are those of
// the GPU's memory, arrays are without gaps unless loops say otherwise, and counts may be 0.
//
// No CUDA header is needed here, and .cu files need no other header of tutti's: nvcc reads them
// once for each kind of GPU.

#ifndef TUTTI_KERNELS_CUDA_DEVICE_H_
#define TUTTI_KERNELS_CUDA_DEVICE_H_

#include <cstdint>

struct CUstream_st;

namespace tutti::cuda {

// What arrays hold. All is computed in f32, and rounded once to what the result holds.
enum class Element : uint8_t { f32, bf16 };

// Where work goes, and how many multiprocessors will take it up: grids are sized by that.
struct Queue {
  CUstream_st* stream;
  int multiprocessors;
};

// Loops over two arrays at once, from the outermost to the innermost. Those of size 1 are left out,
// so that no array that fits a memory needs more.
struct Loops {
  static constexpr int kMost = 62;
  int count = 0;
  int64_t total = 1;  // how often the innermost body runs
  int64_t sizes[kMost];
  int64_t first[kMost];  // how far apart neighbours along each loop are
  int64_t second[kMost];
};

// device_elements.cu: element by element.
enum class Unary : uint8_t { scale, relu, silu };
enum class Binary : uint8_t { add, subtract, multiply, relu_gradient };
enum class Fold : uint8_t { sum, max };
struct Arrays {
  static constexpr int kMost = 256;
  int count = 0;
  const void* data[kMost];
};
void each(Queue queue, Unary function, float factor, Element element, int64_t count, const void* x,
          void* out);
void each_alike(Queue queue, Binary function, Element element, int64_t count, const void* a,
                const void* b, void* out);
// The result without gaps, in the order of the loops over a and b.
void each_pair(Queue queue, Binary function, Element element, const Loops& loops, const void* a,
               const void* b, void* out);
// out = fold of all arrays, of which `out` itself may be the first.
void fold(Queue queue, Fold function, Element element, int64_t count, const Arrays& arrays,
          void* out);
void widen(Queue queue, int64_t count, const void* bf16, float* out);
void narrow(Queue queue, int64_t count, const float* x, void* bf16);

// device_lines.cu: along the middle one of three axes.
struct Lines {
  int64_t outer;
  int64_t count;  // elements of a line
  int64_t inner;
};
// Row r sees columns 0 to first_row + r; the lines of a block have rows 0 to rows - 1.
struct Causal {
  bool on;
  int64_t first_row;
  int64_t rows;
};
void softmax(Queue queue, Element element, const Lines& lines, const Causal& causal, const void* x,
             void* out);
void reduce(Queue queue, Fold function, Element element, const Lines& lines, const void* x,
            void* out);
void rms_norm(Queue queue, Element element, int64_t lines, int64_t count, float epsilon,
              const void* x, const void* weight, void* out);
// Cosine and sine for each position and each pair of a line: `turns` has 2 * positions * pairs.
void rope_turns(Queue queue, int64_t positions, int64_t pairs, double first, double base,
                float* turns);
// lines.count positions, each of so many pairs in a row as lines.inner says, `pairs` to a line.
void rope(Queue queue, Element element, const Lines& lines, int64_t pairs, const float* turns,
          const void* x, void* out);

// device_layout.cu: moving elements about.
void copy(Queue queue, int element_bytes, const Loops& loops, const void* from, void* to);
enum class Id : uint8_t { i32, f32, bf16 };
struct Table {
  const void* data;
  int64_t rows;
  int64_t width;
  double first_row;
};
// Rows of a table; zeros for ids that are none.
void gather(Queue queue, int element_bytes, Id id, int64_t count, const void* ids,
            const Table& table, void* out);
// Lowers *wrong to the first place of an id that is no row of the table.
void find_wrong_id(Queue queue, Id id, int64_t count, const void* ids, const Table& table,
                   unsigned long long* wrong);

// device_tiles.cu: of a Cholesky factorisation, in f32.
inline constexpr int kFactorBlock = 64;
// The lower triangle of a matrix of n rows, with zeros above.
void lower_triangle(Queue queue, Element element, int64_t n, const void* a, float* out);
// Replaces the lower triangle of `size` <= kFactorBlock rows, `step` apart, by its Cholesky factor.
// Lowers *wrong to `first` plus the first row whose pivot is not positive.
void factor_block(Queue queue, int size, int64_t step, float* a, int64_t first,
                  unsigned long long* wrong);

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_DEVICE_H_
