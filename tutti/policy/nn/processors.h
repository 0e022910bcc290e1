// How a function is compiled for the processor at hand.

#ifndef TUTTI_POLICY_NN_PROCESSORS_H_
#define TUTTI_POLICY_NN_PROCESSORS_H_

// One function, compiled for each level of x86-64 and chosen when the program starts; v3 and v4
// give the same numbers. (A processor's name, as arch=haswell, would match that processor alone.)
// Sanitizers run before such a choice can be made.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define TUTTI_FOR_EVERY_PROCESSOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TUTTI_FOR_EVERY_PROCESSOR
#endif

#endif  // TUTTI_POLICY_NN_PROCESSORS_H_
