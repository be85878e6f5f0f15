/* The losses, a table: dual values of a residual, the best of its multiples, and which engine and
   safe tests serve each. */
#include "l1-cox.h"
#include "l1-ordinal.h"
#include "likelihood.h"
#include "simd.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- values of a dual point ---- */

static double l1_squared_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)memo;
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    value += s * r[i] * (pb->y[i] - s * r[i] / 2);
  return value;
}

static double l1_logistic_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)memo;
  return simd->entropy(pb->m, s, pb->response, r, pb->divisor, pb->root_w);
}

static double l1_hinge_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)memo;
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    value += s * r[i] * (pb->response[i] * pb->root_w[i]);
  return value;
}

/* ---- the best multiple ---- */

/* alpha_i / w_i of r */
static double l1_share(const struct problem *pb, const double *r, ptrdiff_t i) {
  return fmax(0, pb->response[i] * r[i] / pb->divisor[i]);
}

/* The logistic dual value of s r. The optimum's lower bound takes it with log1p, which has all
   digits where alpha is small. */
static double l1_entropy(const struct problem *pb, const double *r, double s) {
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    value += case_weight(pb, i) * likelihood_entropy(s * l1_share(pb, r, i));
  return value;
}

/* The slope of l1_entropy() less s^2 tail / 2 along s. */
static double l1_entropy_slope(const struct problem *pb, const double *r, double tail, double s) {
  double slope = -tail * s;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double p = l1_share(pb, r, i);
    if (p > 0)
      slope += case_weight(pb, i) * p * (log1p(-fmin(s * p, 1)) - log(s * p));
  }
  return slope;
}

/* The s, 0 < s <= top, with the largest entropy of s r less s^2 tail / 2. That is concave, and flat
   where it is largest, so that half of all digits of s are enough. */
static double l1_best_multiple(const struct problem *pb, const double *r, double tail, double top) {
  if (l1_entropy_slope(pb, r, tail, top) >= 0)
    return top;
  double low = 0, high = top;
  for (int i = 0; i < 30; i++) {
    const double s = (low + high) / 2;
    if (l1_entropy_slope(pb, r, tail, s) > 0)
      low = s;
    else
      high = s;
  }
  return low > 0 ? low : high;
}

static double l1_squared_scale(
    const struct problem *pb, const double *r, double tail, double widest) {
  const double rr = simd->dot(pb->m, r, r) + tail, yr = simd->dot(pb->m, pb->y, r);
  return fmax(-widest, fmin(rr > 0 ? yr / rr : 0, widest));
}

static double l1_squared_bound(
    const struct problem *pb, const double *r, double tail, double widest) {
  const double rr = simd->dot(pb->m, r, r) + tail, yr = simd->dot(pb->m, pb->y, r);
  const double s = l1_squared_scale(pb, r, tail, widest);
  const double rounding = DBL_EPSILON * (double)pb->m * (fabs(s * yr) + s * s * rr);
  return s * yr - s * s * rr / 2 - rounding;
}

/* What rounding may take from a sum over the rows, as a share. */
static double l1_row_rounding(const struct problem *pb) {
  return DBL_EPSILON * (double)(pb->m + 8);
}

/* The largest s for which alpha of s r is at most w, 0 where alpha is 0. */
static double l1_widest_share(const struct problem *pb, const double *r, double widest) {
  double largest = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    largest = fmax(largest, l1_share(pb, r, i));
  return largest > 0 ? fmin(widest, 1 / largest) : 0;
}

static double l1_logistic_bound(
    const struct problem *pb, const double *r, double tail, double widest) {
  const double top = l1_widest_share(pb, r, widest), rounding = l1_row_rounding(pb);
  if (top == 0)
    return 0;
  const double s = l1_best_multiple(pb, r, tail, top);
  return l1_entropy(pb, r, s) * (1 - rounding) - s * s * tail / 2 * (1 + rounding);
}

static double l1_hinge_bound(
    const struct problem *pb, const double *r, double tail, double widest) {
  (void)tail;
  double total = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    total += case_weight(pb, i) * l1_share(pb, r, i);
  return l1_widest_share(pb, r, widest) * total * (1 - l1_row_rounding(pb));
}

/* The response without the offset taken from it. */
static double l1_observed(const struct problem *pb, ptrdiff_t i) {
  return pb->response[i] + (pb->offset == NULL ? 0 : pb->offset[i]);
}

