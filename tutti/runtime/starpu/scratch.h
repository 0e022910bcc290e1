// A folder for what StarPU writes: it keeps what it measures in STARPU_HOME, by host name, and
// ranks of one host must not share that.
//
// The folder goes with the object, and STARPU_HOME is what it was. A rank that is killed leaves its
// own behind; the next one removes it, which it can tell by the lock that ends with its process.

#ifndef TUTTI_RUNTIME_STARPU_SCRATCH_H_
#define TUTTI_RUNTIME_STARPU_SCRATCH_H_

#include <filesystem>
#include <optional>
#include <string>

namespace tutti {

class Scratch {
 public:
  // Makes the folder in `parent` (empty: where temporary files go) and names it in STARPU_HOME;
  // without room for one, StarPU takes its own default.
  explicit Scratch(std::filesystem::path parent = {});
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty: there was no room

 private:
  std::filesystem::path path_;
  std::optional<std::string> home_before_;
  int lock_ = -1;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_SCRATCH_H_
