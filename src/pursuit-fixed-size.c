/* Fixed-size least-squares support vector machines by the pursuit: on all rows and without each
   fold, in lock step.

   Terms are the prototypes and then the covariates; the system of a pursuit is
     A = T'T + [lambda K_prototypes, 0; 0, nu I],   B = T'y
   over the rows it trains on, T having a column for each term. Run 0 trains on all rows, run v
   without fold v - 1, whose rows come below its columns. */
#include "simd.h"
#include "criterion.h"
#include "pursuit.h"
#include <math.h>
#include <string.h>

enum {
  FIXED_SIZE_BATCH = 16,   /* columns of T'T formed together */
  FIXED_SIZE_CHUNK = 2048, /* rows of them that stay in the cache */
  FIXED_SIZE_BLOCK = 64    /* terms of a thread's share */
};

/* Columns of T'T, formed when they are first needed: over all rows, or in parts, over each fold. */
struct fixed_size_products {
  ptrdiff_t count;
  int parts;       /* of each column: 1, or one for each fold */
  int *slot;       /* D, which of the formed columns it is, -1 for none */
  double *columns; /* D x parts x fixed_size_max_columns() */
  double *batch;   /* m x FIXED_SIZE_BATCH, workspace: the terms of the columns being formed */
};

struct fixed_size_run {
  const struct fixed_size *fs;
  const struct fixed_size_products *products;
  double lambda;
  ptrdiff_t from, rows; /* of the fold left out */
  double *squares;      /* D, of the terms over the rows trained on */
  double *diagonal;     /* D, with the penalty */
  double *b;            /* D x L */
  void *pursuit_work;
  struct system system;
  struct pursuit path;
  ptrdiff_t next; /* the term it activates next, -1 when none remains */
  int pending;    /* whether it has yet to activate a term in this step */
  enum status status;
};

static ptrdiff_t fixed_size_terms(const struct fixed_size *fs) {
  return fs->n + fs->q;
}

static const double *fixed_size_term(const struct fixed_size *fs, ptrdiff_t j) {
  return j < fs->n ? fs->K + j * fs->m : fs->Z + (j - fs->n) * fs->m;
}

static double fixed_size_penalty(
    const struct fixed_size *fs, double lambda, ptrdiff_t i, ptrdiff_t j) {
  if (i < fs->n && j < fs->n)
    return lambda * fs->K_prototypes[i + j * fs->n];
  return i == j ? fs->nu : 0;
}

/* ---- products ---- */

/* out (leading dimension ld) := entries of the batch's columns of T'T, at `block` terms from
   `first` on, over the rows from `row` to `end`. */
static void fixed_size_multiply(const struct fixed_size *fs, const double *batch, ptrdiff_t count,
    ptrdiff_t first, ptrdiff_t block, ptrdiff_t row, ptrdiff_t end, ptrdiff_t ld, double *out) {
  double part[FIXED_SIZE_BATCH];
  for (ptrdiff_t from = row; from < end; from += FIXED_SIZE_CHUNK) {
    const ptrdiff_t rows = end - from < FIXED_SIZE_CHUNK ? end - from : FIXED_SIZE_CHUNK;
    for (ptrdiff_t j = first; j < first + block; j++) {
      simd->dots(rows, fixed_size_term(fs, j) + from, count, batch + from, fs->m, part);
      for (ptrdiff_t i = 0; i < count; i++)
        out[j + i * ld] = part[i] + (from > row ? out[j + i * ld] : 0);
    }
  }
}

