#include "tutti/machine/file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tutti/base/file/document.h"
#include "tutti/machine/testing.h"

namespace tutti {
namespace {

using testing::route_text;

Result<Machine> read(std::string text) {
  Source source = Source::from_text("m.toml", std::move(text));
  return read_machine(source);
}

// Every key of the format, away from what it is when left out.
constexpr const char* kFull = R"(schema_version = 1
name = "full"

[[host]]
name = "h"
memory_bytes = 64e9
root_bytes_per_s = 30e9
cache_bytes_per_s = 200e9

[[device]]
name = "cpu"
kind = "cpu"
uses_host_memory = true
slots = 2

[[device]]
name = "f"
kind = "fpga"
contexts = 3
reconfiguration_time_ns = 4_000_000
proxy = "cpu"

[[device]]
name = "g"
kind = "gpu"
host = "h"
memory_bytes = 16_000_000_000
flops_per_s = 9.3e12
flops_per_s_by_dtype = { f64 = 4.7e12, f16 = 18.7e12 }
bytes_per_s = 732e9
launch_overhead_ns = 10_000
copy_engines = 1

[[switch]]
name = "s"
bandwidth_bytes_per_s = 24e9
sharing = "exclusive"
capacity = 3

[[link]]
name = "up"
between = ["h", "s"]
sharing = "unlimited"

[[link]]
name = "fpga"
between = ["f", "s"]

[[link]]
name = "down"
between = ["s", "g"]
latency_ns = 5000
bandwidth_bytes_per_s = 12e9
sharing = "exclusive"
capacity = 2
duplex = "half"

[[link]]
name = "spare"
between = ["g", "cpu"]
sharing = "shared"
bandwidth_bytes_per_s = 1e9

[[route]]
from = "cpu"
to = "g"
via = ["up+s+down"]
)";

TEST(MachineFile, SaysWhatItSays) {
  if (!can_read_toml()) GTEST_SKIP() << "this build reads no TOML";
  const auto machine = read(kFull);
  ASSERT_TRUE(machine) << machine.error().message;
  const Device& fpga = machine->device(DeviceId{1});
  EXPECT_EQ(fpga.contexts, 3);
  EXPECT_EQ(fpga.slots, 3);
  EXPECT_EQ(fpga.reconfiguration_time, Duration(4'000'000));
  EXPECT_EQ(fpga.proxy, DeviceId{0});
  EXPECT_EQ(machine->hosts()[0].root_bytes_per_s, 30e9);
  EXPECT_EQ(machine->hosts()[0].cache_bytes_per_s, 200e9);
  const Device& gpu = machine->device(DeviceId{2});
  EXPECT_EQ(gpu.kind, "gpu");
  EXPECT_EQ(gpu.flops_per_s, 9.3e12);
  ASSERT_EQ(gpu.flops_per_s_by_dtype.size(), 2u);
  EXPECT_EQ(gpu.flops_per_s_by_dtype[0].first, "f16");
  EXPECT_EQ(gpu.flops_per_s_by_dtype[1].second, 4.7e12);
  EXPECT_EQ(gpu.bytes_per_s, 732e9);
  EXPECT_EQ(gpu.launch_overhead, Duration(10'000));
  EXPECT_EQ(machine->device(DeviceId{0}).slots, 2);
  EXPECT_EQ(machine->memory(gpu.memory).capacity_bytes, 16'000'000'000);
  EXPECT_EQ(machine->memory(machine->host_memory()).capacity_bytes, 64'000'000'000);
  // There and back: the written route, and the shortest path.
  EXPECT_EQ(route_text(*machine, "cpu", "g"), "up> s down g.copy");
  EXPECT_EQ(route_text(*machine, "g", "cpu"), "g.copy spare>");
}

TEST(MachineFile, ReadsBackWhatItWrites) {
  if (!can_read_toml()) GTEST_SKIP() << "this build reads no TOML";
  const auto machine = read(kFull);
  ASSERT_TRUE(machine) << machine.error().message;
  for (const std::string& text : {machine_to_toml(*machine), machine_to_json(*machine)}) {
    const auto again = read(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    EXPECT_EQ(again->fingerprint(), machine->fingerprint()) << text;
    EXPECT_EQ(machine_to_toml(*again), machine_to_toml(*machine));
  }
}

TEST(MachineFile, QuotesNamesThatNeedIt) {
  MachineSpec spec;
  spec.name = "the \"big\" one \\ caf\xc3\xa9";
  spec.devices = {testing::gpu("gpu \"0\"")};
  spec.devices[0].device.flops_per_s_by_dtype = {{"a b", 1e12}, {"0.5\"", 2e12}};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(read(machine_to_json(*machine))->fingerprint(), machine->fingerprint());
  if (!can_read_toml()) return;
  EXPECT_EQ(read(machine_to_toml(*machine))->fingerprint(), machine->fingerprint());
}

TEST(MachineFile, DoesNotMindTheOrderOfKeys) {
  const auto one = read(R"({"schema_version": 1, "name": "m", "device": [{"name": "a",
      "kind": "k", "flops_per_s_by_dtype": {"x": 1, "y": 2}}], "host": [{"name": "h"}]})");
  const auto other = read(R"({"host": [{"name": "h"}], "device": [{"flops_per_s_by_dtype":
      {"y": 2, "x": 1}, "kind": "k", "name": "a"}], "name": "m", "schema_version": 1})");
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(one->fingerprint(), other->fingerprint());
}

