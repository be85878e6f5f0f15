/* Greedy search that knows the rows by their products alone: the same moves, errors and models as
   with the rows; products beside plain sums; training sets without a fold and with turned columns
   beside the same products made one by one. */
#include "products.h"
#include "runs.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, TOGETHER = 3 };

/* A problem without rows, and its products. */
struct bare {
  struct made made;
  struct fold_products products;
  double *of, *weight;
  int *variable; /* all, in their order */
};

static struct bare bare_of(const struct made *made, int threads) {
  const struct problem *pb = &made->pb;
  const int folds = made->folds.count[0];
  const ptrdiff_t size = packed_size(pb->n + pb->q + pb->L);
  struct bare bare = {.made = *made,
      .of = room((size_t)(size * (folds + 1)) * sizeof(double), 0xFF),
      .weight = room((size_t)(folds + 1) * sizeof(double), 0xFF),
      .variable = room((size_t)(pb->n + pb->q + pb->L) * sizeof(int), 0)};
  struct polls polls = {0, 0};
  struct host host = {.threads = threads, .stop = poll, .self = &polls};
  void *work = room(fold_products_work(pb), 0xFF);
  CHECK(fold_products(pb, &made->folds, &host, work, bare.of, bare.weight) == COMPLETE);
  free(work);
  for (int v = 0; v < pb->n + pb->q + pb->L; v++)
    bare.variable[v] = v;
  bare.made.pb.m = 0;
  bare.made.folds = (struct folds){.repeats = 0};
  bare.products = (struct fold_products){
      .folds = folds, .order = pb->n + pb->q + pb->L, .of = bare.of, .weight = bare.weight};
  return bare;
}

static struct greedy_products products_in_order(const struct bare *bare) {
  return (struct greedy_products){.of = &bare->products, .without = -1, .variable = bare->variable};
}

static void discard_bare(struct bare *bare) {
  free(bare->variable);
  free(bare->of);
  free(bare->weight);
}

/* The product of two variables over the rows of a fold. */
static double product_of(const struct bare *bare, int fold, ptrdiff_t a, ptrdiff_t b) {
  return products_of_fold(&bare->products, fold)[packed_place(a, b)];
}

/* Variable v of the products in one row. */
static double variable(const struct problem *pb, ptrdiff_t v, ptrdiff_t row) {
  if (v >= pb->n + pb->q)
    return pb->y[row + (v - pb->n - pb->q) * pb->m];
  if (v >= pb->n)
    return pb->Q[row + (v - pb->n) * pb->m];
  const double x = ((const double *)pb->x.dense)[row + v * pb->m];
  return pb->root_w[row] * (x - pb->centre[v]) * pb->inv_scale[v];
}

static const struct shape shapes[] = {
    {.m = 40, .n = 12, .L = 1, .q = 1, .folds = 4, .repeats = 1},
    {.m = 50, .n = 15, .L = 2, .q = 2, .folds = 5, .repeats = 1, .weights = 1},
    {.m = 30, .n = 9, .L = 1, .q = 0, .folds = 3, .repeats = 1, .weights = 1},
    {.m = 60, .n = 16, .L = 1, .q = 3, .folds = 7, .repeats = 1, .columns = BLOCKS},
};

static int never(void) {
  return 0;
}

