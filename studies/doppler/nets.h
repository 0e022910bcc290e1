// The nets of the study as the product knows nets (tutti/policy/doppler/net.h): the
// published one, Placeto's and GDP's, each with what it is told of a problem.

#ifndef TUTTI_STUDIES_DOPPLER_NETS_H_
#define TUTTI_STUDIES_DOPPLER_NETS_H_

#include "studies/doppler/published/features.h"
#include "studies/doppler/rivals/rival_features.h"
#include "tutti/policy/doppler/net.h"

namespace tutti {

struct PublishedNetFeatures : NetFeatures {
  explicit PublishedNetFeatures(const Problem& problem) : graph(published_features(problem)) {}
  PublishedFeatures graph;
};

// Of Placeto and GDP.
struct RivalNetFeatures : NetFeatures {
  explicit RivalNetFeatures(const Problem& problem) : all(rival_features(problem)) {}
  RivalFeatures all;
};

// Adds `published`, `placeto` and `gdp` to net_families().
void add_study_nets();

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_NETS_H_
