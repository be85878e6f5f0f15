/* The l1-norm support vector machine as a linear programme, by a dual simplex. The programme is
   the dual one: the largest sum of alpha with 0 <= alpha <= w, where the product of r = y alpha /
   root_w with a covariate is 0 and with a column at most lambda on either side. It holds a row for
   every covariate and for every column in hand; rows are added until no column is violated. The
   rows' multipliers are the model, and d = 1 - y f are the reduced costs of alpha.

   Everything is bounded, so that any basis is dual feasible once each variable that is not basic
   lies at the right bound. In a basis some rows are tight, and as many alpha are basic, which are
   the rows of data on the margin; all there is to factor is H, the inverse of the tight rows at
   the basic alpha. */
#include "blas.h"
#include "l1-state.h"
#include "simd.h"
#include "column.h"
#include <math.h>
#include <string.h>

/* Relative to what a variable may be at most. */
static const double FEASIBLE = 1e-11;
/* A reduced cost of the wrong sign, of margins that are about 1. */
static const double OPTIMAL = 1e-12;
/* By how much costs are made unequal at first. */
static const double UNEQUAL = 1e-8;
/* A product above lambda by this share of it is a violation. */
static const double VIOLATED = 1e-10;

enum { FRESH = 64 }; /* pivots until H is made afresh */

/* A variable and the key it is ordered by. */
struct keyed {
  double key;
  ptrdiff_t id;
};

struct programme {
  ptrdiff_t m, q;
  ptrdiff_t slots, rows; /* rows there is room for; rows there are, covariates first */
  ptrdiff_t most;        /* tight rows at most, and the row length of H */
  double lambda, heaviest;

  double *A;    /* m x slots, a row's coefficients one after the other */
  int *feature; /* slots, the column a row belongs to, -1 for a covariate */
  int *held;    /* n, whether a column is in hand */

  double *w, *y, *cost, *d; /* m */
  double *alpha;            /* m, exactly 0 or w unless basic */
  double *v;                /* slots, value of each row, exactly at its bound when tight */
  double *beta;             /* slots, multipliers, 0 unless tight */
  double *largest;          /* slots, of a row's coefficients */
  double *reach;            /* slots, what a row's value can never exceed */

  ptrdiff_t tight;
  int *R, *B;       /* most, tight rows and basic alpha */
  int *in_R, *in_B; /* slots, m: the place there, or -1 */
  double *H;        /* most x most, a row for each basic alpha, in the order of B and R */
  double *length;   /* most, squares of the rows of the inverse basis: for B */
  double *weight;   /* slots, and for rows that are not tight */
  int *barred;      /* m + slots, not to leave the basis until H is afresh */
  ptrdiff_t since;  /* pivots since then */
  int settled;      /* whether there was none since settle() */

  /* Room for one pivot: its row and column seen from the tight rows, and from alpha. */
  double *rho, *kappa, *shift;       /* most */
  double *row, *step, *moved, *turn; /* m */
  int *flipped;                      /* m */
  struct keyed *heap;                /* n or m + slots */
  double *room;                      /* most, for LAPACK */
  int *pivots;                       /* most */

  /* The model, its values, and the r that stood before. */
  int *model;          /* slots */
  double *coefficient; /* slots */
  double *f, *r;       /* m */
};

/* ---- room ---- */

static void lay_out(
    struct programme *lp, const struct problem *pb, ptrdiff_t columns, struct room *room) {
  const ptrdiff_t m = pb->m, n = pb->n, slots = pb->q + (columns < n ? columns : n);
  const ptrdiff_t most = slots < m ? slots : m;
  *lp = (struct programme){.m = m, .q = pb->q, .slots = slots, .most = most};
  double **by_data[] = {&lp->w, &lp->y, &lp->cost, &lp->d, &lp->alpha, &lp->row, &lp->step,
      &lp->moved, &lp->turn, &lp->f, &lp->r};
  double **by_row[] = {&lp->v, &lp->beta, &lp->largest, &lp->reach, &lp->weight, &lp->coefficient};
  double **by_place[] = {&lp->length, &lp->rho, &lp->kappa, &lp->shift, &lp->room};
  for (size_t k = 0; k < sizeof by_data / sizeof *by_data; k++)
    *by_data[k] = hand_out(room, m, sizeof(double));
  for (size_t k = 0; k < sizeof by_row / sizeof *by_row; k++)
    *by_row[k] = hand_out(room, slots, sizeof(double));
  for (size_t k = 0; k < sizeof by_place / sizeof *by_place; k++)
    *by_place[k] = hand_out(room, most, sizeof(double));
  lp->A = hand_out(room, m * slots, sizeof(double));
  lp->H = hand_out(room, most * most, sizeof(double));
  lp->heap = hand_out(room, n > m + slots ? n : m + slots, sizeof(struct keyed));
  lp->held = hand_out(room, n, sizeof(int));
  lp->feature = hand_out(room, slots, sizeof(int));
  lp->model = hand_out(room, slots, sizeof(int));
  lp->in_R = hand_out(room, slots, sizeof(int));
  lp->in_B = hand_out(room, m, sizeof(int));
  lp->flipped = hand_out(room, m, sizeof(int));
  lp->R = hand_out(room, most, sizeof(int));
  lp->B = hand_out(room, most, sizeof(int));
  lp->pivots = hand_out(room, most, sizeof(int));
  lp->barred = hand_out(room, m + slots, sizeof(int));
}

