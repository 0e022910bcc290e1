#include "tutti/report/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/report/lanes.h"

namespace tutti {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 150;  // of all axes: names stand before it
constexpr double kRight = 900;
constexpr double kRow = 18;
constexpr double kNarrow = 0.5;  // pixels
constexpr size_t kMostRowsOfSlots = 64;

// Light and dark; k0, k1, ... are kinds of ops, the most frequent first.
constexpr const char* kStyle = R"(<style>
text{font:12px system-ui,sans-serif;fill:#222}.t{font-weight:600;font-size:13px}.q{fill:#667}.e{text-anchor:end}.m{text-anchor:middle}
.p{fill:#fff}.g{stroke:#dde;fill:none}.l{fill:#f2f4f8}.b{stroke:#c22;stroke-dasharray:5 3;fill:none}.w{stroke:#222;fill:none}.x{fill:#b9bfcb}
.k0{fill:#3b78d8}.k1{fill:#3aa76d}.k2{fill:#e0912f}.k3{fill:#9557c9}.k4{fill:#2aa3a3}.k5{fill:#c2a21d}.k6{fill:#d0559b}.k7{fill:#7b8794}
@media(prefers-color-scheme:dark){text{fill:#e4e7ee}.q{fill:#9aa3b5}.p{fill:#161a22}.g{stroke:#333a48}.l{fill:#212734}.b{stroke:#ff6b6b}.w{stroke:#e4e7ee}.x{fill:#566076}
.k0{fill:#6ea2f5}.k1{fill:#5fcf93}.k2{fill:#f2b05c}.k3{fill:#b985e6}.k4{fill:#55c8c8}.k5{fill:#dcc24c}.k6{fill:#ee86bd}.k7{fill:#99a5b3}}
</style>
)";
constexpr size_t kColours = 8;  // the last one is for all other kinds

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (static_cast<unsigned char>(c) < ' ')
      result += ' ';
    else
      result += c;
  }
  return result;
}

// At most `most` characters (UTF-8 is not cut in the middle of one).
std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string time_text(double nanoseconds) {
  return to_text(Duration{std::llround(nanoseconds)});
}

class Canvas {
 public:
  void rect(const char* style, double x, double y, double width, double height,
            const std::string& title = {}) {
    const std::string inner =
        title.empty() ? "/>" : "><title>" + escaped(title) + "</title></rect>";
    body_ +=
        fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"{})"
                    "\n",
                    style, x, y, std::max(width, 0.1), height, inner);
  }
  void line(const char* style, double x1, double y1, double x2, double y2) {
    body_ += fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)"
                         "\n",
                         style, x1, y1, x2, y2);
  }
  void text(const char* style, double x, double y, std::string_view text) {
    body_ += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>)"
                         "\n",
                         style, x, y, escaped(text));
  }
  std::string finish(double height) const {
    return fmt::format(
               R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {:.0f}" width="{}" height="{:.0f}">)"
               "\n",
               kWidth, height, kWidth, height) +
           kStyle +
           fmt::format(R"(<rect class="p" width="{}" height="{:.0f}"/>)"
                       "\n",
                       kWidth, height) +
           body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

// From 0 to `most` nanoseconds, left to right.
struct Axis {
  double most;

  double x(double nanoseconds) const { return kLeft + (kRight - kLeft) * nanoseconds / most; }

  // Steps of 1, 2 or 5 times a power of ten, five to ten of them.
  double step() const {
    const double power = std::pow(10, std::floor(std::log10(most / 5)));
    for (const double times : {1.0, 2.0, 5.0}) {
      if (most / (times * power) <= 8) return times * power;
    }
    return 10 * power;
  }

  void draw_grid(Canvas& canvas, double top, double bottom) const {
    for (double at = 0; at <= most * 1.0001; at += step()) {
      canvas.line("g", x(at), top, x(at), bottom);
    }
  }
  void draw_labels(Canvas& canvas, double y) const {
    for (double at = 0; at <= most * 1.0001; at += step()) {
      canvas.text("q m", x(at), y, at == 0 ? "0" : time_text(at));
    }
  }
};

std::string gap_text(double makespan, double bound) {
  return bound > 0 ? fmt::format("{:.1f} % above the lower bound", 100 * (makespan / bound - 1))
                   : std::string();
}

// Bars of the policies that gave an answer, the fastest first; whiskers are one standard deviation.
double draw_comparison(const Comparison& comparison, double y, Canvas& canvas) {
  std::vector<const ComparedPolicy*> rows;
  for (const ComparedPolicy& row : comparison.results) {
    if (!row.error) rows.push_back(&row);
  }
  if (rows.empty()) return y;
  std::stable_sort(rows.begin(), rows.end(), [](const ComparedPolicy* a, const ComparedPolicy* b) {
    return a->mean_ns < b->mean_ns;
  });
  double most = comparison.lower_bound_ns.value_or(0);
  for (const ComparedPolicy* row : rows) most = std::max(most, row->mean_ns + row->stddev_ns);
  const Axis axis{.most = std::max(most * 1.1, 1.0)};
  const double bound = comparison.lower_bound_ns.value_or(0);

  const std::string how = comparison.runtime.empty() ? "simulated" : "measured";
  canvas.text("t", kLeft, y + 12,
              shortened(fmt::format("{} on {}: {} makespan, mean", comparison.graph,
                                    comparison.machine, how),
                        100));
  y += 24;
  const double top = y;
  axis.draw_grid(canvas, top, top + kRow * static_cast<double>(rows.size()));
  for (const ComparedPolicy* row : rows) {
    canvas.text("e", kLeft - 8, y + 13, shortened(row->policy, 20));
    canvas.rect(row == rows.front() ? "k1" : "k0", kLeft, y + 3, axis.x(row->mean_ns) - kLeft,
                kRow - 6, row->policy);
    if (row->stddev_ns > 0) {
      const double low = std::max(0.0, row->mean_ns - row->stddev_ns);
      canvas.line("w", axis.x(low), y + kRow / 2, axis.x(row->mean_ns + row->stddev_ns),
                  y + kRow / 2);
    }
    canvas.text("q", axis.x(row->mean_ns + row->stddev_ns) + 5, y + 13, time_text(row->mean_ns));
    y += kRow;
  }
  if (bound > 0) {
    canvas.line("b", axis.x(bound), top - 2, axis.x(bound), y);
    canvas.text("q e", axis.x(bound) - 4, y + 14, "lower bound " + time_text(bound));
  }
  return y + 34;
}

// Spans of one lane as rectangles. Spans closer to each other than half a pixel are drawn as one,
// in the colour of the first.
class LaneDrawer {
 public:
  LaneDrawer(const Axis& axis, double y, double height, Canvas& canvas)
      : axis_(axis), y_(y), height_(height), canvas_(canvas) {}

  void add(double start, double finish, size_t colour) {
    const double from = axis_.x(start);
    const double to = axis_.x(finish);
    const bool narrow = to - from < 2 * kNarrow;
    if (open_ && from - to_ < kNarrow && (narrow || colour == colour_)) {
      to_ = std::max(to_, to);
      return;
    }
    flush();
    open_ = true;
    from_ = from;
    to_ = to;
    colour_ = colour;
  }

  void flush() {
    static constexpr std::array<const char*, kColours + 1> kStyles = {"k0", "k1", "k2", "k3", "k4",
                                                                      "k5", "k6", "k7", "x"};
    if (!open_) return;
    // A thin line of background between neighbours, if there is room for it.
    const double width = to_ - from_;
    canvas_.rect(kStyles[colour_], from_, y_, width > 3 ? width - 0.5 : width, height_);
    open_ = false;
  }

 private:
  const Axis& axis_;
  double y_;
  double height_;
  Canvas& canvas_;
  bool open_ = false;
  double from_ = 0;
  double to_ = 0;
  size_t colour_ = 0;
};

// The colour of each kind of op: by how many ops have it, then by name.
std::vector<size_t> colours_of_kinds(const Graph& graph) {
  std::vector<int32_t> count(graph.op_kinds().size());
  for (const OpId op : graph.ops()) ++count[graph.op_kind(op).index];
  std::vector<size_t> by_count(count.size());
  for (size_t i = 0; i < by_count.size(); ++i) by_count[i] = i;
  std::stable_sort(by_count.begin(), by_count.end(),
                   [&](size_t a, size_t b) { return count[a] > count[b]; });
  std::vector<size_t> colour(count.size());
  for (size_t i = 0; i < by_count.size(); ++i) colour[by_count[i]] = std::min(i, kColours - 1);
  return colour;
}

double draw_legend(const Graph& graph, const std::vector<size_t>& colours, bool transfers, double y,
                   Canvas& canvas) {
  std::array<std::string, kColours + 1> names;
  for (size_t kind = 0; kind < colours.size(); ++kind) {
    std::string& name = names[colours[kind]];
    const std::string& own = graph.op_kinds()[kind];
    name = name.empty() ? (own.empty() ? "op" : own) : "other ops";
  }
  if (transfers) names[kColours] = "transfer";
  double x = kLeft;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const std::string name = shortened(names[i], 16);
    canvas.rect(i == kColours ? "x" : fmt::format("k{}", i).c_str(), x, y, 10, 10);
    canvas.text("q", x + 14, y + 9, name);
    x += 30 + 7.5 * static_cast<double>(name.size());
    if (x > kRight - 60) {
      x = kLeft;
      y += 16;
    }
  }
  return y + 26;
}

