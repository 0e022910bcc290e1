#include "bench/overhead_rivals.h"

#ifdef TUTTI_HAVE_STARPU
#include <starpu.h>

#include <cstdlib>
#include <memory>
#endif

namespace tutti {

#ifdef TUTTI_HAVE_STARPU
namespace {

void nothing(void** /*buffers*/, void* /*argument*/) {}

// Tasks are created and linked again for each run, as StarPU requires.
class StarPu {
 public:
  explicit StarPu(const EmptyLayers& layers) : layers_(layers) {
    setenv("STARPU_SILENT", "1", /*overwrite=*/0);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = 2;
    conf.ncuda = 0;
    conf.nopencl = 0;
    conf.sched_policy_name = "prio";
    works_ = starpu_init(&conf) == 0;
    starpu_codelet_init(&codelet_);
    codelet_.cpu_funcs[0] = nothing;
    codelet_.cpu_funcs_name[0] = "nothing";
    codelet_.nbuffers = 0;
  }
  ~StarPu() {
    if (works_) starpu_shutdown();
  }
  bool works() const { return works_; }

  void run() {
    for (int32_t i = 0; i < layers_.ops(); ++i) {
      starpu_task* task = starpu_task_create();
      task->cl = &codelet_;
      task->use_tag = 1;
      task->tag_id = next_ + static_cast<starpu_tag_t>(i);
      const std::vector<int32_t> before = layers_.predecessors(i);
      if (!before.empty()) {
        starpu_tag_t tags[2] = {next_ + static_cast<starpu_tag_t>(before[0]),
                                next_ + static_cast<starpu_tag_t>(before[1])};
        starpu_tag_declare_deps_array(task->tag_id, 2, tags);
      }
      if (starpu_task_submit(task) != 0) std::abort();
    }
    starpu_task_wait_for_all();
    next_ += static_cast<starpu_tag_t>(layers_.ops());
  }

 private:
  EmptyLayers layers_;
  bool works_ = false;
  starpu_codelet codelet_;
  starpu_tag_t next_ = 1;
};

}  // namespace

std::function<void()> open_starpu(const EmptyLayers& layers) {
  auto rival = std::make_shared<StarPu>(layers);
  if (!rival->works()) return {};
  return [rival] { rival->run(); };
}

#else

std::function<void()> open_starpu(const EmptyLayers&) {
  return {};
}

#endif

}  // namespace tutti
