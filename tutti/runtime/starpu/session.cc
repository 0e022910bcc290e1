#include "tutti/runtime/starpu/session.h"

#include <fmt/format.h>
#include <starpu.h>

#include <cctype>
#include <cstring>
#include <vector>

namespace tutti {
namespace {

bool has_scheduler(const std::string& name) {
  for (starpu_sched_policy** each = starpu_sched_get_predefined_policies(); *each != nullptr;
       ++each) {
    if (name == (*each)->policy_name) return true;
  }
  return false;
}

}  // namespace

struct Session::Kind {
  std::string symbol;
  starpu_codelet codelet{};
  starpu_perfmodel model{};
};

int most_starpu_workers() {
  return STARPU_MAXCPUS;
}

Session::Session(const Spec& spec)
    : scheduler_(spec.scheduler), run_(spec.run), footprint_(spec.footprint) {}

Result<std::unique_ptr<Session>> Session::open(const Spec& spec, StarpuRanks& ranks) {
  if (spec.policy == nullptr && !has_scheduler(spec.scheduler)) {
    return invalid_input(
        fmt::format("StarPU has no scheduler '{}'; it has, among others, eager, "
                    "lws, dmda, dmdas and heteroprio",
                    spec.scheduler));
  }
  std::unique_ptr<Session> session(new Session(spec));
  // Threads are bound by us, as in the local engine.
  setenv("STARPU_WORKERS_NOBIND", "1", /*overwrite=*/1);
  setenv("STARPU_SILENT", "1", /*overwrite=*/0);
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.precedence_over_environment_variables = 1;
  conf.ncpus = spec.workers;
  conf.ncuda = 0;
  conf.nopencl = 0;
  conf.sched_policy = spec.policy;
  conf.sched_policy_name = spec.policy == nullptr ? session->scheduler_.c_str() : nullptr;
  conf.calibrate = spec.policy == nullptr ? 1 : 0;
  Result<void> begun;
  if (const int code = starpu_init(&conf); code != 0) {
    begun = failed(fmt::format("StarPU could not begin: {}", std::strerror(-code)));
  } else {
    session->up_ = true;
    const auto there = static_cast<int>(starpu_cpu_worker_get_count());
    if (there != spec.workers) {
      begun = failed(fmt::format("StarPU gave {} CPU workers instead of {}", there, spec.workers));
    }
  }
  if (begun = ranks.agree(begun); !begun) return begun.error();
  return session;
}

Session::~Session() {
  if (up_) starpu_shutdown();
}

starpu_codelet* Session::codelet(std::string_view kind) {
  const auto found = kinds_.find(kind);
  if (found != kinds_.end()) return &found->second->codelet;
  auto made = std::make_unique<Kind>();
  made->symbol = "tutti_";
  for (const char c : kind) {  // it becomes the name of a file
    made->symbol += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  starpu_codelet_init(&made->codelet);
  made->codelet.cpu_funcs[0] = run_;
  made->codelet.cpu_funcs_name[0] = "tutti";
  made->codelet.nbuffers = 0;
  made->codelet.name = made->symbol.c_str();
  if (!scheduler_.empty()) {
    made->model.type = STARPU_HISTORY_BASED;
    made->model.symbol = made->symbol.c_str();
    made->model.footprint = footprint_;
    made->codelet.model = &made->model;
  }
  return &kinds_.emplace(std::string(kind), std::move(made)).first->second->codelet;
}

}  // namespace tutti