TEST(by_products_sums) {
  for (int i = 0; i < 8; i++) {
    seed(100 + (unsigned long long)i);
    struct shape shape = shapes[i % 4];
    shape.m = i < 4 ? shape.m : 900;
    shape.n = i < 4 ? shape.n : 130;
    struct made made = make(shape);
    struct bare bare = bare_of(&made, 1), two = bare_of(&made, 2);
    const ptrdiff_t order = bare.products.order, size = packed_size(order);
    const int folds = bare.products.folds;
    CHECK(memcmp(bare.of, two.of, (size_t)(size * (folds + 1)) * sizeof(double)) == 0);
    double total = 0;
    for (int f = 0; f <= folds; f++) {
      const ptrdiff_t from = f < folds ? made.folds.start[f] : 0;
      const ptrdiff_t to = f < folds ? made.folds.start[f + 1] : made.pb.m;
      double weight = 0;
      for (ptrdiff_t p = from; p < to; p++)
        weight += case_weight(&made.pb, made.folds.order[p]);
      total += f < folds ? weight : 0;
      CHECK_NEAR(bare.weight[f], weight, 1e-13);
      for (int draw = 0; draw < 200; draw++) {
        const ptrdiff_t a = any(0, (int)order - 1), b = any(0, (int)order - 1);
        double sum = 0, squares = 1;
        for (ptrdiff_t p = from; p < to; p++) {
          const int row = made.folds.order[p];
          const double product = variable(&made.pb, a, row) * variable(&made.pb, b, row);
          sum += product;
          squares += fabs(product);
        }
        CHECK_NEAR(product_of(&bare, f, a, b) / squares, sum / squares, 1e-13);
      }
    }
    CHECK_NEAR(total, bare.weight[folds], 1e-13);
    discard_bare(&bare);
    discard_bare(&two);
    discard(&made);
  }
}

TEST(by_products_weighted) {
  seed(7);
  struct made made = make((struct shape){.m = 700, .n = 70, .L = 1, .q = 0, .folds = 2});
  const ptrdiff_t m = made.pb.m, n = made.pb.n;
  const double *x = made.pb.x.dense;
  double *v = room((size_t)(2 * m) * sizeof(double), 0);
  for (ptrdiff_t r = 0; r < 2 * m; r++)
    v[r] = uniform();
  const struct weighted_columns columns = {
      .m = m, .n = n, .count = 2, .x = made.pb.x, .v = v, .stop = never};
  double *products = room((size_t)(2 * n * n) * sizeof(double), 0xFF);
  void *work = room(weighted_products_work(n), 0xFF);
  CHECK(weighted_products(&columns, work, products) == COMPLETE);
  for (int draw = 0; draw < 300; draw++) {
    const ptrdiff_t i = draw * 7 % n, j = draw * 11 % n, l = draw % 2;
    double sum = 0, size = 0;
    for (ptrdiff_t r = 0; r < m; r++) {
      sum += v[r + l * m] * x[r + i * m] * x[r + j * m];
      size += fabs(v[r + l * m] * x[r + i * m] * x[r + j * m]);
    }
    CHECK_NEAR(products[i + j * n + l * n * n] / size, sum / size, 1e-13);
  }
  free(work);
  free(products);
  free(v);
  discard(&made);
}

/* Three columns together, the last ones on their own. */
struct threes {
  int of[MOST], start[MOST], columns[MOST];
  struct column_groups groups;
};

static void make_threes(const struct problem *pb, struct threes *threes) {
  int used = 0, count = 0;
  for (int i = 0; i < pb->n; i++)
    threes->of[i] = -1;
  for (int i = 0; i + TOGETHER <= pb->n - 2; i += TOGETHER) {
    threes->start[count] = used;
    for (int p = i; p < i + TOGETHER; p++)
      if (pb->usable[p]) {
        threes->of[p] = count;
        threes->columns[used++] = p;
      }
    threes->start[++count] = used;
  }
  threes->groups =
      (struct column_groups){MOVE_TOGETHER, count, threes->of, threes->start, threes->columns};
}

static struct greedy_control control_of(const struct threes *threes, int k) {
  return (struct greedy_control){.lambda = 0.7,
      .nu = 0.5,
      .k = k,
      .keep = 2,
      .most_columns = threes == NULL ? 0 : TOGETHER * k,
      .max_moves = k,
      .groups = threes == NULL ? (struct column_groups){.rule = NO_GROUPS} : threes->groups};
}

/* The coefficients of the covariates, in models whose columns are not residualised. */
static double covariate_of(
    const struct made *made, const struct run *run, int most, int size, ptrdiff_t c, ptrdiff_t l) {
  const struct problem *pb = &made->pb;
  double sum = 0;
  for (int p = 0; p < run->result.model_columns[size]; p++) {
    const int i = run->result.model[p + size * most];
    double along = 0;
    for (ptrdiff_t row = 0; row < pb->m; row++)
      along += pb->Q[row + c * pb->m] * variable(pb, i, row);
    sum -= along * run->result.beta[p + most * (l + pb->L * size)];
  }
  return sum;
}

