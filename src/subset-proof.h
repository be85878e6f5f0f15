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

/* What a tree of sets looks for: the least F, the least leave-one-out sum of squares, or all sets
   whose F is no larger than the cut-off. */
enum tree_task { LEAST_PENALISED, LEAST_HELD_OUT, ALL_WITHIN };

enum { TREE_TRACE = 256 };

struct tree_control {
  enum tree_task task;
  int k;                 /* units in a set, at most `units` */
  int given, known;      /* how many units are in every set; k with a known set, else 0 */
  const int *given_unit; /* given */
  const int *known_set;  /* known, a set to begin with */
  double cutoff;         /* sets of larger values are of no use */
  int first;             /* whether the search ends with a set that is no worse than the cut-off */
  double nodes;          /* at most */
  int capacity;          /* how many nodes can be open; beyond, the search goes depth first */
  int kept;              /* how many sets are listed at most, of ALL_WITHIN */
  const double *Y;       /* m x L, the working response; of LEAST_HELD_OUT */
  const double *h;       /* m, leverages of the covariates; of LEAST_HELD_OUT */
};

struct tree_result {
  int size;       /* k, or 0 when no set was found */
  int *set;       /* k units, ascending */
  double value;   /* of the set, infinite without one */
  double bound;   /* no set has a smaller value, but for the margin */
  double nodes;   /* whose relaxation was solved, or which were sets */
  double open;    /* nodes left when the search ended */
  double margin;  /* what rounding may hide */
  double count;   /* of ALL_WITHIN: the sets found */
  int listed;     /* the first of them */
  int *sets;      /* k x kept */
  double *values; /* kept */
  int traced;
  double *trace; /* 3 x TREE_TRACE: nodes, bound, value at some nodes */
};

size_t subset_tree_work(const struct proof_terms *terms, const struct tree_control *control);

/* Searches a tree of sets by the bounds of subset-dual.h: best first, depth first for ALL_WITHIN.
   Exponential in k at worst. COMPLETE when no node is open or the first set was found, MOVE_LIMIT
   when `nodes` ran out. The bound of an earlier end is no larger than the one of a later end. */
enum status subset_tree(const struct proof_terms *terms, const struct tree_control *control,
    struct host *host, void *work, struct tree_result *result);

#endif
