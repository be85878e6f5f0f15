/* Runs of the greedy kernel. */
#ifndef SPARSELS_CTEST_RUNS_H
#define SPARSELS_CTEST_RUNS_H

#include "ctest.h"

/* Calls of a host's functions, and which of them is to end the run. */
struct counter {
  int polls, stop_at, evaluated, fail_at;
};
extern const struct counter quiet;

/* Results in one block, so that two runs can be compared byte by byte. */
struct run {
  enum status status;
  struct greedy_result result;
  char *block;
  size_t used;
  struct counter counter;
};

/* Room for a result. */
struct run empty_run(const struct problem *pb, const struct greedy_control *control);

/* Runs the kernel in a workspace of exactly the size it asked for, filled with `byte`, between
   fences. */
struct run run_fenced(const struct made *made, const struct greedy_control *control, int threads,
    int byte, struct counter counter);
/* Runs it so, and once more without fences, so that the sanitizer sees where the workspace ends. */
struct run run_kernel(const struct made *made, const struct greedy_control *control, int threads,
    int byte, struct counter counter);
int same_run(const struct run *a, const struct run *b);

/* Interrupts a run at every poll: what it leaves are the first moves of the whole run. */
void stop_everywhere(const struct made *made, const struct greedy_control *control);

int has(const int *set, int size, int i);
/* The criterion of a set by retraining without each fold. */
double retrained(
    const struct made *made, const struct greedy_control *control, const int *set, int size);

#endif