TEST(MachineFile, ExampleInTheDocumentationIsTrue) {
  if (!can_read_toml()) GTEST_SKIP() << "this build reads no TOML";
  std::ifstream file(TUTTI_SOURCE_DIR "/docs/formats/machine.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  const size_t begin = text.find("```toml\n");
  ASSERT_NE(begin, std::string::npos);
  const auto machine = read(text.substr(begin + 8, text.find("\n```\n", begin) - begin - 8));
  ASSERT_TRUE(machine) << machine.error().message;
  for (const std::string& hop :
       {route_text(*machine, "gpu1", "gpu0"), std::string("gpu0.copy-out pcie0> bridge up<"),
        std::string("up> bridge pcie1< gpu1.copy-in")}) {
    EXPECT_NE(text.find("`" + hop + "`"), std::string::npos) << hop;
  }
  EXPECT_EQ(route_text(*machine, "gpu0", "gpu1"),
            "gpu0.copy-out pcie0> bridge up< | up> bridge pcie1< gpu1.copy-in");
}

// JSON with one thing wrong; the error must say so, with file and line.
struct BadFile {
  const char* claim;
  std::string text;
  const char* says;
};

std::string device_with(const std::string& entry) {
  return "{\"schema_version\": 1, \"device\": [{\"name\": \"a\", \"kind\": \"k\",\n" + entry +
         "}]}";
}

std::string link_with(const std::string& entry) {
  return "{\"schema_version\": 1, \"device\": [{\"name\": \"a\", \"kind\": \"k\"}], \"link\": "
         "[{\"name\": \"l\",\n" +
         entry + "}]}";
}

void expect_refusal(const BadFile& bad) {
  const auto machine = read(bad.text);
  ASSERT_FALSE(machine) << bad.claim;
  const std::string& message = machine.error().message;
  EXPECT_EQ(machine.error().kind, Error::Kind::invalid_input) << bad.claim;
  EXPECT_EQ(message.rfind("m.toml:", 0), 0u) << bad.claim << ": " << message;
  EXPECT_NE(message.find(bad.says), std::string::npos) << bad.claim << ": " << message;
  EXPECT_LT(message.size(), 500u) << bad.claim;
}

TEST(MachineFile, RefusesHostileJsonInOneSentence) {
  std::string many = "{\"schema_version\": 1, \"device\": [";
  for (int i = 0; i < 5000; ++i) {
    many += (i > 0 ? ",{\"name\": \"d" : "{\"name\": \"d") + std::to_string(i) +
            "\", \"kind\": \"k\", \"uses_host_memory\": true}";
  }
  const BadFile cases[] = {
      {"truncated", R"({"schema_version": 1, "device": [{"name")", "not valid JSON"},
      {"a list", "{\"schema_version\": 1, \"device\": {}}", "\"device\" of a machine"},
      {"not a table", "{\"schema_version\": 1, \"device\": [7]}", "must be a table"},
      {"no version", "{\"device\": []}", "schema_version"},
      {"another version", "{\"schema_version\": 2}", "schema_version 1"},
      {"no devices", "{\"schema_version\": 1}", "at least one device"},
      {"5000 devices", many + "]}", "at most 4096"},
      {"nested", std::string(100'000, '[') + "]", "m.toml:1"},
      {"nested in a key", device_with("\"slots\": " + std::string(100'000, '[')), "nested deeper"},
      {"not UTF-8", device_with("\"host\": \"\xff\xfe\""), "m.toml:2"},
      {"a control character", device_with("\"host\": \"a\\u0001\""), "m.toml:1"},
      {"an unknown key", device_with("\"slot\": 1"), "m.toml:2: a device has no key \"slot\""},
      {"a key twice", device_with("\"name\": \"b\""), "m.toml:2: key \"name\" stands twice"},
      {"negative slots", device_with("\"slots\": -1"), "m.toml:2: \"slots\""},
      {"a billion slots", device_with("\"slots\": 1e9"), "m.toml:2: \"slots\""},
      {"half a slot", device_with("\"slots\": 1.5"), "m.toml:2: \"slots\""},
      {"slots as text", device_with("\"slots\": \"1\""), "m.toml:2: \"slots\""},
      {"more slots than contexts", device_with("\"contexts\": 2, \"slots\": 3"), "leave slots out"},
      {"a time and nothing to configure", device_with("\"reconfiguration_time_ns\": 5"),
       "has a reconfiguration_time_ns but no contexts"},
      {"an absent proxy", device_with("\"proxy\": \"x\""), "has the proxy 'x'; name a device"},
      {"negative rate", device_with("\"flops_per_s\": -1"), "m.toml:2: \"flops_per_s\""},
      {"huge rate", device_with("\"flops_per_s\": 1e999"), "m.toml:2"},
      {"a tiny rate", device_with("\"bytes_per_s\": 1e-9"), "bytes_per_s of device 'a'"},
      {"NaN", device_with("\"flops_per_s\": NaN"), "m.toml:2"},
      {"no memory", device_with("\"memory_bytes\": 0"), "m.toml:2: \"memory_bytes\""},
      {"memory beyond 2^63", device_with("\"memory_bytes\": 1e30"), "m.toml:2: \"memory_bytes\""},
      {"truth as number", device_with("\"uses_host_memory\": 1"), "true or false"},
      {"rates as a list", device_with("\"flops_per_s_by_dtype\": [1]"), "a table of dtypes"},
      {"a rate of zero", device_with("\"flops_per_s_by_dtype\": {\"f16\": 0}"), "m.toml:2"},
      {"an absent host", device_with("\"host\": \"x\""), "m.toml:1: device 'a' is on host 'x'"},
      {"three engines", device_with("\"copy_engines\": 3"), "from 0 to 2"},
      {"one end", link_with("\"between\": [\"a\"]"), "two names"},
      {"no ends", link_with("\"duplex\": \"full\""), "two names"},
      {"ends that are numbers", link_with("\"between\": [1, 2]"), "list of texts"},
      {"an absent end", link_with("\"between\": [\"a\", \"x\"]"), "ends at 'x'"},
      {"some sharing", link_with("\"between\": [\"a\", \"host\"], \"sharing\": \"fair\""),
       "must be one of: exclusive, shared, unlimited"},
      {"some duplex", link_with("\"between\": [\"a\", \"host\"], \"duplex\": \"both\""),
       "must be one of: full, half"},
      {"a long latency", link_with("\"between\": [\"a\", \"host\"], \"latency_ns\": 1e18"),
       "\"latency_ns\""},
      {"no capacity", link_with("\"between\": [\"a\", \"host\"], \"capacity\": 0"), "capacity"},
  };
  for (const BadFile& bad : cases) expect_refusal(bad);
}

TEST(MachineFile, RefusesHostileTomlInOneSentence) {
  if (!can_read_toml()) GTEST_SKIP() << "this build reads no TOML";
  const std::string start = "schema_version = 1\n[[device]]\nname = \"a\"\nkind = \"k\"\n";
  const BadFile cases[] = {
      {"truncated", start + "slots = ", "m.toml:5: not valid TOML"},
      {"NaN", start + "flops_per_s = nan", "m.toml:5: \"flops_per_s\""},
      {"infinity", start + "flops_per_s = inf", "m.toml:5: \"flops_per_s\""},
      {"not UTF-8", start + "host = \"\xff\"", "not valid TOML"},
      {"deep", start + "x = " + std::string(100'000, '['), "m.toml:"},
      {"deep by dots", start + std::string(200'000, '.') + " = 1", "m.toml:"},
      {"a name twice", start + "[[device]]\nname = \"a\"\nkind = \"k\"",
       "m.toml:5: device 'a' has the name of another device"},
      {"two that nothing connects", start + "[[device]]\nname = \"b\"\nkind = \"k\"",
       "nothing connects device 'a' to device 'b'"},
      {"a route with an empty name",
       start + "[[link]]\nname = \"l\"\nbetween = [\"a\", \"host\"]\n" +
           "[[route]]\nfrom = \"a\"\nto = \"host\"\nvia = [\"l+\"]",
       "m.toml:8: the route from 'a' to 'host'"},
      {"nothing", "", "schema_version"},
  };
  for (const BadFile& bad : cases) expect_refusal(bad);
}

}  // namespace
}  // namespace tutti
