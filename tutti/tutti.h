// tutti's C++ interface: build or load a graph, plan it for a machine, simulate the plan or run it
// with ops of your own. README.md has a first program, examples/04_embed a longer one.
//
// These headers and the library behind them (link tutti::tutti, or pkg-config tutti) are all that
// is installed. They are a thin layer over the C interface (tutti_c.h), which is what the library
// exports: programs need not be compiled again for a new version of it, nor with the same compiler.
//
// What fails throws tutti::Error with one sentence.

#ifndef TUTTI_TUTTI_H_
#define TUTTI_TUTTI_H_

#include <tutti/door/error.h>
#include <tutti/door/graph.h>
#include <tutti/door/plan.h>
#include <tutti/door/problem.h>
#include <tutti/door/run.h>
#include <tutti/tutti_c.h>

#endif  // TUTTI_TUTTI_H_
