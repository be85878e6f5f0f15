/* Proofs that no other set of columns is better: the dual bound, and a tree of sets.

   The columns of a struct gram are divided by the roots of their penalties. The value of a set S is
   F(S) = min over B of |Y - X_S B|^2 + |B|^2 = total - tr(b_S'(I + C_SS)^-1 b_S). Units are columns
   that are in a set together, mostly one column each. */
#ifndef SPARSELS_SUBSET_PROOF_H
#define SPARSELS_SUBSET_PROOF_H

#include "gram.h"

struct proof_terms {
  struct gram gram;
  ptrdiff_t units;
  const int *unit; /* units + 1, where the columns of each unit begin */
  double total;    /* |Y|^2 */
  int max_cached;  /* how many columns of X'X may be cached when it is not given full */
};

struct dual_control {
  int k;               /* units in a set, at most `units` */
  const double *share; /* units, where the search begins; NULL: at the k largest |X_g'Y| */
  double tolerance;    /* the largest value - bound */
  int max_steps;       /* of Newton's method */
};

struct dual_result {
  double *share; /* units, s */
  double *gain;  /* units, c = |X_g'A|^2 at the residual A = Y - X beta */
  double *beta;  /* n x L */
  double value;  /* f(s), which is never below the largest bound */
  double bound;  /* no set of k units has a smaller value */
  int steps;
};

size_t subset_dual_work(const struct proof_terms *terms, const struct dual_control *control);

/* Minimises f(s) = tr(Y'(I + X diag(s) X')^-1 Y) over 0 <= s <= 1, sum s = k, by an active-set
   Newton method. O(q^3 + a q^2 + a^2 q + q n) for each step, with q columns in the support of s and
   a active units. MOVE_LIMIT when value - bound is still above the tolerance at the end. */
enum status subset_dual(const struct proof_terms *terms, const struct dual_control *control,
    struct host *host, void *work, struct dual_result *result);

#endif
