/* Fixed-size least-squares support vector machines by the pursuit: on all rows and without each
   fold, in lock step.

   Terms are the prototypes and then the covariates; the system of a pursuit is
     A = T'T + [own lambda, 0; 0, nu I],   B = T'y
   over the rows it trains on, T having a column for each term. Run 0 trains on all rows, run v
   without fold v - 1, whose rows hang below its columns. */
#include "simd.h"
#include "criterion.h"
#include "pursuit.h"
#include <math.h>
#include <string.h>

enum {
  BATCH = 16,   /* columns of T'T formed together */
  CHUNK = 2048, /* rows of them that stay in the cache */
  BLOCK = 64    /* terms between two looks at them */
};

/* Columns of T'T, formed when they are first asked for: over all rows, or where there is room for
   it, over each fold. */
struct products {
  ptrdiff_t count;
  int parts;       /* 1, or as many as folds */
  int *slot;       /* D, where a column is, -1 if it is not */
  double *columns; /* D x parts x room */
  double *batch;   /* m x BATCH, room */
};

struct run {
  const struct fixed_size *fs;
  const struct products *products;
  double lambda;
  ptrdiff_t from, rows; /* of the fold left out */
  double *squares;      /* D, of the terms over the rows trained on */
  double *diagonal;     /* D, with the penalty */
  double *b;            /* D x L */
  void *room;           /* of the pursuit */
  struct system system;
  struct pursuit at;
  ptrdiff_t next; /* the term it is to take, -1 when none is left */
  int waits;      /* whether it still has to take one in this step */
  enum status status;
};

static ptrdiff_t count_terms(const struct fixed_size *fs) {
  return fs->n + fs->q;
}

static const double *term(const struct fixed_size *fs, ptrdiff_t j) {
  return j < fs->n ? fs->K + j * fs->m : fs->Z + (j - fs->n) * fs->m;
}

static double penalty(const struct fixed_size *fs, double lambda, ptrdiff_t i, ptrdiff_t j) {
  if (i < fs->n && j < fs->n)
    return lambda * fs->own[i + j * fs->n];
  return i == j ? fs->nu : 0;
}

/* ---- products ---- */

/* Entries of some columns of T'T, the batch, at `block` terms from `first` on, over the rows from
   `row` to `end`; columns of out are `apart` apart. */
static void multiply_block(const struct fixed_size *fs, const double *batch, ptrdiff_t count,
    ptrdiff_t first, ptrdiff_t block, ptrdiff_t row, ptrdiff_t end, ptrdiff_t apart, double *out) {
  double part[BATCH];
  for (ptrdiff_t from = row; from < end; from += CHUNK) {
    const ptrdiff_t rows = end - from < CHUNK ? end - from : CHUNK;
    for (ptrdiff_t j = first; j < first + block; j++) {
      simd->dots(rows, term(fs, j) + from, count, batch + from, fs->m, part);
      for (ptrdiff_t i = 0; i < count; i++)
        out[j + i * apart] = part[i] + (from > row ? out[j + i * apart] : 0);
    }
  }
}

