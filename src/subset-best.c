/* Best subset selection by branch and bound on Schur complements.

   A node is a set with candidates that come after it in some order. The gain of the set with all
   candidates from one on bounds what can still be gained without those before it, so they are
   ordered to make these gains small: from the end, always the candidate that adds least.
   Eliminating the candidates in that order gives the bounds, and those of the children too. The
   last three additions are scanned by a closed form, simd->pair_above(). */
#include "subset.h"
#include "simd.h"
#include "subset-set.h"
#include "tolerance.h"
#include <math.h>
#include <string.h>

enum { BEST_POLL = 256 }; /* with more candidates the host is also asked within a node */
/* A node of the search tree at one depth: a set, and its candidates in the order of the search. */
struct best_level {
  ptrdiff_t p, ld;
  double *C;       /* p x ld, Schur complement of C + lambda I */
  double *d;       /* ld, the diagonal of C, 0 for a dependent candidate */
  double *r;       /* ld x L, X'y given the set */
  double *floor;   /* ld, the largest pivot that counts as dependence */
  double *bound;   /* ld, gain of the set with this candidate and all after it */
  int *column;     /* ld */
  ptrdiff_t *last; /* ld, the last candidate that, with this one and all after it, may exceed
                      the threshold; -1: none */
  double gain;     /* of the set */
};

struct best {
  const struct gram *gram;
  const struct best_control *control;
  struct host *host;
  int size;               /* of the sets searched now */
  int *set;               /* k, the best of that size so far, ascending */
  double gain, threshold; /* its gain, and what the gain of a better one must exceed */
  double open_bound;      /* after a stop: the largest bound of the nodes not searched */
  double max_gain;        /* no set gains more: that of all columns once it is known */
  double nodes;
  enum status status;
  double done, weight, total;   /* progress: so far, of this size, of all sizes */
  struct best_level *level;     /* one for each depth that branches */
  double *T, *t;                /* n x ld and ld x L, workspace of an elimination */
  double *scan_d, *scan_r;      /* ld and ld x L, workspace of best_scan_pairs() */
  int *prefix;                  /* k, the columns of the node */
  int *trial, *start;           /* k: the set offered last, and the one a local search improves */
  double *R, *z;                /* k x k, k x L: a Cholesky factor */
  double *rows, *schur, *resid; /* k x n, n, n x L: the factorisation of a set that grows */
  int *duplicate_of;            /* n, the first column that is the same, mostly itself */
};

static ptrdiff_t best_padded(ptrdiff_t p) {
  return (p + SIMD_PAD - 1) / SIMD_PAD * SIMD_PAD;
}

static double best_diagonal(const struct best *b, ptrdiff_t j) {
  return b->gram->full[j + j * b->gram->n] + b->control->lambda;
}

static int best_stopped(struct best *b) {
  if (b->status == COMPLETE && b->host->stop(b->host, b->done, b->total))
    b->status = INTERRUPTED;
  return b->status != COMPLETE;
}

/* ---- sets ---- */

/* Gain of a set from scratch. A dependent column adds nothing: its pivot is infinite. O(s^3) */
static double best_gain(struct best *b, const int *set, int size) {
  const struct gram *gram = b->gram;
  const ptrdiff_t k = b->control->k, L = gram->L;
  double gain = 0;
  for (ptrdiff_t j = 0; j < size; j++) {
    double *R = b->R + j * k;
    double pivot = best_diagonal(b, set[j]);
    for (ptrdiff_t i = 0; i < j; i++) {
      double sum = gram->full[set[i] + set[j] * gram->n];
      for (ptrdiff_t p = 0; p < i; p++)
        sum -= R[p] * b->R[p + i * k];
      R[i] = sum / b->R[i + i * k];
      pivot -= R[i] * R[i];
    }
    R[j] = pivot > SUBSET_DEPENDENT * best_diagonal(b, set[j]) ? sqrt(pivot) : INFINITY;
    for (ptrdiff_t o = 0; o < L; o++) {
      double sum = gram->b[set[j] + o * gram->n];
      for (ptrdiff_t p = 0; p < j; p++)
        sum -= R[p] * b->z[p + o * k];
      b->z[j + o * k] = sum / R[j];
      gain += b->z[j + o * k] * b->z[j + o * k];
    }
  }
  return gain;
}

