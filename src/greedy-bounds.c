/* The lower bounds of a greedy search that skips candidates: what they need of the rows, and their
   values. greedy-lazy.c states them. */
#include "greedy-lazy.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- w and what bounds need of it ---- */

/* With few groups whose errors change little from move to move. */
ptrdiff_t lazy_part_count(const struct greedy *s) {
  const struct problem *pb = s->pb;
  double excess = 0;
  if (s->control->criterion != WORST || pb->L * s->folds->count[0] > MAX_PARTS)
    return 1;
  for (ptrdiff_t i = 0; i < pb->n; i++)
    if (pb->usable[i])
      excess += s->control->lambda - SHORT_MOVES * pb->rss[i];
  return excess < 0 ? 1 : s->folds->count[0];
}

double lazy_rounding(const struct greedy *s) {
  return ROUNDING_UNIT * (8 + sqrt((double)s->pb->m)) * s->lazy->growth;
}

double lazy_total(const struct greedy *s, ptrdiff_t which) {
  double sum = 0;
  for (ptrdiff_t row = 0; row < s->pb->m; row += ROWS)
    sum += lazy_sums(s->lazy, row)[which];
  return sum;
}

static void lazy_dots_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *lazy = s->lazy;
  const double *v = with;
  simd->dots(rows, v + row, s->size, lazy->c + row, s->pb->m, lazy_sums(lazy, row));
}

/* G v = v - QQ'v - sum_l kappa_l c_l (c_l'v); the c are not orthogonal. */
void lazy_multiply_G(struct greedy *s, double *v) {
  const struct lazy *lazy = s->lazy;
  greedy_each_block(s, s->size, lazy_dots_block, v);
  for (int l = 0; l < s->size; l++)
    lazy->f[l] = lazy->inverse_kappa[l] * lazy_total(s, l);
  project_out(s->pb, v);
  const struct lazy_downdate downdate = {.count = 1, .x = {v}, .to = s->size};
  lazy_apply(s, &downdate);
}

ptrdiff_t lazy_aim_at_w(struct greedy *s, ptrdiff_t before, double *out) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, L = s->pb->L, count = L * lazy->parts;
  for (ptrdiff_t l = 0; l < count; l++) {
    double *Gw = lazy->Gw + l * m;
    if (lazy->parts == 1)
      memcpy(Gw, lazy->w + l * m, (size_t)m * sizeof(double));
    else
      fold_put_w(s, l / L, l % L, Gw);
    lazy_multiply_G(s, Gw);
    lazy->v[before + l] = Gw;
    lazy->out[before + l] = out + l * n;
  }
  return count;
}

static void lazy_update_w_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  double *sums = lazy_sums(lazy, row), P = 0;
  (void)with;
  sums[0] = simd->max_entry(rows, s->d + row);
  for (ptrdiff_t l = 0, j = row; l < L; l++, j += m) {
    P += simd->weigh(rows, s->a + j, s->d + row, lazy->w + j);
    sums[2 + l] = s->size > 0 ? simd->dot(rows, s->c_b + row, lazy->w_ref + j) : 0;
  }
  sums[1] = P;
}

void lazy_update_w(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  greedy_each_block(s, 1 + 4 * L, lazy_update_w_block, NULL);
  double max_d = 0;
  for (ptrdiff_t row = 0; row < m; row += ROWS)
    max_d = fmax(max_d, lazy_sums(lazy, row)[0]);
  lazy->inverse_d2 = 1 / (max_d * max_d);
  lazy->P = lazy_total(s, 1);
  for (ptrdiff_t l = 0; l < L; l++)
    lazy->c_ref[l] = lazy_total(s, 2 + l);
  lazy->exact = 0;
}

void lazy_refer_to_w(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const size_t L = (size_t)s->pb->L;
  memcpy(lazy->w_ref, lazy->w, (size_t)s->pb->m * L * sizeof(double));
  memset(lazy->c_ref, 0, L * (size_t)lazy->parts * sizeof(double)); /* nor does the move age them */
  lazy->exact = 1;
  lazy->sharpened = 0;
}

/* beta := U gamma, since X_S beta = c gamma and c = X_S U, the ridge's rows appended to X_S. */
void lazy_coefficients(const struct greedy *s, double *beta, ptrdiff_t ld) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t L = s->pb->L, k = s->control->k;
  for (ptrdiff_t o = 0; o < L; o++) {
    memset(beta + o * ld, 0, (size_t)s->size * sizeof(double));
    for (int l = 0; l < s->size; l++)
      simd->shift(l + 1, beta + o * ld, -lazy->gamma[o + l * L], lazy->U + l * k);
  }
}

/* a'(I - G)a of output l: with (X_S'X_S + lambda I)^-1 = U kappa U' and X_S'a = lambda beta it is
   lambda^2 sum_j kappa_j (U'beta)_j^2. */
