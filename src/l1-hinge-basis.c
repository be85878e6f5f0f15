/* The rows of the hinge loss's linear programme, and its basis computed afresh. */
#include "l1-hinge.h"
#include "blas.h"
#include "simd.h"
#include "column.h"
#include <math.h>
#include <string.h>

/* ---- a heap, the smallest key first ---- */

static int hinge_key_less(struct hinge_key a, struct hinge_key b) {
  return a.key < b.key || (a.key == b.key && a.id < b.id);
}

/* Moves the key at `place` down to where it belongs. */
static void hinge_sink(struct hinge_key *heap, ptrdiff_t count, ptrdiff_t place) {
  const struct hinge_key key = heap[place];
  for (ptrdiff_t child; (child = 2 * place + 1) < count; place = child) {
    child += child + 1 < count && hinge_key_less(heap[child + 1], heap[child]);
    if (!hinge_key_less(heap[child], key))
      break;
    heap[place] = heap[child];
  }
  heap[place] = key;
}

void hinge_order_heap(struct hinge_key *heap, ptrdiff_t count) {
  for (ptrdiff_t place = count / 2; place-- > 0;)
    hinge_sink(heap, count, place);
}

struct hinge_key hinge_pop(struct hinge_key *heap, ptrdiff_t *count) {
  const struct hinge_key first = heap[0];
  heap[0] = heap[--*count];
  hinge_sink(heap, *count, 0);
  return first;
}

/* ---- rows ---- */

double hinge_row_in_basis(const struct hinge_programme *lp, ptrdiff_t k, double *rho) {
  const double *a = hinge_row(lp, k);
  memset(rho, 0, (size_t)lp->tight * sizeof(double));
  for (ptrdiff_t s = 0; s < lp->tight; s++)
    simd->shift(lp->tight, rho, -a[lp->B[s]], hinge_inverse_row(lp, s));
  return 1 + simd->dot(lp->tight, rho, rho);
}

void hinge_append_row(struct hinge_programme *lp, int feature) {
  const ptrdiff_t k = lp->rows++;
  const double *a = hinge_row(lp, k);
  double max_entry = 0, max_value = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    max_entry = fmax(max_entry, fabs(a[i]));
    max_value += fabs(a[i]) * lp->w[i];
  }
  lp->feature[k] = feature;
  lp->max_entry[k] = max_entry;
  lp->max_value[k] = max_value;
  lp->in_R[k] = -1;
  lp->beta[k] = 0;
  lp->barred[lp->m + k] = 0;
  lp->v[k] = simd->dot(lp->m, a, lp->alpha);
  lp->edge_row[k] = hinge_row_in_basis(lp, k, lp->rho);
}

void hinge_append_column(struct hinge_programme *lp, const struct problem *pb, ptrdiff_t j) {
  double *a = hinge_row(lp, lp->rows);
  gather_column(&pb->x, pb->m, j, a);
  for (ptrdiff_t i = 0; i < lp->m; i++)
    a[i] = lp->y[i] * (a[i] - pb->centre[j]) * pb->inv_scale[j];
  lp->has_row[j] = 1;
  hinge_append_row(lp, (int)j);
}

