/* Greedy search that skips candidates against Algorithm 3 of the paper, which skips none, and
   against itself without skipping, on other instruction sets and on two threads. */
#include "runs.h"
#include "simd.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Algorithm 3 by the book, in more digits ---- */

/* Letters as in the paper. Weights and covariates are met in the columns v_i and in y alone: rows
   are multiplied by the root of their weight and the covariates' part is taken out, which turns G
   at the start into (I - QQ') / lambda for an orthonormal basis Q of that part. */
struct book {
  ptrdiff_t m, n, L;
  long double lambda;
  long double *v, *C;     /* m x n */
  long double *y, *a;     /* m x L */
  long double *d, *u, *Q; /* m, m, m x q */
  long double *square;    /* n, |v_i|^2 with the covariates still in it */
  long double yy;         /* |y|^2 */
  long double response;   /* the length of y with the covariates still in it */
  long double drift;      /* what digits the columns taken may have cost the kernel */
  long double cancelled;  /* and the book: the largest of them, squared, beside lambda */
};

static long double product(const long double *a, const long double *b, ptrdiff_t m) {
  long double sum = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    sum += a[j] * b[j];
  return sum;
}

static void subtract(long double *v, long double f, const long double *u, ptrdiff_t m) {
  for (ptrdiff_t j = 0; j < m; j++)
    v[j] -= f * u[j];
}

/* v less its part along the first q columns of Q, twice for rounding. */
static void subtract_covariates(const struct book *book, ptrdiff_t q, long double *v) {
  for (ptrdiff_t l = 0; l < 2 * q; l++) {
    const long double *column = book->Q + l % q * book->m;
    subtract(v, product(column, v, book->m), column, book->m);
  }
}

static long double *reals(ptrdiff_t count) {
  return room((size_t)count * sizeof(long double), 0);
}

static struct book book_begin(const struct made *made, double lambda) {
  const struct problem *pb = &made->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L, q = pb->q;
  struct book book = {m, n, L, lambda, reals(m * n), reals(m * n), reals(m * L), reals(m * L),
      reals(m), reals(m), reals(m * q), reals(n), 0, 0, 4, 0};
  for (ptrdiff_t j = 0; j < m; j++) {
    const long double root_w = sqrtl(made->w[j]);
    for (ptrdiff_t l = 0; l < q; l++)
      book.Q[j + l * m] = root_w * made->z[j + l * m];
    for (ptrdiff_t i = 0; i < n; i++)
      book.v[j + i * m] =
          root_w * ((long double)made->x[j + i * m] - pb->centre[i]) * pb->inv_scale[i];
    for (ptrdiff_t l = 0; l < L; l++)
      book.y[j + l * m] = root_w * pb->response[j + l * m];
    book.d[j] = 1 / book.lambda;
  }
  for (ptrdiff_t l = 0; l < q; l++) {
    long double *column = book.Q + l * m;
    subtract_covariates(&book, l, column);
    const long double norm = sqrtl(product(column, column, m));
    for (ptrdiff_t j = 0; j < m; j++) {
      column[j] /= norm;
      book.d[j] -= column[j] * column[j] / book.lambda;
    }
  }
  book.response = sqrtl(product(book.y, book.y, m * L));
  for (ptrdiff_t i = 0; i < n; i++) {
    book.square[i] = product(book.v + i * m, book.v + i * m, m);
    subtract_covariates(&book, q, book.v + i * m);
  }
  for (ptrdiff_t l = 0; l < L; l++)
    subtract_covariates(&book, q, book.y + l * m);
  for (ptrdiff_t p = 0; p < m * n; p++)
    book.C[p] = book.v[p] / book.lambda;
  for (ptrdiff_t p = 0; p < m * L; p++)
    book.a[p] = book.y[p] / book.lambda;
  book.yy = product(book.y, book.y, m * L);
  return book;
}

static void book_discard(struct book *book) {
  long double *const parts[] = {
      book->v, book->C, book->y, book->a, book->d, book->u, book->Q, book->square};
  for (int p = 0; p < 8; p++)
    free(parts[p]);
}

