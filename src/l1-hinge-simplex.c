/* The dual simplex of the hinge loss's linear programme, for variables with two bounds. */
#include "l1-hinge.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* Pivots until H is inverted afresh, if there are not more tight rows. */
enum { HINGE_PIVOTS = 64 };

/* Products of matrix entries between two polls of the host. */
static const double HINGE_POLL = 1e7;

/* ---- the leaving variable ---- */

/* Variables are alpha_i at i and row k at m + k. */
struct hinge_pivot {
  ptrdiff_t leaves, enters;
  double violation; /* by how much the leaving variable is above its bound, negative when below */
  double element;   /* of the pivot row at the entering variable */
  double edge;      /* square of the row of the inverse basis */
};

/* By how much x is above `high`, or negative below `low`; 0 when by no more than slack. */
static double hinge_violation(double x, double low, double high, double slack) {
  return x > high + slack ? x - high : x < low - slack ? x - low : 0;
}

/* The basic variable that is to leave, by its distance from its bound in the metric of the dual
   steepest edge. Returns 0 when all are within their bounds. */
static int hinge_choose_leaving(const struct hinge_programme *lp, struct hinge_pivot *p) {
  double best = 0;
  for (ptrdiff_t s = 0; s < lp->tight; s++) {
    const ptrdiff_t i = lp->B[s];
    const double violation =
        hinge_violation(lp->alpha[i], 0, lp->w[i], HINGE_FEASIBLE * lp->max_weight);
    const double score = violation * violation / lp->edge_alpha[s];
    if (score > best && !lp->barred[i]) {
      best = score;
      *p = (struct hinge_pivot){.leaves = i, .violation = violation, .edge = lp->edge_alpha[s]};
    }
  }
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    if (lp->in_R[k] >= 0 || lp->barred[lp->m + k])
      continue;
    const double bound = hinge_row_bound(lp, k);
    const double slack = HINGE_FEASIBLE * bound + HINGE_ROW_ROUNDING * lp->max_value[k];
    const double violation = hinge_violation(lp->v[k], -bound, bound, slack);
    const double score = violation * violation / lp->edge_row[k];
    if (score > best) {
      best = score;
      *p = (struct hinge_pivot){
          .leaves = lp->m + k, .violation = violation, .edge = lp->edge_row[k]};
    }
  }
  return best > 0;
}

/* rho and row := the leaving variable in terms of those that are not basic: rows and alpha. */
static void hinge_pivot_row(struct hinge_programme *lp, struct hinge_pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  if (p->leaves < m) {
    memcpy(lp->rho, hinge_inverse_row(lp, lp->in_B[p->leaves]), (size_t)b * sizeof(double));
    memset(lp->row, 0, (size_t)m * sizeof(double));
  } else {
    p->edge = hinge_row_in_basis(lp, p->leaves - m, lp->rho);
    memcpy(lp->row, hinge_row(lp, p->leaves - m), (size_t)m * sizeof(double));
  }
  for (ptrdiff_t c = 0; c < b; c++)
    simd->shift(m, lp->row, lp->rho[c], hinge_row(lp, lp->R[c]));
  for (ptrdiff_t s = 0; s < b; s++)
    lp->row[lp->B[s]] = 0;
}

/* ---- the entering variable ---- */

/* The entry of the pivot row at a variable that is not basic. */
static double hinge_entry(const struct hinge_programme *lp, ptrdiff_t id) {
  return id < lp->m ? lp->row[id] : lp->rho[lp->in_R[id - lp->m]];
}

/* The size of that entry, for a row times its largest coefficient. */
static double hinge_scaled_entry(const struct hinge_programme *lp, ptrdiff_t id) {
  return fabs(hinge_entry(lp, id)) * (id < lp->m ? 1 : lp->max_entry[id - lp->m]);
}

/* How far the bounds of a variable are from each other. */
static double hinge_range(const struct hinge_programme *lp, ptrdiff_t id) {
  return id < lp->m ? lp->w[id] : 2 * hinge_row_bound(lp, id - lp->m);
}

/* What an entry of the pivot row must exceed to be more than rounding; *largest := the largest. */
static double hinge_smallest_entry(
    const struct hinge_programme *lp, const struct hinge_pivot *p, double *largest) {
  double terms = p->leaves < lp->m ? 0 : lp->max_entry[p->leaves - lp->m], max = 0;
  for (ptrdiff_t c = 0; c < lp->tight; c++)
    terms = fmax(terms, hinge_scaled_entry(lp, lp->m + lp->R[c]));
  for (ptrdiff_t i = 0; i < lp->m; i++)
    max = fmax(max, fabs(lp->row[i]));
  *largest = fmax(max, terms);
  return fmax(HINGE_SMALL_ENTRY * max, HINGE_ENTRY_ROUNDING * terms);
}

