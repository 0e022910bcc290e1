// Clients that submit jobs to a running `tutti serve` as fast as it accepts them, wait for all of
// them, and count how they ended. Run by bench/serve/load.
//
//   serve_load SERVER CLIENTS JOBS [PREFIX [BATCH]]
//
// Every job has its own id and is submitted again until it is accepted. Each client submits BATCH
// jobs (default: all of its own) before it waits for them. Prints one JSON
// object; exit code 1 if a job was lost or did not end well.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tutti/serve/http/client.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

// Three small products and an addition, for real; and the same by a name.
constexpr const char* kJobs[] = {
    R"({"make": "chainmm --size 32 --split 1,1,1 --devices 1"})",
    R"({"make": "cholesky --tiles 2 --tile-size 16 --devices 1"})",
};

struct Client {
  std::vector<double> submit_ms{};
  int64_t accepted = 0;
  int64_t pushed_back = 0;  // 429 and 503
  int64_t broken = 0;       // connections that ended without an answer
  int64_t done = 0;
  std::string trouble{};
};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string id_of(const std::string& prefix, int client, int job) {
  return fmt::format("{}-{}-{}", prefix, client, job);
}

void submit(HttpClient& http, const std::string& id, int job, Client& mine) {
  const std::string target = "/v1/jobs?id=" + id;
  while (mine.trouble.empty()) {
    const auto start = Clock::now();
    const auto reply = http.ask("POST", target, kJobs[job % 2]);
    if (!reply) {
      ++mine.broken;
      if (mine.broken > 1000) mine.trouble = reply.error().message;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } else if (reply->status == 201 || reply->status == 200) {
      mine.submit_ms.push_back(ms_since(start));
      ++mine.accepted;
      return;
    } else if (reply->status == 429 || reply->status == 503) {
      ++mine.pushed_back;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    } else {
      mine.trouble = reply->body;
    }
  }
}

void wait_for(HttpClient& http, const std::string& id, Client& mine) {
  while (mine.trouble.empty()) {
    const auto reply = http.ask("GET", "/v1/jobs/" + id + "?wait=30");
    if (!reply || reply->status == 503) {  // it is down, or going down
      ++mine.broken;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } else if (reply->status != 200) {
      mine.trouble = id + ": " + reply->body;
    } else if (reply->body.find("\"state\":\"done\"") != std::string::npos) {
      ++mine.done;
      return;
    } else if (reply->body.find("\"state\":\"failed\"") != std::string::npos) {
      mine.trouble = reply->body;
    }
  }
}

int run(const std::string& server, int clients, int jobs, const std::string& prefix, int batch) {
  std::vector<Client> all(static_cast<size_t>(clients));
  std::atomic<int> submitting{clients};
  std::atomic<double> submitted_ms{0};
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c) {
    threads.emplace_back([&, c] {
      Client& mine = all[static_cast<size_t>(c)];
      Result<HttpClient> http = HttpClient::make(server, "");
      if (!http) {
        mine.trouble = http.error().message;
        return;
      }
      for (int first = c; first < jobs; first += batch * clients) {
        const int end = static_cast<int>(
            std::min<int64_t>(jobs, first + static_cast<int64_t>(batch) * clients));
        for (int job = first; job < end; job += clients)
          submit(*http, id_of(prefix, c, job), job, mine);
        const bool last = end >= jobs;
        if (last && submitting.fetch_sub(1) == 1) submitted_ms = ms_since(start);
        for (int job = first; job < end; job += clients)
          wait_for(*http, id_of(prefix, c, job), mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Client sum;
  for (Client& mine : all) {
    sum.submit_ms.insert(sum.submit_ms.end(), mine.submit_ms.begin(), mine.submit_ms.end());
    sum.accepted += mine.accepted;
    sum.pushed_back += mine.pushed_back;
    sum.broken += mine.broken;
    sum.done += mine.done;
    if (sum.trouble.empty()) sum.trouble = mine.trouble;
  }
  std::sort(sum.submit_ms.begin(), sum.submit_ms.end());
  const auto at = [&](double part) {
    if (sum.submit_ms.empty()) return 0.0;
    return sum.submit_ms[static_cast<size_t>(part * static_cast<double>(sum.submit_ms.size() - 1))];
  };
  fmt::print(
      "{{\"clients\": {}, \"jobs\": {}, \"accepted\": {}, \"done\": {}, \"pushed_back\": {}, "
      "\"broken_connections\": {}, \"submitted_s\": {:.3f}, \"all_done_s\": {:.3f}, "
      "\"submit_ms_median\": {:.2f}, \"submit_ms_p99\": {:.2f}, \"submit_ms_worst\": {:.2f}}}\n",
      clients, jobs, sum.accepted, sum.done, sum.pushed_back, sum.broken,
      submitted_ms.load() / 1000, ms_since(start) / 1000, at(0.5), at(0.99), at(1));
  if (!sum.trouble.empty()) fmt::print(stderr, "serve_load: {}\n", sum.trouble);
  return sum.trouble.empty() && sum.accepted == jobs && sum.done == jobs ? 0 : 1;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: serve_load SERVER CLIENTS JOBS [PREFIX [BATCH]]\n");
    return 2;
  }
  const int jobs = std::max(1, std::atoi(argv[3]));
  return tutti::run(argv[1], std::max(1, std::atoi(argv[2])), jobs, argc > 4 ? argv[4] : "load",
                    argc > 5 ? std::max(1, std::atoi(argv[5])) : jobs);
}
