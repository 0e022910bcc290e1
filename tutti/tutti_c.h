/* The C interface of libtutti: load a problem, plan it, simulate and compare plans, run a plan with
 * functions of your own, step an environment. docs/c-api.md explains it with an example.
 *
 * Handles are opaque. A function that makes one returns NULL if it fails; a function that returns
 * int returns 0 (TUTTI_OK) or a code. Both then write code and sentence into *error, unless error
 * is NULL. The sentence names what to change. Every handle is freed by its own function, in any
 * order; NULL may be freed. Texts and columns that are returned belong to their handle. Texts are
 * UTF-8.
 *
 * Structs of options begin with their size: TUTTI_INIT(tutti_plan_options) sets it and zeroes the
 * rest, and a zero means the default. Functions that are added later change none that are here;
 * TUTTI_C_VERSION counts changes that break programs, and is also the number behind libtutti.so.
 *
 * There is no global state and no exception leaves the library. Different handles may be used by
 * different threads at once. Problems, graphs, machines and plans are immutable: any number of
 * threads may read one. Builders, engines and environments are for one thread at a time. */

#ifndef TUTTI_TUTTI_C_H_
#define TUTTI_TUTTI_C_H_

#include <stddef.h>
#include <stdint.h>

#define TUTTI_C_VERSION 0

#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions and errors ---- */

/* TUTTI_C_VERSION of the library; a program checks that it is its own. */
TUTTI_API int tutti_c_version(void);
/* "0.1.0". */
TUTTI_API const char* tutti_version(void);

enum {
  TUTTI_OK = 0,
  TUTTI_FAILED = 1,        /* anything else, such as a full disk, or time that ran out */
  TUTTI_INVALID_INPUT = 2, /* the caller gave something wrong */
  TUTTI_INFEASIBLE = 3     /* no plan can obey the problem */
};

typedef struct tutti_error {
  int32_t code;
  char message[1020]; /* one sentence, ended by a zero; cut if it is longer */
} tutti_error;

#define TUTTI_INIT(type) \
  { .size = sizeof(type) }

/* ---- Graphs ---- */

typedef struct tutti_graph tutti_graph;
typedef struct tutti_graph_builder tutti_graph_builder;

typedef struct tutti_value {
  size_t size;       /* of this struct */
  const char* name;  /* NULL: named after its op */
  const char* dtype; /* "f64" "f32" "f16" "bf16" "i64" "i32" "i16" "i8" "u8" "bool"; or NULL */
  const int64_t* shape;
  int32_t rank;
  int64_t bytes; /* 0: by dtype and shape; a dtype with rank 0 is a scalar */
} tutti_value;

typedef struct tutti_op {
  size_t size;
  const char* name;
  const char* kind;
  const int32_t* operands; /* values, in the order that the op reads them */
  int32_t operand_count;
  const tutti_value* outputs;
  int32_t output_count;
  double flops;
  int64_t transient_bytes;
  /* Times that are known, by kind of device; "*" stands for all. */
  const char* const* time_kinds;
  const int64_t* times_ns;
  int32_t time_count;
} tutti_op;

TUTTI_API tutti_graph_builder* tutti_graph_builder_new(const char* name);
TUTTI_API void tutti_graph_builder_free(tutti_graph_builder* builder);
/* A value that no op makes. weight: it stays in memory wherever it is read. Its number, or -1. */
TUTTI_API int32_t tutti_graph_builder_input(tutti_graph_builder* builder, const tutti_value* value,
                                            int weight, tutti_error* error);
/* The number of the op, or -1. Names of ops must differ. */
TUTTI_API int32_t tutti_graph_builder_op(tutti_graph_builder* builder, const tutti_op* op,
                                         tutti_error* error);
/* The number of an op's output, counted from 0; -1 if there is none. */
TUTTI_API int32_t tutti_graph_builder_output(const tutti_graph_builder* builder, int32_t op,
                                             int32_t output);
/* The builder is empty afterwards and can only be freed. */
TUTTI_API tutti_graph* tutti_graph_builder_build(tutti_graph_builder* builder, tutti_error* error);

