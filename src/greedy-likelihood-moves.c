/* Candidates of a greedy search by a likelihood, and the best of them.

   With v, h and K of the present model C, candidate A, a column or the columns that move together,
   has S = lambda I + A'HA - (R'^-1 C'HA)'(R'^-1 C'HA), and the gain of one Newton step is half the
   square of nu = (v'A S^-1 A'v)^1/2. As the third derivative of the loss is at most the second
   times the largest step of a row, no model with A takes more off the objective than ((1 - u) log(1
   - u) + u) / kappa^2, u = kappa nu < 1, where kappa^2 is the largest c_i'K^-1 c_i + r_i'S^-1 r_i
   of a row, r being what C leaves of A in the metric of H. Of times, where differences of rows
   count, it is four times as much. Nor does it take off more than |A'v|^2 / (2 lambda), as v stays
   feasible for the dual. */
#include "greedy-likelihood.h"
#include "column.h"
#include "products.h"
#include "simd.h"
#include "tolerance.h"
#include "triangle.h"
#ifdef _OPENMP
#include <omp.h>
#endif
#include <math.h>
#include <string.h>

static void likelihood_column(const struct likelihood_search *s, ptrdiff_t j, double *x) {
  const struct problem *pb = s->pb;
  gather_column(&pb->x, pb->m, j, x);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    x[i] = (x[i] - pb->centre[j]) * pb->inv_scale[j];
  likelihood_fill(s, x);
}

int likelihood_columns(const struct likelihood_search *s, ptrdiff_t j, double *X) {
  int count;
  const int *columns = columns_together(&s->control->groups, j, &count);
  for (int l = 0; l < count; l++)
    likelihood_column(s, columns == NULL ? j : columns[l], X + l * s->m);
  return count;
}

/* base := c_i'K^-1 c_i of each row, and the largest of a row with a weight. */
static void likelihood_measure_rows(struct likelihood_search *s, ptrdiff_t p) {
  const ptrdiff_t m = s->m;
  double *row = s->scratch->along;
  s->most_base = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    for (ptrdiff_t j = 0; j < p; j++)
      row[j] = s->C[i + j * m];
    solve_transposed(p, s->now.R, s->most, row);
    s->base[i] = simd->dot(p, row, row);
    if (s->w[i] > 0)
      s->most_base = fmax(s->most_base, s->base[i]);
  }
}

/* The bound of the gain from |A'v|, nu and kappa^2. */
static double likelihood_most_gain(double slope, double nu, double kappa2, double lambda) {
  const double by_dual = slope * slope / (2 * lambda);
  const double u = sqrt(kappa2) * nu;
  /* digits are lost near 0, where it is u^2 / 2 */
  const double share = u < 1e-4 ? u * u / 2 * (1 + u) : (1 - u) * log1p(-u) + u;
  return u < 1 ? fmin(by_dual, share / kappa2) * (1 + LIKELIHOOD_BOUND_MARGIN) : by_dual;
}

/* The columns that X (m x count) adds to the factor R of the first p columns, at the point of
   `model`: of each R'^-1 C'Hx, and below it the factor of S. A square of its diagonal is at least
   lambda. O(m (p + count)) a column. */
static void likelihood_append(const struct likelihood_search *s, ptrdiff_t p, int count,
    const double *X, const struct likelihood_model *model, double *curved, double *last) {
  const ptrdiff_t m = s->m, most = s->most;
  for (int l = 0; l < count; l++) {
    double *own = last + l * most;
    likelihood_curve(s, s->w, model, X + l * m, curved);
    simd->dots(m, curved, p, s->C, m, own);
    simd->dots(m, curved, l + 1, X, m, own + p);
    const double square = own[p + l] + s->control->lambda;
    solve_transposed(p, s->now.R, most, own);
    for (int t = 0; t < l; t++)
      own[p + t] = (own[p + t] - simd->dot(p + t, last + t * most, own)) / last[p + t + t * most];
    own[p + l] = sqrt(fmax(square - simd->dot(p + l, own, own), s->control->lambda));
  }
}