static void check_same(const struct made *made, const struct greedy_control *control,
    const struct run *rows, const struct run *products) {
  const struct greedy_result *a = &rows->result, *b = &products->result;
  const int most = greedy_most_columns(control);
  CHECK(rows->status == products->status && a->moves == b->moves && a->best == b->best);
  for (int move = 0; move <= a->moves; move++) {
    CHECK(a->feature[move] == b->feature[move] && a->size[move] == b->size[move]);
    CHECK_NEAR(b->loss[move], a->loss[move], 1e-10);
    CHECK_NEAR(b->squared[move], a->squared[move], 1e-10);
    CHECK_NEAR(b->se[move], a->se[move], 1e-10);
    for (int p = move * control->keep; p < (move + 1) * control->keep && move > 0; p++) {
      CHECK(a->runner_up[p] == b->runner_up[p]);
      if (a->runner_up[p] >= 0)
        CHECK_NEAR(b->runner_up_loss[p], a->runner_up_loss[p], 1e-10);
    }
  }
  for (int size = 0; size <= a->moves; size++) {
    CHECK(a->model_columns[size] == b->model_columns[size]);
    for (ptrdiff_t l = 0; l < made->pb.L; l++) {
      for (int p = 0; p < a->model_columns[size]; p++) {
        const ptrdiff_t place = p + most * (l + made->pb.L * size);
        CHECK_NEAR(b->beta[place], a->beta[place], 1e-9);
      }
      for (ptrdiff_t c = 0; c < made->pb.q; c++)
        CHECK_NEAR(b->covariates[c + made->pb.q * (l + made->pb.L * size)],
            covariate_of(made, rows, most, size, c, l), 1e-9);
    }
  }
}

/* Columns that are known before the search begins are not scored, and have the same errors. */
static void check_known(
    const struct bare *bare, const struct greedy_control *control, const struct run *run) {
  struct greedy_control known = *control;
  known.given = run->result.feature + 1;
  known.given_count = known.k = run->result.moves;
  const struct run again = run_kernel(&bare->made, &known, 2, 0xFF, quiet);
  CHECK(again.status == COMPLETE && again.result.moves == run->result.moves);
  for (int move = 0; move <= run->result.moves; move++) {
    CHECK(again.result.feature[move] == run->result.feature[move]);
    CHECK_NEAR(again.result.loss[move], run->result.loss[move], 1e-10);
    CHECK_NEAR(again.result.se[move], run->result.se[move], 1e-10);
  }
  free(again.block);
  /* the search goes on from the first of them as if it had chosen these */
  known.given_count--;
  const struct run on = run_kernel(&bare->made, &known, 2, 0xFF, quiet);
  CHECK(on.status == COMPLETE && on.result.moves == run->result.moves);
  for (int move = 0; move <= run->result.moves; move++) {
    CHECK(on.result.feature[move] == run->result.feature[move]);
    CHECK(on.result.loss[move] == run->result.loss[move]);
    CHECK(on.result.se[move] == run->result.se[move]);
    CHECK(on.result.pivot[move] == run->result.pivot[move]);
  }
  free(on.block);
}

/* A size is left if its error is above the ceiling by enough, or if it is not wanted, and the
   others remain what they are. */
static void check_ceilings(
    const struct bare *bare, const struct greedy_control *control, const struct run *run) {
  enum { MOST = 16 };
  struct greedy_control known = *control;
  known.given = run->result.feature + 1;
  known.given_count = known.k = run->result.moves;
  const struct run whole = run_kernel(&bare->made, &known, 1, 0xFF, quiet);
  double ceiling[MOST];
  CHECK(known.k < MOST);
  for (int kind = 0; kind < 3; kind++) {
    for (int size = 0; size <= known.k; size++)
      ceiling[size] = (size + kind) % 3 == 0 ? -1
                      : kind == 0            ? 0
                                             : uniform() * 2 * whole.result.loss[size];
    known.ceiling = ceiling;
    const struct run run_below = run_kernel(&bare->made, &known, 1 + kind % 2, 0xFF, quiet);
    const struct greedy_result *below = &run_below.result;
    CHECK(below->moves == whole.result.moves);
    for (int size = 0; size <= below->moves; size++) {
      const double error = whole.result.loss[size];
      if (size > 0 && below->loss[size] == DBL_MAX) {
        CHECK(error > ceiling[size]);
        continue;
      }
      CHECK(size == 0 || ceiling[size] > 0);
      CHECK(below->loss[size] == error);
    }
    free(run_below.block);
  }
  free(whole.block);
}