struct RunStyle {
  const Graph& graph;
  const std::vector<size_t>& colours;
  const Axis& axis;
  double bound;
};

// Slots of devices, then all transfers in one row.
double draw_run(const Problem& problem, const ReportedRun& run, const RunStyle& style, double y,
                Canvas& canvas) {
  const auto makespan = static_cast<double>(run.trace.makespan.count());
  const std::string stem = std::filesystem::path(run.name).stem().string();
  std::string title = fmt::format("{}: {} ({})", shortened(stem, 40), time_text(makespan), run.by);
  if (const std::string gap = gap_text(makespan, style.bound); !gap.empty()) title += ", " + gap;
  canvas.text("t", kLeft, y + 12, title);
  y += 20;
  const double top = y;
  std::vector<const Lane*> slots;
  const std::vector<Lane> lanes = lay_out_lanes(problem, run.trace);
  for (const Lane& lane : lanes) {
    if (lane.device.index >= 0) slots.push_back(&lane);
  }
  const size_t shown = std::min(slots.size(), kMostRowsOfSlots);
  const bool transfers = !run.trace.transfers.empty();
  const double bottom = top + kRow * static_cast<double>(shown) + (transfers ? 12 : 0);
  style.axis.draw_grid(canvas, top, bottom);
  for (size_t i = 0; i < shown; ++i, y += kRow) {
    const Lane& lane = *slots[i];
    if (lane.row == 0) canvas.text("e", kLeft - 8, y + 13, shortened(lane.name, 20));
    canvas.rect("l", kLeft, y + 2, kRight - kLeft, kRow - 4);
    LaneDrawer drawer(style.axis, y + 2, kRow - 4, canvas);
    for (const int32_t index : lane.spans) {
      const OpSpan& span = run.trace.ops[index];
      drawer.add(static_cast<double>(span.start.count()), static_cast<double>(span.finish.count()),
                 style.colours[style.graph.op_kind(span.op).index]);
    }
    drawer.flush();
  }
  if (shown < slots.size()) {
    canvas.text("q", kRight - 150, top - 8, fmt::format("{} more slots", slots.size() - shown));
  }
  if (transfers) {
    canvas.text("q e", kLeft - 8, y + 10, "transfers");
    std::vector<std::pair<Duration, Duration>> times;
    for (const TransferSpan& span : run.trace.transfers) times.push_back({span.start, span.finish});
    std::sort(times.begin(), times.end());
    LaneDrawer drawer(style.axis, y + 3, 7, canvas);
    for (const auto& time : times) {
      drawer.add(static_cast<double>(time.first.count()), static_cast<double>(time.second.count()),
                 kColours);
    }
    drawer.flush();
    y += 12;
  }
  if (style.bound > 0) {
    canvas.line("b", style.axis.x(style.bound), top - 3, style.axis.x(style.bound), bottom);
  }
  return y + 14;
}

}  // namespace

