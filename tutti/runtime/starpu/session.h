// StarPU, brought up with one scheduler: a plan's, or one of its own by name. It ends with the
// object; a process has at most one at a time.

#ifndef TUTTI_RUNTIME_STARPU_SESSION_H_
#define TUTTI_RUNTIME_STARPU_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tutti/base/result.h"
#include "tutti/runtime/starpu/ranks.h"

struct starpu_codelet;
struct starpu_sched_policy;
struct starpu_task;

namespace tutti {

// As many CPU workers as StarPU was built for.
int most_starpu_workers();

class Session {
 public:
  struct Spec {
    int workers = 1;
    std::string scheduler{};                                // one of StarPU's
    starpu_sched_policy* policy = nullptr;                  // instead of it; must stay
    void (*run)(void** buffers, void* argument) = nullptr;  // the code of every codelet
    // Tasks of one codelet that are of the same size, for the models of StarPU's schedulers.
    uint32_t (*footprint)(starpu_task* task) = nullptr;
  };
  // Collective. Fails with a sentence if StarPU has no such scheduler or cannot begin.
  static Result<std::unique_ptr<Session>> open(const Spec& spec, StarpuRanks& ranks);
  ~Session();

  const std::string& scheduler() const { return scheduler_; }
  // The codelet of a kind of op. With one of StarPU's schedulers it has a performance model, which
  // StarPU keeps between sessions in STARPU_HOME.
  starpu_codelet* codelet(std::string_view kind);

 private:
  struct Kind;
  explicit Session(const Spec& spec);

  std::string scheduler_;
  void (*run_)(void**, void*);
  uint32_t (*footprint_)(starpu_task*);
  bool up_ = false;
  std::map<std::string, std::unique_ptr<Kind>, std::less<>> kinds_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_SESSION_H_