static void fixed_size_form_columns(const struct fixed_size *fs,
    struct fixed_size_products *products, const ptrdiff_t *wanted, ptrdiff_t count, int threads) {
  const ptrdiff_t D = fixed_size_terms(fs), parts = products->parts;
  const ptrdiff_t blocks = (D + FIXED_SIZE_BLOCK - 1) / FIXED_SIZE_BLOCK;
  double *out = products->columns + products->count * D * parts;
  for (ptrdiff_t i = 0; i < count; i++) {
    memcpy(products->batch + i * fs->m, fixed_size_term(fs, wanted[i]),
        (size_t)fs->m * sizeof(double));
    products->slot[wanted[i]] = (int)products->count++;
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
  for (ptrdiff_t b = 0; b < blocks; b++) {
    const ptrdiff_t first = b * FIXED_SIZE_BLOCK,
                    block = D - first < FIXED_SIZE_BLOCK ? D - first : FIXED_SIZE_BLOCK;
    for (ptrdiff_t p = 0; p < parts; p++) {
      const ptrdiff_t row = parts > 1 ? fs->start[p] : 0,
                      end = parts > 1 ? fs->start[p + 1] : fs->m;
      fixed_size_multiply(
          fs, products->batch, count, first, block, row, end, D * parts, out + p * D);
    }
  }
  (void)threads;
}

/* Forms the columns of the terms that runs activate next, where they are missing. */
static void fixed_size_form_missing(const struct fixed_size *fs,
    struct fixed_size_products *products, const struct fixed_size_run *run, int runs, int threads) {
  ptrdiff_t wanted[FIXED_SIZE_BATCH], count = 0;
  for (int v = 0; v < runs; v++) {
    if (!run[v].pending || products->slot[run[v].next] >= 0)
      continue;
    products->slot[run[v].next] = (int)(products->count + count); /* the next run finds it there */
    wanted[count++] = run[v].next;
    if (count == FIXED_SIZE_BATCH) {
      fixed_size_form_columns(fs, products, wanted, count, threads);
      count = 0;
    }
  }
  if (count > 0)
    fixed_size_form_columns(fs, products, wanted, count, threads);
}

/* out (D) := column j of T'T over the rows that a run trains on. */
static void fixed_size_trained_column(const struct fixed_size_run *run, ptrdiff_t j, double *out) {
  const struct fixed_size *fs = run->fs;
  const ptrdiff_t D = fixed_size_terms(fs), parts = run->products->parts;
  const double *part = run->products->columns + run->products->slot[j] * D * parts;
  memset(out, 0, (size_t)D * sizeof(double));
  for (ptrdiff_t p = 0; p < parts; p++)
    if (parts == 1 || fs->start[p] != run->from || fs->start[p + 1] != run->from + run->rows)
      simd->shift(D, out, -1, part + p * D);
  if (parts == 1 && run->rows > 0)
    for (ptrdiff_t i = 0; i < D; i++)
      out[i] -= simd->dot(
          run->rows, fixed_size_term(fs, j) + run->from, fixed_size_term(fs, i) + run->from);
}

/* Column j of a run's system, and below it the fold's rows of term j. */
static int fixed_size_column(struct system *system, ptrdiff_t j, double *out) {
  const struct fixed_size_run *run = system->self;
  const ptrdiff_t D = system->D;
  fixed_size_trained_column(run, j, out);
  for (ptrdiff_t i = 0; i < D; i++) /* last: it may be small beside what is subtracted for a fold */
    out[i] += fixed_size_penalty(run->fs, run->lambda, i, j);
  memcpy(out + D, fixed_size_term(run->fs, j) + run->from, (size_t)run->rows * sizeof(double));
  return 0;
}

/* ---- workspace ---- */

static ptrdiff_t fixed_size_max_columns(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count) {
  const double asked = (double)(fs->folds + 1) * control->pursuit.k * count;
  return asked < (double)fixed_size_terms(fs) ? (ptrdiff_t)asked : fixed_size_terms(fs);
}

/* Columns are kept in parts by fold where that takes no more memory than the terms. */
static int fixed_size_parts(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count) {
  return fs->folds > 1 && fs->folds * fixed_size_max_columns(fs, control, count) <= fs->m
             ? fs->folds
             : 1;
}

static ptrdiff_t fixed_size_fold_rows(const struct fixed_size *fs, int v) {
  return v == 0 ? 0 : fs->start[v] - fs->start[v - 1];
}

struct fixed_size_state {
  const struct fixed_size *fs;
  const struct fixed_size_control *control;
  struct host *host;
  struct fixed_size_run *run; /* folds + 1 */
  struct fixed_size_products products;
  double *residual; /* m x L */
  int *order;       /* m: 0, 1, ... */
};

static struct fixed_size_state fixed_size_lay_out(const struct fixed_size *fs,
    const struct fixed_size_control *control, int count, struct arena *arena) {
  const ptrdiff_t D = fixed_size_terms(fs), m = fs->m, L = fs->L;
  const int parts = fixed_size_parts(fs, control, count);
  const struct fixed_size_state state = {.fs = fs,
      .control = control,
      .run = arena_alloc(arena, fs->folds + 1, sizeof(struct fixed_size_run)),
      .products = {.parts = parts,
          .slot = alloc_ints(arena, D),
          .columns = alloc_doubles(arena, D * fixed_size_max_columns(fs, control, count) * parts),
          .batch = alloc_doubles(arena, m * FIXED_SIZE_BATCH)},
      .residual = alloc_doubles(arena, m * L),
      .order = alloc_ints(arena, m)};
  for (int v = 0; v <= fs->folds; v++) {
    const ptrdiff_t rows = fixed_size_fold_rows(fs, v);
    const struct system system = {.D = D, .L = L, .extra = rows};
    const size_t bytes = scdp_work(&system, &control->pursuit);
    const struct fixed_size_run run = {.fs = fs,
        .from = v > 0 ? fs->start[v - 1] : m,
        .rows = rows,
        .squares = alloc_doubles(arena, D),
        .diagonal = alloc_doubles(arena, D),
        .b = alloc_doubles(arena, D * L),
        .pursuit_work = arena_alloc(arena, (ptrdiff_t)bytes, 1)};
    if (state.run != NULL)
      state.run[v] = run;
  }
  return state;
}

size_t fixed_size_work(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count) {
  struct arena arena = arena_over(NULL);
  fixed_size_lay_out(fs, control, count, &arena);
  return arena.used;
}

/* ---- a path ---- */

/* The diagonal and right side of what a run trains on, without the penalty. */
static void fixed_size_measure(struct fixed_size_run *run) {
  const struct fixed_size *fs = run->fs;
  const ptrdiff_t D = fixed_size_terms(fs), m = fs->m, end = run->from + run->rows;
  for (ptrdiff_t j = 0; j < D; j++) {
    const double *t = fixed_size_term(fs, j);
    run->squares[j] = simd->dot(run->from, t, t) + simd->dot(m - end, t + end, t + end);
    for (ptrdiff_t l = 0; l < fs->L; l++) {
      const double *y = fs->y + l * m;
      run->b[j + l * D] = simd->dot(run->from, t, y) + simd->dot(m - end, t + end, y + end);
    }
  }
}

static void fixed_size_begin(
    struct fixed_size_run *run, const struct scdp_control *control, double lambda) {
  const ptrdiff_t D = fixed_size_terms(run->fs);
  run->lambda = lambda;
  run->next = 0;
  for (ptrdiff_t j = 0; j < D; j++)
    run->diagonal[j] = run->squares[j] + fixed_size_penalty(run->fs, lambda, j, j);
  run->system = (struct system){.D = D,
      .L = run->fs->L,
      .extra = run->rows,
      .b = run->b,
      .diagonal = run->diagonal,
      .column = fixed_size_column,
      .self = run};
  run->path = scdp_begin(&run->system, control, run->pursuit_work);
}

static void fixed_size_activate(struct fixed_size_run *run, const struct scdp_control *control) {
  const ptrdiff_t rows = run->system.D + run->system.extra;
  fixed_size_column(&run->system, run->next, run->path.F + run->path.size * rows);
  run->status = scdp_activate(&run->path, &run->system, control, run->next);
}

/* One step of every run that has not ended. EARLY_STOP when the run on all rows has. */
static enum status fixed_size_step(const struct fixed_size *fs,
    struct fixed_size_products *products, struct fixed_size_run *run,
    const struct scdp_control *control, int threads) {
  const int runs = fs->folds + 1;
  int pending = 0;
  for (int v = 0; v < runs; v++)
    pending += run[v].pending = run[v].next >= 0;
  while (pending > 0) {
    for (int v = 0; v < runs; v++)
      if (run[v].pending) {
        run[v].next = scdp_choose(&run[v].path, &run[v].system, control);
        run[v].pending = run[v].next >= 0;
      }
    fixed_size_form_missing(fs, products, run, runs, threads);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
#endif
    for (int v = 0; v < runs; v++)
      if (run[v].pending)
        fixed_size_activate(run + v, control);
    /* without a fold a negative pivot may be rounding of what was subtracted for it */
    if (run[0].pending && run[0].status == NOT_POSITIVE)
      return NOT_POSITIVE;
    pending = 0;
    for (int v = 0; v < runs; v++)
      pending += run[v].pending = run[v].pending && run[v].status == EARLY_STOP;
  }
  return run[0].next < 0 ? EARLY_STOP : COMPLETE;
}

/* residual (m x L) := each row's residual in the run without its fold, in the user's units. */
static void fixed_size_heldout(
    const struct fixed_size *fs, const struct fixed_size_run *run, double *residual) {
  for (int v = 1; v <= fs->folds; v++)
    for (ptrdiff_t l = 0; l < fs->L; l++)
      for (ptrdiff_t i = 0; i < run[v].rows; i++) {
        const ptrdiff_t row = run[v].from + i;
        const double resid = fs->y[row + l * fs->m] - run[v].path.predicted[i + l * run[v].rows];
        residual[row + l * fs->m] = resid / fs->root_w[row];
      }
}

/* Karsmakers and others 2011, (38): whether the error of this size is near the mean of those of
   smaller sizes; squared[0] is that of size 1. */
static int fixed_size_is_level(
    const struct fixed_size_control *control, const double *squared, int size) {
  if (control->change <= 0 || size <= control->window)
    return 0;
  double mean = 0;
  for (int s = size - 1 - control->window; s < size - 1; s++)
    mean += squared[s] / control->window;
  return fabs(mean - squared[size - 1]) < control->change * fabs(squared[size - 1]);
}

/* Evaluates the models of this size on the rows held out. */
static void fixed_size_evaluate(const struct fixed_size_state *state, int size,
    struct fixed_size_result *result, ptrdiff_t index) {
  const struct fixed_size *fs = state->fs;
  const ptrdiff_t mL = fs->m * fs->L;
  const struct problem pb = {
      .m = fs->m, .L = fs->L, .response = fs->response, .root_w = fs->root_w};
  double *residual = state->residual;
  fixed_size_heldout(fs, state->run, residual);
  struct estimate estimate =
      criterion_estimate(&pb, SQUARED, residual, state->order, fs->start, fs->folds, NULL);
  index += size - 1;
  result->squared[index] = estimate.value;
  result->se[index] = estimate.se;
  if (state->control->classes) {
    estimate = criterion_estimate(&pb, ERROR, residual, state->order, fs->start, fs->folds, NULL);
    result->error[index] = estimate.value;
  }
  if (result->residual != NULL)
    memcpy(result->residual + mL * index, residual, (size_t)mL * sizeof(double));
}

/* The path of lambda number g of `count`. */
static enum status fixed_size_path(struct fixed_size_state *state, double lambda, int g, int count,
    struct fixed_size_result *result) {
  const struct fixed_size *fs = state->fs;
  const struct scdp_control *pursuit = &state->control->pursuit;
  struct fixed_size_run *run = state->run;
  const ptrdiff_t k = pursuit->k;
  enum status status = COMPLETE;
  for (int v = 0; v <= fs->folds; v++)
    fixed_size_begin(run + v, pursuit, lambda);
  while (run->path.size < k && status == COMPLETE) {
    const double done = (double)(g * k + run->path.size), total = (double)(count * k);
    if (state->host->stop(state->host, done, total)) {
      status = INTERRUPTED;
    } else {
      status = fixed_size_step(fs, &state->products, run, pursuit, state->host->threads);
      if (status == COMPLETE && fs->folds > 0) {
        fixed_size_evaluate(state, run->path.size, result, g * k);
        const int forced = pursuit->forced;
        if (fixed_size_is_level(
                state->control, result->squared + g * k + forced, run->path.size - forced))
          status = EARLY_STOP;
      }
    }
  }
  result->size[g] = run->path.size;
  pursuit_path(&run->path, &run->system, result->chosen + g * k, result->factor + g * k * k);
  memcpy(result->z + g * k * fs->L, run->path.z, (size_t)(k * fs->L) * sizeof(double));
  return status;
}

enum status fixed_size(const struct fixed_size *fs, const double *lambda, int count,
    const struct fixed_size_control *control, struct host *host, void *work,
    struct fixed_size_result *result) {
  struct arena arena = arena_over(work);
  struct fixed_size_state state = fixed_size_lay_out(fs, control, count, &arena);
  state.host = host;
  for (ptrdiff_t j = 0; j < fixed_size_terms(fs); j++)
    state.products.slot[j] = -1;
  for (ptrdiff_t i = 0; i < fs->m; i++)
    state.order[i] = (int)i;
#ifdef _OPENMP
#pragma omp parallel for num_threads(host->threads) schedule(static) if (host->threads > 1)
#endif
  for (int v = 0; v <= fs->folds; v++) {
    state.run[v].products = &state.products;
    fixed_size_measure(state.run + v);
  }
  memset(result->size, 0, (size_t)count * sizeof(int));
  for (int g = 0; g < count; g++) {
    const enum status status = fixed_size_path(&state, lambda[g], g, count, result);
    result->columns = (double)state.products.count;
    if (status == INTERRUPTED || status == NOT_POSITIVE)
      return status;
  }
  return COMPLETE;
}
