/* Best subset selection by branch and bound on Schur complements.

   A node is a set with candidates that come after it in some order. The gain of the set with all
   candidates from one on bounds what can still be gained without those before it, so they are
   ordered to make these gains small: from the end, always the candidate that adds least.
   Eliminating the candidates in that order gives the bounds, and those of the children too. The
   last three additions are scanned by a closed form, simd->pair_above(). */
#include "subset.h"
#include "simd.h"
#include "subset-set.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

static const double DEPENDENT = 1e-10; /* a pivot below this share of its column adds nothing */
static const double TIE = 1e-12;       /* of the total: gains nearer than this are equal */
enum { MANY = 256 };                   /* candidates worth a look at the host on the way */
enum { ALIGN = 64 };                   /* bytes */

/* A set with its candidates, in the order of the search. */
struct level {
  ptrdiff_t p, ld;
  double *C;       /* p x ld, Schur complement of C + lambda I */
  double *d;       /* ld, its diagonal, 0 for a dependent candidate */
  double *r;       /* ld x L, what is left of X'y */
  double *floor;   /* ld, the smallest pivot that is not dependence */
  double *bound;   /* ld, gain of the set and all candidates from this one on */
  int *column;     /* ld */
  ptrdiff_t *last; /* ld, the last candidate from which on all, with this one, gain enough, or -1 */
  double gain;     /* of the set */
};

struct best {
  const struct gram *gram;
  const struct best_control *control;
  struct host *host;
  int size;            /* that is searched */
  int *set;            /* k, the best found of that size, ascending */
  double gain, enough; /* its gain, and what a better one must exceed */
  double open;         /* when stopped, the largest bound of what was not searched */
  double all;          /* what no gain exceeds: that of all columns once it is known */
  double nodes;
  enum status status;
  double done, weight, total;     /* of the progress */
  struct level *level;            /* a level for each depth that branches */
  double *T, *t;                  /* n x ld and ld x L, room for an elimination */
  double *scan_d, *scan_r;        /* ld and ld x L */
  int *prefix;                    /* k, the set of the node */
  int *trial, *held;              /* k */
  double *R, *z;                  /* k x k, k x L: a Cholesky factor */
  double *rows, *left_d, *left_r; /* k x n, n, n x L: the state of a set that grows */
  int *twin;                      /* n, the first column that is the same, itself mostly */
};

static ptrdiff_t padded(ptrdiff_t p) {
  return (p + SIMD_PAD - 1) / SIMD_PAD * SIMD_PAD;
}

static double own(const struct best *b, ptrdiff_t j) {
  return b->gram->whole[j + j * b->gram->n] + b->control->lambda;
}

static int stopped(struct best *b) {
  if (b->status == COMPLETE && b->host->stop(b->host, b->done, b->total))
    b->status = INTERRUPTED;
  return b->status != COMPLETE;
}

/* ---- sets ---- */

