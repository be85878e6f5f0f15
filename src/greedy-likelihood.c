/* Greedy forward search by a likelihood: its steps, and the models without each fold. */
#include "greedy-likelihood.h"
#include "products.h"
#include "simd.h"
#include "tolerance.h"
#ifdef _OPENMP
#include <omp.h>
#endif
#include <math.h>
#include <string.h>

/* ---- workspace ---- */

static struct likelihood_model likelihood_lay_out_model(
    ptrdiff_t m, ptrdiff_t most, ptrdiff_t memo, struct arena *arena) {
  return (struct likelihood_model){.towards = alloc_doubles(arena, most),
      .b = alloc_doubles(arena, most),
      .f = alloc_doubles(arena, m),
      .v = alloc_doubles(arena, m),
      .h = alloc_doubles(arena, m),
      .memo = alloc_doubles(arena, memo),
      .R = alloc_doubles(arena, most * most),
      .step = alloc_doubles(arena, most),
      .moved = alloc_doubles(arena, m)};
}

static struct likelihood_search likelihood_lay_out(const struct problem *pb,
    const struct folds *folds, const struct likelihood_control *control, int threads,
    struct arena *arena) {
  const ptrdiff_t m = likelihood_filled(pb->m), n = pb->n, most = pb->q + control->most_columns;
  const int together = control->groups.rule == MOVE_TOGETHER;
  const ptrdiff_t wide = together ? greedy_largest_group(&control->groups) : 1;
  const ptrdiff_t memo = control->loss->memo == NULL ? 0 : control->loss->memo(pb->m, &pb->risk);
  struct likelihood_search s = {.m = m,
      .most = most,
      .wide = wide,
      .memo = memo,
      .y = alloc_doubles(arena, m),
      .w = alloc_doubles(arena, m),
      .known = alloc_doubles(arena, m),
      .C = alloc_doubles(arena, m * most),
      .K = alloc_doubles(arena, most * most),
      .flat = alloc_ints(arena, all_folds(folds)),
      .base = alloc_doubles(arena, m),
      .now = likelihood_lay_out_model(m, most, memo, arena),
      .best = likelihood_lay_out_model(m, most, memo, arena),
      .next = likelihood_lay_out_model(m, most, memo, arena),
      .taken = alloc_ints(arena, n),
      .slope = alloc_doubles(arena, n),
      .score = alloc_doubles(arena, n),
      .bound = alloc_doubles(arena, n),
      .product = alloc_doubles(arena, n),
      .list = alloc_ints(arena, n),
      .products_work = arena_alloc(arena, 1, column_products_work(pb, 1, threads)),
      .scratch = arena_alloc(arena, threads, sizeof(struct likelihood_scratch))};
  for (int t = 0; t < threads; t++) {
    const struct likelihood_scratch scratch = {
        .model = likelihood_lay_out_model(m, most, memo, arena),
        .w = alloc_doubles(arena, m),
        .part = alloc_doubles(arena, 6 * m),
        .rows = alloc_doubles(arena, PART_ROWS * (most + 1)),
        .columns = alloc_doubles(arena, m * wide),
        .curved = alloc_doubles(arena, m),
        .along = alloc_doubles(arena, most * wide),
        .step = alloc_doubles(arena, wide),
        .reach = alloc_doubles(arena, wide)};
    if (arena->base != NULL)
      s.scratch[t] = scratch;
  }
  return s;
}

size_t greedy_likelihood_work(const struct problem *pb, const struct folds *folds,
    const struct likelihood_control *control, int threads) {
  struct arena count = arena_over(NULL);
  likelihood_lay_out(pb, folds, control, threads, &count);
  return count.used;
}

/* ---- rows held out ---- */