size_t hinge_work(const struct problem *pb, const struct l1_control *control) {
  struct programme lp;
  struct room room = {NULL, 0};
  hand_out(&room, 1, sizeof lp);
  lay_out(&lp, pb, control->room, &room);
  return room.used;
}

/* ---- a heap, the smallest key first ---- */

static int before(struct keyed a, struct keyed b) {
  return a.key < b.key || (a.key == b.key && a.id < b.id);
}

static void sink(struct keyed *heap, ptrdiff_t count, ptrdiff_t at) {
  const struct keyed own = heap[at];
  for (ptrdiff_t child; (child = 2 * at + 1) < count; at = child) {
    child += child + 1 < count && before(heap[child + 1], heap[child]);
    if (!before(heap[child], own))
      break;
    heap[at] = heap[child];
  }
  heap[at] = own;
}

static void order_heap(struct keyed *heap, ptrdiff_t count) {
  for (ptrdiff_t at = count / 2; at-- > 0;)
    sink(heap, count, at);
}

static struct keyed pop(struct keyed *heap, ptrdiff_t *count) {
  const struct keyed first = heap[0];
  heap[0] = heap[--*count];
  sink(heap, *count, 0);
  return first;
}

/* ---- rows ---- */

static double *row_of(const struct programme *lp, ptrdiff_t k) {
  return lp->A + k * lp->m;
}

static double *inverse_row(const struct programme *lp, ptrdiff_t s) {
  return lp->H + s * lp->most;
}

/* What the value of row k may be at most, on either side. */
static double limit(const struct programme *lp, ptrdiff_t k) {
  return lp->feature[k] < 0 ? 0 : lp->lambda;
}

/* rho (tight) := the row of the inverse basis that gives the value of row k, which is not tight;
   its square, a 1 for the row itself included, is returned. */
static double row_in_basis(const struct programme *lp, ptrdiff_t k, double *rho) {
  const double *a = row_of(lp, k);
  memset(rho, 0, (size_t)lp->tight * sizeof(double));
  for (ptrdiff_t s = 0; s < lp->tight; s++)
    simd->shift(lp->tight, rho, -a[lp->B[s]], inverse_row(lp, s));
  return 1 + simd->dot(lp->tight, rho, rho);
}

/* Takes in the row whose coefficients are in its place already. */
static void append_row(struct programme *lp, int feature) {
  const ptrdiff_t k = lp->rows++;
  const double *a = row_of(lp, k);
  double largest = 0, reach = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    largest = fmax(largest, fabs(a[i]));
    reach += fabs(a[i]) * lp->w[i];
  }
  lp->feature[k] = feature;
  lp->largest[k] = largest;
  lp->reach[k] = reach;
  lp->in_R[k] = -1;
  lp->beta[k] = 0;
  lp->barred[lp->m + k] = 0;
  lp->v[k] = simd->dot(lp->m, a, lp->alpha);
  lp->weight[k] = row_in_basis(lp, k, lp->rho);
}

static void append_column(struct programme *lp, const struct problem *pb, ptrdiff_t j) {
  double *a = row_of(lp, lp->rows);
  gather_column(&pb->x, pb->m, j, a);
  for (ptrdiff_t i = 0; i < lp->m; i++)
    a[i] = lp->y[i] * (a[i] - pb->centre[j]) * pb->inv_scale[j];
  lp->held[j] = 1;
  append_row(lp, (int)j);
}

/* Drops the columns whose rows are not tight. */
static void drop_loose(struct programme *lp) {
  ptrdiff_t to = 0;
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    const int place = lp->in_R[k];
    if (place < 0 && lp->feature[k] >= 0) {
      lp->held[lp->feature[k]] = 0;
      continue;
    }
    if (to < k) {
      memcpy(row_of(lp, to), row_of(lp, k), (size_t)lp->m * sizeof(double));
      lp->feature[to] = lp->feature[k];
      lp->v[to] = lp->v[k];
      lp->beta[to] = lp->beta[k];
      lp->largest[to] = lp->largest[k];
      lp->reach[to] = lp->reach[k];
      lp->weight[to] = lp->weight[k];
      lp->barred[lp->m + to] = lp->barred[lp->m + k];
      lp->in_R[to] = place;
      if (place >= 0)
        lp->R[place] = (int)to;
    }
    to++;
  }
  lp->rows = to;
}