/* Makes a set, in any order, the best one so far if it gains more. */
static void best_offer(struct best *b, const int *set) {
  memcpy(b->trial, set, (size_t)b->size * sizeof(int));
  subset_sort(b->trial, b->size);
  const double gain = best_gain(b, b->trial, b->size);
  if (!(gain > b->threshold))
    return;
  memcpy(b->set, b->trial, (size_t)b->size * sizeof(int));
  b->gain = gain;
  b->threshold = gain + TIE * b->control->total;
}

/* ---- local search ---- */

static void best_clear_factor(struct best *b) {
  const struct gram *gram = b->gram;
  for (ptrdiff_t j = 0; j < gram->n; j++)
    b->schur[j] = best_diagonal(b, j);
  memcpy(b->resid, gram->b, (size_t)(gram->n * gram->L) * sizeof(double));
}

/* Adds column j to the factorised set of `size` columns. O(size n) */
static void best_activate(struct best *b, int size, int j) {
  const struct gram *gram = b->gram;
  const ptrdiff_t n = gram->n;
  double *row = b->rows + size * n;
  const double root = sqrt(b->schur[j]);
  memcpy(row, gram->full + j * n, (size_t)n * sizeof(double));
  row[j] += b->control->lambda;
  for (ptrdiff_t p = 0; p < size; p++)
    simd->shift(n, row, b->rows[j + p * n], b->rows + p * n);
  for (ptrdiff_t i = 0; i < n; i++)
    row[i] /= root;
  for (ptrdiff_t i = 0; i < n; i++)
    b->schur[i] -= row[i] * row[i];
  for (ptrdiff_t o = 0; o < gram->L; o++)
    simd->shift(n, b->resid + o * n, b->resid[j + o * n] / root, row);
}

/* The column that adds most to the factorised set, the first of equals; -1 when all are dependent.
 */
static int best_addition(const struct best *b, const int *set, int size) {
  const ptrdiff_t n = b->gram->n;
  int best = -1;
  double highest = 0;
  for (int j = 0; j < n; j++) {
    if (b->schur[j] <= SUBSET_DEPENDENT * best_diagonal(b, j) || subset_index(set, size, j) >= 0)
      continue;
    double gain = 0;
    for (ptrdiff_t o = 0; o < b->gram->L; o++)
      gain += b->resid[j + o * n] * b->resid[j + o * n];
    gain /= b->schur[j];
    if (best < 0 || gain > highest + TIE * b->control->total) {
      best = j;
      highest = gain;
    }
  }
  return best;
}

/* Improves the set in b->start, whose last column need not be filled in, and offers the result: one
   column after the other is replaced by the best addition to the others, until no replacement gains
   more. O(s^2 n) for each replacement. */
static void best_local_search(struct best *b) {
  const int size = b->size;
  int *set = b->start;
  double gain = -1;
  for (int out = size - 1, since = 0; since < size && !best_stopped(b);
       out = (out + 1) % size, since++) {
    best_clear_factor(b);
    for (int i = 0, kept = 0; i < size; i++)
      if (i != out)
        best_activate(b, kept++, set[i]);
    const int old = set[out];
    set[out] = -1;
    const int j = best_addition(b, set, size);
    set[out] = j < 0 ? old : j;
    const double now = j < 0 ? -1 : best_gain(b, set, size);
    if (now > gain + TIE * b->control->total) {
      gain = now;
      since = 0;
    } else {
      set[out] = old;
    }
  }
  if (gain >= 0)
    best_offer(b, set);
}