/* ---- counts ---- */

/* The dual value of s r: the sum of w (a - y - a log(a / y)) + s v (log y - o) with the counts y,
   v = root_w r and a = y - s v / w; for a count of 0, of w (a - a log a) - s v o. */
static double l1_poisson_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)memo;
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double y = l1_observed(pb, i), b = y > 0 ? y : 1, change = s * r[i] / pb->divisor[i];
    const double a = y - change, level = log(b) - (pb->offset == NULL ? 0 : pb->offset[i]);
    const double term = (y > 0 ? -change : a) - (a > 0 ? a * log(a / b) : 0);
    value += case_weight(pb, i) * (term + change * level);
  }
  return value;
}

static double l1_poisson_curvature(const struct problem *pb, const double *r, ptrdiff_t i) {
  return fmax(l1_observed(pb, i) - r[i] / pb->divisor[i], 0);
}

/* The logarithm of the mean for an exposure of exp(offset). */
static double l1_count_start(const struct likelihood_rows *rows, const double *offset) {
  double count = 0, exposure = 0;
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    count += rows->w[i] * rows->y[i];
    exposure += rows->w[i] * (offset == NULL ? 1 : exp(offset[i]));
  }
  return count > 0 ? log(count / exposure) : 0;
}

/* ---- shares, and counts as shares of their trials ---- */

/* How many trials row i has for a weight of 1: see likelihood_shares(). */
static double l1_trials(const struct problem *pb, ptrdiff_t i) {
  return pb->parameter > 0 ? l1_observed(pb, i) + pb->parameter : 1;
}

/* The share of the trials of row i that s r leaves as its mean. */
static double l1_share_mean(const struct problem *pb, const double *r, double s, ptrdiff_t i) {
  return fmax(0, fmin((l1_observed(pb, i) - s * r[i] / pb->divisor[i]) / l1_trials(pb, i), 1));
}

/* The dual value of s r: the sum of w n (H(a / n) - H(y / n)) - s v o with the numbers of trials n,
   a = y - s v / w, the entropy H and the offset o, less the odds at f = 0 of counts. */
static double l1_share_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)memo;
  enum { BLOCK = 256 };
  double weight[BLOCK], mean[BLOCK], share[BLOCK], value = 0;
  const double odds = pb->parameter > 0 ? log(pb->parameter) : 0;
  for (ptrdiff_t from = 0; from < pb->m; from += BLOCK) {
    const ptrdiff_t count = pb->m - from < BLOCK ? pb->m - from : BLOCK;
    for (ptrdiff_t k = 0; k < count; k++) {
      const ptrdiff_t i = from + k;
      const double w = case_weight(pb, i), trials = l1_trials(pb, i);
      const double offset = pb->offset == NULL ? 0 : pb->offset[i];
      weight[k] = w * trials;
      mean[k] = l1_share_mean(pb, r, s, i);
      share[k] = l1_observed(pb, i) / trials;
      value -= w * s * r[i] / pb->divisor[i] * (offset - odds);
    }
    value += simd->entropy_gain(count, weight, mean, share);
  }
  return value;
}

static double l1_share_curvature(const struct problem *pb, const double *r, ptrdiff_t i) {
  const double mean = l1_share_mean(pb, r, 1, i);
  return l1_trials(pb, i) * mean * (1 - mean);
}

static double l1_binomial_start(const struct likelihood_rows *rows, const double *offset) {
  const double *y = rows->y, *w = rows->w;
  double sum = 0, total = 0, shift = 0;
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    sum += w[i] * y[i];
    total += w[i];
    shift += offset == NULL ? 0 : w[i] * offset[i];
  }
  return sum > 0 && sum < total ? log(sum / (total - sum)) - shift / total : 0;
}

/* ---- softmax ---- */

/* The shares p (m x L) of the classes. */
static ptrdiff_t l1_multinomial_memo(const struct problem *pb) {
  return l1_length(pb);
}

/* Whether a row is of the class of output l, as entry i of its response says. */
static int l1_is_of_class(const double *y, ptrdiff_t i) {
  return y[i] > 0;
}

/* h is twice the diagonal of the curvature w (diag(p) - p p'), whose other entries are no more in
   any of its rows. */
