#include "tutti/graph/make/chainmm.h"

#include "tutti/graph/make/shard/expert.h"

namespace tutti {

Result<Sharded> make_chainmm(const ChainmmSpec& spec) {
  if (auto checked = check_devices(spec.devices); !checked) return checked.error();
  Program program("chainmm");
  const IndexId i = program.index("i", spec.size);
  const IndexId j = program.index("j", spec.size);
  const IndexId k = program.index("k", spec.size);
  const IndexId l = program.index("l", spec.size);
  const IndexId m = program.index("m", spec.size);
  const TensorId a = program.input("A", {i, k});
  const TensorId b = program.input("B", {k, j});
  const TensorId c = program.input("C", {i, l});
  const TensorId d = program.input("D", {l, m});
  const TensorId e = program.input("E", {m, j});
  const TensorId ab = program.matmul("AB", a, b, {i, j});
  const TensorId de = program.matmul("DE", d, e, {l, j});
  const TensorId cde = program.matmul("CDE", c, de, {i, j});
  program.elementwise("result", "add", {ab, cde});
  const auto& [rows, columns, summed] = spec.split;
  return shard(program, {.splits = {{i, rows}, {j, columns}, {k, summed}, {l, rows}, {m, summed}},
                         .statement_splits = {{{"CDE", l}, summed}},
                         .dtype = spec.dtype,
                         .expert = grid_expert(spec.devices),
                         .most_made = spec.most_made});
}

}  // namespace tutti