void hinge_drop_rows(struct hinge_programme *lp) {
  ptrdiff_t to = 0;
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    const int place = lp->in_R[k];
    if (place < 0 && lp->feature[k] >= 0) {
      lp->has_row[lp->feature[k]] = 0;
      continue;
    }
    if (to < k) {
      memcpy(hinge_row(lp, to), hinge_row(lp, k), (size_t)lp->m * sizeof(double));
      lp->feature[to] = lp->feature[k];
      lp->v[to] = lp->v[k];
      lp->beta[to] = lp->beta[k];
      lp->max_entry[to] = lp->max_entry[k];
      lp->max_value[to] = lp->max_value[k];
      lp->edge_row[to] = lp->edge_row[k];
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

void hinge_clear_basis(struct hinge_programme *lp) {
  lp->tight = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    lp->in_B[i] = -1;
    lp->alpha[i] = lp->w[i];
  }
  for (ptrdiff_t k = 0; k < lp->rows; k++) {
    lp->in_R[k] = -1;
    lp->beta[k] = 0;
    lp->edge_row[k] = 1;
  }
}

void hinge_invert(struct hinge_programme *lp) {
  const ptrdiff_t b = lp->tight;
  for (ptrdiff_t c = 0; c < b; c++)
    for (ptrdiff_t s = 0; s < b; s++)
      lp->H[c * lp->max_tight + s] = hinge_row(lp, lp->R[c])[lp->B[s]];
  if (b > 0 && lapack_invert(
                   b, lp->H, lp->max_tight, lp->lapack_pivots, lp->lapack_work, lp->max_tight) != 0)
    hinge_clear_basis(lp);
  for (ptrdiff_t s = 0; s < lp->tight; s++)
    lp->edge_alpha[s] = simd->dot(b, hinge_inverse_row(lp, s), hinge_inverse_row(lp, s));
  lp->pivots = 0;
}

/* beta := the multipliers that make the reduced costs of basic alpha zero; d := all reduced costs.
 */
static void hinge_compute_costs(struct hinge_programme *lp) {
  for (int again = 0; again < 2; again++) {
    memcpy(lp->d, lp->cost, (size_t)lp->m * sizeof(double));
    for (ptrdiff_t c = 0; c < lp->tight; c++)
      simd->shift(lp->m, lp->d, lp->beta[lp->R[c]], hinge_row(lp, lp->R[c]));
    memset(lp->shift, 0, (size_t)lp->tight * sizeof(double));
    for (ptrdiff_t s = 0; s < lp->tight; s++)
      simd->shift(lp->tight, lp->shift, -lp->d[lp->B[s]], hinge_inverse_row(lp, s));
    for (ptrdiff_t c = 0; c < lp->tight; c++) {
      const ptrdiff_t k = lp->R[c];
      lp->beta[k] += lp->shift[c];
      simd->shift(lp->m, lp->d, lp->shift[c], hinge_row(lp, k));
    }
  }
  for (ptrdiff_t s = 0; s < lp->tight; s++)
    lp->d[lp->B[s]] = 0;
}

/* Puts every variable that is not basic at the bound where its reduced cost wants it. */
static void hinge_put_at_bounds(struct hinge_programme *lp) {
  for (ptrdiff_t i = 0; i < lp->m; i++)
    if (lp->in_B[i] < 0)
      lp->alpha[i] = hinge_at_upper(lp->d[i], lp->alpha[i] > 0) ? lp->w[i] : 0;
  for (ptrdiff_t c = 0; c < lp->tight; c++) {
    const ptrdiff_t k = lp->R[c];
    lp->v[k] = hinge_at_upper(lp->beta[k], !signbit(lp->v[k])) ? hinge_row_bound(lp, k)
                                                               : -hinge_row_bound(lp, k);
  }
}

/* alpha and v := the values of the basic variables, given those of the others. Returns by how much,
   relative to what they may be, the tight rows were missed at the first attempt. */
static double hinge_compute_values(struct hinge_programme *lp) {
  double missed = 0;
  for (int again = 0; again < 2; again++) {
    missed = 0;
    for (ptrdiff_t c = 0; c < lp->tight; c++) {
      const ptrdiff_t k = lp->R[c];
      lp->shift[c] = lp->v[k] - simd->dot(lp->m, hinge_row(lp, k), lp->alpha);
      missed = fmax(missed, fabs(lp->shift[c]) / lp->max_value[k]);
    }
    for (ptrdiff_t s = 0; s < lp->tight; s++)
      lp->alpha[lp->B[s]] += simd->dot(lp->tight, hinge_inverse_row(lp, s), lp->shift);
  }
  for (ptrdiff_t k = 0; k < lp->rows; k++)
    if (lp->in_R[k] < 0)
      lp->v[k] = simd->dot(lp->m, hinge_row(lp, k), lp->alpha);
  return missed;
}

void hinge_recompute(struct hinge_programme *lp) {
  for (;;) {
    hinge_compute_costs(lp);
    hinge_put_at_bounds(lp);
    if (hinge_compute_values(lp) <= HINGE_MISSED || lp->pivots == 0)
      break;
    hinge_invert(lp);
  }
  memset(lp->barred, 0, (size_t)(lp->m + lp->rows) * sizeof(int));
  lp->recomputed = 1;
}