/* ---- the basis afresh ---- */

/* The basis without a tight row, every alpha at its upper bound. */
static void clear_basis(struct programme *lp) {
  lp->tight = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    lp->in_B[i] = -1;
    lp->alpha[i] = lp->w[i];
  }
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    lp->in_R[k] = -1;
    lp->beta[k] = 0;
    lp->weight[k] = 1;
  }
}

static void invert(struct programme *lp) {
  const ptrdiff_t b = lp->tight;
  for (ptrdiff_t c = 0; c < b; c++)
    for (ptrdiff_t s = 0; s < b; s++)
      lp->H[c * lp->most + s] = row_of(lp, lp->R[c])[lp->B[s]];
  if (b > 0 && lapack_invert(b, lp->H, lp->most, lp->pivots, lp->room, lp->most) != 0)
    clear_basis(lp);
  for (ptrdiff_t s = 0; s < lp->tight; s++)
    lp->length[s] = simd->dot(b, inverse_row(lp, s), inverse_row(lp, s));
  lp->since = 0;
}

/* The multipliers that make the reduced costs of basic alpha zero, and all reduced costs. */
static void make_costs(struct programme *lp) {
  for (int again = 0; again < 2; again++) {
    memcpy(lp->d, lp->cost, (size_t)lp->m * sizeof(double));
    for (ptrdiff_t c = 0; c < lp->tight; c++)
      simd->shift(lp->m, lp->d, lp->beta[lp->R[c]], row_of(lp, lp->R[c]));
    memset(lp->shift, 0, (size_t)lp->tight * sizeof(double));
    for (ptrdiff_t s = 0; s < lp->tight; s++)
      simd->shift(lp->tight, lp->shift, -lp->d[lp->B[s]], inverse_row(lp, s));
    for (ptrdiff_t c = 0; c < lp->tight; c++) {
      const ptrdiff_t k = lp->R[c];
      lp->beta[k] += lp->shift[c];
      simd->shift(lp->m, lp->d, lp->shift[c], row_of(lp, k));
    }
  }
  for (ptrdiff_t s = 0; s < lp->tight; s++)
    lp->d[lp->B[s]] = 0;
}

/* The bound where a variable that is not basic belongs: the one it is at, unless the reduced cost
   is of the other's sign. */
static int belongs_above(double d, int above) {
  return above ? d >= -OPTIMAL : d > OPTIMAL;
}

/* Puts every variable that is not basic where its reduced cost wants it. */
static void put_at_bounds(struct programme *lp) {
  for (ptrdiff_t i = 0; i < lp->m; i++)
    if (lp->in_B[i] < 0)
      lp->alpha[i] = belongs_above(lp->d[i], lp->alpha[i] > 0) ? lp->w[i] : 0;
  for (ptrdiff_t c = 0; c < lp->tight; c++) {
    const ptrdiff_t k = lp->R[c];
    lp->v[k] = belongs_above(lp->beta[k], !signbit(lp->v[k])) ? limit(lp, k) : -limit(lp, k);
  }
}

/* The values of the basic variables, those of the others given. Returns by how much, relative to
   what they may be, those of the tight rows were missed at the first attempt. */
static double make_values(struct programme *lp) {
  double missed = 0;
  for (int again = 0; again < 2; again++) {
    missed = 0;
    for (ptrdiff_t c = 0; c < lp->tight; c++) {
      const ptrdiff_t k = lp->R[c];
      lp->shift[c] = lp->v[k] - simd->dot(lp->m, row_of(lp, k), lp->alpha);
      missed = fmax(missed, fabs(lp->shift[c]) / lp->reach[k]);
    }
    for (ptrdiff_t s = 0; s < lp->tight; s++)
      lp->alpha[lp->B[s]] += simd->dot(lp->tight, inverse_row(lp, s), lp->shift);
  }
  for (ptrdiff_t k = 0; k < lp->rows; k++)
    if (lp->in_R[k] < 0)
      lp->v[k] = simd->dot(lp->m, row_of(lp, k), lp->alpha);
  return missed;
}

/* Clears values and costs of the rounding of many pivots, and H too where it has lost too much. */
static void settle(struct programme *lp) {
  for (;;) {
    make_costs(lp);
    put_at_bounds(lp);
    if (make_values(lp) <= 1e-12 || lp->since == 0)
      break;
    invert(lp);
  }
  memset(lp->barred, 0, (size_t)(lp->m + lp->rows) * sizeof(int));
  lp->settled = 1;
}