/* A file of any format that tutti reads, recognised by its content. */
TUTTI_API tutti_graph* tutti_graph_load(const char* path, tutti_error* error);
/* The same from memory; sentences call it by that name. */
TUTTI_API tutti_graph* tutti_graph_parse(const char* text, size_t length, const char* name,
                                         tutti_error* error);

typedef struct tutti_family {
  size_t size;
  const char* family; /* "layered", "random", "stencil", "fork-join", "fft", "cholesky" or "job" */
  int32_t ops;        /* about so many; 0: 50 */
  uint64_t seed;
  double ccr; /* random, stencil, fork-join, fft: time of transfers over time of ops at rate and
                 bandwidth; 0: as the family has it */
  double rate_flops_per_s;      /* 0: 1e12 */
  double bandwidth_bytes_per_s; /* 0: 1e10 */
} tutti_family;
/* A graph drawn with the seed, the same one everywhere. */
TUTTI_API tutti_graph* tutti_graph_make(const tutti_family* family, tutti_error* error);
/* What is probably wrong with the file, a line each; mostly empty. */
TUTTI_API const char* tutti_graph_warnings(const tutti_graph* graph);
TUTTI_API void tutti_graph_free(tutti_graph* graph);

/* ---- Machines and problems ---- */

typedef struct tutti_machine tutti_machine;
typedef struct tutti_problem tutti_problem;

/* A preset, a machine file, "this-host" or "this-host:4x2". */
TUTTI_API tutti_machine* tutti_machine_load(const char* name_or_path, tutti_error* error);
/* JSON or TOML, as in a machine file. */
TUTTI_API tutti_machine* tutti_machine_parse(const char* text, size_t length, const char* name,
                                             tutti_error* error);
TUTTI_API void tutti_machine_free(tutti_machine* machine);

typedef struct tutti_problem_options {
  size_t size;
  const char* costs_file; /* NULL: none; of file and text at most one */
  const char* costs_text;
  const char* constraints_file;
  const char* constraints_text;
  double noise;      /* spread of log-normal noise, if has_noise is not 0 */
  int32_t has_noise; /* 0: noise as the costs say */
  int32_t cold;      /* not 0: loading kept weights is part of the run */
} tutti_problem_options;

/* Graph and machine may be freed afterwards. options may be NULL. */
TUTTI_API tutti_problem* tutti_problem_make(const tutti_graph* graph, const tutti_machine* machine,
                                            const tutti_problem_options* options,
                                            tutti_error* error);
TUTTI_API void tutti_problem_free(tutti_problem* problem);

/* What is probably wrong with its costs, a line each; mostly empty. */
TUTTI_API const char* tutti_problem_warnings(const tutti_problem* problem);
TUTTI_API const char* tutti_problem_graph_name(const tutti_problem* problem);
TUTTI_API const char* tutti_problem_machine_name(const tutti_problem* problem);
TUTTI_API int32_t tutti_problem_op_count(const tutti_problem* problem);
TUTTI_API int32_t tutti_problem_value_count(const tutti_problem* problem);
TUTTI_API int32_t tutti_problem_edge_count(const tutti_problem* problem);
TUTTI_API int32_t tutti_problem_device_count(const tutti_problem* problem);
TUTTI_API int32_t tutti_problem_memory_count(const tutti_problem* problem);
/* NULL if there is no such op, device or memory. */
TUTTI_API const char* tutti_problem_op_name(const tutti_problem* problem, int32_t op);
TUTTI_API const char* tutti_problem_op_kind(const tutti_problem* problem, int32_t op);
TUTTI_API const char* tutti_problem_device_name(const tutti_problem* problem, int32_t device);
TUTTI_API const char* tutti_problem_device_kind(const tutti_problem* problem, int32_t device);
TUTTI_API const char* tutti_problem_memory_name(const tutti_problem* problem, int32_t memory);
/* The number of the value that the op makes; -1 if there is none. */
TUTTI_API int32_t tutti_problem_output(const tutti_problem* problem, int32_t op, int32_t output);
/* Mean run times in ns, by op and device (op * devices + device); -1: it cannot run there. `count`
 * is ops * devices. */