static double l1_multinomial_evaluate(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  const ptrdiff_t m = rows->m, all = m * rows->L;
  double *p = rows->memo, loss = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    double largest = f[i], sum = 0, own = 0;
    for (ptrdiff_t k = i; k < all; k += m)
      largest = fmax(largest, f[k]);
    for (ptrdiff_t k = i; k < all; k += m) {
      p[k] = exp(f[k] - largest);
      sum += p[k];
    }
    for (ptrdiff_t k = i; k < all; k += m)
      own += l1_is_of_class(rows->y, k) ? f[k] : 0;
    for (ptrdiff_t k = i; k < all; k += m) {
      const double w = rows->w[i], others = (sum - p[k]) / sum;
      p[k] /= sum;
      v[k] = w * (l1_is_of_class(rows->y, k) ? others : -p[k]);
      h[k] = 2 * w * p[k] * others;
    }
    loss += rows->w[i] * (log(sum) + largest - own);
  }
  return loss;
}

static void l1_multinomial_curve(
    const struct likelihood_rows *rows, const double *h, const double *t, double *out) {
  (void)h;
  const ptrdiff_t m = rows->m, all = m * rows->L;
  const double *p = rows->memo;
  for (ptrdiff_t i = 0; i < m; i++) {
    double mean = 0;
    for (ptrdiff_t k = i; k < all; k += m)
      mean += p[k] * t[k];
    for (ptrdiff_t k = i; k < all; k += m)
      out[k] = rows->w[i] * p[k] * (t[k] - mean);
  }
}

/* The dual value of s r: the sum over rows and classes of -w a log a with a = y - s v / w, where y
   is 1 for the row's class and 0 for others. */
static double l1_multinomial_value(
    const struct problem *pb, double *memo, const double *r, double s) {
  (void)memo;
  const ptrdiff_t m = pb->m;
  double value = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++)
    for (ptrdiff_t i = 0; i < m; i++) {
      const double change = s * r[i + l * m] / pb->divisor[i];
      const double a = l1_is_of_class(pb->response, i + l * m) ? 1 - change : -change;
      value -= a > 0 ? case_weight(pb, i) * a * log(a) : 0;
    }
  return value;
}

static double l1_multinomial_curvature(const struct problem *pb, const double *r, ptrdiff_t k) {
  const double change = fabs(r[k]) / pb->divisor[k % pb->m];
  return fmax(change * (1 - change), 0);
}

/* ---- the records ---- */

static double l1_logistic_evaluate(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  return simd->logistic(rows->m, rows->y, rows->w, f, v, h);
}

/* What the records of the Newton engine share. */
#define SMOOTH_BY_NEWTON                                                                           \
  .engine = {newton_layout, newton_begin, newton_start, newton_solve}, .smooth = 1

static const struct l1_loss records[] = {
    [LEAST_SQUARES] = {.name = "squared",
        .engine = {lasso_layout, lasso_begin, lasso_start, lasso_solve},
        .smooth = 1,
        .value = l1_squared_value,
        .scale = l1_squared_scale,
        .bound = l1_squared_bound,
        .screen_value = l1_screen_null_ball,
        .screen_gap = l1_screen_ball,
        .ball = 2},
    [LOGISTIC] = {.name = "logistic",
        SMOOTH_BY_NEWTON,
        .evaluate = l1_logistic_evaluate,
        .value = l1_logistic_value,
        .bound = l1_logistic_bound,
        .screen_value = l1_screen_bounds,
        .screen_gap = l1_screen_ball,
        .ball = 0.5},
    [HINGE] = {.name = "hinge",
        .engine = {hinge_layout, hinge_begin, hinge_start, hinge_solve},
        .value = l1_hinge_value,
        .bound = l1_hinge_bound,
        .screen_value = l1_screen_bounds,
        .screen_gap = l1_screen_knapsack},
    {.name = "poisson",
        SMOOTH_BY_NEWTON,
        .start = l1_count_start,
        .evaluate = likelihood_counts,
        .know = likelihood_know_counts,
        .value = l1_poisson_value,
        .screen_gap = l1_screen_local,
        .curvature = l1_poisson_curvature},
    {.name = "binomial",
        SMOOTH_BY_NEWTON,
        .start = l1_binomial_start,
        .evaluate = likelihood_shares,
        .know = likelihood_know_shares,
        .value = l1_share_value,
        .screen_gap = l1_screen_local,
        .curvature = l1_share_curvature},
    {.name = "negbin",
        SMOOTH_BY_NEWTON,
        .parametric = 1,
        .start = l1_count_start,
        .evaluate = likelihood_shares,
        .know = likelihood_know_shares,
        .value = l1_share_value,
        .screen_gap = l1_screen_local,
        .curvature = l1_share_curvature},
    {.name = "multinomial",
        SMOOTH_BY_NEWTON,
        .joint = 1,
        .evaluate = l1_multinomial_evaluate,
        .curve = l1_multinomial_curve,
        .memo = l1_multinomial_memo,
        .value = l1_multinomial_value,
        .screen_gap = l1_screen_local,
        .curvature = l1_multinomial_curvature},
    {.name = "cox",
        SMOOTH_BY_NEWTON,
        .timed = 1,
        .evaluate = likelihood_cox,
        .curve = likelihood_cox_curve,
        .memo = l1_cox_memo,
        .value = l1_cox_value,
        .screen_gap = l1_screen_local,
        .relative = 1,
        .curvature = l1_cox_curvature},
    {.name = "ordinal",
        SMOOTH_BY_NEWTON,
        .evaluate = l1_ordinal_evaluate,
        .curve = l1_ordinal_curve,
        .memo = l1_ordinal_memo,
        .value = l1_ordinal_value,
        .screen_gap = l1_screen_local,
        .relative = 1,
        .curvature = l1_ordinal_curvature},
    {.name = "ordinal(probit)",
        SMOOTH_BY_NEWTON,
        .evaluate = l1_probit_evaluate,
        .curve = l1_ordinal_curve,
        .memo = l1_ordinal_memo,
        .value = l1_probit_value,
        .screen_gap = l1_screen_ball,
        .relative = 1,
        .ball = 2},
};