Result<std::string> picture(const Page& page) {
  Canvas canvas;
  double y = 12;
  for (const Comparison& comparison : page.comparisons) y = draw_comparison(comparison, y, canvas);

  std::vector<const ReportedRun*> runs;
  double most = 1;
  bool transfers = false;
  for (const ReportedRun& run : page.runs) {
    if (run.trace.ops.empty()) continue;
    runs.push_back(&run);
    most = std::max(most, static_cast<double>(run.trace.makespan.count()));
    transfers = transfers || !run.trace.transfers.empty();
  }
  if (runs.empty() && y <= 12) {
    return invalid_input(
        "a picture shows comparisons, traces and plans with a timeline; there are none among the "
        "files, so give one or leave --svg out");
  }
  if (!runs.empty()) {
    const Graph& graph = page.problem->graph;
    const auto bound = static_cast<double>(page.bounds.strongest().count());
    const Axis axis{.most = std::max(most, bound)};
    const std::vector<size_t> colours = colours_of_kinds(graph);
    const RunStyle style{.graph = graph, .colours = colours, .axis = axis, .bound = bound};
    for (const ReportedRun* run : runs) y = draw_run(*page.problem, *run, style, y, canvas);
    axis.draw_labels(canvas, y);
    y = draw_legend(graph, colours, transfers, y + 12, canvas);
  }
  return canvas.finish(y);
}

}  // namespace tutti