TUTTI_API int tutti_problem_run_times(const tutti_problem* problem, int64_t* times_ns, size_t count,
                                      tutti_error* error);
/* Each operand that another op makes: producer, consumer, bytes. The number of rows; arrays of
 * `count` rows, edge_count at most, are filled unless NULL. */
TUTTI_API int32_t tutti_problem_edges(const tutti_problem* problem, int32_t* producers,
                                      int32_t* consumers, int64_t* bytes, size_t count);
/* No plan takes less, in ns. Worked out at the first call. */
TUTTI_API int64_t tutti_problem_lower_bound(const tutti_problem* problem);

/* ---- Plans ---- */

typedef struct tutti_plan tutti_plan;

typedef struct tutti_plan_options {
  size_t size;
  const char* policy;    /* NULL: "auto"; `tutti policies` lists them */
  uint64_t seed;         /* 0: 1 */
  double budget_seconds; /* wall clock of a search; 0: none */
  int64_t evaluations;   /* simulations of a search; 0: as many as take a second or two */
  int32_t threads;       /* 0: all usable cores */
} tutti_plan_options;

TUTTI_API tutti_plan* tutti_plan_make(const tutti_problem* problem,
                                      const tutti_plan_options* options, tutti_error* error);
/* A device for each op, and a priority (the smallest first; NULL: order of the ops). */
TUTTI_API tutti_plan* tutti_plan_of(const tutti_problem* problem, const int32_t* devices,
                                    const int64_t* priorities, size_t count, tutti_error* error);
/* A plan file, or its text, for this graph. */
TUTTI_API tutti_plan* tutti_plan_load(const tutti_problem* problem, const char* path,
                                      tutti_error* error);
TUTTI_API tutti_plan* tutti_plan_parse(const tutti_problem* problem, const char* text,
                                       size_t length, const char* name, tutti_error* error);
TUTTI_API void tutti_plan_free(tutti_plan* plan);

/* Of plans that were made: the mean over held-out scenarios; else simulated with mean durations. */
TUTTI_API int64_t tutti_plan_makespan(const tutti_plan* plan);
TUTTI_API int64_t tutti_plan_evaluations(const tutti_plan* plan);
TUTTI_API const char* tutti_plan_policy(const tutti_plan* plan);
TUTTI_API size_t tutti_plan_size(const tutti_plan* plan);               /* ops */
TUTTI_API const int32_t* tutti_plan_devices(const tutti_plan* plan);    /* by op */
TUTTI_API const int64_t* tutti_plan_priorities(const tutti_plan* plan); /* by op */
/* The content of a plan file; docs/formats/plan.md. */
TUTTI_API const char* tutti_plan_text(const tutti_plan* plan);
/* Replaces the file as a whole. */
TUTTI_API int tutti_plan_save(const tutti_plan* plan, const char* path, tutti_error* error);

/* ---- Runs, simulated and real ---- */

typedef struct tutti_run tutti_run;

typedef struct tutti_simulate_options {
  size_t size;
  uint64_t seed;     /* of drawn durations */
  int32_t mean;      /* not 0: mean durations, even if the costs have noise */
  const char* order; /* of ready ops: NULL or "priority", "fifo", "lifo", "random" */
} tutti_simulate_options;

TUTTI_API tutti_run* tutti_simulate(const tutti_problem* problem, const tutti_plan* plan,
                                    const tutti_simulate_options* options, tutti_error* error);
/* Makespans in ns with seeds first_seed, first_seed + 1, ...: faster than as many runs. */
TUTTI_API int tutti_makespans(const tutti_problem* problem, const tutti_plan* plan,
                              uint64_t first_seed, int64_t* makespans_ns, size_t count,
                              tutti_error* error);
TUTTI_API void tutti_run_free(tutti_run* run);