/* Gain of a set from scratch. A dependent column adds nothing: its pivot is infinite. O(s^3) */
static double gain_of(struct best *b, const int *set, int size) {
  const struct gram *gram = b->gram;
  const ptrdiff_t k = b->control->k, L = gram->L;
  double gain = 0;
  for (ptrdiff_t j = 0; j < size; j++) {
    double *R = b->R + j * k;
    double pivot = own(b, set[j]);
    for (ptrdiff_t i = 0; i < j; i++) {
      double sum = gram->whole[set[i] + set[j] * gram->n];
      for (ptrdiff_t p = 0; p < i; p++)
        sum -= R[p] * b->R[p + i * k];
      R[i] = sum / b->R[i + i * k];
      pivot -= R[i] * R[i];
    }
    R[j] = pivot > DEPENDENT * own(b, set[j]) ? sqrt(pivot) : INFINITY;
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

/* The set, in any order, becomes the best one if it is. */
static void offer(struct best *b, const int *set) {
  memcpy(b->trial, set, (size_t)b->size * sizeof(int));
  sort_columns(b->trial, b->size);
  const double gain = gain_of(b, b->trial, b->size);
  if (!(gain > b->enough))
    return;
  memcpy(b->set, b->trial, (size_t)b->size * sizeof(int));
  b->gain = gain;
  b->enough = gain + TIE * b->control->total;
}

/* ---- local search ---- */

static void clear_state(struct best *b) {
  const struct gram *gram = b->gram;
  for (ptrdiff_t j = 0; j < gram->n; j++)
    b->left_d[j] = own(b, j);
  memcpy(b->left_r, gram->b, (size_t)(gram->n * gram->L) * sizeof(double));
}

/* The state of a set of `size` columns takes in one more. O(size n) */
static void take_in(struct best *b, int size, int j) {
  const struct gram *gram = b->gram;
  const ptrdiff_t n = gram->n;
  double *row = b->rows + size * n;
  const double root = sqrt(b->left_d[j]);
  memcpy(row, gram->whole + j * n, (size_t)n * sizeof(double));
  row[j] += b->control->lambda;
  for (ptrdiff_t p = 0; p < size; p++)
    simd->shift(n, row, b->rows[j + p * n], b->rows + p * n);
  for (ptrdiff_t i = 0; i < n; i++)
    row[i] /= root;
  for (ptrdiff_t i = 0; i < n; i++)
    b->left_d[i] -= row[i] * row[i];
  for (ptrdiff_t o = 0; o < gram->L; o++)
    simd->shift(n, b->left_r + o * n, b->left_r[j + o * n] / root, row);
}

/* The column that adds most to the state, the lowest of equals; -1 when all are dependent. */
static int best_addition(const struct best *b, const int *set, int size) {
  const ptrdiff_t n = b->gram->n;
  int best = -1;
  double most = 0;
  for (int j = 0; j < n; j++) {
    if (b->left_d[j] <= DEPENDENT * own(b, j) || place_of(set, size, j) >= 0)
      continue;
    double gain = 0;
    for (ptrdiff_t o = 0; o < b->gram->L; o++)
      gain += b->left_r[j + o * n] * b->left_r[j + o * n];
    gain /= b->left_d[j];
    if (best < 0 || gain > most + TIE * b->control->total) {
      best = j;
      most = gain;
    }
  }
  return best;
}

/* Offers what comes of the set in `held`, whose last column need not be there yet: the best
   addition takes its place, and then that of any other column, as long as that gains. O(s^2 n) for
   each. */
static void local_search(struct best *b) {
  const int size = b->size;
  int *set = b->held;
  double gain = -1;
  for (int out = size - 1, since = 0; since < size && !stopped(b);
       out = (out + 1) % size, since++) {
    clear_state(b);
    for (int i = 0, kept = 0; i < size; i++)
      if (i != out)
        take_in(b, kept++, set[i]);
    const int old = set[out];
    set[out] = -1;
    const int j = best_addition(b, set, size);
    set[out] = j < 0 ? old : j;
    const double now = j < 0 ? -1 : gain_of(b, set, size);
    if (now > gain + TIE * b->control->total) {
      gain = now;
      since = 0;
    } else {
      set[out] = old;
    }
  }
  if (gain >= 0)
    offer(b, set);
}

/* ---- the tree ---- */

static void leave_open(struct best *b, double bound) {
  b->open = fmax(b->open, bound);
}

static void swap_reals(double *x, double *y, ptrdiff_t count, ptrdiff_t step) {
  for (ptrdiff_t i = 0; i < count; i++) {
    const double swap = x[i * step];
    x[i * step] = y[i * step];
    y[i * step] = swap;
  }
}

static void swap_candidates(
    struct level *at, ptrdiff_t L, double *T, double *t, ptrdiff_t i, ptrdiff_t j) {
  const ptrdiff_t p = at->p, ld = at->ld;
  swap_reals(at->C + i * ld, at->C + j * ld, p, 1);
  swap_reals(at->C + i, at->C + j, p, ld);
  swap_reals(T + i * ld, T + j * ld, p, 1);
  swap_reals(T + i, T + j, p, ld);
  swap_reals(at->r + i, at->r + j, L, ld);
  swap_reals(t + i, t + j, L, ld);
  swap_reals(at->d + i, at->d + j, 1, 1);
  swap_reals(at->floor + i, at->floor + j, 1, 1);
  const int column = at->column[i];
  at->column[i] = at->column[j];
  at->column[j] = column;
  const ptrdiff_t last = at->last[i];
  at->last[i] = at->last[j];
  at->last[j] = last;
}

static double square(const double *t, ptrdiff_t ld, ptrdiff_t L, ptrdiff_t i) {
  double sum = 0;
  for (ptrdiff_t o = 0; o < L; o++)
    sum += t[i + o * ld] * t[i + o * ld];
  return sum;
}

/* Orders the candidates and fills bound and last. O(p^3). Not zero when it was stopped. */
static int order_and_bound(struct best *b, struct level *at) {
  const ptrdiff_t p = at->p, ld = at->ld, L = b->gram->L;
  double *T = b->T, *t = b->t, sum = at->gain;
  memcpy(T, at->C, (size_t)(p * ld) * sizeof(double));
  memcpy(t, at->r, (size_t)(ld * L) * sizeof(double));
  for (ptrdiff_t i = 0; i < p; i++)
    at->last[i] = -1;
  for (ptrdiff_t j = p - 1; j >= 0; j--) {
    if (p > MANY && stopped(b))
      return 1;
    ptrdiff_t least = j;
    double least_gain = INFINITY;
    for (ptrdiff_t i = 0; i <= j; i++) {
      const double pivot = T[i + i * ld];
      const double gain = pivot > at->floor[i] ? square(t, ld, L, i) / pivot : 0;
      if (gain < least_gain) {
        least = i;
        least_gain = gain;
      }
    }
    if (least != j)
      swap_candidates(at, L, T, t, least, j);
    const double *row = T + j * ld, pivot = row[j];
    if (pivot > at->floor[j]) {
      sum += least_gain;
      for (ptrdiff_t i = 0; i < j; i++)
        simd->shift(j, T + i * ld, row[i] / pivot, row);
      for (ptrdiff_t o = 0; o < L; o++)
        simd->shift(j, t + o * ld, t[j + o * ld] / pivot, row);
    }
    at->bound[j] = sum;
    for (ptrdiff_t i = 0; i < j; i++)
      if (at->last[i] < 0 && at->d[i] > at->floor[i] &&
          square(t, ld, L, i) > (b->enough - sum) * fmax(T[i + i * ld], at->floor[i]))
        at->last[i] = j;
  }
  return 0;
}

/* The level below: candidate i is in, those after it are left. O(p^2) */
static void branch(const struct best *b, const struct level *at, ptrdiff_t i, struct level *to) {
  const ptrdiff_t p = at->p - i - 1, ld = padded(p), L = b->gram->L;
  const double *row = at->C + i * at->ld + i + 1, inverse = 1 / at->d[i];
  to->p = p;
  to->ld = ld;
  to->gain = at->gain + square(at->r, at->ld, L, i) * inverse;
  for (ptrdiff_t j = 0; j < p; j++) {
    double *out = to->C + j * ld;
    memcpy(out, at->C + (i + 1 + j) * at->ld + i + 1, (size_t)p * sizeof(double));
    simd->shift(p, out, row[j] * inverse, row);
    for (ptrdiff_t l = p; l < ld; l++)
      out[l] = 0;
    to->d[j] = out[j];
  }
  memcpy(to->floor, at->floor + i + 1, (size_t)p * sizeof(double));
  memcpy(to->column, at->column + i + 1, (size_t)p * sizeof(int));
  for (ptrdiff_t o = 0; o < L; o++) {
    double *out = to->r + o * ld;
    memcpy(out, at->r + o * at->ld + i + 1, (size_t)p * sizeof(double));
    simd->shift(p, out, at->r[i + o * at->ld] * inverse, row);
    for (ptrdiff_t l = p; l < ld; l++)
      out[l] = 0;
  }
  for (ptrdiff_t l = p; l < ld; l++) {
    to->d[l] = 0;
    to->floor[l] = 1;
  }
  for (ptrdiff_t j = 0; j < p; j++)
    if (to->d[j] <= to->floor[j]) { /* dependent: it takes no part any more */
      to->d[j] = 0;
      for (ptrdiff_t o = 0; o < L; o++)
        to->r[j + o * ld] = 0;
      for (ptrdiff_t l = 0; l < p; l++)
        to->C[l + j * ld] = to->C[j + l * ld] = 0;
    }
}

/* Offers the node's set with i (unless it is -1), j and the best candidate after them. */
static void offer_pair(struct best *b, const struct level *at, int depth, ptrdiff_t i, ptrdiff_t j,
    const struct pair_scan *scan) {
  const ptrdiff_t ld = at->ld, L = scan->L;
  const double *row = at->C + j * ld, f = scan->a[j] * scan->inverse, pivot = scan->d[j];
  ptrdiff_t best = -1;
  double most = -1;
  for (ptrdiff_t l = 0; l < at->p; l++) {
    const double c = row[l] - f * scan->a[l], e = scan->d[l] - c * c / pivot;
    if (l == i || l == j || e <= at->floor[l])
      continue;
    double gain = 0;
    for (ptrdiff_t o = 0; o < L; o++) {
      const double v = scan->r[l + o * ld] - scan->r[j + o * ld] * c / pivot;
      gain += v * v / e;
    }
    if (gain > most) {
      best = l;
      most = gain;
    }
  }
  if (best < 0)
    return;
  if (i >= 0)
    b->prefix[depth++] = at->column[i];
  b->prefix[depth] = at->column[j];
  b->prefix[depth + 1] = at->column[best];
  offer(b, b->prefix);
}

/* Two to be added to a node with candidate i, unless it is -1: the first is after i and before
 * `to`.
 */
static void scan_pairs(
    struct best *b, const struct level *at, int depth, ptrdiff_t i, ptrdiff_t to) {
  const ptrdiff_t ld = at->ld, L = b->gram->L;
  struct pair_scan scan = {
      .ld = ld, .L = L, .C = at->C, .a = b->t, .d = b->scan_d, .r = b->scan_r, .floor = at->floor};
  double gain = at->gain;
  if (i < 0) {
    memset(b->t, 0, (size_t)ld * sizeof(double));
    scan.d = at->d;
    scan.r = at->r;
  } else {
    scan.a = at->C + i * ld;
    scan.inverse = 1 / at->d[i];
    gain += square(at->r, ld, L, i) * scan.inverse;
    for (ptrdiff_t l = 0; l < ld; l++)
      b->scan_d[l] = at->d[l] - scan.a[l] * scan.a[l] * scan.inverse;
    for (ptrdiff_t o = 0; o < L; o++) {
      const double h = at->r[i + o * ld] * scan.inverse;
      for (ptrdiff_t l = 0; l < ld; l++)
        b->scan_r[l + o * ld] = at->r[l + o * ld] - h * scan.a[l];
    }
  }
  for (ptrdiff_t j = i + 1; j < to; j++) {
    scan.need = b->enough - gain;
    j = simd->pair_above(&scan, j, to);
    if (j < to)
      offer_pair(b, at, depth, i, j, &scan);
  }
}

/* Three to be added to a node whose bound is `upper`: the first is i <= first, the second at most
   last[i] when `last` is given. */
static void scan_triples(struct best *b, const struct level *at, int depth, ptrdiff_t first,
    const ptrdiff_t *last, double upper) {
  const ptrdiff_t p = at->p;
  for (ptrdiff_t i = 0; i <= first && i < p - 2; i++) {
    if (p > MANY && stopped(b)) {
      leave_open(b, upper);
      return;
    }
    if (at->d[i] <= at->floor[i])
      continue;
    ptrdiff_t to = p - 1;
    if (last != NULL && last[i] + 1 < to)
      to = last[i] + 1;
    scan_pairs(b, at, depth, i, to);
  }
}

/* The node at level `depth`, of which the columns before it are in; four or more are to be added.
 */
static void visit(struct best *b, int depth) {
  struct level *at = b->level + depth;
  const int wanted = b->size - depth;
  double share = 1;
  for (ptrdiff_t i = 0; i + wanted <= at->p && at->bound[i] > b->enough; i++) {
    if (at->last[i] >= 0 && at->d[i] > at->floor[i]) {
      if (b->nodes >= b->control->nodes)
        b->status = MOVE_LIMIT;
      if (stopped(b)) {
        leave_open(b, at->bound[i]);
        return;
      }
      b->nodes++;
      b->prefix[depth] = at->column[i];
      struct level *to = b->level + depth + 1;
      branch(b, at, i, to);
      if (wanted == 4) {
        scan_triples(b, to, depth + 1, at->last[i] - i - 1, NULL, at->bound[i]);
      } else if (order_and_bound(b, to)) {
        leave_open(b, at->bound[i]);
      } else {
        visit(b, depth + 1);
      }
      if (b->status != COMPLETE) {
        if (i + wanted < at->p)
          leave_open(b, at->bound[i + 1]);
        return;
      }
    }
    if (depth == 0) {
      const double left = (double)(at->p - i);
      b->done += b->weight * share * wanted / left;
      share *= (left - wanted) / left;
    }
  }
}

static void search(struct best *b) {
  struct level *root = b->level;
  b->nodes = 1;
  b->open = 0;
  if (b->size == 1)
    return;
  if (stopped(b)) {
    leave_open(b, b->all);
    return;
  }
  if (b->size == 2) {
    scan_pairs(b, root, 0, -1, root->p - 1);
    return;
  }
  if (order_and_bound(b, root)) {
    leave_open(b, b->all);
    return;
  }
  b->all = root->bound[0];
  if (b->size > 3) {
    visit(b, 0);
    return;
  }
  ptrdiff_t first = root->p - 1;
  while (first >= 0 && root->bound[first] <= b->enough)
    first--;
  scan_triples(b, root, 0, first, root->last, root->bound[0]);
}

/* ---- the whole ---- */

/* The first column that is the same as each, up to its sign and scale, as far as C and b tell. */
static void find_twins(struct best *b) {
  const struct gram *gram = b->gram;
  const ptrdiff_t n = gram->n;
  for (ptrdiff_t j = 0; j < n; j++) {
    b->twin[j] = (int)j;
    for (ptrdiff_t i = 0; i < j && b->twin[j] == j; i++) {
      const double *Ci = gram->whole + i * n, *Cj = gram->whole + j * n;
      const double f = Cj[i] / Ci[i], scale = 1e-12 * sqrt(Cj[j]);
      if (b->twin[i] != i || (b->control->lambda > 0 && fabs(fabs(f) - 1) > 1e-12) ||
          Cj[j] - f * Cj[i] > 1e-12 * Cj[j])
        continue;
      int same = 1;
      for (ptrdiff_t l = 0; l < n && same; l++)
        same = fabs(Cj[l] - f * Ci[l]) <= scale * sqrt(gram->whole[l + l * n]);
      for (ptrdiff_t o = 0; o < gram->L && same; o++)
        same = fabs(gram->b[j + o * n] - f * gram->b[i + o * n]) <= scale * sqrt(b->control->total);
      if (same)
        b->twin[j] = (int)i;
    }
  }
}

/* Of columns that are the same, a set has the lowest. */
static void prefer_lowest(const struct best *b, int *set, int size) {
  for (int i = 0; i < size; i++)
    for (int j = b->twin[set[i]]; j < set[i]; j++)
      if (b->twin[j] == b->twin[set[i]] && place_of(set, size, j) < 0)
        set[i] = j;
  sort_columns(set, size);
}

/* The empty set and the candidates: all columns, but of those that are the same the first only,
   which is enough when nothing is penalised. */
static void make_root(struct best *b) {
  const struct gram *gram = b->gram;
  struct level *root = b->level;
  ptrdiff_t p = 0;
  for (int j = 0; j < gram->n; j++)
    if (b->control->lambda > 0 || b->twin[j] == j)
      root->column[p++] = j;
  const ptrdiff_t ld = padded(p);
  root->p = p;
  root->ld = ld;
  root->gain = 0;
  memset(root->C, 0, (size_t)(p * ld) * sizeof(double));
  memset(root->r, 0, (size_t)(ld * gram->L) * sizeof(double));
  for (ptrdiff_t j = 0; j < ld; j++) {
    const int column = j < p ? root->column[j] : 0;
    root->d[j] = j < p ? own(b, column) : 0;
    root->floor[j] = j < p ? DEPENDENT * own(b, column) : 1;
    if (j >= p)
      continue;
    for (ptrdiff_t l = 0; l < p; l++)
      root->C[l + j * ld] = gram->whole[root->column[l] + column * gram->n];
    root->C[j + j * ld] = root->d[j];
    for (ptrdiff_t o = 0; o < gram->L; o++)
      root->r[j + o * ld] = gram->b[column + o * gram->n];
  }
}

/* Greedy forward selection: column s - 1 of the sets is the best found so far of size s. */
static int forward(struct best *b, int *set) {
  const int k = b->control->k;
  clear_state(b);
  for (int s = 0; s < k; s++) {
    int *here = set + s * k;
    if (s > 0)
      memcpy(here, here - k, (size_t)s * sizeof(int));
    here[s] = best_addition(b, here, s);
    if (here[s] < 0)
      return s;
    if (s + 1 < k)
      take_in(b, s, here[s]);
  }
  return k;
}

/* Room: the next `count` of `size` bytes, on a boundary; only counted while there is none. */
struct room {
  char *at;
  size_t used;
};

static void *part(struct room *room, size_t count, size_t size) {
  void *at = room->at == NULL ? NULL : room->at + room->used;
  room->used += (count * size + ALIGN - 1) / ALIGN * ALIGN;
  return at;
}

static void hand_out(struct best *b, struct room *room) {
  const size_t n = (size_t)b->gram->n, L = (size_t)b->gram->L, k = (size_t)b->control->k;
  const size_t ld = (size_t)padded(b->gram->n), depths = k > 3 ? k - 2 : 1;
  const size_t real = sizeof(double);
  b->level = part(room, depths, sizeof(struct level));
  for (size_t s = 0; s < depths; s++) {
    const struct level level = {.C = part(room, n * ld, real),
        .d = part(room, ld, real),
        .r = part(room, ld * L, real),
        .floor = part(room, ld, real),
        .bound = part(room, ld, real),
        .column = part(room, ld, sizeof(int)),
        .last = part(room, ld, sizeof(ptrdiff_t))};
    if (b->level != NULL)
      b->level[s] = level;
  }
  b->T = part(room, n * ld, real);
  b->t = part(room, ld * L, real);
  b->scan_d = part(room, ld, real);
  b->scan_r = part(room, ld * L, real);
  b->prefix = part(room, k, sizeof(int));
  b->trial = part(room, k, sizeof(int));
  b->held = part(room, k, sizeof(int));
  b->R = part(room, k * k, real);
  b->z = part(room, k * L, real);
  b->rows = part(room, k * n, real);
  b->left_d = part(room, n, real);
  b->left_r = part(room, n * L, real);
  b->twin = part(room, n, sizeof(int));
}

size_t best_work(const struct gram *gram, const struct best_control *control) {
  struct best b = {.gram = gram, .control = control};
  struct room room = {NULL, ALIGN};
  hand_out(&b, &room);
  return room.used;
}

enum status best_subset(const struct gram *gram, const struct best_control *control,
    struct host *host, void *work, struct best_result *result) {
  struct best b = {.gram = gram, .control = control, .host = host};
  struct room room = {work, (ALIGN - (uintptr_t)work % ALIGN) % ALIGN};
  hand_out(&b, &room);
  const int k = control->k;
  enum status status = COMPLETE;
  find_twins(&b);
  make_root(&b);
  result->sizes = forward(&b, result->set);
  const double n = (double)b.level->p;
  b.all = control->total;
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
    b.gain = b.enough = -1;
    b.weight = result->nodes[s - 1];
    offer(&b, set);
    if (b.status != INTERRUPTED) {
      b.status = COMPLETE;
      memcpy(b.held, set, (size_t)s * sizeof(int));
      local_search(&b);
      if (s > 1) {
        memcpy(b.held, set - k, (size_t)(s - 1) * sizeof(int));
        local_search(&b);
      }
      search(&b);
      if (b.status != COMPLETE)
        status = b.status;
    } else {
      b.nodes = 0;
      b.open = b.all;
    }
    prefer_lowest(&b, set, s);
    b.done = before + b.weight;
    result->gain[s - 1] = b.gain;
    result->bound[s - 1] = b.status == COMPLETE ? b.gain : fmax(b.gain, b.open);
    result->nodes[s - 1] = b.nodes;
  }
  for (int s = result->sizes - 1; s > 0; s--) /* a larger set gains no less */
    result->bound[s - 1] = fmax(result->gain[s - 1], fmin(result->bound[s - 1], result->bound[s]));
  return status;
}