static void refresh(struct programme *lp) {
  invert(lp);
  settle(lp);
}

/* ---- a pivot ---- */

/* Variables are alpha_i at i and row k at m + k. */
struct pivot {
  ptrdiff_t leaves, enters;
  double over;    /* by how much the leaving variable is above its bound, negative when below */
  double element; /* of the pivot row at the entering variable */
  double length;  /* square of the row of the inverse basis */
};

static double excess(double x, double low, double high, double slack) {
  return x > high + slack ? x - high : x < low - slack ? x - low : 0;
}

/* The basic variable that is to leave, by its distance from its bound in the metric of the dual
   steepest edge. Returns 0 when all are within their bounds. */
static int choose_leaving(const struct programme *lp, struct pivot *p) {
  double best = 0;
  for (ptrdiff_t s = 0; s < lp->tight; s++) {
    const ptrdiff_t i = lp->B[s];
    const double over = excess(lp->alpha[i], 0, lp->w[i], FEASIBLE * lp->heaviest);
    const double score = over * over / lp->length[s];
    if (score > best && !lp->barred[i]) {
      best = score;
      *p = (struct pivot){.leaves = i, .over = over, .length = lp->length[s]};
    }
  }
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    if (lp->in_R[k] >= 0 || lp->barred[lp->m + k])
      continue;
    const double most = limit(lp, k), slack = FEASIBLE * most + 1e-15 * lp->reach[k];
    const double over = excess(lp->v[k], -most, most, slack);
    const double score = over * over / lp->weight[k];
    if (score > best) {
      best = score;
      *p = (struct pivot){.leaves = lp->m + k, .over = over, .length = lp->weight[k]};
    }
  }
  return best > 0;
}

/* rho and row := the leaving variable in terms of those that are not basic: rows and alpha. */
static void make_row(struct programme *lp, struct pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  if (p->leaves < m) {
    memcpy(lp->rho, inverse_row(lp, lp->in_B[p->leaves]), (size_t)b * sizeof(double));
    memset(lp->row, 0, (size_t)m * sizeof(double));
  } else {
    p->length = row_in_basis(lp, p->leaves - m, lp->rho);
    memcpy(lp->row, row_of(lp, p->leaves - m), (size_t)m * sizeof(double));
  }
  for (ptrdiff_t c = 0; c < b; c++)
    simd->shift(m, lp->row, lp->rho[c], row_of(lp, lp->R[c]));
  for (ptrdiff_t s = 0; s < b; s++)
    lp->row[lp->B[s]] = 0;
}

/* The element of the pivot row at a variable that is not basic. */
static double element(const struct programme *lp, ptrdiff_t id) {
  return id < lp->m ? lp->row[id] : lp->rho[lp->in_R[id - lp->m]];
}

/* Its size, times the largest coefficient where it is a row's. */
static double scaled_element(const struct programme *lp, ptrdiff_t id) {
  return fabs(element(lp, id)) * (id < lp->m ? 1 : lp->largest[id - lp->m]);
}

/* How far the bounds of a variable are from each other. */
static double width(const struct programme *lp, ptrdiff_t id) {
  return id < lp->m ? lp->w[id] : 2 * limit(lp, id - lp->m);
}

/* What an element of the row must exceed to be more than rounding. */
static double smallest_element(const struct programme *lp, const struct pivot *p, double *largest) {
  double terms = p->leaves < lp->m ? 0 : lp->largest[p->leaves - lp->m], most = 0;
  for (ptrdiff_t c = 0; c < lp->tight; c++)
    terms = fmax(terms, scaled_element(lp, lp->m + lp->R[c]));
  for (ptrdiff_t i = 0; i < lp->m; i++)
    most = fmax(most, fabs(lp->row[i]));
  *largest = fmax(most, terms);
  return fmax(1e-9 * most, 1e-12 * terms);
}

/* The variables whose reduced costs run into zero, ordered by when they do. */
static ptrdiff_t list_breaks(struct programme *lp, const struct pivot *p, double tiny) {
  const double sign = p->over > 0 ? 1 : -1;
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    const double a = sign * lp->row[i];
    if (lp->in_B[i] < 0 && (lp->alpha[i] > 0 ? a > tiny : a < -tiny))
      lp->heap[count++] = (struct keyed){fmax(0, lp->d[i] / a), i};
  }
  for (ptrdiff_t c = 0; c < lp->tight; c++) {
    const ptrdiff_t k = lp->R[c];
    const double a = sign * lp->rho[c], least = tiny / lp->largest[k];
    if (lp->feature[k] >= 0 && (signbit(lp->v[k]) ? a < -least : a > least))
      lp->heap[count++] = (struct keyed){fmax(0, lp->beta[k] / a), lp->m + k};
  }
  order_heap(lp->heap, count);
  return count;
}