/* heap := the variables whose reduced costs reach zero, ordered by when they do; returns how many.
 */
static ptrdiff_t hinge_list_breaks(
    struct hinge_programme *lp, const struct hinge_pivot *p, double tiny) {
  const double sign = p->violation > 0 ? 1 : -1;
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    const double a = sign * lp->row[i];
    if (lp->in_B[i] < 0 && (lp->alpha[i] > 0 ? a > tiny : a < -tiny))
      lp->heap[count++] = (struct hinge_key){fmax(0, lp->d[i] / a), i};
  }
  for (ptrdiff_t c = 0; c < lp->tight; c++) {
    const ptrdiff_t k = lp->R[c];
    const double a = sign * lp->rho[c], least = tiny / lp->max_entry[k];
    if (lp->feature[k] >= 0 && (signbit(lp->v[k]) ? a < -least : a > least))
      lp->heap[count++] = (struct hinge_key){fmax(0, lp->beta[k] / a), lp->m + k};
  }
  hinge_order_heap(lp->heap, count);
  return count;
}

/* The variable to enter: of those that the step may pass, each going to its other bound, the last
   one whose entry is not too small. Returns 0 when there is none. */
static int hinge_choose_entering(struct hinge_programme *lp, struct hinge_pivot *p) {
  double largest, remaining = fabs(p->violation), chosen = 0;
  const double tiny = hinge_smallest_entry(lp, p, &largest);
  ptrdiff_t count = hinge_list_breaks(lp, p, tiny);
  while (count > 0 && (remaining > 0 || chosen < HINGE_WEAK_PIVOT * largest)) {
    const struct hinge_key next = hinge_pop(lp->heap, &count);
    const double size = hinge_scaled_entry(lp, next.id);
    if (size > chosen || size > HINGE_GOOD_PIVOT * largest) {
      chosen = size;
      p->enters = next.id;
    }
    remaining -= fabs(hinge_entry(lp, next.id)) * hinge_range(lp, next.id);
  }
  p->element = chosen > 0 ? hinge_entry(lp, p->enters) : 0;
  return chosen > 0;
}

/* kappa and step := how the basic alpha move with the entering variable. */
static void hinge_pivot_column(struct hinge_programme *lp, const struct hinge_pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  memset(lp->step, 0, (size_t)m * sizeof(double));
  if (p->enters < m) {
    for (ptrdiff_t c = 0; c < b; c++)
      lp->shift[c] = -hinge_row(lp, lp->R[c])[p->enters];
    for (ptrdiff_t s = 0; s < b; s++)
      lp->kappa[s] = simd->dot(b, hinge_inverse_row(lp, s), lp->shift);
    lp->step[p->enters] = 1;
  } else {
    for (ptrdiff_t s = 0; s < b; s++)
      lp->kappa[s] = hinge_inverse_row(lp, s)[lp->in_R[p->enters - m]];
  }
  for (ptrdiff_t s = 0; s < b; s++)
    lp->step[lp->B[s]] = lp->kappa[s];
}

/* The pivot element from the column. */
static double hinge_entry_by_column(const struct hinge_programme *lp, const struct hinge_pivot *p) {
  return p->leaves < lp->m ? lp->step[p->leaves]
                           : simd->dot(lp->m, hinge_row(lp, p->leaves - lp->m), lp->step);
}

/* ---- the step ---- */

