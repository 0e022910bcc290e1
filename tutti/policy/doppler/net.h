// A DopplerNet makes plans with trained weights: the residual net of the product, or one that a
// study has added to the table below.
//
// A net owns its features: its input about a problem before anything is placed. A caller with
// several actors, or a learner, for one problem makes them once and passes them to each.

#ifndef TUTTI_POLICY_DOPPLER_NET_H_
#define TUTTI_POLICY_DOPPLER_NET_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/base/file/tensor_file.h"
#include "tutti/plan/problem.h"
#include "tutti/policy/doppler/draft_features.h"
#include "tutti/policy/doppler/episode.h"

namespace tutti {

// Only nets of the family that made them, and their learners, know what is inside.
class NetFeatures {
 public:
  virtual ~NetFeatures() = default;
};

// The features as the type of their family.
template <class Features>
const Features& features_as(const NetFeatures& features) {
  const auto* known = dynamic_cast<const Features*>(&features);
  TUTTI_CHECK(known != nullptr);  // else they are another family's
  return *known;
}

class DopplerNet {
 public:
  virtual ~DopplerNet() = default;
  // Keeps a reference to the problem.
  virtual std::unique_ptr<const NetFeatures> features(const Problem& problem) const = 0;
  // Requires features that a net of this family has made of this problem. Keeps references to all,
  // and to this net.
  virtual std::unique_ptr<Actor> actor(const Problem& problem,
                                       const NetFeatures& features) const = 0;
  // How the times of its plans are estimated.
  virtual Estimate estimate() const = 0;
};

// The nets that files may hold, by the word `network` of their metadata.
struct NetFamily {
  std::string name;
  // Fails (invalid_input) unless the file holds a complete net of the family.
  std::function<Result<std::shared_ptr<const DopplerNet>>(const TensorFile& file,
                                                          const std::string& path)>
      load;
  // The same without copies of large tensors: the file must stay, and may not change while the net
  // is used. None: load.
  std::function<Result<std::shared_ptr<const DopplerNet>>(const TensorFile& file,
                                                          const std::string& path)>
      borrow{};
  // Words of the metadata in which nets of the family differ in kind, not in size.
  std::vector<std::string> variants{};
};

const std::vector<NetFamily>& net_families();
// For programs with nets of their own: call it in main, before anything else. The name must be new.
void add_net_family(NetFamily family);

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_NET_H_