/* A sum of squared errors, and what rounding may do to it in the kernel, which knows |y| to a few
   units in its last place for each column taken, more where kappa is small beside the column, and
   divides by the diagonal of lambda G, 1 less a leverage. */
struct sum {
  double value, slack;
  double off; /* to the length of the vector whose squares are summed */
};

static struct sum make_sum(
    const struct book *book, long double value, long double least, long double drift) {
  const double length = sqrt((double)value);
  const double off = 32 * DBL_EPSILON * (double)(drift / (least * book->lambda)) *
                     ((double)book->response + length);
  return (struct sum){(double)value, off * (2 * length + off), off};
}

/* What column i adds to the drift. */
static long double drift_of(const struct book *book, ptrdiff_t i) {
  const long double *v = book->v + i * book->m, *C = book->C + i * book->m;
  return 1 + book->square[i] / (book->lambda * (1 + product(v, C, book->m)));
}

/* Lines 9 to 17: the sum of squared errors, each left out once, of the model with column i. */
static struct sum book_error(const struct book *book, ptrdiff_t i) {
  const ptrdiff_t m = book->m;
  const long double *v = book->v + i * m, *C = book->C + i * m;
  const long double f = 1 / (1 + product(v, C, m));
  long double e = 0, least = INFINITY;
  for (ptrdiff_t l = 0; l < book->L; l++) {
    const long double *a = book->a + l * m, va = product(v, a, m);
    for (ptrdiff_t j = 0; j < m; j++) {
      const long double u = f * C[j], d = book->d[j] - u * C[j], r = (a[j] - u * va) / d;
      e += r * r;
      least = d < least ? d : least;
    }
  }
  return make_sum(book, e, least, book->drift + drift_of(book, i));
}

/* That of the model that stands. */
static struct sum book_now(const struct book *book) {
  long double e = 0, least = INFINITY;
  for (ptrdiff_t l = 0; l < book->L; l++)
    for (ptrdiff_t j = 0; j < book->m; j++) {
      const long double r = book->a[j + l * book->m] / book->d[j];
      e += r * r;
      least = book->d[j] < least ? book->d[j] : least;
    }
  return make_sum(book, e, least, book->drift);
}

/* Lines 23 to 30. */
static void book_add(struct book *book, ptrdiff_t b) {
  const ptrdiff_t m = book->m;
  const long double *v = book->v + b * m, *C = book->C + b * m;
  const long double kappa = 1 + product(v, C, m);
  book->drift += drift_of(book, b);
  book->cancelled = fmaxl(book->cancelled, book->square[b] / book->lambda);
  for (ptrdiff_t j = 0; j < m; j++)
    book->u[j] = C[j] / kappa;
  for (ptrdiff_t l = 0; l < book->L; l++)
    subtract(book->a + l * m, product(v, book->a + l * m, m), book->u, m);
  for (ptrdiff_t j = 0; j < m; j++)
    book->d[j] -= book->u[j] * C[j];
  for (ptrdiff_t i = 0; i < book->n; i++)
    subtract(book->C + i * m, product(v, book->C + i * m, m), book->u, m);
}

/* ---- a run against the book ---- */

static int is_near(double value, struct sum sum) {
  return fabs(value - sum.value) <= sum.slack;
}

static int by_value(const void *a, const void *b) {
  const double x = ((const struct sum *)a)->value, y = ((const struct sum *)b)->value;
  return (x > y) - (x < y);
}

static int was_chosen(const struct run *run, int move, ptrdiff_t i) {
  for (int p = 1; p <= move; p++)
    if (run->result.feature[p] == i)
      return 1;
  return 0;
}

enum { RUNS = 6 };

/* Runs that made the same moves. */
struct group {
  const struct run *run[RUNS];
  int size;
};