/* Moves the reduced costs so far that the entering variable's becomes zero. */
static void hinge_move_costs(struct hinge_programme *lp, const struct hinge_pivot *p) {
  const ptrdiff_t m = lp->m;
  const double sign = p->violation > 0 ? 1 : -1;
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
static int hinge_flip(struct hinge_programme *lp, const struct hinge_pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  ptrdiff_t count = 0;
  memset(lp->moved, 0, (size_t)m * sizeof(double));
  memset(lp->shift, 0, (size_t)b * sizeof(double));
  for (ptrdiff_t i = 0; i < m; i++) {
    const int upper = lp->alpha[i] > 0;
    if (lp->in_B[i] >= 0 || i == p->enters || hinge_at_upper(lp->d[i], upper) == upper)
      continue;
    lp->alpha[i] = upper ? 0 : lp->w[i];
    lp->moved[i] = upper ? -lp->w[i] : lp->w[i];
    lp->flipped[count++] = (int)i;
  }
  for (ptrdiff_t c = 0; c < b && count > 0; c++) {
    const double *a = hinge_row(lp, lp->R[c]);
    for (ptrdiff_t k = 0; k < count; k++)
      lp->shift[c] -= a[lp->flipped[k]] * lp->moved[lp->flipped[k]];
  }
  for (ptrdiff_t c = 0; c < b; c++) {
    const ptrdiff_t k = lp->R[c];
    const int upper = !signbit(lp->v[k]);
    if (lp->feature[k] < 0 || m + k == p->enters || hinge_at_upper(lp->beta[k], upper) == upper)
      continue;
    lp->v[k] = -lp->v[k];
    lp->shift[c] += 2 * lp->v[k];
    count++;
  }
  for (ptrdiff_t s = 0; s < b && count > 0; s++) {
    const double by = simd->dot(b, hinge_inverse_row(lp, s), lp->shift);
    lp->moved[lp->B[s]] = by;
    lp->alpha[lp->B[s]] += by;
  }
  return count > 0;
}

/* The bound that the leaving variable goes to. */
static double hinge_leaving_bound(const struct hinge_programme *lp, const struct hinge_pivot *p) {
  if (p->leaves < lp->m)
    return p->violation > 0 ? lp->w[p->leaves] : 0;
  return p->violation > 0 ? hinge_row_bound(lp, p->leaves - lp->m)
                          : -hinge_row_bound(lp, p->leaves - lp->m);
}

/* Moves alpha and the values of all rows: by the flips, and with the entering variable as far as
   takes the leaving one to its bound. Then updates the steepest edge weights of rows. */
static void hinge_move_values(struct hinge_programme *lp, const struct hinge_pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight, leaving = p->leaves - m;
  const int flipped = hinge_flip(lp, p);
  double value = leaving < 0 ? lp->alpha[p->leaves] : lp->v[leaving];
  if (leaving >= 0 && flipped)
    value += simd->dot(m, hinge_row(lp, leaving), lp->moved);
  const double t = (hinge_leaving_bound(lp, p) - value) / p->element;
  for (ptrdiff_t s = 0; s < b; s++)
    lp->alpha[lp->B[s]] += t * lp->kappa[s];
  *(p->enters < m ? lp->alpha + p->enters : lp->v + p->enters - m) += t;
  *(leaving < 0 ? lp->alpha + p->leaves : lp->v + leaving) = hinge_leaving_bound(lp, p);

  memset(lp->turn, 0, (size_t)m * sizeof(double));
  for (ptrdiff_t s = 0; s < b; s++)
    lp->turn[lp->B[s]] = simd->dot(b, hinge_inverse_row(lp, s), lp->rho);
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    if (lp->in_R[k] >= 0 || k == leaving)
      continue;
    const double *a = hinge_row(lp, k);
    const double slope = simd->dot(m, a, lp->step), ratio = slope / p->element;
    lp->v[k] += t * slope + (flipped ? simd->dot(m, a, lp->moved) : 0);
    lp->edge_row[k] += ratio * (ratio * p->edge - 2 * simd->dot(m, a, lp->turn));
    lp->edge_row[k] = fmax(lp->edge_row[k], 1 + ratio * ratio);
  }
}

/* Moves the last tight row and the last basic alpha to the places c and s, and shortens H. */
static void hinge_shrink_basis(struct hinge_programme *lp, ptrdiff_t s, ptrdiff_t c) {
  const ptrdiff_t last = --lp->tight;
  memmove(
      hinge_inverse_row(lp, s), hinge_inverse_row(lp, last), (size_t)(last + 1) * sizeof(double));
  for (ptrdiff_t t = 0; t < last; t++)
    hinge_inverse_row(lp, t)[c] = hinge_inverse_row(lp, t)[last];
  lp->B[s] = lp->B[last];
  lp->in_B[lp->B[s]] = (int)s;
  lp->R[c] = lp->R[last];
  lp->in_R[lp->R[c]] = (int)c;
}