static double lazy_member_part(const struct greedy *s, ptrdiff_t l) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t k = s->control->k;
  const double lambda = s->control->lambda;
  double sum = 0;
  for (int j = 0; j < s->size; j++) {
    const double along = simd->dot(j + 1, lazy->U + j * k, lazy->beta + l * k);
    sum += lazy->inverse_kappa[j] * along * along;
  }
  return lambda * lambda * sum;
}

static void lazy_w_products_block(
    struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m;
  (void)with;
  for (ptrdiff_t l = 0, j = row; l < s->pb->L; l++, j += m)
    simd->w_products(
        rows, lazy->w + j, lazy->w_ref + j, s->a + j, lazy_sums(lazy, row) + W_PRODUCTS * l);
}

static void lazy_rest_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m;
  (void)with;
  for (ptrdiff_t l = 0, j = row; l < s->pb->L; l++, j += m)
    lazy_sums(lazy, row)[l] = simd->rest_square(
        rows, lazy->w + j, lazy->theta0[l], lazy->w_ref + j, lazy->theta1[l], s->a + j);
}

/* theta0 and theta1 are least squares; |x_i'(G w - theta0 G w_ref - theta1 a)| is at most |x_i|
   times rest_norm, which comes from rho and from theta1 (I - G) a. */
void lazy_split_w(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t L = s->pb->L;
  if (lazy->parts > 1) {
    fold_split_w(s);
    return;
  }
  lazy->w_norm = 0;
  lazy_coefficients(s, lazy->beta, s->control->k);
  greedy_each_block(s, 3 * L, lazy_w_products_block, NULL);
  for (ptrdiff_t l = 0; l < L; l++) {
    double sum[W_PRODUCTS];
    for (int p = 0; p < W_PRODUCTS; p++)
      sum[p] = lazy_total(s, p + W_PRODUCTS * l);
    double theta0 = 1, theta1 = 0;
    if (!lazy->exact) {
      const double det = sum[W0W0] * sum[AA] - sum[W0A] * sum[W0A];
      const int independent = det > BOUNDS_COLLINEAR * sum[W0W0] * sum[AA];
      theta0 = independent     ? (sum[WW0] * sum[AA] - sum[WA] * sum[W0A]) / det
               : sum[W0W0] > 0 ? sum[WW0] / sum[W0W0]
                               : 0;
      theta1 = independent ? (sum[WA] * sum[W0W0] - sum[WW0] * sum[W0A]) / det : 0;
    }
    lazy->theta0[l] = theta0;
    lazy->theta1[l] = theta1;
    lazy->rest_norm[l] = 0;
    lazy->w_norm += fabs(theta0) * sqrt(sum[W0W0]) + fabs(theta1) * sqrt(sum[AA]);
  }
  if (lazy->exact)
    return;
  greedy_each_block(s, 3 * L, lazy_rest_block, NULL);
  double rest = 0;
  for (ptrdiff_t l = 0; l < L; l++) {
    lazy->rest_norm[l] =
        sqrt(lazy_total(s, l) + lazy->theta1[l] * lazy->theta1[l] * lazy_member_part(s, l));
    rest += lazy->rest_norm[l];
  }
  lazy->exact = rest <= BOUNDS_NO_REST * lazy->w_norm;
  lazy->w_norm += rest;
}

/* ---- bounds ---- */

static struct greedy_bounds_folds lazy_bounds_folds(const struct greedy *s) {
  const struct lazy_folds *folds = s->lazy->folds;
  return (struct greedy_bounds_folds){.max_eigen = folds->max_eigen,
      .repeats = (double)folds->repeats,
      .rounding = 2 * lazy_rounding(s) * lazy_y_norm(s) * folds->max_eigen * sqrt(s->lazy->P),
      .phi = folds->phi,
      .top_phi = folds->top_phi,
      .nu = folds->nu};
}

/* folds: NULL where single rows are held out. */
static struct greedy_bounds_rows lazy_bounds_rows(
    const struct greedy *s, const struct greedy_bounds_folds *folds) {
  const struct lazy *lazy = s->lazy;
  const double inverse_d2 = lazy->inverse_d2, y_norm = lazy_y_norm(s);
  /* no eigenvalue of lambda (X_S'X_S + lambda I)^-1 is larger than its Frobenius norm */
  const double max_eigen =
      (1 + BOUNDS_EIGEN_MARGIN) * s->control->lambda * sqrt(lazy->inverse_norm2);
  return (struct greedy_bounds_rows){.P = lazy->P,
      .lambda = s->control->lambda,
      .inverse_d2 = inverse_d2,
      .max_eigen = max_eigen < 1 ? max_eigen : 1,
      .rounding = 2 * lazy_rounding(s) * y_norm * (lazy->w_norm + y_norm * inverse_d2),
      .theta0 = lazy->theta0,
      .theta1 = lazy->theta1,
      .rest_norm = lazy->rest_norm,
      .folds = folds};
}