/* The runners-up of a move are the best of the candidates that were not taken, `rest`. */
static void check_others(const struct run *run, int keep, int move, double weight,
    const struct sum *e, const struct sum *rest, int count) {
  const int b = run->result.feature[move], *other = run->result.runner_up + (ptrdiff_t)keep * move;
  const double *loss = run->result.runner_up_loss + (ptrdiff_t)keep * move;
  for (int p = 0; p < keep; p++)
    if (p >= count)
      CHECK(other[p] == -1 && isnan(loss[p]));
    else
      CHECK(other[p] >= 0 && other[p] != b && is_near(loss[p] * weight, e[other[p]]) &&
            is_near(loss[p] * weight, rest[p]));
}

/* The best candidate was taken, of those that tie the first: a tie is a difference below 1e-12
   |y|^2. `weight` turns means into sums. */
static void check_choice(const struct made *made, const struct greedy_control *control,
    const struct group *group, const struct book *book, int move, double weight) {
  const struct run *run = group->run[0];
  const ptrdiff_t n = book->n;
  struct sum *e = room((size_t)n * sizeof *e, 0), *rest = room((size_t)n * sizeof *rest, 0);
  const int b = run->result.feature[move];
  struct sum best = {INFINITY, 0, 0};
  int count = 0, right = 1;
  for (ptrdiff_t i = 0; i < n; i++) {
    e[i] = (struct sum){INFINITY, 0, 0};
    if (!made->pb.usable[i] || was_chosen(run, move - 1, i))
      continue;
    e[i] = book_error(book, i);
    if (e[i].value < best.value)
      best = e[i];
    if (i != b)
      rest[count++] = e[i];
  }
  const double tie = best.value + 1e-12 * (double)book->yy;
  right = e[b].value <= tie + best.slack + e[b].slack;
  for (ptrdiff_t i = 0; i < b; i++)
    right = right && e[i].value > tie - best.slack - e[i].slack;
  CHECK(right);
  qsort(rest, (size_t)count, sizeof *rest, by_value);
  for (int i = 0; i < group->size; i++)
    check_others(group->run[i], control->keep, move, weight, e, rest, count);
  free(e);
  free(rest);
}

static double beta_of(const struct book *book, ptrdiff_t i, ptrdiff_t l) {
  return (double)product(book->v + i * book->m, book->a + l * book->m, book->m);
}

/* Coefficients and residuals of the model that stands, after `move` moves. */
static void check_model(const struct made *made, const struct greedy_control *control,
    const struct run *run, const struct book *book, int move) {
  const struct greedy_result *out = &run->result;
  const ptrdiff_t m = book->m, k = control->k;
  const double lambda = control->lambda;
  const double digits = 50 * DBL_EPSILON * (double)book->drift;
  const struct sum now = book_now(book);
  double beta = 0, fitted = 0, held_out = 0, largest = 0;
  for (ptrdiff_t l = 0; l < book->L; l++) {
    for (int p = 0; p < move; p++) {
      const double truth = beta_of(book, out->feature[p + 1], l);
      largest = fmax(largest, fabs(truth));
      beta = fmax(beta, fabs(out->beta[p + k * (l + book->L * move)] - truth));
    }
    for (ptrdiff_t j = 0; j < m && out->best == move; j++) {
      const double a = (double)book->a[j + l * m], root_w = sqrt(made->w[j]);
      const double r = (double)(book->a[j + l * m] / book->d[j]);
      fitted = fmax(fitted, fabs(out->fitted[j + l * m] * root_w - a * lambda));
      held_out = fmax(held_out, fabs(out->held_out[j + l * m] * root_w - r));
    }
  }
  CHECK(fitted <= digits * (double)book->response);
  CHECK(beta <= 10 * digits * ((double)book->response / sqrt(lambda) + largest));
  CHECK(held_out <= now.off);
}

/* Whether too few digits are left to compare. */
static int is_lost(const struct book *book) {
  return book->drift > 1e5L || book->cancelled > 1e9L;
}

static double weight_of(const struct made *made) {
  double weight = 0;
  for (ptrdiff_t j = 0; j < made->pb.m; j++)
    weight += made->w[j] * (double)made->pb.L;
  return weight;
}