/* The models without each fold have the held-out errors. */
static void check_fold_models(
    const struct made *made, const struct greedy_control *control, const struct run *run) {
  const struct problem *pb = &made->pb;
  const int most = greedy_most_columns(control), folds = made->folds.count[0];
  for (int size = 0; size <= run->result.moves; size++) {
    double sum = 0, weight = 0;
    for (int f = 0; f < folds; f++)
      for (ptrdiff_t p = made->folds.start[f]; p < made->folds.start[f + 1]; p++) {
        const int row = made->folds.order[p];
        weight += case_weight(pb, row) * (double)pb->L;
        for (ptrdiff_t l = 0; l < pb->L; l++) {
          const ptrdiff_t place = l + pb->L * (f + folds * size);
          double residual = pb->y[row + l * pb->m];
          for (int c = 0; c < run->result.model_columns[size]; c++)
            residual -= run->result.fold_beta[c + most * place] *
                        variable(pb, run->result.model[c + size * most], row);
          for (ptrdiff_t c = 0; c < pb->q; c++)
            residual -=
                run->result.fold_covariates[c + pb->q * place] * variable(pb, pb->n + c, row);
          sum += residual * residual;
        }
      }
    CHECK_NEAR(run->result.loss[run->result.model_entry[size]], sum / weight, 1e-9);
  }
}

TEST(by_products_searches) {
  for (int i = 0; i < 48; i++) {
    seed(200 + (unsigned long long)i);
    struct made made = make(shapes[i % 4]);
    struct bare bare = bare_of(&made, 1);
    struct threes threes;
    make_threes(&made.pb, &threes);
    struct greedy_control control = control_of(i % 3 == 0 ? NULL : &threes, 4);
    const int given[] = {(int)made.pb.n - 1, 0};
    control.given = given;
    control.given_count = i % 5 == 0 && made.pb.usable[0] ? 2 : 0;
    const struct run rows = run_kernel(&made, &control, 1, 0xFF, quiet);
    control.products = products_in_order(&bare);
    control.products.fold_sizes = control.k + 1;
    const struct run products = run_kernel(&bare.made, &control, 1, 0xFF, quiet);
    const struct run two = run_kernel(&bare.made, &control, 2, 0, quiet);
    CHECK(same_run(&products, &two));
    check_same(&made, &control, &rows, &products);
    check_fold_models(&made, &control, &products);
    check_known(&bare, &control, &products);
    check_ceilings(&bare, &control, &products);
    const int most = greedy_most_columns(&control);
    for (int size = 0; size <= products.result.moves; size++)
      CHECK_NEAR(products.result.loss[products.result.model_entry[size]],
          retrained(&made, &control, products.result.model + size * most,
              products.result.model_columns[size]),
          1e-9);
    free(rows.block);
    free(products.block);
    free(two.block);
    discard_bare(&bare);
    discard(&made);
  }
}

/* Without a fold and with its own columns a search is the search of the products that are left, the
   columns being turned. */