/* bound := the largest of the bounds of the groups' errors, sum := the sum of these bounds. A group
   whose error is no larger than the least bound by the worst group hardly raises it, and is left
   out. */
static void lazy_evaluate_parts(const struct greedy *s, const struct greedy_bounds *bounds,
    const struct greedy_bounds_rows *rows, double *sum, double *bound) {
  const struct lazy_folds *folds = s->lazy->folds;
  const double *P = folds->P, *inverse_null = folds->inverse_null, weight = lazy_weight(s);
  int part[MAX_PARTS], worst = 0, count = 0;
  struct greedy_bounds_parts parts = {
      .count = 1, .part = &worst, .P = P, .inverse_null = inverse_null, .weight = weight};
  for (int H = 1; H < folds->count; H++)
    if (inverse_null[H] * P[H] > inverse_null[worst] * P[worst])
      worst = H;
  simd->bounds_of_parts(bounds, rows, &parts, sum, bound);
  double least = INFINITY;
  for (ptrdiff_t i = 0; i * BOUNDS_BLOCK < bounds->n; i++)
    least = fmin(least, bounds->block_min[i]);
  for (int H = 0; H < folds->count; H++)
    if (H != worst && weight * inverse_null[H] * P[H] > least)
      part[count++] = H;
  parts.count = count;
  parts.part = part;
  parts.more = 1;
  simd->bounds_of_parts(bounds, rows, &parts, sum, bound);
}

/* bound := the lower bounds of the columns of `bounds`; sum: as many, where w has parts. */
static void lazy_evaluate(
    const struct greedy *s, const struct greedy_bounds *bounds, double *sum, double *bound) {
  struct greedy_bounds_folds folds;
  const int by_folds = s->lazy->folds != NULL;
  if (by_folds)
    folds = lazy_bounds_folds(s);
  const struct greedy_bounds_rows rows = lazy_bounds_rows(s, by_folds ? &folds : NULL);
  if (s->lazy->parts > 1)
    lazy_evaluate_parts(s, bounds, &rows, sum, bound);
  else
    simd->bounds_evaluate(bounds, &rows, bound);
}

void lazy_evaluate_bounds(struct greedy *s) {
  const struct lazy *lazy = s->lazy;
  lazy_evaluate(s, &lazy->bounds, lazy->part_sum, lazy->bound);
}

/* Up to BOUNDS_BLOCK columns side by side, whose products with w itself are known. */
static void lazy_sharpen_few(struct greedy *s, const int *list, ptrdiff_t count) {
  struct lazy *lazy = s->lazy;
  const struct greedy_bounds *all = &lazy->bounds;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, wL = L * lazy->parts;
  double *const few = lazy->few, *bound = few, block_min;
  const struct greedy_bounds some = {.n = count,
      .L = L,
      .kappa = few + BOUNDS_BLOCK,
      .norm = few + 2 * BOUNDS_BLOCK,
      .fold_norm = few + 3 * BOUNDS_BLOCK,
      .read_norm2 = few + 4 * BOUNDS_BLOCK,
      .excluded = few + 5 * BOUNDS_BLOCK,
      .g = few + 7 * BOUNDS_BLOCK,
      .Cw = few + (7 + L) * BOUNDS_BLOCK,
      .block_min = &block_min};
  for (ptrdiff_t p = 0; p < count; p++) {
    const ptrdiff_t i = list[p];
    some.kappa[p] = all->kappa[i];
    some.norm[p] = all->norm[i];
    some.fold_norm[p] = all->fold_norm[i];
    some.read_norm2[p] = all->read_norm2[i];
    some.excluded[p] = 0;
    for (ptrdiff_t l = 0; l < L; l++)
      some.g[p + l * count] = all->g[i + l * n];
    for (ptrdiff_t l = 0; l < wL; l++)
      some.Cw[p + l * count] = lazy->products[i + l * n];
  }
  lazy_evaluate(s, &some, few + 6 * BOUNDS_BLOCK, bound);
  for (ptrdiff_t p = 0; p < count; p++)
    if (lazy->bound[list[p]] > -DBL_MAX)
      lazy->bound[list[p]] = fmax(lazy->bound[list[p]], bound[p]);
}

enum status lazy_sharpen(struct greedy *s, const int *list, ptrdiff_t count) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t wL = lazy_aim_at_w(s, 0, lazy->products);
  lazy->sharpened += count;
  for (ptrdiff_t l = 0; l < wL; l++) {
    lazy->theta0[l] = 1;
    lazy->theta1[l] = lazy->rest_norm[l] = 0;
  }
  if (lazy_products(s, list, count, wL) != COMPLETE)
    return INTERRUPTED;
  for (ptrdiff_t from = 0; from < count; from += BOUNDS_BLOCK)
    lazy_sharpen_few(s, list + from, greedy_min(BOUNDS_BLOCK, count - from));
  return COMPLETE;
}