/* ---- the tree ---- */

static void best_leave_open(struct best *b, double bound) {
  b->open_bound = fmax(b->open_bound, bound);
}

static void best_swap_reals(double *x, double *y, ptrdiff_t count, ptrdiff_t step) {
  for (ptrdiff_t i = 0; i < count; i++) {
    const double swap = x[i * step];
    x[i * step] = y[i * step];
    y[i * step] = swap;
  }
}

static void best_swap_candidates(
    struct best_level *node, ptrdiff_t L, double *T, double *t, ptrdiff_t i, ptrdiff_t j) {
  const ptrdiff_t p = node->p, ld = node->ld;
  best_swap_reals(node->C + i * ld, node->C + j * ld, p, 1);
  best_swap_reals(node->C + i, node->C + j, p, ld);
  best_swap_reals(T + i * ld, T + j * ld, p, 1);
  best_swap_reals(T + i, T + j, p, ld);
  best_swap_reals(node->r + i, node->r + j, L, ld);
  best_swap_reals(t + i, t + j, L, ld);
  best_swap_reals(node->d + i, node->d + j, 1, 1);
  best_swap_reals(node->floor + i, node->floor + j, 1, 1);
  const int column = node->column[i];
  node->column[i] = node->column[j];
  node->column[j] = column;
  const ptrdiff_t last = node->last[i];
  node->last[i] = node->last[j];
  node->last[j] = last;
}

static double best_square(const double *t, ptrdiff_t ld, ptrdiff_t L, ptrdiff_t i) {
  double sum = 0;
  for (ptrdiff_t o = 0; o < L; o++)
    sum += t[i + o * ld] * t[i + o * ld];
  return sum;
}

/* Orders the candidates of a node and fills its bound and last. O(p^3). Not zero after a stop. */
static int best_order_and_bound(struct best *b, struct best_level *node) {
  const ptrdiff_t p = node->p, ld = node->ld, L = b->gram->L;
  double *T = b->T, *t = b->t, sum = node->gain;
  memcpy(T, node->C, (size_t)(p * ld) * sizeof(double));
  memcpy(t, node->r, (size_t)(ld * L) * sizeof(double));
  for (ptrdiff_t i = 0; i < p; i++)
    node->last[i] = -1;
  for (ptrdiff_t j = p - 1; j >= 0; j--) {
    if (p > BEST_POLL && best_stopped(b))
      return 1;
    ptrdiff_t weakest = j;
    double min_gain = INFINITY;
    for (ptrdiff_t i = 0; i <= j; i++) {
      const double pivot = T[i + i * ld];
      const double gain = pivot > node->floor[i] ? best_square(t, ld, L, i) / pivot : 0;
      if (gain < min_gain) {
        weakest = i;
        min_gain = gain;
      }
    }
    if (weakest != j)
      best_swap_candidates(node, L, T, t, weakest, j);
    const double *row = T + j * ld, pivot = row[j];
    if (pivot > node->floor[j]) {
      sum += min_gain;
      for (ptrdiff_t i = 0; i < j; i++)
        simd->shift(j, T + i * ld, row[i] / pivot, row);
      for (ptrdiff_t o = 0; o < L; o++)
        simd->shift(j, t + o * ld, t[j + o * ld] / pivot, row);
    }
    node->bound[j] = sum;
    for (ptrdiff_t i = 0; i < j; i++)
      if (node->last[i] < 0 && node->d[i] > node->floor[i] &&
          best_square(t, ld, L, i) > (b->threshold - sum) * fmax(T[i + i * ld], node->floor[i]))
        node->last[i] = j;
  }
  return 0;
}