/* R := R - C'HC of some rows, at most PART_ROWS. */
static void likelihood_less_rows(const struct likelihood_search *s, ptrdiff_t p, const int *row,
    ptrdiff_t rows, struct likelihood_scratch *scratch) {
  const ptrdiff_t filled = likelihood_filled(rows);
  double *C = scratch->rows, *curved = C + p * PART_ROWS, *products = scratch->along;
  for (ptrdiff_t k = rows; k < filled; k++)
    curved[k] = 0;
  for (ptrdiff_t j = 0; j < p; j++) {
    double *column = C + j * PART_ROWS;
    for (ptrdiff_t k = rows; k < filled; k++)
      column[k] = 0;
    for (ptrdiff_t k = 0; k < rows; k++) {
      column[k] = s->C[row[k] + j * s->m];
      curved[k] = s->now.h[row[k]] * column[k];
    }
    simd->dots(filled, curved, j + 1, C, PART_ROWS, products);
    simd->shift(j + 1, scratch->model.R + j * s->most, 1, products);
  }
}

/* Whether the model's R is a factor: of K less the rows of a fold, if they leave enough. */
static int likelihood_without(const struct likelihood_search *s, ptrdiff_t p, const int *row,
    ptrdiff_t rows, struct likelihood_scratch *scratch) {
  double *R = scratch->model.R;
  for (ptrdiff_t j = 0; j < p; j++) {
    memcpy(R + j * s->most, s->K + j * s->most, (size_t)(j + 1) * sizeof(double));
    if (j < s->pb->q)
      R[j + j * s->most] += scratch->model.ridge - s->now.ridge;
  }
  for (ptrdiff_t k = 0; k < rows; k += PART_ROWS)
    likelihood_less_rows(s, p, row + k, rows - k < PART_ROWS ? rows - k : PART_ROWS, scratch);
  return likelihood_factor(s, p, R);
}

/* The loss of the rows of a fold at f (m), where the loss ties no rows together. */
static double likelihood_part_loss(const struct likelihood_search *s, const int *row,
    ptrdiff_t rows, const double *f, double *part) {
  const ptrdiff_t filled = likelihood_filled(rows);
  double *y = part, *w = y + filled, *known = w + filled, *at = known + filled;
  memset(part, 0, (size_t)(4 * filled) * sizeof(double));
  for (ptrdiff_t k = 0; k < rows; k++) {
    y[k] = s->y[row[k]];
    w[k] = s->w[row[k]];
    known[k] = s->known[row[k]];
    at[k] = f[row[k]];
  }
  const struct likelihood_rows of = {
      .m = filled, .L = 1, .y = y, .w = w, .known = known, .parameter = s->pb->parameter};
  return s->control->loss->evaluate(&of, at, at + filled, at + 2 * filled);
}

/* model := the present model, evaluated without the rows of a fold. */
static void likelihood_begin_without(const struct likelihood_search *s, ptrdiff_t p, const int *row,
    ptrdiff_t rows, struct likelihood_scratch *scratch) {
  struct likelihood_model *model = &scratch->model;
  likelihood_copy(s, p, &s->now, model);
  model->objective -=
      likelihood_part_loss(s, row, rows, model->f, scratch->part) + likelihood_pull(s, &s->now);
  for (ptrdiff_t k = 0; k < rows; k++)
    model->v[row[k]] = model->h[row[k]] = 0;
}

/* The scratch's model := the model without the rows of a fold, whose weights w without them are
   given. */
static enum status likelihood_train_without(const struct likelihood_search *s, ptrdiff_t p,
    const int *row, ptrdiff_t rows, int flat, struct likelihood_scratch *scratch) {
  const int tied = s->control->loss->curve != NULL;
  struct likelihood_model *model = &scratch->model;
  model->ridge = flat ? LIKELIHOOD_FLAT_RIDGE * s->control->unit : 0;
  memcpy(model->towards, s->now.b, (size_t)s->pb->q * sizeof(double));
  if (tied) {
    likelihood_copy(s, p, &s->now, model);
    likelihood_evaluate(s, scratch->w, p, model);
  } else
    likelihood_begin_without(s, p, row, rows, scratch);
  const int factored = !tied && likelihood_without(s, p, row, rows, scratch);
  return likelihood_minimise(s, scratch->w, p, model, factored, LIKELIHOOD_TEN_DIGITS);
}

/* Whether the factor of a model has a direction of the covariates without curvature. */
static int likelihood_is_flat(
    const struct likelihood_search *s, const struct likelihood_model *model) {
  for (ptrdiff_t l = 0; l < s->pb->q; l++) {
    const double root = model->R[l + l * s->most];
    if (root * root < NEWTON_SEPARATED * s->control->unit)
      return 1;
  }
  return 0;
}