static void form_columns(const struct fixed_size *fs, struct products *products,
    const ptrdiff_t *wanted, ptrdiff_t count, int threads) {
  const ptrdiff_t D = count_terms(fs), blocks = (D + BLOCK - 1) / BLOCK, parts = products->parts;
  double *out = products->columns + products->count * D * parts;
  for (ptrdiff_t i = 0; i < count; i++) {
    memcpy(products->batch + i * fs->m, term(fs, wanted[i]), (size_t)fs->m * sizeof(double));
    products->slot[wanted[i]] = (int)products->count++;
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
  for (ptrdiff_t b = 0; b < blocks; b++) {
    const ptrdiff_t first = b * BLOCK, block = D - first < BLOCK ? D - first : BLOCK;
    for (ptrdiff_t p = 0; p < parts; p++) {
      const ptrdiff_t row = parts > 1 ? fs->start[p] : 0,
                      end = parts > 1 ? fs->start[p + 1] : fs->m;
      multiply_block(fs, products->batch, count, first, block, row, end, D * parts, out + p * D);
    }
  }
  (void)threads;
}

/* Sees to it that the columns the runs are about to take are there. */
static void form_missing(const struct fixed_size *fs, struct products *products,
    const struct run *run, int runs, int threads) {
  ptrdiff_t wanted[BATCH], count = 0;
  for (int v = 0; v < runs; v++) {
    if (!run[v].waits || products->slot[run[v].next] >= 0)
      continue;
    products->slot[run[v].next] = (int)(products->count + count); /* asked for once */
    wanted[count++] = run[v].next;
    if (count == BATCH) {
      form_columns(fs, products, wanted, count, threads);
      count = 0;
    }
  }
  if (count > 0)
    form_columns(fs, products, wanted, count, threads);
}

/* out (D) := column j of T'T over the rows that a run trains on. */
static void trained_column(const struct run *run, ptrdiff_t j, double *out) {
  const struct fixed_size *fs = run->fs;
  const ptrdiff_t D = count_terms(fs), parts = run->products->parts;
  const double *part = run->products->columns + run->products->slot[j] * D * parts;
  memset(out, 0, (size_t)D * sizeof(double));
  for (ptrdiff_t p = 0; p < parts; p++)
    if (parts == 1 || fs->start[p] != run->from || fs->start[p + 1] != run->from + run->rows)
      simd->shift(D, out, -1, part + p * D);
  if (parts == 1 && run->rows > 0)
    for (ptrdiff_t i = 0; i < D; i++)
      out[i] -= simd->dot(run->rows, term(fs, j) + run->from, term(fs, i) + run->from);
}

/* Column j of a run's system, and below it the fold's rows of term j. */
static int run_column(struct system *system, ptrdiff_t j, double *out) {
  const struct run *run = system->self;
  const ptrdiff_t D = system->D;
  trained_column(run, j, out);
  for (ptrdiff_t i = 0; i < D; i++) /* last: it may be small beside what a fold takes away */
    out[i] += penalty(run->fs, run->lambda, i, j);
  memcpy(out + D, term(run->fs, j) + run->from, (size_t)run->rows * sizeof(double));
  return 0;
}

/* ---- room ---- */

static ptrdiff_t most_columns(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count) {
  const double asked = (double)(fs->folds + 1) * control->pursuit.k * count;
  return asked < (double)count_terms(fs) ? (ptrdiff_t)asked : count_terms(fs);
}

/* Columns are kept by fold where that takes no more room than the terms. */
static int count_parts(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count) {
  return fs->folds > 1 && fs->folds * most_columns(fs, control, count) <= fs->m ? fs->folds : 1;
}

static ptrdiff_t fold_rows(const struct fixed_size *fs, int v) {
  return v == 0 ? 0 : fs->start[v] - fs->start[v - 1];
}

static size_t run_work(
    const struct fixed_size *fs, const struct fixed_size_control *control, int v) {
  const struct system system = {.D = count_terms(fs), .L = fs->L, .extra = fold_rows(fs, v)};
  const size_t bytes = scdp_work(&system, &control->pursuit), word = sizeof(double);
  return (bytes + word - 1) / word * word;
}

size_t fixed_size_work(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count) {
  const size_t D = (size_t)count_terms(fs), m = (size_t)fs->m, runs = (size_t)fs->folds + 1;
  size_t bytes = runs * sizeof(struct run);
  for (int v = 0; v <= fs->folds; v++)
    bytes += run_work(fs, control, v);
  bytes += runs * D * (2 + (size_t)fs->L) * sizeof(double);
  const size_t columns = (size_t)most_columns(fs, control, count);
  bytes += D * columns * (size_t)count_parts(fs, control, count) * sizeof(double);
  bytes += (m * BATCH + m * (size_t)fs->L) * sizeof(double);
  return bytes + (D + m) * sizeof(int);
}

/* ---- a path ---- */

/* The diagonal and right side of what a run trains on, without the penalty. */
static void measure_run(struct run *run) {
  const struct fixed_size *fs = run->fs;
  const ptrdiff_t D = count_terms(fs), m = fs->m, end = run->from + run->rows;
  for (ptrdiff_t j = 0; j < D; j++) {
    const double *t = term(fs, j);
    run->squares[j] = simd->dot(run->from, t, t) + simd->dot(m - end, t + end, t + end);
    for (ptrdiff_t l = 0; l < fs->L; l++) {
      const double *y = fs->y + l * m;
      run->b[j + l * D] = simd->dot(run->from, t, y) + simd->dot(m - end, t + end, y + end);
    }
  }
}

static void begin_run(struct run *run, const struct scdp_control *control, double lambda) {
  const ptrdiff_t D = count_terms(run->fs);
  run->lambda = lambda;
  run->next = 0;
  for (ptrdiff_t j = 0; j < D; j++)
    run->diagonal[j] = run->squares[j] + penalty(run->fs, lambda, j, j);
  run->system = (struct system){.D = D,
      .L = run->fs->L,
      .extra = run->rows,
      .b = run->b,
      .diagonal = run->diagonal,
      .column = run_column,
      .self = run};
  run->at = scdp_begin(&run->system, control, run->room);
}

static void take_next(struct run *run, const struct scdp_control *control) {
  const ptrdiff_t rows = run->system.D + run->system.extra;
  run_column(&run->system, run->next, run->at.F + run->at.size * rows);
  run->status = scdp_take(&run->at, &run->system, control, run->next);
}

/* One step of every run; a run that is at its end stays where it is. EARLY_STOP when that is the
   one on all rows. */
static enum status step_runs(const struct fixed_size *fs, struct products *products,
    struct run *run, const struct scdp_control *control, int threads) {
  const int runs = fs->folds + 1;
  int waiting = 0;
  for (int v = 0; v < runs; v++)
    waiting += run[v].waits = run[v].next >= 0;
  while (waiting > 0) {
    for (int v = 0; v < runs; v++)
      if (run[v].waits) {
        run[v].next = scdp_choose(&run[v].at, &run[v].system, control);
        run[v].waits = run[v].next >= 0;
      }
    form_missing(fs, products, run, runs, threads);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
#endif
    for (int v = 0; v < runs; v++)
      if (run[v].waits)
        take_next(run + v, control);
    /* elsewhere a negative pivot may be the rounding of what a fold took away */
    if (run[0].waits && run[0].status == NOT_POSITIVE)
      return NOT_POSITIVE;
    waiting = 0;
    for (int v = 0; v < runs; v++)
      waiting += run[v].waits = run[v].waits && run[v].status == EARLY_STOP;
  }
  return run[0].next < 0 ? EARLY_STOP : COMPLETE;
}

/* residual (m x L) := what each row's own run misses, in the user's units. */
static void held_out(const struct fixed_size *fs, const struct run *run, double *residual) {
  for (int v = 1; v <= fs->folds; v++)
    for (ptrdiff_t l = 0; l < fs->L; l++)
      for (ptrdiff_t i = 0; i < run[v].rows; i++) {
        const ptrdiff_t row = run[v].from + i;
        const double left = fs->y[row + l * fs->m] - run[v].at.value[i + l * run[v].rows];
        residual[row + l * fs->m] = left / fs->root_w[row];
      }
}

/* (38): whether the error of this size is near the mean of those before it, the first being that of
   size 1. */
static int is_level(const struct fixed_size_control *control, const double *squared, int size) {
  if (control->change <= 0 || size <= control->window)
    return 0;
  double mean = 0;
  for (int s = size - 1 - control->window; s < size - 1; s++)
    mean += squared[s] / control->window;
  return fabs(mean - squared[size - 1]) < control->change * fabs(squared[size - 1]);
}

struct machine {
  const struct fixed_size *fs;
  const struct fixed_size_control *control;
  struct host *host;
  struct run *run;
  struct products products;
  double *residual; /* m x L */
  int *order;       /* m: 0, 1, ... */
};

/* Carves the machine out of `work`. */
static struct machine lay_out(const struct fixed_size *fs, const struct fixed_size_control *control,
    int count, struct host *host, void *work) {
  const ptrdiff_t D = count_terms(fs), m = fs->m, L = fs->L;
  struct machine machine = {.fs = fs, .control = control, .host = host, .run = work};
  double *next = (double *)(void *)(machine.run + fs->folds + 1);
  machine.products.columns = next;
  machine.products.parts = count_parts(fs, control, count);
  machine.products.batch = next + D * most_columns(fs, control, count) * machine.products.parts;
  machine.residual = machine.products.batch + m * BATCH;
  next = machine.residual + m * L;
  for (int v = 0; v <= fs->folds; v++) {
    machine.run[v] = (struct run){.fs = fs,
        .from = v > 0 ? fs->start[v - 1] : m,
        .rows = fold_rows(fs, v),
        .squares = next,
        .diagonal = next + D,
        .b = next + 2 * D,
        .room = next + D * (2 + L)};
    next += D * (2 + L) + (ptrdiff_t)(run_work(fs, control, v) / sizeof(double));
  }
  machine.products.slot = (int *)(void *)next;
  machine.order = machine.products.slot + D;
  return machine;
}

/* Figures of the models of this size, held out. */
static void judge_step(
    const struct machine *machine, int size, struct fixed_size_result *result, ptrdiff_t place) {
  const struct fixed_size *fs = machine->fs;
  const ptrdiff_t mL = fs->m * fs->L;
  const struct problem pb = {
      .m = fs->m, .L = fs->L, .response = fs->response, .root_w = fs->root_w};
  double *residual = machine->residual;
  held_out(fs, machine->run, residual);
  struct estimate estimate =
      criterion_estimate(&pb, SQUARED, residual, machine->order, fs->start, fs->folds);
  place += size - 1;
  result->squared[place] = estimate.value;
  result->se[place] = estimate.se;
  if (machine->control->classes) {
    estimate = criterion_estimate(&pb, ERROR, residual, machine->order, fs->start, fs->folds);
    result->error[place] = estimate.value;
  }
  if (result->residual != NULL)
    memcpy(result->residual + mL * place, residual, (size_t)mL * sizeof(double));
}

/* The path of lambda number g of `count`. */
static enum status follow_path(
    struct machine *machine, double lambda, int g, int count, struct fixed_size_result *result) {
  const struct fixed_size *fs = machine->fs;
  const struct scdp_control *pursuit = &machine->control->pursuit;
  struct run *run = machine->run;
  const ptrdiff_t k = pursuit->k;
  enum status status = COMPLETE;
  for (int v = 0; v <= fs->folds; v++)
    begin_run(run + v, pursuit, lambda);
  while (run->at.size < k && status == COMPLETE) {
    const double done = (double)(g * k + run->at.size), total = (double)(count * k);
    if (machine->host->stop(machine->host, done, total)) {
      status = INTERRUPTED;
    } else {
      status = step_runs(fs, &machine->products, run, pursuit, machine->host->threads);
      if (status == COMPLETE && fs->folds > 0) {
        judge_step(machine, run->at.size, result, g * k);
        const int forced = pursuit->forced;
        if (is_level(machine->control, result->squared + g * k + forced, run->at.size - forced))
          status = EARLY_STOP;
      }
    }
  }
  result->size[g] = run->at.size;
  pursuit_path(&run->at, &run->system, result->chosen + g * k, result->factor + g * k * k);
  memcpy(result->z + g * k * fs->L, run->at.z, (size_t)(k * fs->L) * sizeof(double));
  return status;
}

enum status fixed_size(const struct fixed_size *fs, const double *lambda, int count,
    const struct fixed_size_control *control, struct host *host, void *work,
    struct fixed_size_result *result) {
  struct machine machine = lay_out(fs, control, count, host, work);
  for (ptrdiff_t j = 0; j < count_terms(fs); j++)
    machine.products.slot[j] = -1;
  for (ptrdiff_t i = 0; i < fs->m; i++)
    machine.order[i] = (int)i;
#ifdef _OPENMP
#pragma omp parallel for num_threads(host->threads) schedule(static) if (host->threads > 1)
#endif
  for (int v = 0; v <= fs->folds; v++) {
    machine.run[v].products = &machine.products;
    measure_run(machine.run + v);
  }
  memset(result->size, 0, (size_t)count * sizeof(int));
  for (int g = 0; g < count; g++) {
    const enum status status = follow_path(&machine, lambda[g], g, count, result);
    result->columns = (double)machine.products.count;
    if (status == INTERRUPTED || status == NOT_POSITIVE)
      return status;
  }
  return COMPLETE;
}
