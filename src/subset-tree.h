/* A tree of sets: nodes, sets and the leave-one-out bound. subset-tree.c searches it. */
#ifndef SPARSELS_SUBSET_TREE_H
#define SPARSELS_SUBSET_TREE_H

#include "subset-dual.h"
#include "subset-exchange.h"

/* A node: the sets that have some units and take the rest of their k units from those that are
   free. */
struct tree_node {
  double key;              /* no set of the node has a smaller value */
  int ins, frees, support; /* how many */
  int *in;                 /* units */
  int *free;               /* units, ascending */
  int *unit;               /* the support of s, all of them free */
  double *share;           /* s of these */
};

/* Open nodes, packed: a heap by key and, beyond the capacity, a stack. */
struct tree_store {
  ptrdiff_t units, slot_bytes;
  int k, capacity; /* of the heap */
  int max_support; /* shares that are kept of a node */
  int heaped, stacked, spare;
  int *heap, *stack; /* slots */
  int *spare_slot;   /* slots that are not in use */
  int made;          /* slots that were ever in use */
  double pushed;     /* nodes so far, which break ties: later ones go first */
  char *slots;
};

struct tree_store store_alloc(
    ptrdiff_t units, int k, int capacity, ptrdiff_t max_support, struct arena *arena);
int store_open(const struct tree_store *store);

/* Keeps a node, of whose shares the largest; on the stack where depth_first or the heap is full.
   O(units) */
void store_push(struct tree_store *store, const struct tree_node *node, int depth_first);

/* Takes the node that is to be searched next: the last one of the stack, else the one of the least
   key. O(units) */
void store_take(struct tree_store *store, struct tree_node *node);

/* The least key of all open nodes, infinite when there is none. */
double store_least(const struct tree_store *store);

enum {
  TREE_LIKELY = 120,  /* units over which a relaxation begins, beside the support */
  TREE_MEMBERS = 1024 /* columns of these */
};

enum { HELD_INTERVALS = 96 }; /* over which the leave-one-out bound is minimised */

struct tree {
  const struct proof_terms *terms;
  const struct tree_control *control;
  struct tree_result *result;
  struct dual dual;
  struct exchange exchange;
  struct tree_store store;
  struct tree_node parent, child;
  ptrdiff_t set_columns; /* at most, in k units */
  double longest;        /* column */
  double scale;          /* the value of the null model, by which ties are told */
  double bound;          /* of F for the sets of the node in hand, at the last prices */
  double margin;         /* of rounding in it */
  double limit;          /* a set with larger F is of no use */
  double in_hand;        /* key of the node that is being searched, infinite between two */

  /* candidates of a relaxation */
  int members;
  int *member;
  double *member_share;
  int likely;
  int *likely_unit; /* those with the largest gains of the parent */
  char *mark;       /* units */

  /* prices */
  double *t;    /* n x L, b - C beta of free and fixed columns */
  double *gain; /* c of the free units */
  double *beta; /* set_columns x L, of the fixed columns */
  int *order;   /* units */
  int *column;  /* n */

  /* a set */
  int *trial;     /* k */
  int *swap;      /* k, a set that exchanges change */
  double *factor; /* set_columns x set_columns */
  double *solved; /* set_columns x L */

  /* rows, for the leave-one-out error */
  double *V;                    /* m x set_columns */
  double *d;                    /* m, the diagonal of G less the leverages of the covariates */
  double *A;                    /* m x L, residuals */
  double *lower, *from, *width; /* intervals */
  double Q;                     /* the sum of (d_i |y_i|)^2 */
};

/* How many units a node's sets take from the free ones. */
static inline int needed(const struct tree *t, const struct tree_node *node) {
  return t->control->k - node->ins;
}

/* ---- subset-tree-relax.c ---- */

/* Sets with larger values are of no use. */
double tree_useful(struct tree *t);

/* limit := the largest F of a set of use, with the rows of the node in hand. */
void tree_set_limit(struct tree *t);

/* The sum of squares of t over the columns of a unit. */
double tree_gain(const struct tree *t, int g);

/* The candidates of a node's relaxation: its support and the likely units. */
void tree_list_members(struct tree *t, const struct tree_node *node);

/* The dual's problem and its point, over the candidates. */
void tree_begin(struct tree *t, const struct tree_node *node);

/* Gains of all free units at the dual's point, and the bound of F with its margin. O(n q) */
void tree_price(struct tree *t, const struct tree_node *node);

/* Solves the relaxation of a node as far as its bound matters, and prices its free units. */
void tree_relax(struct tree *t, struct tree_node *node);

/* Moves the units that are certainly in, or out of, every set of use. 0 when the node has no such
   set. O(n) */
int tree_settle(struct tree *t, struct tree_node *node);

/* A := Y - X beta at the dual's point. O(m q) */
void tree_residual(struct tree *t);

/* ---- subset-tree-value.c ---- */

/* F of a set of units. O(k^3) */
double tree_penalised(struct tree *t, int count, const int *unit);

/* Makes the set in t->trial the best one if its value is smaller. */
void tree_offer(struct tree *t);

/* Offers a set by forward selection and exchanges. */
void tree_offer_forward(struct tree *t);

/* Offers the fixed units of a node with the free ones of the largest shares, and what exchanges
   make of this set. */
void tree_offer_rounded(struct tree *t, const struct tree_node *node, int polished);

/* Counts and lists all sets of a node. */
void tree_list_all(struct tree *t, const struct tree_node *node);

/* The least value known, or the cut-off. */
double tree_target(const struct tree *t);

/* No set has a smaller value, or the cut-off if that is less. */
double tree_bound(const struct tree *t);

/* Keeps the nodes, the bound and the value for the trace. */
void tree_note(struct tree *t);

/* ---- subset-tree-held.c ---- */

/* The sum of squared leave-one-out residuals of a set of units. O(m k^2) */
double held_value(struct tree *t, int count, const int *unit);

/* V with G = I - V V', d and Q of the models with these units. Returns the columns of V. O(m k^2)
 */
ptrdiff_t held_rows(struct tree *t, int count, const int *unit);

/* The smallest d, at most 1. */
double held_least(const struct tree *t);

/* No set with these rows, F >= bound and F <= limit has a smaller sum, with t->A the residual of
   the bound. */
double held_bound(struct tree *t, double bound, double limit);

#endif