/* The rows of a fold, whose number goes on from partition to partition. */
struct likelihood_fold {
  int partition;
  const int *row;
  ptrdiff_t rows;
};

static struct likelihood_fold likelihood_fold_of(const struct likelihood_search *s, int number) {
  const int *count = s->folds->count, *order = s->folds->order, *start = s->folds->start;
  int r = 0;
  for (; number >= count[r]; r++) {
    number -= count[r];
    start += count[r] + 1;
    order += s->pb->m;
  }
  return (struct likelihood_fold){
      .partition = r, .row = order + start[number], .rows = start[number + 1] - start[number]};
}

/* held_out := the linear predictors, less the offset, of the rows of a fold by the model of the
   others; *deviance := the fold's. *flat belongs to the fold and is found with the null model. */
static enum status likelihood_leave_out(const struct likelihood_search *s, ptrdiff_t p,
    struct likelihood_fold fold, struct likelihood_scratch *scratch, int *flat, double *held_out,
    double *deviance) {
  const int tied = s->control->loss->curve != NULL, *row = fold.row;
  struct likelihood_model *model = &scratch->model;
  double *w = scratch->w;
  memcpy(w, s->w, (size_t)s->m * sizeof(double));
  for (ptrdiff_t k = 0; k < fold.rows; k++)
    w[row[k]] = 0;
  enum status status = likelihood_train_without(s, p, row, fold.rows, *flat, scratch);
  if (!*flat && (status == NOT_POSITIVE || (p == s->pb->q && likelihood_is_flat(s, model)))) {
    *flat = 1;
    status = likelihood_train_without(s, p, row, fold.rows, 1, scratch);
  }
  for (ptrdiff_t k = 0; k < fold.rows; k++)
    held_out[row[k]] = model->f[row[k]] - (s->pb->offset == NULL ? 0 : s->pb->offset[row[k]]);
  /* of tied rows: the loss of all rows less the loss of the others */
  *deviance = 2 * (tied ? likelihood_loss_at(s, s->w, model) - likelihood_loss_at(s, w, model)
                        : likelihood_part_loss(s, row, fold.rows, model->f, scratch->part));
  return status;
}

/* The columns of C in the model of a size. */
static ptrdiff_t likelihood_order(const struct likelihood_search *s, int size) {
  return s->pb->q + s->result->columns[size];
}

/* The models without some folds. */
static enum status likelihood_leave_each_out(
    const struct likelihood_search *s, int size, int from, int to, double *deviance) {
  double *held_out = s->result->held_out + size * s->pb->m * s->folds->repeats;
  int singular = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->host->threads) schedule(static) if (s->host->threads > 1)  \
    reduction(|                                                                                    \
              : singular)
#endif
  for (int f = from; f < to; f++) {
#ifdef _OPENMP
    struct likelihood_scratch *scratch = s->scratch + omp_get_thread_num();
#else
    struct likelihood_scratch *scratch = s->scratch;
#endif
    const struct likelihood_fold fold = likelihood_fold_of(s, f);
    singular |= likelihood_leave_out(s, likelihood_order(s, size), fold, scratch, s->flat + f,
                    held_out + fold.partition * s->pb->m, deviance + f) != COMPLETE;
  }
  if (s->host->stop(s->host, s->done, s->total))
    return INTERRUPTED;
  return singular ? NOT_POSITIVE : COMPLETE;
}

/* The weight of all rows, or of all events where the loss is of times. */
static double likelihood_weight(const struct likelihood_search *s) {
  double total = 0;
  for (ptrdiff_t i = 0; i < s->pb->m; i++)
    if (s->pb->risk.moments == 0 || s->pb->risk.event[i] >= 0)
      total += s->w[i];
  return total;
}

static double likelihood_sum(const double *x, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += x[i];
  return sum;
}

/* The models without each fold, as long as their deviance may be at most `most`. Where no rows are
   tied and no direction is flat, it is no less than the deviance of the present model: the model
   without a fold fits the other rows no worse, so that it fits the fold no better. */
