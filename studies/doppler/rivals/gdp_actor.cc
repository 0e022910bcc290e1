#include "studies/doppler/rivals/gdp_actor.h"

#include "studies/doppler/rivals/ordered_actor.h"

namespace tutti {
namespace {

class GdpView : public PlaceScorer {
 public:
  GdpView(const std::vector<float>& logits, int devices) : logits_(logits), devices_(devices) {}

  void score(OpId op, std::vector<float>& logits) override {
    const auto first = logits_.begin() + static_cast<ptrdiff_t>(op.index) * devices_;
    logits.assign(first, first + devices_);
  }
  void place(OpId /*op*/, DeviceId /*device*/) override {}

 private:
  const std::vector<float>& logits_;
  int devices_;
};

}  // namespace

std::optional<Plan> GdpActor::act(const Acting& acting, Rng rng) {
  GdpView view(logits_, features_.devices);
  return act_in_order(problem_, features_.order, acting, rng, view);
}

}  // namespace tutti
