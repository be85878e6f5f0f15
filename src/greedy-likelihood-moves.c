/* Candidates of a greedy search by a likelihood, and the best of them.

   With v, h and K of the present model C, candidate a has V = a'Ha - |R'^-1 C'Ha|^2, and the gain
   of one Newton step is half the square of nu = |a'v| / sqrt(lambda + V). As the third derivative
   of the loss is at most the second times the largest step of a row, no model with a takes more off
   the objective than ((1 - u) log(1 - u) + u) / kappa^2, u = kappa nu < 1, where kappa^2 is the
   largest c_i'K^-1 c_i + r_i^2 / (lambda + V) of a row, r being what C leaves of a in the metric of
   H; of times, where differences of rows count, it is four times as much. Nor does it take off more
   than (a'v)^2 / (2 lambda), as v stays feasible for the dual. */
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

void likelihood_column(const struct likelihood_search *s, ptrdiff_t j, double *x) {
  const struct problem *pb = s->pb;
  gather_column(&pb->x, pb->m, j, x);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    x[i] = (x[i] - pb->centre[j]) * pb->inv_scale[j];
  likelihood_fill(s, x);
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

/* The bound of the gain from a'v, lambda + V and kappa^2. */
static double likelihood_most_gain(double product, double curve, double kappa2, double lambda) {
  const double by_dual = product * product / (2 * lambda);
  const double u = sqrt(kappa2 / curve) * fabs(product);
  /* digits are lost near 0, where it is u^2 / 2 */
  const double share = u < 1e-4 ? u * u / 2 * (1 + u) : (1 - u) * log1p(-u) + u;
  return u < 1 ? fmin(by_dual, share / kappa2) * (1 + LIKELIHOOD_BOUND_MARGIN) : by_dual;
}

/* lambda + V of candidate j, whose column is left in the scratch, with R'^-1 C'Ha. */
static double likelihood_candidate(const struct likelihood_search *s, ptrdiff_t p, ptrdiff_t j,
    const struct likelihood_scratch *scratch) {
  const ptrdiff_t m = s->m;
  double *along = scratch->along;
  likelihood_column(s, j, scratch->column);
  likelihood_curve(s, s->w, &scratch->model, scratch->column, scratch->curved);
  simd->dots(m, scratch->curved, p, s->C, m, along);
  solve_transposed(p, s->now.R, s->most, along);
  const double V = simd->dot(m, scratch->column, scratch->curved) - simd->dot(p, along, along);
  return s->control->lambda + fmax(V, 0);
}

/* score of candidate j, and a coarse bound, by |r_i| <= |x_i| + |R'^-1 c_i| |R'^-1 C'Ha|. */
static void likelihood_measure(struct likelihood_search *s, ptrdiff_t p, ptrdiff_t j,
    const struct likelihood_scratch *scratch) {
  const double curve = likelihood_candidate(s, p, j, scratch), reach = s->control->loss->reach;
  const struct range range = simd->range(s->m, scratch->column);
  const double along2 = simd->dot(p, scratch->along, scratch->along);
  const double r = fmax(-range.low, range.high) + sqrt(s->most_base * along2);
  const double kappa2 = reach * reach * (s->most_base + r * r / curve);
  s->score[j] = fabs(s->product[j]) / sqrt(curve);
  s->bound[j] = -likelihood_most_gain(s->product[j], curve, kappa2, s->control->lambda);
}

/* bound of candidate j, the coarse one if that is at most `gain`. */
static double likelihood_bound(struct likelihood_search *s, ptrdiff_t p, ptrdiff_t j, double gain) {
  if (s->bound[j] >= 0 || -s->bound[j] <= gain)
    return fabs(s->bound[j]);
  const ptrdiff_t m = s->m;
  const struct likelihood_scratch *scratch = s->scratch;
  const double reach2 = s->control->loss->reach * s->control->loss->reach;
  const double curve = likelihood_candidate(s, p, j, scratch);
  double *x = scratch->column, *along = scratch->along, kappa2 = 0;
  solve_upper(p, s->now.R, s->most, along);
  simd->shift_all(m, x, p, s->C, m, along);
  for (ptrdiff_t i = 0; i < m; i++)
    if (s->w[i] > 0)
      kappa2 = fmax(kappa2, reach2 * (s->base[i] + x[i] * x[i] / curve));
  return s->bound[j] = likelihood_most_gain(s->product[j], curve, kappa2, s->control->lambda);
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

/* Measures the candidates with a product of at least so much that are not yet measured. */
static enum status likelihood_measure_from(struct likelihood_search *s, ptrdiff_t p, double least) {
  const ptrdiff_t n = s->pb->n;
  const int threads = s->host->threads;
  int count = 0;
  for (ptrdiff_t j = 0; j < n; j++)
    if (!s->taken[j] && s->score[j] < 0 && fabs(s->product[j]) >= least)
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

/* product := a_j'v of all candidates, none of which is measured. */
static enum status likelihood_multiply(struct likelihood_search *s) {
  const struct problem *pb = s->pb;
  ptrdiff_t count = 0;
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    s->product[j] = 0;
    s->score[j] = -1;
    if (!s->taken[j])
      s->list[count++] = (int)j;
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
  return count > 0 ? column_products(&pass, s->host, s->products_work) : COMPLETE;
}

/* Candidates of a step whose models are made, at most. */
enum { MOST_REFITS = 32 };

static int likelihood_most_refits(const struct likelihood_search *s) {
  return s->control->refits < MOST_REFITS ? s->control->refits : MOST_REFITS;
}

/* top := the candidates with the largest products, as many as models are made, of equal ones the
   first; returns how many there are. */
static int likelihood_largest_products(const struct likelihood_search *s, int *top) {
  const int most = likelihood_most_refits(s);
  int count = 0;
  for (ptrdiff_t j = 0; j < s->pb->n; j++) {
    const double value = fabs(s->product[j]);
    if (s->taken[j] || (count == most && value <= fabs(s->product[top[most - 1]])))
      continue;
    int k = count < most ? count++ : most - 1;
    for (; k > 0 && value > fabs(s->product[top[k - 1]]); k--)
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

/* Measures the candidates that may be among the first by score: those with the largest products,
   and all whose score could exceed the least of theirs. */
static enum status likelihood_rank(struct likelihood_search *s, ptrdiff_t p) {
  int top[MOST_REFITS];
  const int count = likelihood_largest_products(s, top);
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
  const ptrdiff_t m = s->m;
  double *x = s->C + p * m, *R = s->next.R, *last = R + p * s->most;
  likelihood_column(s, j, x);
  likelihood_copy(s, p, &s->now, &s->next);
  s->next.b[p] = 0;
  for (ptrdiff_t l = 0; l < p; l++)
    memcpy(R + l * s->most, s->now.R + l * s->most, (size_t)(l + 1) * sizeof(double));
  likelihood_curve(s, s->w, &s->now, x, s->next.moved);
  simd->dots(m, s->next.moved, p, s->C, m, last);
  const double square = simd->dot(m, x, s->next.moved) + s->control->lambda;
  solve_transposed(p, R, s->most, last);
  const double pivot = square - simd->dot(p, last, last);
  last[p] = sqrt(fmax(pivot, s->control->lambda));
  *status = likelihood_minimise(s, s->w, p + 1, &s->next, 1, LIKELIHOOD_TEN_DIGITS);
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
    likelihood_column(s, best, s->C + p * s->m);
  return best;
}
