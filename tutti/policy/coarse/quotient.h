// A Quotient is a graph as grouping sees it: groups of ops, which group reads from which, and how
// many bytes. It knows nothing of devices.
//
// Groups are numbered so that every link goes from a lower number to a higher one, which is also
// the proof that there is no cycle.

#ifndef TUTTI_POLICY_COARSE_QUOTIENT_H_
#define TUTTI_POLICY_COARSE_QUOTIENT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

struct Quotient {
  struct Link {
    int32_t group;  // at the other end
    double weight;  // bytes, or ns where transfers have given times
  };

  int32_t size() const { return static_cast<int32_t>(work_ns.size()); }
  std::span<const Link> readers(int32_t group) const { return row(out, out_begin, group); }
  std::span<const Link> producers(int32_t group) const { return row(in, in_begin, group); }

  std::vector<int32_t> out_begin, in_begin;  // by group, and one more at the end
  std::vector<Link> out, in;                 // each pair of groups once; by ascending other end
  std::vector<double> work_ns;               // by group: the mean run times of its ops together
  std::vector<int32_t> family;  // by group: only groups of one family may become one group

 private:
  static std::span<const Link> row(const std::vector<Link>& links,
                                   const std::vector<int32_t>& begin, int32_t group) {
    const auto at = static_cast<size_t>(group);
    return {links.data() + begin[at], static_cast<size_t>(begin[at + 1] - begin[at])};
  }
};

// Each op a group of its own; ops of one family may use the same devices and are in the same
// colocation group, or in none. of_op becomes each op's group.
Quotient quotient_of(const Problem& problem, std::vector<int32_t>& of_op);

// The quotient with the groups that have the same leader made one. leader is by group, any of its
// groups; it becomes the new group's number. Requires that no cycle comes of it.
Quotient joined(const Quotient& quotient, std::vector<int32_t>& leader);

// By group: how many groups the longest path to it passes before it.
std::vector<int32_t> levels(const Quotient& quotient);

}  // namespace tutti

#endif  // TUTTI_POLICY_COARSE_QUOTIENT_H_
