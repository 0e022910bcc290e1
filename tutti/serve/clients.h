// The file of clients: what each client of a server may use. docs/formats/clients.md.
//
//   schema_version = 1
//   window_s = 10
//   [[client]]
//   name = "alice"
//   weight = 3
//   open_jobs = 100
//   device_s = 30
//   per_s = 60

#ifndef TUTTI_SERVE_CLIENTS_H_
#define TUTTI_SERVE_CLIENTS_H_

#include <string>

#include "tutti/base/file/source.h"
#include "tutti/plan/world/client_shares.h"
#include "tutti/serve/core.h"

namespace tutti {

struct ClientRules {
  ShareRules shares{};
  ClientLimits open_jobs{};
};

// Fails (invalid_input) with a sentence that names file and line.
Result<ClientRules> read_clients(Source& source);
Result<ClientRules> load_clients(const std::string& path);

}  // namespace tutti

#endif  // TUTTI_SERVE_CLIENTS_H_