/* One walk through the book for all of them. */
static void check_group(
    const struct made *made, const struct greedy_control *control, const struct group *group) {
  struct book book = book_begin(made, control->lambda);
  const double weight = weight_of(made);
  for (int move = 0; move <= control->k; move++) {
    if (move > 0) {
      check_choice(made, control, group, &book, move, weight);
      book_add(&book, group->run[0]->result.feature[move]);
    }
    if (is_lost(&book))
      break;
    const struct sum now = book_now(&book);
    for (int i = 0; i < group->size; i++) {
      const struct greedy_result *out = &group->run[i]->result;
      CHECK(is_near(out->squared[move] * weight, now) && out->loss[move] == out->squared[move]);
      check_model(made, control, group->run[i], &book, move);
    }
  }
  book_discard(&book);
}

static int same_moves(const struct run *a, const struct run *b, int moves) {
  const size_t bytes = ((size_t)moves + 1) * sizeof(int);
  return memcmp(a->result.feature, b->result.feature, bytes) == 0;
}

static void check_runs(const struct made *made, const struct greedy_control *control,
    const struct run *runs, int count) {
  int checked[RUNS] = {0};
  for (int first = 0; first < count; first++) {
    struct group group = {.size = 0};
    CHECK(runs[first].status == COMPLETE && runs[first].result.moves == control->k);
    for (int i = first; i < count; i++)
      if (!checked[i] && same_moves(runs + first, runs + i, control->k)) {
        group.run[group.size++] = runs + i;
        checked[i] = 1;
      }
    if (group.size > 0)
      check_group(made, control, &group);
  }
}

/* ---- problems ---- */

#ifndef PROBLEMS
#define PROBLEMS 300 /* more of them take a compiler's -D */
#endif

static struct greedy_work_done total;

static void add_work(const struct run *run) {
  total.candidates += run->result.work.candidates;
  total.evaluated += run->result.work.evaluated;
#ifdef SPARSELS_CHECK_BOUNDS
  total.bounds += run->result.work.bounds;
  total.broken += run->result.work.broken;
  CHECK(run->result.work.broken == 0);
#endif
}

static void report_work(void) {
  printf("%.0f of %.0f candidates were scored\n", total.evaluated, total.candidates);
#ifdef SPARSELS_CHECK_BOUNDS
  printf("%.0f bounds were compared, %.0f were broken\n", total.bounds, total.broken);
  CHECK(total.bounds > 0);
#endif
  total = (struct greedy_work_done){0};
}

/* Skipping candidates, on every instruction set, and not skipping them: each run is what the book
   says. What was in the workspace does not matter, nor do threads. Returns the work of skipping. */
static struct greedy_work_done check_problem(
    const struct made *made, struct greedy_control control) {
  const struct simd *widest = simd;
  struct run runs[RUNS] = {run_kernel(made, &control, 1, 0xFF, quiet)};
  int count = 1;
  const struct run two = run_fenced(made, &control, 2, 0, quiet);
  CHECK(same_run(runs, &two));
  free(two.block);
  for (int width = 1; width < widest->width; width *= 2) {
    simd = simd_for(width);
    runs[count++] = run_fenced(made, &control, 1, 0xFF, quiet);
  }
  simd = widest;
  for (int i = 0; i < count; i++)
    add_work(runs + i);
  control.skipping = SKIP_NONE;
  runs[count++] = run_fenced(made, &control, 1, 0xFF, quiet);
  const struct greedy_work_done work = runs[0].result.work;
  CHECK(runs[count - 1].result.work.evaluated == work.candidates);
  check_runs(made, &control, runs, count);
  for (int i = 0; i < count; i++)
    free(runs[i].block);
  return work;
}

static struct greedy_control control_of(int k, int keep, double lambda) {
  return (struct greedy_control){.lambda = lambda,
      .k = k,
      .keep = keep,
      .max_moves = k,
      .search = FORWARD,
      .criterion = SQUARED,
      .classes = 1,
      .skipping = SKIP_BY_BOUNDS};
}

