// The nets of the study in libtorch, as modules of the product's learner. Knows nothing of
// libtorch itself; the sources of this folder do.

#ifndef TUTTI_STUDIES_DOPPLER_TORCH_MODULES_H_
#define TUTTI_STUDIES_DOPPLER_TORCH_MODULES_H_

namespace tutti {

// `published`.
void add_published_module();
// `placeto` and `gdp`.
void add_rival_modules();

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_TORCH_MODULES_H_
