// All that the studies add to the product's tables, for the programs that have them: tutti-study
// and the tests of the studies. In main, once, before anything else.

#ifndef TUTTI_STUDIES_STUDIES_H_
#define TUTTI_STUDIES_STUDIES_H_

namespace tutti {

// Nets, models of evaluation, policies.
void add_studies();

}  // namespace tutti

#endif  // TUTTI_STUDIES_STUDIES_H_