static void check_any(void) {
  struct shape shape = {.m = any(3, 70), .n = any(1, 40), .L = any(1, 3), .q = any(0, 2)};
  if (shape.m - shape.q < 2) /* rows for a feature beside the covariates */
    shape.q = 1;
  const int form = any(0, 3);
  shape.weights = any(0, 1);
  shape.classes = any(0, 2) == 0;
  shape.exact = any(0, 7) == 0;
  const int columns = any(0, 9);
  shape.columns = columns > 1 ? ANY : columns > 0 ? UNRELATED : FAINT;
  shape.sparse = form == 0;
  shape.whole = form == 1;
  if (any(0, 9) == 0) { /* more outputs than columns */
    shape.L = any(4, 12);
    shape.n = any(1, 8);
  }
  const int most = any(1, (int)(shape.m - 1 - shape.q)), keep = 3 * any(0, 1);
  struct made made = make(shape);
  const int usable = usable_columns(&made);
  const double power = any(0, 4) > 0 ? 3 * uniform() : -5 + 2 * uniform();
  if (usable > 0)
    check_problem(&made, control_of(most < usable ? most : usable, keep, pow(10, power)));
  discard(&made);
}

/* Larger problems: those where most candidates are skipped, and those where that cannot be; ridges
   as large as the columns. */
static const struct larger {
  struct shape shape;
  int k;
  double lambda;
  int hostile;
} larger[] = {{{.m = 60, .n = 400, .L = 1, .q = 1, .columns = BLOCKS}, 20, 1, 0},
    {{.m = 120, .n = 400, .L = 2, .columns = BLOCKS, .sparse = 1}, 20, 10, 0},
    {{.m = 300, .n = 60, .L = 1, .q = 1, .columns = SIGNALS, .weights = 1}, 20, 1, 0},
    {{.m = 300, .n = 60, .L = 3, .q = 2, .columns = SIGNALS, .whole = 1}, 20, 0.1, 0},
    {{.m = 300, .n = 200, .L = 1, .columns = SIGNALS, .exact = 1}, 95, 0.1, 0},
    {{.m = 200, .n = 400, .L = 1, .q = 1, .columns = SIGNALS}, 80, 1, 0},
    {{.m = 600, .n = 60, .L = 2, .columns = ANY}, 20, 300, 1},
    {{.m = 600, .n = 60, .L = 1, .columns = BLOCKS}, 20, 300, 0},
    {{.m = 40, .n = 200, .L = 1, .q = 1, .columns = HEAVY}, 30, 1, 1},
    {{.m = 40, .n = 200, .L = 1, .columns = UNRELATED}, 36, 0.01, 1}};

static void check_larger(const struct larger *larger, int keep) {
  struct made made = make(larger->shape);
  const struct greedy_work_done work =
      check_problem(&made, control_of(larger->k, keep, larger->lambda));
  if (larger->hostile)
    CHECK(work.dense_from > 0);
  else
    CHECK(work.evaluated < (keep > 0 ? 0.8 : 0.3) * work.candidates);
  discard(&made);
}

TEST(lazy_interrupts) {
  static const struct shape shapes[] = {{.m = 30, .n = 40, .L = 1, .q = 1, .columns = BLOCKS},
      {.m = 25, .n = 12, .L = 2, .columns = ANY, .weights = 1, .sparse = 1}};
  for (int i = 0; i < 2; i++)
    for (int keep = 0; keep <= 3; keep += 3) {
      seed(90 + (unsigned long long)i);
      struct made made = make(shapes[i]);
      const struct greedy_control control = control_of(8, keep, 1);
      stop_everywhere(&made, &control);
      discard(&made);
    }
}

TEST(lazy_problems) {
  for (int i = 0; i < PROBLEMS; i += every(5)) {
    seed(1000 + (unsigned long long)i);
    check_any();
  }
  report_work();
}

TEST(lazy_larger) {
  for (int i = 0; i < (int)(sizeof larger / sizeof *larger); i++)
    for (int keep = 0; keep <= 3; keep += 3) {
      seed(70 + (unsigned long long)i);
      check_larger(larger + i, keep);
    }
  report_work();
}