/* child := the node's set with candidate i; its candidates are those after i. O(p^2) */
static void best_branch(
    const struct best *b, const struct best_level *node, ptrdiff_t i, struct best_level *child) {
  const ptrdiff_t p = node->p - i - 1, ld = best_padded(p), L = b->gram->L;
  const double *row = node->C + i * node->ld + i + 1, inverse = 1 / node->d[i];
  child->p = p;
  child->ld = ld;
  child->gain = node->gain + best_square(node->r, node->ld, L, i) * inverse;
  for (ptrdiff_t j = 0; j < p; j++) {
    double *out = child->C + j * ld;
    memcpy(out, node->C + (i + 1 + j) * node->ld + i + 1, (size_t)p * sizeof(double));
    simd->shift(p, out, row[j] * inverse, row);
    for (ptrdiff_t l = p; l < ld; l++)
      out[l] = 0;
    child->d[j] = out[j];
  }
  memcpy(child->floor, node->floor + i + 1, (size_t)p * sizeof(double));
  memcpy(child->column, node->column + i + 1, (size_t)p * sizeof(int));
  for (ptrdiff_t o = 0; o < L; o++) {
    double *out = child->r + o * ld;
    memcpy(out, node->r + o * node->ld + i + 1, (size_t)p * sizeof(double));
    simd->shift(p, out, node->r[i + o * node->ld] * inverse, row);
    for (ptrdiff_t l = p; l < ld; l++)
      out[l] = 0;
  }
  for (ptrdiff_t l = p; l < ld; l++) {
    child->d[l] = 0;
    child->floor[l] = 1;
  }
  for (ptrdiff_t j = 0; j < p; j++)
    if (child->d[j] <= child->floor[j]) { /* dependent: it adds nothing to any set below */
      child->d[j] = 0;
      for (ptrdiff_t o = 0; o < L; o++)
        child->r[j + o * ld] = 0;
      for (ptrdiff_t l = 0; l < p; l++)
        child->C[l + j * ld] = child->C[j + l * ld] = 0;
    }
}

/* Offers the node's set with candidates i (unless it is -1) and j and the best one beside them. */
static void best_offer_pair(struct best *b, const struct best_level *node, int depth, ptrdiff_t i,
    ptrdiff_t j, const struct pair_scan *scan) {
  const ptrdiff_t ld = node->ld, L = scan->L;
  const double *row = node->C + j * ld, f = scan->a[j] * scan->inverse, pivot = scan->d[j];
  ptrdiff_t best = -1;
  double highest = -1;
  for (ptrdiff_t l = 0; l < node->p; l++) {
    const double c = row[l] - f * scan->a[l], e = scan->d[l] - c * c / pivot;
    if (l == i || l == j || e <= node->floor[l])
      continue;
    double gain = 0;
    for (ptrdiff_t o = 0; o < L; o++) {
      const double v = scan->r[l + o * ld] - scan->r[j + o * ld] * c / pivot;
      gain += v * v / e;
    }
    if (gain > highest) {
      best = l;
      highest = gain;
    }
  }
  if (best < 0)
    return;
  if (i >= 0)
    b->prefix[depth++] = node->column[i];
  b->prefix[depth] = node->column[j];
  b->prefix[depth + 1] = node->column[best];
  best_offer(b, b->prefix);
}

/* Scans the ways to add two columns to a node's set with candidate i (unless it is -1): the first
   of the two is after i and before `to`. */