/* Leaves the columns of candidate j in the scratch, with what they add to R, and S'^-1/2 A'v in its
   step. Returns how many. */
static int likelihood_candidate(const struct likelihood_search *s, ptrdiff_t p, ptrdiff_t j,
    const struct likelihood_scratch *scratch) {
  int count;
  const int *columns = columns_together(&s->control->groups, j, &count);
  likelihood_columns(s, j, scratch->columns);
  likelihood_append(
      s, p, count, scratch->columns, &scratch->model, scratch->curved, scratch->along);
  for (int l = 0; l < count; l++)
    scratch->step[l] = s->product[columns == NULL ? j : columns[l]];
  solve_transposed(count, scratch->along + p, s->most, scratch->step);
  return count;
}

/* score of candidate j, and a coarse bound, by |r_i| <= |x_i| + |R'^-1 c_i| |R'^-1 C'Hx| of each of
   its columns x. */
static void likelihood_measure(struct likelihood_search *s, ptrdiff_t p, ptrdiff_t j,
    const struct likelihood_scratch *scratch) {
  const int count = likelihood_candidate(s, p, j, scratch);
  double *reach = scratch->reach;
  for (int l = 0; l < count; l++) {
    const double *along = scratch->along + l * s->most;
    const struct range range = simd->range(s->m, scratch->columns + l * s->m);
    reach[l] = fmax(-range.low, range.high) + sqrt(s->most_base * simd->dot(p, along, along));
    for (int t = 0; t < l; t++)
      reach[l] += fabs(along[p + t]) * reach[t];
    reach[l] /= along[p + l];
  }
  const double unit = s->control->loss->reach * s->control->loss->reach;
  const double kappa2 = unit * (s->most_base + simd->dot(count, reach, reach));
  s->score[j] = sqrt(simd->dot(count, scratch->step, scratch->step));
  s->bound[j] = -likelihood_most_gain(s->slope[j], s->score[j], kappa2, s->control->lambda);
}

/* X (m x count) := its rows times the inverse factor of S, of the columns that C leaves of it. */
static void likelihood_standardise(
    const struct likelihood_search *s, ptrdiff_t p, int count, double *X, double *along) {
  const ptrdiff_t m = s->m;
  for (int l = 0; l < count; l++) {
    double *x = X + l * m, *own = along + l * s->most;
    solve_upper(p, s->now.R, s->most, own);
    simd->shift_all(m, x, p, s->C, m, own);
    simd->shift_all(m, x, l, X, m, own + p);
    for (ptrdiff_t i = 0; i < m; i++)
      x[i] /= own[p + l];
  }
}

/* bound of candidate j, the coarse one if that is at most `gain`. */
static double likelihood_bound(struct likelihood_search *s, ptrdiff_t p, ptrdiff_t j, double gain) {
  if (s->bound[j] >= 0 || -s->bound[j] <= gain)
    return fabs(s->bound[j]);
  const struct likelihood_scratch *scratch = s->scratch;
  const double unit = s->control->loss->reach * s->control->loss->reach;
  const int count = likelihood_candidate(s, p, j, scratch);
  likelihood_standardise(s, p, count, scratch->columns, scratch->along);
  double kappa2 = 0;
  for (ptrdiff_t i = 0; i < s->m; i++) {
    double sum = s->base[i];
    for (int l = 0; l < count; l++)
      sum += scratch->columns[i + l * s->m] * scratch->columns[i + l * s->m];
    if (s->w[i] > 0)
      kappa2 = fmax(kappa2, unit * sum);
  }
  return s->bound[j] = likelihood_most_gain(s->slope[j], s->score[j], kappa2, s->control->lambda);
}