/* The variable to enter: of those that the step may pass, each going to its other bound, the last
   one whose element is not too small. Returns 0 when there is none. */
static int choose_entering(struct programme *lp, struct pivot *p) {
  double largest, left = fabs(p->over), chosen = 0;
  const double tiny = smallest_element(lp, p, &largest);
  ptrdiff_t count = list_breaks(lp, p, tiny);
  while (count > 0 && (left > 0 || chosen < 1e-7 * largest)) {
    const struct keyed next = pop(lp->heap, &count);
    const double size = scaled_element(lp, next.id);
    if (size > chosen || size > 1e-5 * largest) {
      chosen = size;
      p->enters = next.id;
    }
    left -= fabs(element(lp, next.id)) * width(lp, next.id);
  }
  p->element = chosen > 0 ? element(lp, p->enters) : 0;
  return chosen > 0;
}

/* kappa and step := how the basic alpha move with the entering variable. */
static void make_column(struct programme *lp, const struct pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  memset(lp->step, 0, (size_t)m * sizeof(double));
  if (p->enters < m) {
    for (ptrdiff_t c = 0; c < b; c++)
      lp->shift[c] = -row_of(lp, lp->R[c])[p->enters];
    for (ptrdiff_t s = 0; s < b; s++)
      lp->kappa[s] = simd->dot(b, inverse_row(lp, s), lp->shift);
    lp->step[p->enters] = 1;
  } else {
    for (ptrdiff_t s = 0; s < b; s++)
      lp->kappa[s] = inverse_row(lp, s)[lp->in_R[p->enters - m]];
  }
  for (ptrdiff_t s = 0; s < b; s++)
    lp->step[lp->B[s]] = lp->kappa[s];
}

/* The pivot element told from the column. */
static double element_by_column(const struct programme *lp, const struct pivot *p) {
  return p->leaves < lp->m ? lp->step[p->leaves]
                           : simd->dot(lp->m, row_of(lp, p->leaves - lp->m), lp->step);
}

/* Moves the reduced costs so far that the entering variable's becomes zero. */
static void move_costs(struct programme *lp, const struct pivot *p) {
  const ptrdiff_t m = lp->m;
  const double sign = p->over > 0 ? 1 : -1;
  const double d = p->enters < m ? lp->d[p->enters] : lp->beta[p->enters - m];
  const double theta = sign * fmax(0, sign * d / p->element);
  simd->shift(m, lp->d, theta, lp->row);
  for (ptrdiff_t c = 0; c < lp->tight; c++)
    lp->beta[lp->R[c]] -= theta * lp->rho[c];
  *(p->enters < m ? lp->d + p->enters : lp->beta + p->enters - m) = 0;
  *(p->leaves < m ? lp->d + p->leaves : lp->beta + p->leaves - m) = theta;
}

/* Takes variables to their other bounds where their reduced costs have changed sign; moved (m) :=
   how all alpha move by that. Returns 0 when none does. */
static int flip(struct programme *lp, const struct pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  ptrdiff_t count = 0;
  memset(lp->moved, 0, (size_t)m * sizeof(double));
  memset(lp->shift, 0, (size_t)b * sizeof(double));
  for (ptrdiff_t i = 0; i < m; i++) {
    const int above = lp->alpha[i] > 0;
    if (lp->in_B[i] >= 0 || i == p->enters || belongs_above(lp->d[i], above) == above)
      continue;
    lp->alpha[i] = above ? 0 : lp->w[i];
    lp->moved[i] = above ? -lp->w[i] : lp->w[i];
    lp->flipped[count++] = (int)i;
  }
  for (ptrdiff_t c = 0; c < b && count > 0; c++) {
    const double *a = row_of(lp, lp->R[c]);
    for (ptrdiff_t k = 0; k < count; k++)
      lp->shift[c] -= a[lp->flipped[k]] * lp->moved[lp->flipped[k]];
  }
  for (ptrdiff_t c = 0; c < b; c++) {
    const ptrdiff_t k = lp->R[c];
    const int above = !signbit(lp->v[k]);
    if (lp->feature[k] < 0 || m + k == p->enters || belongs_above(lp->beta[k], above) == above)
      continue;
    lp->v[k] = -lp->v[k];
    lp->shift[c] += 2 * lp->v[k];
    count++;
  }
  for (ptrdiff_t s = 0; s < b && count > 0; s++) {
    const double by = simd->dot(b, inverse_row(lp, s), lp->shift);
    lp->moved[lp->B[s]] = by;
    lp->alpha[lp->B[s]] += by;
  }
  return count > 0;
}