static void best_scan_pairs(
    struct best *b, const struct best_level *node, int depth, ptrdiff_t i, ptrdiff_t to) {
  const ptrdiff_t ld = node->ld, L = b->gram->L;
  struct pair_scan scan = {.ld = ld,
      .L = L,
      .C = node->C,
      .a = b->t,
      .d = b->scan_d,
      .r = b->scan_r,
      .floor = node->floor};
  double gain = node->gain;
  if (i < 0) {
    memset(b->t, 0, (size_t)ld * sizeof(double));
    scan.d = node->d;
    scan.r = node->r;
  } else {
    scan.a = node->C + i * ld;
    scan.inverse = 1 / node->d[i];
    gain += best_square(node->r, ld, L, i) * scan.inverse;
    for (ptrdiff_t l = 0; l < ld; l++)
      b->scan_d[l] = node->d[l] - scan.a[l] * scan.a[l] * scan.inverse;
    for (ptrdiff_t o = 0; o < L; o++) {
      const double h = node->r[i + o * ld] * scan.inverse;
      for (ptrdiff_t l = 0; l < ld; l++)
        b->scan_r[l + o * ld] = node->r[l + o * ld] - h * scan.a[l];
    }
  }
  for (ptrdiff_t j = i + 1; j < to; j++) {
    scan.need = b->threshold - gain;
    j = simd->pair_above(&scan, j, to);
    if (j < to)
      best_offer_pair(b, node, depth, i, j, &scan);
  }
}

/* Scans the ways to add three columns to a node whose bound is `upper`: the first of them is i, at
   most `first`, the second at most last[i] when `last` is given. */
static void best_scan_triples(struct best *b, const struct best_level *node, int depth,
    ptrdiff_t first, const ptrdiff_t *last, double upper) {
  const ptrdiff_t p = node->p;
  for (ptrdiff_t i = 0; i <= first && i < p - 2; i++) {
    if (p > BEST_POLL && best_stopped(b)) {
      best_leave_open(b, upper);
      return;
    }
    if (node->d[i] <= node->floor[i])
      continue;
    ptrdiff_t to = p - 1;
    if (last != NULL && last[i] + 1 < to)
      to = last[i] + 1;
    best_scan_pairs(b, node, depth, i, to);
  }
}

/* Searches below the node of b->level[depth], whose set has `depth` columns; four or more are to be
   added. */
static void best_visit(struct best *b, int depth) {
  struct best_level *node = b->level + depth;
  const int wanted = b->size - depth;
  double share = 1;
  for (ptrdiff_t i = 0; i + wanted <= node->p && node->bound[i] > b->threshold; i++) {
    if (node->last[i] >= 0 && node->d[i] > node->floor[i]) {
      if (b->nodes >= b->control->nodes)
        b->status = MOVE_LIMIT;
      if (best_stopped(b)) {
        best_leave_open(b, node->bound[i]);
        return;
      }
      b->nodes++;
      b->prefix[depth] = node->column[i];
      struct best_level *child = b->level + depth + 1;
      best_branch(b, node, i, child);
      if (wanted == 4) {
        best_scan_triples(b, child, depth + 1, node->last[i] - i - 1, NULL, node->bound[i]);
      } else if (best_order_and_bound(b, child)) {
        best_leave_open(b, node->bound[i]);
      } else {
        best_visit(b, depth + 1);
      }
      if (b->status != COMPLETE) {
        if (i + wanted < node->p)
          best_leave_open(b, node->bound[i + 1]);
        return;
      }
    }
    if (depth == 0) {
      const double remaining = (double)(node->p - i);
      b->done += b->weight * share * wanted / remaining;
      share *= (remaining - wanted) / remaining;
    }
  }
}

static void best_search(struct best *b) {
  struct best_level *root = b->level;
  b->nodes = 1;
  b->open_bound = 0;
  if (b->size == 1)
    return;
  if (best_stopped(b)) {
    best_leave_open(b, b->max_gain);
    return;
  }
  if (b->size == 2) {
    best_scan_pairs(b, root, 0, -1, root->p - 1);
    return;
  }
  if (best_order_and_bound(b, root)) {
    best_leave_open(b, b->max_gain);
    return;
  }
  b->max_gain = root->bound[0];
  if (b->size > 3) {
    best_visit(b, 0);
    return;
  }
  ptrdiff_t first = root->p - 1;
  while (first >= 0 && root->bound[first] <= b->threshold)
    first--;
  best_scan_triples(b, root, 0, first, root->last, root->bound[0]);
}

