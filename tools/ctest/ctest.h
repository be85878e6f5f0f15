/* A small harness, and problems made at random. */
#ifndef SPARSELS_CTEST_H
#define SPARSELS_CTEST_H

#include "greedy.h"
#include "l1.h"
#include "pursuit.h"
#include "ridge.h"
#include "subset.h"

/* Defines a test:  TEST(name) { ... }  at the beginning of a line. run.sh finds them all. */
#define TEST(name)                                                                                 \
  void test_##name(void);                                                                          \
  void test_##name(void)

/* Counts a check; a failed one is printed with its place. */
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)
/* |value - expected| <= tolerance * max(1, |expected|) */
#define CHECK_NEAR(value, expected, tolerance)                                                     \
  check_near(value, expected, tolerance, #value, __FILE__, __LINE__)

void check(int holds, const char *what, const char *file, int line);
void check_near(
    double value, double expected, double tolerance, const char *what, const char *file, int line);

/* The distance between the numbers of the random problems that a test solves: 1 with
   SPARSELS_EXTENDED_TESTS=true, which solves all of them, otherwise `apart`. It has no factor in
   common with the numbers of choices in a cycle, so that all choices still meet. */
int every(int apart);

/* What uniform() draws from; every test begins with seed 1. */
void seed(unsigned long long state);
double uniform(void); /* in (-1, 1) */

/* Room that ends exactly where it ends, filled with `byte`; main() ends when there is none. */
void *room(size_t bytes, int byte);

/* A host's stop() that counts its calls and stops at one of them, if that ever comes: .self is
   &polls. */
struct polls {
  int count, stop_at;
};
int poll(struct host *host, double done, double total);

/* A problem that owns its parts, and what they were made from. */
struct made {
  struct problem pb;
  struct folds folds;
  double *x, *z, *w; /* m x n, m x q, m: dense columns, covariates and weights as a user has them */
  void *parts[32];
  int count;
};

/* Columns that have nothing in common; of every kind, copies and sums of others among them; in
   blocks of near-copies; unrelated again, but the response has to do with many; with far outliers;
   so small that they hardly matter. Of blocks and signals one column is zero. */
enum columns { UNRELATED, ANY, BLOCKS, SIGNALS, HEAVY, FAINT };

struct shape {
  ptrdiff_t m, n, L, q;
  int weights, sparse, classes, folds, repeats; /* folds = 0: leave-one-out */
  enum columns columns;
  int whole; /* x in integers, held as such */
  int exact; /* the response is that of two columns, nothing added */
};

struct made make(struct shape shape);
void discard(struct made *made);

/* A whole number from `from` to `to`. */
int any(int from, int to);
int usable_columns(const struct made *made);

/* What the problem knows of its columns beside their centre and scale. */
void measure_columns(struct made *made);

/* The dense columns once more, compressed; the problem owns them. */
struct matrix compress(struct made *made, ptrdiff_t m, ptrdiff_t n);

/* Held-out residuals (m x L) of the ridge model on a set, retrained without each fold by normal
   equations and Cholesky; with fold = -1 the residuals of the model on all rows, and its
   coefficients in beta (size x L) unless that is NULL. */
void retrain(
    const struct made *made, double lambda, const int *set, int size, int repeat, double *residual);
void train(const struct made *made, double lambda, const int *set, int size, double *residual,
    double *beta);

/* The pursuit by the book: w, c, d and value are those of a system that is solved anew. */
struct twin {
  const struct system *system;
  const double *A; /* (D + extra) x D, the columns */
  int size, *chosen;
  double *w, *c, *d, *value; /* D x L, D x L, D, extra x L */
};

struct twin twin_begin(const struct system *system, const double *A);
ptrdiff_t twin_choose(const struct twin *twin, const struct scdp_control *control);
void twin_take(struct twin *twin, ptrdiff_t s);
int twin_has(const struct twin *twin, ptrdiff_t i);
void twin_discard(struct twin *twin);

#endif