/* The bound that the leaving variable goes to. */
static double bound_of(const struct programme *lp, const struct pivot *p) {
  if (p->leaves < lp->m)
    return p->over > 0 ? lp->w[p->leaves] : 0;
  return p->over > 0 ? limit(lp, p->leaves - lp->m) : -limit(lp, p->leaves - lp->m);
}

/* Moves alpha and the values of all rows: those that flipped, and the entering variable as far as
   takes the leaving one to its bound. Then the lengths of the rows of the inverse basis. */
static void move_values(struct programme *lp, const struct pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight, left = p->leaves - m;
  const int flipped = flip(lp, p);
  double value = left < 0 ? lp->alpha[p->leaves] : lp->v[left];
  if (left >= 0 && flipped)
    value += simd->dot(m, row_of(lp, left), lp->moved);
  const double t = (bound_of(lp, p) - value) / p->element;
  for (ptrdiff_t s = 0; s < b; s++)
    lp->alpha[lp->B[s]] += t * lp->kappa[s];
  *(p->enters < m ? lp->alpha + p->enters : lp->v + p->enters - m) += t;
  *(left < 0 ? lp->alpha + p->leaves : lp->v + left) = bound_of(lp, p);

  memset(lp->turn, 0, (size_t)m * sizeof(double));
  for (ptrdiff_t s = 0; s < b; s++)
    lp->turn[lp->B[s]] = simd->dot(b, inverse_row(lp, s), lp->rho);
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    if (lp->in_R[k] >= 0 || k == left)
      continue;
    const double *a = row_of(lp, k);
    const double slope = simd->dot(m, a, lp->step), ratio = slope / p->element;
    lp->v[k] += t * slope + (flipped ? simd->dot(m, a, lp->moved) : 0);
    lp->weight[k] += ratio * (ratio * p->length - 2 * simd->dot(m, a, lp->turn));
    lp->weight[k] = fmax(lp->weight[k], 1 + ratio * ratio);
  }
}

/* Takes the last tight row and the last basic alpha to the places c and s. */
static void close_gap(struct programme *lp, ptrdiff_t s, ptrdiff_t c) {
  const ptrdiff_t last = --lp->tight;
  memmove(inverse_row(lp, s), inverse_row(lp, last), (size_t)(last + 1) * sizeof(double));
  for (ptrdiff_t t = 0; t < last; t++)
    inverse_row(lp, t)[c] = inverse_row(lp, t)[last];
  lp->B[s] = lp->B[last];
  lp->in_B[lp->B[s]] = (int)s;
  lp->R[c] = lp->R[last];
  lp->in_R[lp->R[c]] = (int)c;
}

/* Exchanges the two variables: H, R and B. */
static void exchange(struct programme *lp, const struct pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  const int row_leaves = p->leaves >= m, row_enters = p->enters >= m;
  const ptrdiff_t s = row_leaves ? b : lp->in_B[p->leaves];
  const ptrdiff_t c = row_enters ? lp->in_R[p->enters - m] : b;
  for (ptrdiff_t t = 0; t < b; t++) {
    const double by = lp->kappa[t] / p->element;
    simd->shift(b, inverse_row(lp, t), by, lp->rho);
    if (row_leaves)
      inverse_row(lp, t)[c] = by;
  }
  if (!row_enters) {
    double *h = inverse_row(lp, s);
    for (ptrdiff_t k = 0; k < b; k++)
      h[k] = -lp->rho[k] / p->element;
    if (row_leaves)
      h[c] = 1 / p->element;
  }
  if (row_leaves) {
    lp->R[c] = (int)(p->leaves - m);
    lp->in_R[p->leaves - m] = (int)c;
  }
  if (!row_enters) {
    lp->B[s] = (int)p->enters;
    lp->in_B[p->enters] = (int)s;
  }
  if (row_leaves && !row_enters)
    lp->tight++;
  if (!row_leaves && row_enters)
    close_gap(lp, s, c);
  if (!row_leaves)
    lp->in_B[p->leaves] = -1;
  if (row_enters) {
    lp->in_R[p->enters - m] = -1;
    lp->weight[p->enters - m] = fmax(1, p->length / (p->element * p->element));
  }
  for (ptrdiff_t t = 0; t < lp->tight; t++)
    lp->length[t] = simd->dot(lp->tight, inverse_row(lp, t), inverse_row(lp, t));
  lp->since++;
  lp->settled = 0;
}

/* ---- the simplex ---- */

/* One pivot, from the leaving variable on. One that no other can replace but by rounding is barred
   from leaving. */
