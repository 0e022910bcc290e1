// How long training takes per episode: rollouts, forward and backward passes and the step, on the
// Llama layer that Doppler's authors released (229 ops, 4 devices).
//
//   train_bench NETWORK EPISODES_PER_UPDATE UPDATES THREADS
//
// NETWORK is residual, published, a variant of the latter (select, place, joint, every-step), or a
// rival: placeto, gdp.
// Messages at every step take most of a gigabyte an episode: width 32, and a lesson for each.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "studies/doppler/nets.h"
#include "studies/doppler/published/actor.h"
#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "studies/doppler/train/configurations.h"
#include "studies/studies.h"
#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/graph/import/import.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/model.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/train/doppler/learner.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

template <class T>
T must(Result<T> result) {
  if (!result) std::fprintf(stderr, "train_bench: %s\n", result.error().message.c_str());
  TUTTI_CHECK(result.has_value());
  return std::move(*result);
}

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// One actor for each thread, made from the learner's present net.
class Cast {
 public:
  Cast(const Problem& problem, const TensorFile& model, const NetFeatures& features, int threads) {
    if (model.metadata.at("network") == "published") {
      const PublishedFeatures& published = features_as<PublishedNetFeatures>(features).graph;
      published_ = std::make_unique<PublishedNet>(
          must(PublishedNet::load(model, "model", /*borrowed=*/true)));
      const auto encoding = PublishedEncoding::make(*published_, published, threads);
      for (int i = 0; i < threads; ++i) {
        actors_.push_back(
            std::make_unique<PublishedActor>(problem, *published_, published, encoding));
      }
      return;
    }
    model_ = std::make_unique<DopplerModel>(must(DopplerModel::load(model, "model")));
    for (int i = 0; i < threads; ++i) actors_.push_back(model_->actor(problem, features));
  }
  Actor& actor(int thread) { return *actors_[static_cast<size_t>(thread)]; }

 private:
  std::unique_ptr<PublishedNet> published_;
  std::unique_ptr<DopplerModel> model_;  // of any other net
  std::vector<std::unique_ptr<Actor>> actors_;
};

TensorFile fresh_network(const std::string& kind) {
  using Learned = PublishedShape::Learned;
  if (kind == "residual") return ResidualNet::fresh({}, 1);
  if (kind == "placeto") return PlacetoNet::fresh({}, 1);
  if (kind == "gdp") return GdpNet::fresh({}, 1);
  PublishedShape shape;
  if (kind == "select") shape.learned = Learned::select;
  if (kind == "place") shape.learned = Learned::place;
  if (kind == "joint") shape.learned = Learned::joint;
  if (kind == "every-step") shape.every_step = true;
  if (kind == "every-step") shape.width = 32;
  return PublishedNet::fresh(shape, 1);
}

void run(const std::string& kind, int episodes, int updates, int threads) {
  const char* data = std::getenv("TUTTI_DATA");
  const std::string folder = data != nullptr ? data : "../shared/data";
  const Problem problem = must(Problem::make(
      must(load_graph(folder + "/doppler/gdp_full_transformer_layer_261nodes.txt")).graph,
      must(make_preset("uniform-4"))));
  const bool every_step = kind == "every-step";
  const auto learner = must(make_learner(fresh_network(kind), "fresh", threads));
  const auto features = must(DopplerModel::load(learner->model(), "fresh")).features(problem);
  double make_ms = 0;
  double act_ms = 0;
  double learn_ms = 0;
  std::clock_t work = std::clock();  // of all threads: what a busy machine does not change
  std::vector<double> took;          // by update
  for (int update = -1; update < updates; ++update) {
    if (update == 0) {  // the first warmed up
      make_ms = act_ms = learn_ms = 0;
      took.clear();
      work = std::clock();
    }
    const auto begin = Clock::now();
    auto start = begin;
    Cast cast(problem, learner->model(), *features, threads);
    make_ms += ms_since(start);
    start = Clock::now();
    std::vector<Episode> records(static_cast<size_t>(episodes));
    parallel_for(episodes, threads, [&](int index, int thread) {
      Acting acting{.mode = Acting::Mode::sample, .record = &records[static_cast<size_t>(index)]};
      TUTTI_CHECK(cast.actor(thread).act(acting, Rng(static_cast<uint64_t>(index))).has_value());
    });
    act_ms += ms_since(start);
    start = Clock::now();
    std::vector<Lesson> lessons(
        static_cast<size_t>(every_step ? episodes : std::min(threads, episodes)));
    for (size_t i = 0; i < records.size(); ++i) {
      Lesson& lesson = lessons[i % lessons.size()];
      lesson.features = features.get();
      lesson.episodes.push_back(&records[i]);
      lesson.weights.push_back(i % 3 == 0 ? 1.0F : -0.5F);
    }
    learner->step(lessons, {.learning_rate = 1e-4});
    learn_ms += ms_since(start);
    took.push_back(ms_since(begin) / episodes);
  }
  std::sort(took.begin(), took.end());
  const double work_ms = 1e3 * static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC;
  const double count = static_cast<double>(episodes) * updates;
  fmt::print(
      "{}: {} ops, {} episodes an update, {} threads: {:.2f} ms an episode, {:.2f} ms of work\n",
      kind, problem.graph.size(), episodes, threads, (make_ms + act_ms + learn_ms) / count,
      work_ms / count);
  fmt::print(
      "  network and encoding {:.2f}, rollouts {:.2f}, learning {:.2f}; least {:.2f}, median "
      "{:.2f}\n",
      make_ms / count, act_ms / count, learn_ms / count, took.front(), took[took.size() / 2]);
}

}  // namespace
}  // namespace tutti

int main(int count, char** words) {
  tutti::add_studies();
  tutti::add_doppler_studies();
  const auto number = [&](int at, int otherwise) {
    return count > at ? std::atoi(words[at]) : otherwise;
  };
  tutti::run(count > 1 ? words[1] : "published", number(2, 32), number(3, 4), number(4, 2));
}