TEST(by_products_training_sets) {
  for (int i = 0; i < 24; i++) {
    seed(300 + (unsigned long long)i);
    struct made made = make(shapes[i % 4]);
    struct bare bare = bare_of(&made, 1), left = bare_of(&made, 1);
    struct threes threes;
    make_threes(&made.pb, &threes);
    const int grouped = i % 3 > 0, without = i % 2 ? -1 : any(0, bare.products.folds - 1);
    const int width = grouped ? TOGETHER : 1, folds = bare.products.folds;
    const ptrdiff_t n = made.pb.n, order = bare.products.order;
    const ptrdiff_t size = packed_size(order);
    double *turn = room((size_t)(n * width) * sizeof(double), 0);
    double *whole = room((size_t)(order * order) * sizeof(double), 0);
    double *half = room((size_t)(order * order) * sizeof(double), 0);
    int *reversed = room((size_t)order * sizeof(int), 0);
    for (ptrdiff_t v = 0; v < order; v++)
      whole[v + v * order] = v >= n || !made.pb.usable[v];
    for (int v = 0; v < n; v++) {
      const int group = grouped ? threes.of[v] : -1;
      const int count = group < 0 ? 1 : threes.start[group + 1] - threes.start[group];
      for (int p = 0; p < count; p++) {
        turn[p + v * width] = uniform() + (p == 0);
        whole[(group < 0 ? v : threes.columns[threes.start[group] + p]) + v * order] =
            turn[p + v * width];
      }
    }
    for (int f = 0; f <= folds; f++)
      for (int pass = 0; pass < 2; pass++) /* whole' (products whole) */
        for (ptrdiff_t a = 0; a < order; a++)
          for (ptrdiff_t b = 0; b < order; b++) {
            double sum = 0;
            for (ptrdiff_t c = 0; c < order; c++)
              sum += pass == 0 ? product_of(&bare, f, a, c) * whole[c + b * order]
                               : whole[c + a * order] * half[c + b * order];
            *(pass == 0 ? half + a + b * order : left.of + f * size + packed_place(a, b)) = sum;
          }
    /* the given products have their variables in reverse order */
    double *of = room((size_t)(size * (folds + 1)) * sizeof(double), 0xFF);
    for (int v = 0; v < order; v++)
      reversed[v] = (int)order - 1 - v;
    for (int f = 0; f <= folds; f++)
      for (ptrdiff_t a = 0; a < order; a++)
        for (ptrdiff_t b = 0; b <= a; b++)
          of[packed_place(a, b) + f * size] = product_of(&bare, f, reversed[a], reversed[b]);
    struct fold_products given = bare.products;
    given.of = of;
    if (without >= 0) {
      for (ptrdiff_t p = 0; p < size; p++)
        left.of[p + folds * size] -= left.of[p + without * size];
      left.weight[folds] -= left.weight[without];
      /* the last fold in its place */
      memcpy(left.of + without * size, left.of + (folds - 1) * size, (size_t)size * sizeof(double));
      left.weight[without] = left.weight[folds - 1];
      memcpy(left.of + (folds - 1) * size, left.of + folds * size, (size_t)size * sizeof(double));
      left.weight[folds - 1] = left.weight[folds];
      left.products.folds--;
    }
    struct greedy_control control = control_of(grouped ? &threes : NULL, 3);
    control.products = (struct greedy_products){&given, without, 0, reversed, turn, width};
    const struct run turned = run_kernel(&bare.made, &control, 2, 0xFF, quiet);
    control.products = products_in_order(&left);
    const struct run plain = run_kernel(&left.made, &control, 1, 0xFF, quiet);
    CHECK(turned.result.moves == 3 && plain.result.moves == 3);
    for (int move = 0; move <= 3; move++) {
      CHECK(turned.result.feature[move] == plain.result.feature[move]);
      CHECK_NEAR(turned.result.loss[move], plain.result.loss[move], 1e-9);
      CHECK_NEAR(turned.result.se[move], plain.result.se[move], 1e-9);
    }
    free(turned.block);
    free(plain.block);
    free(of);
    free(reversed);
    free(turn);
    free(whole);
    free(half);
    discard_bare(&bare);
    discard_bare(&left);
    discard(&made);
  }
}

TEST(by_products_interrupts) {
  seed(400);
  struct made made = make(shapes[0]);
  struct bare bare = bare_of(&made, 1);
  struct threes threes;
  make_threes(&made.pb, &threes);
  struct greedy_control control = control_of(&threes, 3);
  control.products = products_in_order(&bare);
  stop_everywhere(&bare.made, &control);
  discard_bare(&bare);
  discard(&made);
}
