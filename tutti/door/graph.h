// The work: ops, and the values between them.

#ifndef TUTTI_DOOR_GRAPH_H_
#define TUTTI_DOOR_GRAPH_H_

#include <tutti/door/error.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {
inline namespace v0 {

// A value of the graph that is being built.
struct Value {
  int32_t number = -1;
};

// What is said of a value: {1000} is an array of a thousand 32-bit floats, {{20, 30}, "u8"} a
// matrix of bytes.
struct Shape {
  Shape(std::initializer_list<int64_t> its_sizes) : sizes(its_sizes) {}
  Shape(std::vector<int64_t> its_sizes, std::string its_dtype)
      : sizes(std::move(its_sizes)), dtype(std::move(its_dtype)) {}

  std::vector<int64_t> sizes;
  std::string dtype = "f32";
};

// A time that is known for an op, by kind of device; "*" stands for all.
struct RunTime {
  std::string device_kind;
  int64_t ns = 0;
};

struct Work {
  double flops = 0;
  std::vector<RunTime> run_times{};
};

// Immutable.
class Graph {
 public:
  explicit Graph(tutti_graph* handle) : handle_(handle) {}

  // A file of any format that tutti reads.
  static Graph load(const std::string& path) {
    tutti_error error;
    return Graph(internal::checked(tutti_graph_load(path.c_str(), &error), error));
  }
  // The same from memory.
  static Graph parse(std::string_view text, const std::string& name = "graph") {
    tutti_error error;
    return Graph(internal::checked(
        tutti_graph_parse(text.data(), text.size(), name.c_str(), &error), error));
  }

  const tutti_graph* handle() const { return handle_.get(); }

 private:
  internal::Owned<tutti_graph, tutti_graph_free> handle_;
};

// Collects inputs and ops, and makes a graph of them.
class GraphBuilder {
 public:
  explicit GraphBuilder(const std::string& name) : handle_(tutti_graph_builder_new(name.c_str())) {
    if (handle_ == nullptr) throw std::bad_alloc();
  }

  Value input(const std::string& name, const Shape& shape) {
    tutti_error error;
    const tutti_value value = value_of(name.c_str(), shape);
    return made(tutti_graph_builder_input(handle_.get(), &value, 0, &error), error);
  }

  // An op that makes one value.
  Value op(const std::string& name, const std::string& kind, const std::vector<Value>& operands,
           const Shape& shape, const Work& work = {}) {
    return op_with_outputs(name, kind, operands, {shape}, work).front();
  }

  // An op that makes several.
  std::vector<Value> op_with_outputs(const std::string& name, const std::string& kind,
                                     const std::vector<Value>& operands,
                                     const std::vector<Shape>& shapes, const Work& work = {}) {
    std::vector<int32_t> numbers;
    for (const Value operand : operands) numbers.push_back(operand.number);
    std::vector<tutti_value> outputs;
    for (const Shape& shape : shapes) outputs.push_back(value_of(nullptr, shape));
    std::vector<const char*> kinds;
    std::vector<int64_t> times;
    for (const RunTime& time : work.run_times) {
      kinds.push_back(time.device_kind.c_str());
      times.push_back(time.ns);
    }
    auto op = internal::sized<tutti_op>();
    op.name = name.c_str();
    op.kind = kind.c_str();
    op.operands = numbers.data();
    op.operand_count = static_cast<int32_t>(numbers.size());
    op.outputs = outputs.data();
    op.output_count = static_cast<int32_t>(outputs.size());
    op.flops = work.flops;
    op.time_kinds = kinds.data();
    op.times_ns = times.data();
    op.time_count = static_cast<int32_t>(times.size());
    tutti_error error;
    const int32_t number = made(tutti_graph_builder_op(handle_.get(), &op, &error), error).number;
    std::vector<Value> values;
    for (int32_t i = 0; i < op.output_count; ++i) {
      values.push_back({tutti_graph_builder_output(handle_.get(), number, i)});
    }
    return values;
  }

  // Once.
  Graph build() {
    tutti_error error;
    return Graph(internal::checked(tutti_graph_builder_build(handle_.get(), &error), error));
  }

 private:
  static Value made(int32_t number, const tutti_error& error) {
    if (number < 0) throw Error(error);
    return {number};
  }

  static tutti_value value_of(const char* name, const Shape& shape) {
    auto value = internal::sized<tutti_value>();
    value.name = name;
    value.dtype = shape.dtype.c_str();
    value.shape = shape.sizes.data();
    value.rank = static_cast<int32_t>(shape.sizes.size());
    return value;
  }

  internal::Owned<tutti_graph_builder, tutti_graph_builder_free> handle_;
};

}  // namespace v0
}  // namespace tutti

#endif  // TUTTI_DOOR_GRAPH_H_