TUTTI_API int64_t tutti_run_makespan(const tutti_run* run);
/* Columns by op: the device, its slot, and times in ns since the run began. */
TUTTI_API size_t tutti_run_op_count(const tutti_run* run);
TUTTI_API const int32_t* tutti_run_op_devices(const tutti_run* run);
TUTTI_API const int32_t* tutti_run_op_slots(const tutti_run* run);
TUTTI_API const int64_t* tutti_run_op_starts(const tutti_run* run);
TUTTI_API const int64_t* tutti_run_op_finishes(const tutti_run* run);
/* Columns by hop of a transfer: value, memories at the ends of the transfer, times. */
TUTTI_API size_t tutti_run_transfer_count(const tutti_run* run);
TUTTI_API const int32_t* tutti_run_transfer_values(const tutti_run* run);
TUTTI_API const int32_t* tutti_run_transfer_from(const tutti_run* run);
TUTTI_API const int32_t* tutti_run_transfer_to(const tutti_run* run);
TUTTI_API const int64_t* tutti_run_transfer_starts(const tutti_run* run);
TUTTI_API const int64_t* tutti_run_transfer_finishes(const tutti_run* run);
/* The content of a trace file (a Chrome trace); docs/formats/trace.md. */
TUTTI_API const char* tutti_run_trace(tutti_run* run);
/* Of a real run: the bytes of a value that no op reads, and how many; NULL for others. */
TUTTI_API const void* tutti_run_value(const tutti_run* run, int32_t value, size_t* bytes);

/* ---- Comparing policies ---- */

typedef struct tutti_comparison tutti_comparison;

typedef struct tutti_compare_options {
  size_t size;
  const char* const* policies; /* NULL: all that are not only for comparison */
  int32_t policy_count;
  int32_t seeds; /* runs of each policy; 0: 10 */
  uint64_t seed; /* 0: 1 */
  double budget_seconds;
  int64_t evaluations;
  int32_t threads;
} tutti_compare_options;

/* Plans with every policy and simulates the plans, as `tutti compare` does. A policy that fails is
 * a row with an error; this fails only if all do. */
TUTTI_API tutti_comparison* tutti_compare(const tutti_problem* problem,
                                          const tutti_compare_options* options, tutti_error* error);
TUTTI_API void tutti_comparison_free(tutti_comparison* comparison);
TUTTI_API size_t tutti_comparison_size(const tutti_comparison* comparison);

typedef struct tutti_compared {
  size_t size;
  const char* policy;
  const char* error; /* NULL: it made plans that run */
  double mean_ns;    /* makespan */
  double least_ns;
  double deviation_ns;
  double gap;          /* mean / lower bound - 1 */
  double plan_seconds; /* mean */
  double bytes_moved;  /* mean */
  int64_t evaluations;
  int32_t runs;
} tutti_compared;
/* Fills *row, whose size is set. TUTTI_INVALID_INPUT if there is no such row. */
TUTTI_API int tutti_comparison_row(const tutti_comparison* comparison, size_t index,
                                   tutti_compared* row);

/* ---- Running with functions of your own ---- */

typedef struct tutti_ops tutti_ops;
typedef struct tutti_engine tutti_engine;

typedef struct tutti_block {
  void* data; /* elements in row-major order; operands are to be read only */
  const int64_t* shape;
  int32_t rank;
  const char* dtype; /* "" if the graph states none */
} tutti_block;

typedef struct tutti_call {
  size_t size;
  const char* op;
  const char* device;
  const tutti_block* operands;
  int32_t operand_count;
  const tutti_block* outputs;
  int32_t output_count;
} tutti_call;

/* Returns 0, or not 0 after writing a sentence of at most `capacity` bytes, which ends the run.
 * Called by several threads at once, for different ops. */
typedef int (*tutti_function)(const tutti_call* call, void* context, char* message,
                              size_t capacity);

/* Tutti's own kernels, to which functions are added. */
TUTTI_API tutti_ops* tutti_ops_new(void);
TUTTI_API void tutti_ops_free(tutti_ops* ops);
/* The function for ops of that kind on CPUs; replaces the one there was. */
TUTTI_API int tutti_ops_add(tutti_ops* ops, const char* kind, tutti_function function,
                            void* context, tutti_error* error);

/* Binds the problem's machine to this host's cores and keeps threads and memory warm between runs.
 * Problem and ops may be freed afterwards; contexts of functions must outlive the engine. */
TUTTI_API tutti_engine* tutti_engine_open(const tutti_problem* problem, const tutti_ops* ops,
                                          tutti_error* error);
