#include "tutti/serve/live.h"

#include <fmt/format.h>

#include <utility>

#include "tutti/base/file/json_writer.h"

namespace tutti {
namespace {

void write_sample(const LiveSample& sample, JsonWriter& json) {
  json.open_object().field("unix_ms", sample.unix_ms).field("queued", sample.queued);
  json.field("running", sample.running).field("done", sample.done);
  json.field("failed", sample.failed).field("cancelled", sample.cancelled);
  json.field("ended", sample.ended);
  json.key("wait_s").raw(fmt::format("{:.9g}", sample.wait_seconds));
  json.key("run_s").raw(fmt::format("{:.9g}", sample.run_seconds));
  json.key("utilisation").open_object();
  for (const Utilisation& one : sample.utilisation) {
    json.key(one.resource).open_list();
    for (const double share : {one.mean, one.low, one.high}) json.raw(fmt::format("{:.3f}", share));
    json.close_list();
  }
  json.close_object().close_object();
}

// Lines of an event: each line of its data has the prefix.
std::string event_text(std::string_view name, const std::string& data) {
  std::string text = fmt::format("event: {}\ndata: ", name);
  for (const char c : data) {
    text += c;
    if (c == '\n') text += "data: ";
  }
  return text + "\n\n";
}

}  // namespace

struct Live::Shared {
  Mutex mutex;
  std::condition_variable_any changed;
  std::function<std::string()> overview;
  std::chrono::milliseconds period{};
  std::deque<LiveSample> samples GUARDED_BY(mutex);
  int64_t taken GUARDED_BY(mutex) = 0;  // since the start
  int asking GUARDED_BY(mutex) = 0;     // streams that call `overview` now
  bool ended GUARDED_BY(mutex) = false;

  std::string series(int64_t after_unix_ms) {
    MutexLock lock(mutex);
    return series_locked(after_unix_ms);
  }
  std::string series_locked(int64_t after_unix_ms)
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex)) {
    JsonWriter json(/*inline_depth=*/0);
    json.open_object().field("period_ms", static_cast<int64_t>(period.count()));
    json.key("samples").open_list();
    for (const LiveSample& sample : samples) {
      if (sample.unix_ms > after_unix_ms) write_sample(sample, json);
    }
    json.close_list().close_object();
    return json.text();
  }
};

namespace {

template <class Shared>
class LiveStream : public HttpStream {
 public:
  explicit LiveStream(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::optional<std::string> next(std::chrono::milliseconds patience) override {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::string text;
    {
      MutexLock lock(shared_->mutex);
      while (!shared_->ended && shared_->taken <= seen_) {
        if (std::chrono::steady_clock::now() >= deadline) return std::string();
        shared_->changed.wait_until(shared_->mutex, deadline);
      }
      if (shared_->ended) return std::nullopt;
      if (seen_ == 0) {
        text = event_text("series", shared_->series_locked(0));
      } else {
        JsonWriter json(/*inline_depth=*/0);
        write_sample(shared_->samples.back(), json);
        text = event_text("sample", json.text());
      }
      seen_ = shared_->taken;
      ++shared_->asking;
    }
    const Asked asked(*shared_);
    return text + event_text("overview", shared_->overview());
  }

 private:
  struct Asked {
    explicit Asked(Shared& shared) : of(shared) {}
    ~Asked() {
      MutexLock lock(of.mutex);
      --of.asking;
      of.changed.notify_all();
    }
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    Shared& of;
  };

  std::shared_ptr<Shared> shared_;
  int64_t seen_ = 0;  // samples that were sent, or passed over
};

}  // namespace

Live::Live(std::function<LiveSample()> sample, std::function<std::string()> overview,
           LiveOptions options)
    : sample_(std::move(sample)), options_(options), shared_(std::make_shared<Shared>()) {
  shared_->overview = std::move(overview);
  shared_->period = options_.period;
  sampler_ = std::thread([this] { take_samples(); });
}

Live::~Live() {
  {
    MutexLock lock(shared_->mutex);
    shared_->ended = true;
    shared_->changed.notify_all();
    // What `overview` asks may not outlive this object.
    while (shared_->asking > 0) shared_->changed.wait(shared_->mutex);
  }
  sampler_.join();
}

void Live::take_samples() {
  auto next = std::chrono::steady_clock::now();
  while (true) {
    LiveSample sample = sample_();
    if (sample.utilisation.size() > options_.resources) {
      sample.utilisation.resize(options_.resources);
    }
    MutexLock lock(shared_->mutex);
    shared_->samples.push_back(std::move(sample));
    if (shared_->samples.size() > options_.kept) shared_->samples.pop_front();
    ++shared_->taken;
    shared_->changed.notify_all();
    next += options_.period;
    while (!shared_->ended && std::chrono::steady_clock::now() < next) {
      shared_->changed.wait_until(shared_->mutex, next);
    }
    if (shared_->ended) return;
  }
}

std::string Live::series(int64_t after_unix_ms) const {
  return shared_->series(after_unix_ms);
}

std::shared_ptr<HttpStream> Live::stream() const {
  return std::make_shared<LiveStream<Shared>>(shared_);
}

}  // namespace tutti