/* ---- all sizes ---- */

/* The first column that is the same as each, up to sign and scale, by its products with all columns
   and with y. */
static void best_find_duplicates(struct best *b) {
  const struct gram *gram = b->gram;
  const ptrdiff_t n = gram->n;
  for (ptrdiff_t j = 0; j < n; j++) {
    b->duplicate_of[j] = (int)j;
    for (ptrdiff_t i = 0; i < j && b->duplicate_of[j] == j; i++) {
      const double *Ci = gram->full + i * n, *Cj = gram->full + j * n;
      const double f = Cj[i] / Ci[i], scale = SUBSET_SAME * sqrt(Cj[j]);
      if (b->duplicate_of[i] != i || (b->control->lambda > 0 && fabs(fabs(f) - 1) > SUBSET_SAME) ||
          Cj[j] - f * Cj[i] > SUBSET_SAME * Cj[j])
        continue;
      int same = 1;
      for (ptrdiff_t l = 0; l < n && same; l++)
        same = fabs(Cj[l] - f * Ci[l]) <= scale * sqrt(gram->full[l + l * n]);
      for (ptrdiff_t o = 0; o < gram->L && same; o++)
        same = fabs(gram->b[j + o * n] - f * gram->b[i + o * n]) <= scale * sqrt(b->control->total);
      if (same)
        b->duplicate_of[j] = (int)i;
    }
  }
}

/* Replaces columns of a set by the first of their duplicates that are not in it. */
static void best_prefer_lowest(const struct best *b, int *set, int size) {
  for (int i = 0; i < size; i++)
    for (int j = b->duplicate_of[set[i]]; j < set[i]; j++)
      if (b->duplicate_of[j] == b->duplicate_of[set[i]] && subset_index(set, size, j) < 0)
        set[i] = j;
  subset_sort(set, size);
}

/* The empty set with all columns as candidates; without a penalty a duplicate adds nothing, and
   only the first of each is a candidate. */
static void best_make_root(struct best *b) {
  const struct gram *gram = b->gram;
  struct best_level *root = b->level;
  ptrdiff_t p = 0;
  for (int j = 0; j < gram->n; j++)
    if (b->control->lambda > 0 || b->duplicate_of[j] == j)
      root->column[p++] = j;
  const ptrdiff_t ld = best_padded(p);
  root->p = p;
  root->ld = ld;
  root->gain = 0;
  memset(root->C, 0, (size_t)(p * ld) * sizeof(double));
  memset(root->r, 0, (size_t)(ld * gram->L) * sizeof(double));
  for (ptrdiff_t j = 0; j < ld; j++) {
    const int column = j < p ? root->column[j] : 0;
    root->d[j] = j < p ? best_diagonal(b, column) : 0;
    root->floor[j] = j < p ? SUBSET_DEPENDENT * best_diagonal(b, column) : 1;
    if (j >= p)
      continue;
    for (ptrdiff_t l = 0; l < p; l++)
      root->C[l + j * ld] = gram->full[root->column[l] + column * gram->n];
    root->C[j + j * ld] = root->d[j];
    for (ptrdiff_t o = 0; o < gram->L; o++)
      root->r[j + o * ld] = gram->b[column + o * gram->n];
  }
}

/* Greedy forward selection: set (k x k) has that of size s in column s - 1. How many sizes there
   are. */
static int best_forward(struct best *b, int *set) {
  const int k = b->control->k;
  best_clear_factor(b);
  for (int s = 0; s < k; s++) {
    int *columns = set + s * k;
    if (s > 0)
      memcpy(columns, columns - k, (size_t)s * sizeof(int));
    columns[s] = best_addition(b, columns, s);
    if (columns[s] < 0)
      return s;
    if (s + 1 < k)
      best_activate(b, s, columns[s]);
  }
  return k;
}