/* Exchanges the two variables in H, R and B. */
static void hinge_exchange(struct hinge_programme *lp, const struct hinge_pivot *p) {
  const ptrdiff_t m = lp->m, b = lp->tight;
  const int row_leaves = p->leaves >= m, row_enters = p->enters >= m;
  const ptrdiff_t s = row_leaves ? b : lp->in_B[p->leaves];
  const ptrdiff_t c = row_enters ? lp->in_R[p->enters - m] : b;
  for (ptrdiff_t t = 0; t < b; t++) {
    const double by = lp->kappa[t] / p->element;
    simd->shift(b, hinge_inverse_row(lp, t), by, lp->rho);
    if (row_leaves)
      hinge_inverse_row(lp, t)[c] = by;
  }
  if (!row_enters) {
    double *h = hinge_inverse_row(lp, s);
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
    hinge_shrink_basis(lp, s, c);
  if (!row_leaves)
    lp->in_B[p->leaves] = -1;
  if (row_enters) {
    lp->in_R[p->enters - m] = -1;
    lp->edge_row[p->enters - m] = fmax(1, p->edge / (p->element * p->element));
  }
  for (ptrdiff_t t = 0; t < lp->tight; t++)
    lp->edge_alpha[t] = simd->dot(lp->tight, hinge_inverse_row(lp, t), hinge_inverse_row(lp, t));
  lp->pivots++;
  lp->recomputed = 0;
}

/* ---- the simplex ---- */

static void hinge_refactor(struct hinge_programme *lp) {
  hinge_invert(lp);
  hinge_recompute(lp);
}

/* One pivot, for a leaving variable. One that no other can replace but by rounding is barred from
   leaving. */
static void hinge_iterate(struct hinge_programme *lp, struct hinge_pivot *p) {
  hinge_pivot_row(lp, p);
  if (!hinge_choose_entering(lp, p)) {
    lp->barred[p->leaves] = 1;
    return;
  }
  hinge_pivot_column(lp, p);
  if (fabs(hinge_entry_by_column(lp, p) - p->element) > HINGE_PIVOT_ERROR * fabs(p->element)) {
    if (lp->pivots > 0)
      hinge_refactor(lp);
    else
      lp->barred[p->leaves] = 1;
    return;
  }
  hinge_move_costs(lp, p);
  hinge_move_values(lp, p);
  hinge_exchange(lp, p);
}

/* Dual simplex from a recomputed basis, of at most `limit` pivots; *taken := how many. */
static enum status hinge_simplex(
    struct hinge_programme *lp, struct l1_state *state, ptrdiff_t limit, ptrdiff_t *taken) {
  struct hinge_pivot p = {0};
  double work = 0;
  for (*taken = 0; *taken < limit; ++*taken) {
    if (lp->pivots >= HINGE_PIVOTS && lp->pivots >= lp->tight)
      hinge_refactor(lp);
    if (!hinge_choose_leaving(lp, &p)) {
      if (lp->recomputed)
        break;
      hinge_recompute(lp);
      continue;
    }
    hinge_iterate(lp, &p);
    work += (double)lp->m * (double)lp->rows;
    if (work > HINGE_POLL && state->host->stop(state->host, state->done, state->total))
      return INTERRUPTED;
    work = work > HINGE_POLL ? 0 : work;
  }
  return COMPLETE;
}

/* A number in (0.5, 1) that looks random. */
static double hinge_hash(ptrdiff_t i) {
  unsigned long long z = (unsigned long long)(i + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return 0.5 + (double)((z ^ (z >> 31)) >> 12) * 0x1p-53;
}

/* cost := 1, or a little more. A row of weight 0 costs nothing, as it has no entries. */
static void hinge_set_costs(struct hinge_programme *lp, double unequal) {
  ptrdiff_t trained = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++)
    lp->cost[i] = lp->w[i] > 0 ? 1 + unequal * hinge_hash(trained++) : 0;
  hinge_recompute(lp);
}

/* Solves first with unequal costs, since ties would keep the simplex from moving, and from there
   with equal ones, which needs few pivots. Where it needs many, the costs are made less and less
   unequal, and at last are left so. */
enum status hinge_optimise(struct hinge_programme *lp, struct l1_state *state) {
  const ptrdiff_t many = 1000 * (lp->m + lp->rows), few = 50 + lp->m / 10;
  for (double unequal = HINGE_UNEQUAL;; unequal /= 100) {
    ptrdiff_t taken;
    hinge_set_costs(lp, unequal);
    enum status status = hinge_simplex(lp, state, many, &taken);
    if (status != COMPLETE || unequal < 2 * HINGE_OPTIMAL)
      return status;
    hinge_set_costs(lp, 0);
    status = hinge_simplex(lp, state, few, &taken);
    if (status != COMPLETE || taken < few)
      return status;
  }
}