/* Gives each thread the point of the present model. */
static void likelihood_share_point(struct likelihood_search *s) {
  for (int t = 0; t < s->host->threads; t++) {
    struct likelihood_model *model = &s->scratch[t].model;
    memcpy(model->h, s->now.h, (size_t)s->m * sizeof(double));
    if (s->memo > 0)
      memcpy(model->memo, s->now.memo, (size_t)s->memo * sizeof(double));
  }
}

/* Measures the candidates with a slope of at least so much that are not yet measured. */
static enum status likelihood_measure_from(struct likelihood_search *s, ptrdiff_t p, double least) {
  const ptrdiff_t n = s->pb->n;
  const int threads = s->host->threads;
  int count = 0;
  for (ptrdiff_t j = 0; j < n; j++)
    if (!s->taken[j] && s->score[j] < 0 && s->slope[j] >= least)
      s->list[count++] = (int)j;
  const double wanted = 1e8 / ((double)s->pb->m * (double)(2 * p + 4));
  const int share = wanted < 1 ? 1 : wanted > 1e6 ? 1000000 : (int)wanted;
  for (int from = 0; from < count; from += share * threads) {
    const int to = count - from < share * threads ? count : from + share * threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (int k = from; k < to; k++) {
#ifdef _OPENMP
      const struct likelihood_scratch *scratch = s->scratch + omp_get_thread_num();
#else
      const struct likelihood_scratch *scratch = s->scratch;
#endif
      likelihood_measure(s, p, s->list[k], scratch);
    }
    if (s->host->stop(s->host, s->done, s->total))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* slope := |A'v| of all candidates, from the product of each column. */
static void likelihood_measure_slopes(struct likelihood_search *s) {
  for (ptrdiff_t j = 0; j < s->pb->n; j++) {
    int together;
    const int *columns = columns_together(&s->control->groups, j, &together);
    double square = 0;
    for (int l = 0; columns != NULL && l < together; l++)
      square += s->product[columns[l]] * s->product[columns[l]];
    s->slope[j] = columns == NULL ? fabs(s->product[j]) : sqrt(square);
  }
}

/* product := a_j'v of the columns of all candidates, none of which is measured. */
static enum status likelihood_multiply(struct likelihood_search *s) {
  const struct problem *pb = s->pb;
  ptrdiff_t count = 0;
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    int together;
    const int *columns = columns_together(&s->control->groups, j, &together);
    s->product[j] = 0;
    s->score[j] = -1;
    for (int l = 0; !s->taken[j] && l < together; l++)
      s->list[count++] = columns == NULL ? (int)j : columns[l];
  }
  /* whose products are with root_w times the vector */
  double *v = s->scratch->curved;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    v[i] = s->now.v[i] / pb->divisor[i];
  const double *vectors[] = {v};
  double *out[] = {s->product};
  const struct column_pass pass = {.pb = pb,
      .list = s->list,
      .count = count,
      .r = 1,
      .v = vectors,
      .out = out,
      .done = s->done,
      .total = s->total};
  const enum status status =
      count > 0 ? column_products(&pass, s->host, s->products_work) : COMPLETE;
  likelihood_measure_slopes(s);
  return status;
}

/* Candidates of a step whose models are made, at most. */
enum { MOST_REFITS = 32 };

static int likelihood_most_refits(const struct likelihood_search *s) {
  return s->control->refits < MOST_REFITS ? s->control->refits : MOST_REFITS;
}

/* top := the candidates with the largest slopes, as many as models are made, of equal ones the
   first; returns how many there are. */
static int likelihood_largest_slopes(const struct likelihood_search *s, int *top) {
  const int most = likelihood_most_refits(s);
  int count = 0;
  for (ptrdiff_t j = 0; j < s->pb->n; j++) {
    const double value = s->slope[j];
    if (s->taken[j] || (count == most && value <= s->slope[top[most - 1]]))
      continue;
    int k = count < most ? count++ : most - 1;
    for (; k > 0 && value > s->slope[top[k - 1]]; k--)
      top[k] = top[k - 1];
    top[k] = (int)j;
  }
  return count;
}

/* The candidate with the largest score among those with a bound above `gain` that `tried` does not
   have, -1 if there is none. */
static ptrdiff_t likelihood_next_score(
    struct likelihood_search *s, ptrdiff_t p, double gain, const int *tried, int count) {
  ptrdiff_t best = -1;
  for (ptrdiff_t j = 0; j < s->pb->n; j++) {
    if (s->taken[j] || s->score[j] < 0 || (best >= 0 && s->score[j] <= s->score[best]))
      continue;
    int new = 1;
    for (int k = 0; k < count; k++)
      new = new &&tried[k] != (int)j;
    if (new &&likelihood_bound(s, p, j, gain) > gain)
      best = j;
  }
  return best;
}

/* Measures the candidates that may be among the first by score: those with the largest slopes,
   and all whose score could exceed the least of theirs. */
static enum status likelihood_rank(struct likelihood_search *s, ptrdiff_t p) {
  int top[MOST_REFITS];
  const int count = likelihood_largest_slopes(s, top);
  double least = INFINITY;
  for (int k = 0; k < count; k++) {
    likelihood_measure(s, p, top[k], s->scratch);
    least = fmin(least, s->score[top[k]]);
  }
  if (count < likelihood_most_refits(s))
    return COMPLETE;
  return likelihood_measure_from(s, p, least * sqrt(s->control->lambda));
}

/* s->next := the model with candidate j; returns what it takes off the objective. */
static double likelihood_try(
    struct likelihood_search *s, ptrdiff_t p, ptrdiff_t j, enum status *status) {
  double *X = s->C + p * s->m, *R = s->next.R;
  const int count = likelihood_columns(s, j, X);
  likelihood_copy(s, p, &s->now, &s->next);
  memset(s->next.b + p, 0, (size_t)count * sizeof(double));
  for (ptrdiff_t l = 0; l < p; l++)
    memcpy(R + l * s->most, s->now.R + l * s->most, (size_t)(l + 1) * sizeof(double));
  likelihood_append(s, p, count, X, &s->now, s->next.moved, R + p * s->most);
  *status = likelihood_minimise(s, s->w, p + count, &s->next, 1, LIKELIHOOD_TEN_DIGITS);
  return s->now.objective - s->next.objective;
}

static void likelihood_swap(struct likelihood_model *a, struct likelihood_model *b) {
  const struct likelihood_model kept = *a;
  *a = *b;
  *b = kept;
}

int likelihood_choose(
    struct likelihood_search *s, ptrdiff_t p, int *refits, int *exact, enum status *status) {
  const int most = likelihood_most_refits(s);
  int tried[MOST_REFITS], best = -1;
  double gain = -INFINITY;
  ptrdiff_t j;
  *refits = 0;
  likelihood_measure_rows(s, p);
  likelihood_share_point(s);
  if ((*status = likelihood_multiply(s)) != COMPLETE ||
      (*status = likelihood_rank(s, p)) != COMPLETE)
    return -1;
  while (*refits < most && (j = likelihood_next_score(s, p, gain, tried, *refits)) >= 0) {
    const double found = likelihood_try(s, p, j, status);
    if (*status != COMPLETE)
      return -1;
    tried[(*refits)++] = (int)j;
    const double tie = TIE * s->unit;
    if (found > gain + tie || (found > gain - tie && (int)j < best)) {
      likelihood_swap(&s->best, &s->next);
      best = (int)j;
    }
    gain = fmax(gain, found);
    if (*refits == 1) /* those that rank does not need, but a proof does */
      *status = likelihood_measure_from(s, p, sqrt(2 * s->control->lambda * fmax(gain, 0)));
    if (*status != COMPLETE)
      return -1;
  }
  *exact = likelihood_next_score(s, p, gain, tried, *refits) < 0;
  if (best >= 0)
    likelihood_columns(s, best, s->C + p * s->m);
  return best;
}