static enum status likelihood_hold_out(struct likelihood_search *s, int size) {
  const ptrdiff_t m = s->pb->m, p = likelihood_order(s, size);
  const int count = all_folds(s->folds), threads = s->host->threads;
  double *deviance = s->result->deviance + size * count;
  const double weight = s->folds->repeats * likelihood_weight(s);
  const double ceiling = size == 0 ? INFINITY : s->control->ceiling[size];
  const double most = ceiling * weight * (1 + LIKELIHOOD_BOUND_MARGIN);
  const int bounded = most < INFINITY && s->control->loss->curve == NULL && s->now.ridge == 0;
  const double wanted = bounded ? 1 : 1e8 / ((double)m * (double)(p + 10) * (double)(p + 10));
  const int share = threads * (wanted < 1 ? 1 : wanted > 1e5 ? 100000 : (int)wanted);
  for (int f = 0; f < count; f++) {
    const struct likelihood_fold fold = likelihood_fold_of(s, f);
    deviance[f] =
        bounded ? 2 * likelihood_part_loss(s, fold.row, fold.rows, s->now.f, s->scratch->part) : 0;
  }
  s->result->loss[size] = INFINITY;
  for (int from = 0, to; from < count; from = to) {
    if (bounded && likelihood_sum(deviance, count) > most * (1 + LIKELIHOOD_BOUND_MARGIN))
      return COMPLETE;
    to = count - from < share ? count : from + share;
    const enum status status = likelihood_leave_each_out(s, size, from, to, deviance);
    if (status != COMPLETE)
      return status;
  }
  const double sum = likelihood_sum(deviance, count);
  if (sum <= most)
    s->result->loss[size] = sum / weight;
  return COMPLETE;
}

/* ---- the search ---- */

/* Brings s->now to its optimum exactly, with the factor of its own curvature. */
static enum status likelihood_settle(struct likelihood_search *s, ptrdiff_t p) {
  likelihood_predict(s, p, &s->now);
  likelihood_evaluate(s, s->w, p, &s->now);
  const enum status status = likelihood_minimise(s, s->w, p, &s->now, 0, LIKELIHOOD_CONVERGED);
  if (status != COMPLETE)
    return status;
  likelihood_curvature(s, s->w, p, &s->now, s->K);
  memcpy(s->now.R, s->K, (size_t)(p * s->most) * sizeof(double));
  return likelihood_factor(s, p, s->now.R) ? COMPLETE : NOT_POSITIVE;
}

static void likelihood_record(struct likelihood_search *s, int size) {
  struct likelihood_result *result = s->result;
  const ptrdiff_t m = s->pb->m, q = s->pb->q;
  double *beta = result->beta + size * (ptrdiff_t)s->control->most_columns;
  result->objective[size] = s->now.objective;
  memcpy(result->u + size * q, s->now.b, (size_t)q * sizeof(double));
  memcpy(beta, s->now.b + q, (size_t)result->columns[size] * sizeof(double));
  for (ptrdiff_t i = 0; i < m; i++)
    result->fitted[i + size * m] = s->now.f[i] - (s->pb->offset == NULL ? 0 : s->pb->offset[i]);
}

/* Column j and those that move with it are the members that a size adds. No other of a group of
   which a model has one is a candidate from now on. */
static void likelihood_join(struct likelihood_search *s, int size, int j) {
  const struct column_groups *groups = &s->control->groups;
  struct likelihood_result *result = s->result;
  int count, *members = result->members + result->columns[size - 1];
  const int *together = columns_together(groups, j, &count);
  for (int l = 0; l < count; l++)
    members[l] = together == NULL ? j : together[l];
  s->taken[j] = 1;
  if (groups->rule == AT_MOST_ONE && groups->of[j] >= 0)
    for (int l = groups->start[groups->of[j]]; l < groups->start[groups->of[j] + 1]; l++)
      s->taken[groups->columns[l]] = 1;
  result->feature[size] = j;
  result->columns[size] = result->columns[size - 1] + count;
}