static void pivot(struct programme *lp, struct pivot *p) {
  make_row(lp, p);
  if (!choose_entering(lp, p)) {
    lp->barred[p->leaves] = 1;
    return;
  }
  make_column(lp, p);
  if (fabs(element_by_column(lp, p) - p->element) > 1e-7 * fabs(p->element)) {
    if (lp->since > 0)
      refresh(lp);
    else
      lp->barred[p->leaves] = 1;
    return;
  }
  move_costs(lp, p);
  move_values(lp, p);
  exchange(lp, p);
}

/* Bounded dual simplex from a settled basis, with at most `pivots` pivots; how many it took. */
static enum status simplex(
    struct programme *lp, struct l1 *at, ptrdiff_t pivots, ptrdiff_t *taken) {
  struct pivot p = {0};
  double work = 0;
  for (*taken = 0; *taken < pivots; ++*taken) {
    if (lp->since >= FRESH && lp->since >= lp->tight)
      refresh(lp);
    if (!choose_leaving(lp, &p)) {
      if (lp->settled)
        break;
      settle(lp);
      continue;
    }
    pivot(lp, &p);
    work += (double)lp->m * (double)lp->rows;
    if (work > 1e7 && at->host->stop(at->host, at->done, at->total))
      return INTERRUPTED;
    work = work > 1e7 ? 0 : work;
  }
  return COMPLETE;
}

/* A number in (0.5, 1) that looks random. */
static double hash(ptrdiff_t i) {
  unsigned long long z = (unsigned long long)(i + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return 0.5 + (double)((z ^ (z >> 31)) >> 12) * 0x1p-53;
}

/* Costs 1, or a little more. */
static void set_costs(struct programme *lp, double unequal) {
  for (ptrdiff_t i = 0; i < lp->m; i++)
    lp->cost[i] = 1 + unequal * hash(i);
  settle(lp);
}

/* The optimum with the rows there are: with unequal costs, since ties would keep the simplex from
   moving, and from there with equal ones, which needs few pivots. Where it needs many, the costs
   are made less and less unequal, and at last are left so. */
static enum status optimise(struct programme *lp, struct l1 *at) {
  const ptrdiff_t many = 1000 * (lp->m + lp->rows), few = 50 + lp->m / 10;
  for (double unequal = UNEQUAL;; unequal /= 100) {
    ptrdiff_t taken;
    set_costs(lp, unequal);
    enum status status = simplex(lp, at, many, &taken);
    if (status != COMPLETE || unequal < 2 * OPTIMAL)
      return status;
    set_costs(lp, 0);
    status = simplex(lp, at, few, &taken);
    if (status != COMPLETE || taken < few)
      return status;
  }
}

/* ---- the model ---- */

/* Leaves the model of the multipliers in model and coefficient; its size. */
static int read_model(struct programme *lp) {
  int size = 0;
  for (ptrdiff_t c = 0; c < lp->tight; c++) {
    const ptrdiff_t k = lp->R[c];
    if (lp->feature[k] < 0 || fabs(lp->beta[k]) * lp->largest[k] <= 1e-13)
      continue;
    lp->model[size] = lp->feature[k];
    lp->coefficient[size++] = lp->beta[k];
  }
  return size;
}

/* r := y alpha / root_w, alpha brought within its bounds where rounding left it outside. */
static void make_r(const struct programme *lp, const struct problem *pb, double *r) {
  for (ptrdiff_t i = 0; i < lp->m; i++)
    r[i] = lp->y[i] * fmin(fmax(lp->alpha[i], 0), lp->w[i]) / pb->root_w[i];
}

static double dual_value(const struct programme *lp, const struct problem *pb, const double *r) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++)
    sum += lp->y[i] * r[i] * pb->root_w[i];
  return sum;
}

/* f (m) := the values of the model; returns its objective. */
static double primal_value(struct programme *lp, const struct problem *pb, int size) {
  double sum = 0;
  predict_rows(pb, size, lp->model, lp->coefficient, lp->f);
  for (ptrdiff_t l = 0; l < lp->q; l++)
    for (ptrdiff_t i = 0; i < lp->m; i++)
      lp->f[i] += lp->beta[l] * pb->Q[i + l * lp->m] / pb->root_w[i];
  for (ptrdiff_t i = 0; i < lp->m; i++)
    sum += lp->w[i] * fmax(0, 1 - lp->y[i] * lp->f[i]);
  for (int k = 0; k < size; k++)
    sum += lp->lambda * fabs(lp->coefficient[k]);
  return sum;
}

static void publish(struct l1 *at, struct programme *lp, int size) {
  at->size = size;
  memcpy(at->feature, lp->model, (size_t)size * sizeof(int));
  memcpy(at->beta, lp->coefficient, (size_t)size * sizeof(double));
  memcpy(at->u, lp->beta, (size_t)lp->q * sizeof(double));
}