TUTTI_API void tutti_engine_free(tutti_engine* engine);
/* What a graph input holds in the next runs; others are zeros. The bytes are copied. */
TUTTI_API int tutti_engine_set_input(tutti_engine* engine, int32_t value, const void* data,
                                     size_t bytes, tutti_error* error);
TUTTI_API tutti_run* tutti_engine_run(tutti_engine* engine, const tutti_plan* plan,
                                      tutti_error* error);

/* ---- Environments ---- */

/* An environment is stepped: it shows an observation and a mask of the actions that are allowed, is
 * given an action, and returns a reward. docs/python.md says what the numbers of an observation
 * are. Observation and mask stay where they are for the life of the environment. */
typedef struct tutti_env tutti_env;

typedef struct tutti_step {
  double reward;
  int64_t time_ns;    /* placing: the makespan, at the end; jobs: the clock */
  int32_t terminated; /* the episode has come to its end */
  int32_t truncated;  /* it was cut short: most_steps */
} tutti_step;

typedef struct tutti_placing_options {
  size_t size;
  int32_t window; /* ready ops to choose from, by upward rank; 0: 1, the op is given */
} tutti_placing_options;

/* Places the ops of a problem on its devices. Action: place in the window * devices + device. The
 * rewards of an episode add up to minus the simulated makespan over the lower bound. All problems
 * of an environment have as many devices. */
TUTTI_API tutti_env* tutti_placing_env_new(int32_t devices, const tutti_placing_options* options,
                                           tutti_error* error);
/* Begins an episode with that problem, which is kept alive. */
TUTTI_API int tutti_placing_env_reset(tutti_env* env, const tutti_problem* problem,
                                      tutti_error* error);
/* The plan of the last episode, which has ended. */
TUTTI_API tutti_plan* tutti_placing_env_plan(const tutti_env* env, tutti_error* error);

typedef struct tutti_jobs_options {
  size_t size;
  const tutti_machine* machine;     /* NULL: tutti's default cluster of CPUs and GPUs */
  const char* costs_text;           /* of the machine's; NULL: none */
  const tutti_graph* const* graphs; /* jobs to draw from; NULL: small jobs of the default cluster */
  int32_t graph_count;
  int32_t jobs;        /* of an episode; 0: 20 */
  double jobs_per_s;   /* 0: 100 */
  int32_t window;      /* ready ops to choose from, by arrival; 0: 8 */
  int32_t most_steps;  /* 0: no limit */
  uint64_t graph_seed; /* of the small jobs */
} tutti_jobs_options;

/* Jobs arrive while others run. Action: place in the window * devices + device, or the last one:
 * nothing now. The rewards of an episode add up to minus the sum of slow-downs of ops. */
TUTTI_API tutti_env* tutti_jobs_env_new(const tutti_jobs_options* options, tutti_error* error);
TUTTI_API int tutti_jobs_env_reset(tutti_env* env, uint64_t seed, tutti_error* error);
/* Of the jobs of the episode that have ended: their number, and the mean of (end - arrival) over
 * the longest path. */
TUTTI_API int32_t tutti_jobs_env_slow_down(const tutti_env* env, double* mean);

TUTTI_API void tutti_env_free(tutti_env* env);
TUTTI_API int32_t tutti_env_action_count(const tutti_env* env);
TUTTI_API int32_t tutti_env_observation_size(const tutti_env* env);
TUTTI_API const float* tutti_env_observation(const tutti_env* env);
/* By action: 1 if it is allowed. */
TUTTI_API const uint8_t* tutti_env_mask(const tutti_env* env);
/* Fails (TUTTI_INVALID_INPUT) and changes nothing if the action is not allowed. */
TUTTI_API int tutti_env_step(tutti_env* env, int32_t action, tutti_step* step, tutti_error* error);
/* One step of each; those whose action is -1 are left as they are, with a step of zeros. Stops at
 * the first that fails. */
TUTTI_API int tutti_envs_step(tutti_env* const* envs, int32_t count, const int32_t* actions,
                              tutti_step* steps, tutti_error* error);

#ifdef __cplusplus
}
#endif

#endif  // TUTTI_TUTTI_C_H_