/* Adds the next column or group, given or chosen. EARLY_STOP where there is none. */
static enum status likelihood_step(struct likelihood_search *s, int size) {
  const struct likelihood_control *control = s->control;
  struct likelihood_result *result = s->result;
  const ptrdiff_t p = likelihood_order(s, size - 1);
  enum status status = COMPLETE;
  int refits = 0, exact = 0, j;
  if (size <= control->given_count) {
    j = control->given[size - 1];
    const int count = likelihood_columns(s, j, s->C + p * s->m);
    memset(s->now.b + p, 0, (size_t)count * sizeof(double));
  } else {
    j = likelihood_choose(s, p, &refits, &exact, &status);
    if (status != COMPLETE)
      return status;
    if (j < 0)
      return EARLY_STOP;
  }
  likelihood_join(s, size, j);
  if (size > control->given_count)
    memcpy(s->now.b, s->best.b, (size_t)likelihood_order(s, size) * sizeof(double));
  result->refits[size] = refits;
  result->exact[size] = exact;
  return COMPLETE;
}

/* The model of a size and the models without each fold, as far as they are of use. The null model
   is the unit of all, the null models without each fold tell which of them leave a direction of the
   covariates flat, and what a step begins at is used by it. */
static enum status likelihood_model_of(struct likelihood_search *s, int size) {
  const struct likelihood_control *control = s->control;
  const int wanted = size == 0 || control->ceiling[size] >= 0;
  enum status status = COMPLETE;
  s->result->loss[size] = INFINITY;
  if (wanted || size >= control->given_count)
    status = likelihood_settle(s, likelihood_order(s, size));
  if (size == 0)
    s->unit = s->now.objective;
  if (status == COMPLETE && wanted)
    status = likelihood_hold_out(s, size);
  if (status == COMPLETE && wanted)
    likelihood_record(s, size);
  return status;
}

/* The covariates, at the coefficients to begin with. */
static void likelihood_begin(struct likelihood_search *s) {
  struct likelihood_model *models[] = {&s->now, &s->best, &s->next};
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, q = pb->q;
  memcpy(s->y, s->control->response, (size_t)m * sizeof(double));
  for (ptrdiff_t i = 0; i < m; i++) {
    s->w[i] = case_weight(pb, i);
    for (ptrdiff_t l = 0; l < q; l++)
      s->C[i + l * s->m] = pb->Q[i + l * m] / pb->divisor[i];
  }
  likelihood_fill(s, s->y);
  likelihood_fill(s, s->w);
  if (s->control->loss->know != NULL) {
    const struct likelihood_rows rows = {.m = s->m, .y = s->y, .parameter = s->pb->parameter};
    s->control->loss->know(&rows, s->known);
  }
  for (ptrdiff_t l = 0; l < q; l++)
    likelihood_fill(s, s->C + l * s->m);
  memcpy(s->now.b, s->control->start, (size_t)q * sizeof(double));
  for (int k = 0; k < 3; k++) {
    models[k]->ridge = s->control->ridge;
    memset(models[k]->towards, 0, (size_t)q * sizeof(double));
  }
  memset(s->flat, 0, (size_t)all_folds(s->folds) * sizeof(int));
  for (ptrdiff_t j = 0; j < pb->n; j++)
    s->taken[j] = !pb->usable[j] || !stands_for_group(&s->control->groups, j);
  for (int i = 0; i < s->control->given_count; i++)
    s->taken[s->control->given[i]] = 1;
}

enum status greedy_likelihood(const struct problem *pb, const struct folds *folds,
    const struct likelihood_control *control, struct host *host, void *work,
    struct likelihood_result *result) {
  struct arena arena = arena_over(work);
  struct likelihood_search s = likelihood_lay_out(pb, folds, control, host->threads, &arena);
  s.pb = pb;
  s.folds = folds;
  s.control = control;
  s.host = host;
  s.result = result;
  s.total = control->k + 1;
  likelihood_begin(&s);
  result->moves = -1;
  result->feature[0] = -1;
  result->columns[0] = 0;
  for (int size = 0, best = 0; size <= control->k; size++) {
    s.done = size;
    enum status status = size > 0 ? likelihood_step(&s, size) : COMPLETE;
    if (status == COMPLETE)
      status = likelihood_model_of(&s, size);
    if (status != COMPLETE)
      return status;
    result->moves = size;
    if (result->loss[size] < result->loss[best])
      best = size;
    if (control->patience > 0 && size - best >= control->patience)
      return EARLY_STOP;
  }
  return COMPLETE;
}