void hinge_begin(struct l1 *at) {
  const struct problem *pb = at->pb;
  struct programme *lp = at->engine;
  struct room room = {at->engine, 0};
  hand_out(&room, 1, sizeof *lp);
  lay_out(lp, pb, at->control.room, &room);
  memset(lp->held, 0, (size_t)pb->n * sizeof(int));
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    lp->y[i] = pb->response[i];
    lp->w[i] = pb->root_w[i] * pb->root_w[i];
    lp->heaviest = fmax(lp->heaviest, lp->w[i]);
  }
  clear_basis(lp);
  for (ptrdiff_t l = 0; l < lp->q; l++) {
    double *a = row_of(lp, l);
    for (ptrdiff_t i = 0; i < lp->m; i++)
      a[i] = lp->y[i] * pb->Q[i + l * lp->m] / pb->root_w[i];
    append_row(lp, -1);
  }
  invert(lp);
  optimise(lp, at);
  make_r(lp, pb, at->r);
  at->primal = at->null = primal_value(lp, pb, 0);
  at->dual = dual_value(lp, pb, at->r);
  publish(at, lp, 0);
}

/* Takes the model's columns in hand. The state goes on standing at the model without columns, whose
   figures it has. */
enum status hinge_start(struct l1 *at) {
  struct programme *lp = at->engine;
  for (int k = 0; k < at->size; k++)
    append_column(lp, at->pb, at->feature[k]);
  at->size = 0;
  return COMPLETE;
}

/* ---- one lambda ---- */

/* Lists the columns that are violated and not in hand, the worst first. */
static ptrdiff_t list_violated(const struct l1 *at, struct programme *lp) {
  ptrdiff_t count = 0;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    if (!at->out[k] && !lp->held[k] && is_fresh(at, k) &&
        fabs(at->c[k]) > lp->lambda * (1 + VIOLATED))
      lp->heap[count++] = (struct keyed){-fabs(at->c[k]), k};
  order_heap(lp->heap, count);
  return count;
}

/* Takes in the worst of the violated columns that are still not out. When they do not fit, those
   not tight are first dropped, but not twice at one optimal value, or it might go on for ever. */
static enum status take_in(struct l1 *at, struct programme *lp, double value, double *dropped) {
  ptrdiff_t count = list_violated(at, lp);
  const ptrdiff_t batch = lp->rows / 4 > 20 ? lp->rows / 4 : 20;
  const ptrdiff_t wanted = count < batch ? count : batch;
  if (lp->rows + wanted > lp->slots && value < *dropped * (1 - 1e-9)) {
    *dropped = value;
    drop_loose(lp);
  }
  if (wanted > 0 && lp->rows == lp->slots)
    return NO_ROOM;
  for (ptrdiff_t k = 0; k < wanted && lp->rows < lp->slots; k++)
    append_column(lp, at->pb, pop(lp->heap, &count).id);
  return COMPLETE;
}

/* Column generation; the point in the state goes along, and *size is the model's. */
static enum status generate(struct l1 *at, struct programme *lp, int *size) {
  const struct problem *pb = at->pb;
  double dropped = INFINITY;
  for (;;) {
    if (optimise(lp, at) != COMPLETE)
      return INTERRUPTED;
    make_r(lp, pb, at->r);
    if (correlate(at, lp->lambda) != COMPLETE)
      return INTERRUPTED;
    *size = read_model(lp);
    at->primal = primal_value(lp, pb, *size);
    const double value = dual_value(lp, pb, at->r);
    at->dual = value * fmin(1, lp->lambda / at->most);
    const double gap = at->primal - at->dual;
    if (list_violated(at, lp) == 0 || gap <= at->control.tolerance * at->null)
      return COMPLETE;
    if (screen_again(at, lp->lambda, lp->f) != COMPLETE)
      return INTERRUPTED;
    if (take_in(at, lp, value, &dropped) != COMPLETE)
      return NO_ROOM;
  }
}

enum status hinge_solve(struct l1 *at, double lambda) {
  struct programme *lp = at->engine;
  const struct l1 last = *at;
  int size;
  memcpy(lp->r, at->r, (size_t)lp->m * sizeof(double));
  lp->lambda = at->lambda = lambda;
  for (ptrdiff_t c = 0; c < lp->tight; c++)
    lp->v[lp->R[c]] = copysign(limit(lp, lp->R[c]), lp->v[lp->R[c]]);
  const enum status status = generate(at, lp, &size);
  if (status == COMPLETE) {
    publish(at, lp, size);
    return COMPLETE;
  }
  memcpy(at->r, lp->r, (size_t)lp->m * sizeof(double));
  at->primal = last.primal;
  at->dual = last.dual;
  at->most = last.most;
  at->lambda = last.lambda;
  return status;
}