static void best_lay_out(struct best *b, struct arena *arena) {
  const ptrdiff_t n = b->gram->n, L = b->gram->L, k = b->control->k;
  const ptrdiff_t ld = best_padded(n), depths = k > 3 ? k - 2 : 1;
  b->level = arena_alloc(arena, depths, sizeof(struct best_level));
  for (ptrdiff_t s = 0; s < depths; s++) {
    const struct best_level level = {.C = alloc_doubles(arena, n * ld),
        .d = alloc_doubles(arena, ld),
        .r = alloc_doubles(arena, ld * L),
        .floor = alloc_doubles(arena, ld),
        .bound = alloc_doubles(arena, ld),
        .column = alloc_ints(arena, ld),
        .last = arena_alloc(arena, ld, sizeof(ptrdiff_t))};
    if (b->level != NULL)
      b->level[s] = level;
  }
  b->T = alloc_doubles(arena, n * ld);
  b->t = alloc_doubles(arena, ld * L);
  b->scan_d = alloc_doubles(arena, ld);
  b->scan_r = alloc_doubles(arena, ld * L);
  b->prefix = alloc_ints(arena, k);
  b->trial = alloc_ints(arena, k);
  b->start = alloc_ints(arena, k);
  b->R = alloc_doubles(arena, k * k);
  b->z = alloc_doubles(arena, k * L);
  b->rows = alloc_doubles(arena, k * n);
  b->schur = alloc_doubles(arena, n);
  b->resid = alloc_doubles(arena, n * L);
  b->duplicate_of = alloc_ints(arena, n);
}

/* Vectors are read fastest within cache lines, so that the workspace begins at one; up to a line is
   lost before it. */
size_t best_work(const struct gram *gram, const struct best_control *control) {
  struct best b = {.gram = gram, .control = control};
  struct arena arena = arena_over(NULL);
  best_lay_out(&b, &arena);
  return arena.used;
}

enum status best_subset(const struct gram *gram, const struct best_control *control,
    struct host *host, void *work, struct best_result *result) {
  struct best b = {.gram = gram, .control = control, .host = host};
  struct arena arena = arena_over(work);
  best_lay_out(&b, &arena);
  const int k = control->k;
  enum status status = COMPLETE;
  best_find_duplicates(&b);
  best_make_root(&b);
  result->sizes = best_forward(&b, result->set);
  const double n = (double)b.level->p;
  b.max_gain = control->total;
  b.weight = 1;
  for (int s = result->sizes; s > 0; s--) { /* weights: how many sets there are of each size */
    result->nodes[s - 1] = b.weight;
    b.total += b.weight;
    b.weight *= s / (n - s + 1);
  }
  for (int s = 1; s <= result->sizes; s++) {
    int *set = result->set + (s - 1) * k;
    const double before = b.done;
    b.size = s;
    b.set = set;
    b.gain = b.threshold = -1;
    b.weight = result->nodes[s - 1];
    best_offer(&b, set);
    if (b.status != INTERRUPTED) {
      b.status = COMPLETE;
      memcpy(b.start, set, (size_t)s * sizeof(int));
      best_local_search(&b);
      if (s > 1) {
        memcpy(b.start, set - k, (size_t)(s - 1) * sizeof(int));
        best_local_search(&b);
      }
      best_search(&b);
      if (b.status != COMPLETE)
        status = b.status;
    } else {
      b.nodes = 0;
      b.open_bound = b.max_gain;
    }
    best_prefer_lowest(&b, set, s);
    b.done = before + b.weight;
    result->gain[s - 1] = b.gain;
    result->bound[s - 1] = b.status == COMPLETE ? b.gain : fmax(b.gain, b.open_bound);
    result->nodes[s - 1] = b.nodes;
  }
  for (int s = result->sizes - 1; s > 0; s--) /* a larger set gains no less */
    result->bound[s - 1] = fmax(result->gain[s - 1], fmin(result->bound[s - 1], result->bound[s]));
  return status;
}