const struct l1_loss *l1_loss_record(enum loss loss) {
  return records + loss;
}

ptrdiff_t l1_memo(const struct problem *pb, enum loss loss) {
  return records[loss].memo == NULL ? 0 : records[loss].memo(pb);
}

/* What a loss is evaluated with. */
struct l1_values {
  struct likelihood_rows rows;
  double *y, *w, *known, *v, *h;
};

static struct l1_values l1_layout_values(
    const struct problem *rows, enum loss loss, struct arena *arena) {
  struct l1_values values = {.y = alloc_doubles(arena, rows->m),
      .w = alloc_doubles(arena, rows->m),
      .known = alloc_doubles(arena, rows->m),
      .v = alloc_doubles(arena, rows->m),
      .h = alloc_doubles(arena, rows->m)};
  values.rows = (struct likelihood_rows){.m = rows->m,
      .y = values.y,
      .w = values.w,
      .known = values.known,
      .parameter = rows->parameter,
      .risk = &rows->risk,
      .memo = alloc_doubles(arena, l1_memo(rows, loss))};
  return values;
}

size_t l1_losses_work(const struct problem *rows, enum loss loss) {
  struct arena arena = arena_over(NULL);
  l1_layout_values(rows, loss, &arena);
  return arena.used;
}

void l1_losses(const struct problem *rows, enum loss loss, ptrdiff_t count, const double *f,
    void *work, double *out) {
  struct arena arena = arena_over(work);
  struct l1_values values = l1_layout_values(rows, loss, &arena);
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    values.w[i] = case_weight(rows, i);
    values.y[i] = l1_observed(rows, i);
  }
  if (records[loss].know != NULL)
    records[loss].know(&values.rows, values.known);
  for (ptrdiff_t l = 0; l < count; l++)
    out[l] = records[loss].evaluate(&values.rows, f + l * rows->m, values.v, values.h);
}

int l1_loss_named(const char *name) {
  const int count = (int)(sizeof records / sizeof *records);
  for (int loss = 0; loss < count; loss++)
    if (strcmp(records[loss].name, name) == 0)
      return loss;
  return -1;
}

int l1_loss_takes(enum loss loss, const struct problem *pb) {
  return records[loss].joint == (pb->L > 1) && records[loss].parametric == (pb->parameter > 0) &&
         (!records[loss].timed || pb->risk.moments > 0);
}

int l1_loss_is_smooth(enum loss loss) {
  return records[loss].smooth;
}

double l1_dual_bound(const struct problem *pb, enum loss loss, const double *r, double max_abs_corr,
    double tail, double lambda) {
  return records[loss].bound(pb, r, tail, max_abs_corr > 0 ? lambda / max_abs_corr : DBL_MAX);
}
