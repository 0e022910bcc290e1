// A LinkGraph holds the places of a machine (memories and switches) and the links between them, by
// number alone. It finds paths from one memory to another. Names and rates of places and links are
// in Machine.

#ifndef TUTTI_MACHINE_LINK_GRAPH_H_
#define TUTTI_MACHINE_LINK_GRAPH_H_

#include <vector>

#include "tutti/base/time.h"

namespace tutti {

class LinkGraph {
 public:
  // One link, gone over in one direction.
  struct Step {
    int link = -1;
    bool forward = true;  // from the link's first end to its second
    int to = -1;          // the place it leads to
  };

  // Returns the place's number, counted from 0. A path may start and end in every place but lead
  // on through `passable` ones only.
  int add_place(bool passable);

  // Returns the link's number, counted from 0. Requires two different places of this graph.
  int add_link(int first_end, int second_end, Duration latency);

  // How each place is best reached from where a search started.
  struct Arrival {
    int links = -1;  // -1: not at all
    Duration latency{0};
    int from = -1;
    Step step{};
  };

  // The best ways from `start` to every place: the fewest links, then the least latency, then the
  // order in which the links were added.
  std::vector<Arrival> search(int start) const;

  // The steps from the start of the search to that place, which it must have reached.
  static std::vector<Step> path_to(const std::vector<Arrival>& arrivals, int place);

  // The step over that link from one of its ends to the other; its `to` is -1 if the link does not
  // end there.
  Step step_from(int place, int link) const;

 private:
  struct Link {
    int ends[2];
    Duration latency;
  };

  std::vector<bool> passable_;                 // by place
  std::vector<std::vector<Step>> steps_from_;  // by place, in the order of the links
  std::vector<Link> links_;
};

}  // namespace tutti

#endif  // TUTTI_MACHINE_LINK_GRAPH_H_
