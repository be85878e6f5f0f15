/* The engine of a greedy search that knows the rows by products alone: of the columns, covariates
   and responses with each other, by the folds whose rows are held out together.

   A model is trained on all rows but a fold's, whose products are a difference. Of each fold there
   are two residuals of a column x_J on the members: over the rows it is trained on, where only
   products matter, and over those held out. With x~_l member l less what those before it explain,

     M_lJ = x~_l'x_J (trained rows),  kappa_l = M_ll + lambda,  Gamma_lJ = M_lJ / kappa_l,
     Z_lJ = x~_l'x_J (held-out rows),  x~_J = x_J - sum_l x~_l Gamma_lJ.

   A move by b adds a row to M and Z and so changes of each candidate the products that its score is
   made of: with its own unit and with y, over trained rows and held out. Covariates are the first
   members, without penalty. A move is O(folds size (n + q + L)), a score O(folds h^3) for a unit of
   h columns, both free of the number of rows. Where no candidate is scored, Z has the products of
   the members themselves, from which the error of a fold follows by its coefficients.

   The variables of a search are its n usable columns, then the covariates and the outputs, and have
   numbers in this order. Columns may be made of the given columns of their unit. The candidates are
   then the given columns, and their ridge penalty is the penalty of the columns made of them: both
   have the same models. The members are the columns that are made. */
#include "greedy-state.h"
#include "simd.h"
#include "tolerance.h"
#include "triangle.h"
#include <float.h>
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* What is known of one fold, the last one being none: the model of all rows. */
struct product_fold {
  double *M, *Z;          /* order x most each, a row for each member */
  double *kappa;          /* most */
  double *gamma;          /* most x most, upper triangular: Gamma of the members, its diagonal 1 */
  double *with;           /* most x width, of the moves under way */
  double *trained, *held; /* pairs x n each, of each column with its unit and with y */
  double *row;            /* order x (width + 1), of the moves under way: x~_b'x~_J, held out */
  double *error;          /* most + 1, squared, of the rows held out, by the number of members */
  ptrdiff_t joined;       /* members that M and Z have */
};

struct products_state {
  ptrdiff_t n, order;     /* usable columns; variables */
  ptrdiff_t width, pairs; /* columns of the largest unit; these and L */
  ptrdiff_t most, size;   /* members, covariates among them: at most, now */
  int scores;             /* whether candidates are ever scored */
  int in_order;           /* whether all columns join as they are numbered */
  int *given;             /* order, the variables of the products that these are, or are made of */
  int *place;             /* of each column of the problem, its number; -1: none */
  int *unit;              /* width x n, the columns of the unit of each; -1: no more */
  double *turn; /* width x n, by which given columns of its unit are multiplied; NULL: is given */
  double
      *penalty; /* width x n, of a given column with its unit, for a lambda of 1; NULL: 1 alone */
  int *partner; /* pairs x n, the variables whose products with each column make its score: the
                   columns of its unit, then the outputs; -1: none, as of all columns without one */
  int *member;  /* most, their variables */
  double *row;  /* order x most, of each member, over the training set */
  int ahead;    /* columns of the last unit that are members before their commit */
  int *left;    /* k + 1, whether a size is left */
  int last;     /* the last size that is not */
  struct product_fold *fold; /* folds + 1 */
  double least_pivot;
};

static const struct fold_products *products_of(const struct greedy *s) {
  return s->control->products.of;
}

/* Whether the rows of a fold are in the training set at all. */
static int is_trained(const struct greedy *s, int f) {
  return f != s->control->products.without;
}

/* ---- workspace ---- */

static void by_products_lay_out(struct greedy *s, int threads, struct arena *arena) {
  const struct fold_products *products = products_of(s);
  const ptrdiff_t q = s->pb->q, L = s->pb->L;
  ptrdiff_t n = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    n += s->pb->usable[i] != 0;
  const ptrdiff_t order = n + q + L;
  const ptrdiff_t width = greedy_max(1, greedy_largest_group(&s->control->groups));
  const ptrdiff_t most = q + greedy_most_members(s);
  struct products_state *state = arena_alloc(arena, 1, sizeof *state);
  const struct products_state sizes = {.n = n,
      .order = order,
      .width = width,
      .pairs = width + L,
      .scores = s->control->given_count < s->control->k,
      .given = alloc_ints(arena, order),
      .place = alloc_ints(arena, s->pb->n),
      .unit = alloc_ints(arena, width * n),
      .turn = s->control->products.turn == NULL ? NULL : alloc_doubles(arena, width * n),
      .penalty = s->control->products.turn == NULL ? NULL : alloc_doubles(arena, width * n),
      .partner = alloc_ints(arena, (width + L) * n),
      .most = most,
      .member = alloc_ints(arena, most),
      .row = alloc_doubles(arena, order * most),
      .left = alloc_ints(arena, s->control->k + 1),
      .fold = arena_alloc(arena, products->folds + 1, sizeof *state->fold)};
  for (int f = 0; f <= products->folds; f++) {
    const struct product_fold fold = {.M = alloc_doubles(arena, order * most),
        .Z = alloc_doubles(arena, f < products->folds ? order * most : 0),
        .kappa = alloc_doubles(arena, most),
        .gamma = alloc_doubles(arena, most * most),
        .with = alloc_doubles(arena, most * width),
        .trained = alloc_doubles(arena, sizes.pairs * n),
        .held = alloc_doubles(arena, sizes.pairs * n),
        .row = alloc_doubles(arena, order * (width + 1)),
        .error = alloc_doubles(arena, most + 1)};
    if (arena->base != NULL)
      sizes.fold[f] = fold;
  }
  (void)threads;
  s->scratch_size = (size_t)(width * width + width);
  if (arena->base == NULL)
    return;
  *state = sizes;
  s->state = state;
}

/* ---- variables ---- */

/* The columns of the unit of a variable that is a column, as many as *count. */
static const int *unit_of(const struct products_state *state, ptrdiff_t v, int *count) {
  const int *unit = state->unit + state->width * v;
  for (*count = 0; *count < state->width && unit[*count] >= 0;)
    ++*count;
  return unit;
}

/* The unit of known column g of the control. */
static const int *known_unit(const struct greedy *s, int g, int *count) {
  return unit_of(s->state, s->state->place[s->control->given[g]], count);
}

static void number_variables(const struct greedy *s) {
  struct products_state *state = s->state;
  const struct greedy_products *products = &s->control->products;
  const ptrdiff_t width = state->width;
  ptrdiff_t v = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    state->place[i] = s->pb->usable[i] ? (int)v++ : -1;
  for (; v < state->order; v++)
    state->given[v] = products->variable[s->pb->n + v - state->n];
  for (ptrdiff_t i = 0; i < s->pb->n; i++) {
    int count;
    const int *columns = columns_together(&s->control->groups, i, &count);
    v = state->place[i];
    if (v < 0)
      continue;
    state->given[v] = products->variable[i];
    for (ptrdiff_t p = 0; p < width; p++) {
      const int other = p >= count ? -1 : columns == NULL ? (int)v : state->place[columns[p]];
      state->unit[p + width * v] = state->partner[p + state->pairs * v] = other;
      if (state->turn != NULL)
        state->turn[p + width * v] = p < count ? products->turn[p + products->width * i] : 0;
    }
    for (ptrdiff_t p = width; p < state->pairs; p++)
      state->partner[p + state->pairs * v] = (int)(state->order - state->pairs + p);
  }
}

/* A penalty of 1 for each column of a unit is a penalty of (T T')^-1 for the given columns that T
   makes these of. */
static void find_penalties(const struct greedy *s) {
  const struct products_state *state = s->state;
  const ptrdiff_t width = state->width;
  double *A = s->scratch;
  for (ptrdiff_t v = 0; v < state->n; v++) {
    int count;
    const int *unit = unit_of(state, v, &count);
    if (unit[0] != v)
      continue;
    memset(A, 0, (size_t)(width * width) * sizeof(double));
    for (int p = 0; p < count; p++)
      for (int u = 0; u < count; u++)
        simd->shift(
            count, A + u * width, -state->turn[u + unit[p] * width], state->turn + unit[p] * width);
    factor_in_place(count, A, width, 0);
    for (int p = 0; p < count; p++) {
      double *penalty = state->penalty + unit[p] * width;
      for (int u = 0; u < count; u++)
        penalty[u] = u == p;
      solve_transposed(count, A, width, penalty);
      solve_upper(count, A, width, penalty);
    }
  }
}

/* ---- products ---- */

/* The rows that products are over: of a fold, or of the training set, all less the fold it lacks.
 */
struct over_rows {
  const double *of, *less; /* packed; NULL: nothing less */
};

static struct over_rows over_fold(const struct greedy *s, int f) {
  return (struct over_rows){products_of_fold(products_of(s), f), NULL};
}

static struct over_rows over_trained(const struct greedy *s) {
  const struct fold_products *products = products_of(s);
  const int without = s->control->products.without;
  return (struct over_rows){products_of_fold(products, products->folds),
      without < 0 ? NULL : products_of_fold(products, without)};
}

/* The product of variables as they were given. */
static inline double given_product(
    const struct products_state *state, struct over_rows over, ptrdiff_t v, ptrdiff_t w) {
  const ptrdiff_t place = packed_place(state->given[v], state->given[w]);
  return over.of[place] - (over.less == NULL ? 0 : over.less[place]);
}

/* row := the products of a given variable with all of them. */
static void given_row(
    const struct products_state *state, struct over_rows over, ptrdiff_t v, double *row) {
  const ptrdiff_t own = state->given[v];
  for (ptrdiff_t w = 0; w < state->order; w++)
    row[w] = over.of[packed_place(own, state->given[w])];
  for (ptrdiff_t w = 0; w < state->order && over.less != NULL; w++)
    row[w] -= over.less[packed_place(own, state->given[w])];
}

static int is_turned(const struct products_state *state, ptrdiff_t v) {
  return state->turn != NULL && v < state->n;
}

/* The product of variable v itself, from the products of the given variables (`row`). */
static double product_at(const struct products_state *state, const double *row, ptrdiff_t v) {
  int count;
  if (!is_turned(state, v))
    return row[v];
  const int *unit = unit_of(state, v, &count);
  double sum = 0;
  for (int p = 0; p < count; p++)
    sum += state->turn[p + v * state->width] * row[unit[p]];
  return sum;
}

/* rows (order x count) := the products of the columns of a unit, or of a single variable, with the
   given variables; work: order x width. */
static void product_rows(const struct products_state *state, struct over_rows over, ptrdiff_t count,
    const int *v, double *work, double *rows) {
  const ptrdiff_t order = state->order;
  double *given = is_turned(state, v[0]) ? work : rows;
  for (ptrdiff_t p = 0; p < count; p++)
    given_row(state, over, v[p], given + p * order);
  if (given == rows)
    return;
  memset(rows, 0, (size_t)(order * count) * sizeof(double));
  for (ptrdiff_t p = 0; p < count; p++)
    for (ptrdiff_t u = 0; u < count; u++)
      simd->shift(
          order, rows + p * order, -state->turn[u + v[p] * state->width], given + u * order);
}

/* Sum over the outputs of y'y over some rows. */
static double products_yy(const struct greedy *s, struct over_rows over) {
  double sum = 0;
  for (ptrdiff_t y = s->state->order - s->pb->L; y < s->state->order; y++)
    sum += given_product(s->state, over, y, y);
  return sum;
}

/* Whether no candidate is scored and all columns join as they are numbered. Products over the
   training set with the members before a column are then never read. */
static int joins_in_order(const struct greedy *s) {
  ptrdiff_t next = 0;
  for (int g = 0; g < s->control->given_count && !s->state->scores; g++) {
    int count;
    const int *unit = known_unit(s, g, &count);
    for (int p = 0; p < count; p++)
      if (unit[p] != next++)
        return 0;
  }
  return next == s->state->n;
}

double greedy_products_total(const struct greedy *s) {
  return products_yy(s, over_trained(s));
}

double greedy_products_weight(const struct greedy *s) {
  const double *weight = products_of(s)->weight;
  const int without = s->control->products.without;
  return weight[products_of(s)->folds] - (without < 0 ? 0 : weight[without]);
}

/* ---- moves ---- */

/* Some rows (order x count), from their entry `from` on, less what the first members, `size` of
   them, explain: sum_l f_l row l of M or Z, where f is `most` apart. The rows of members are read
   once for all. */
static void less_members(const struct greedy *s, const double *members, ptrdiff_t size,
    const double *f, ptrdiff_t from, ptrdiff_t count, double *rows) {
  enum { PART = 512, TOGETHER = 4 };
  const struct products_state *state = s->state;
  const ptrdiff_t order = state->order;
  for (ptrdiff_t part = from, to; part < order; part = to) {
    to = greedy_min(part + PART, order);
    if (count == 1)
      simd->shift_all(to - part, rows + part, size, members + part, order, f);
    for (ptrdiff_t p = 0; p < count && count > 1; p += TOGETHER)
      simd->shift_four(to - part, greedy_min(count - p, TOGETHER), rows + part + p * order, order,
          size, members + part, order, f + p * state->most, state->most);
  }
}

/* The pairs and the error of a fold follow the move of member l, whose row held out is E. */
static void follow_move(
    const struct greedy *s, const struct product_fold *fold, ptrdiff_t l, const double *E) {
  const struct products_state *state = s->state;
  const ptrdiff_t pairs = state->pairs;
  const double *M = fold->M + l * state->order, inverse = 1 / fold->kappa[l];
  const double own = product_at(state, E, state->member[l]);
  double error = fold->error[l];
  for (ptrdiff_t i = 0; i < state->n; i++) {
    const double gamma = inverse * M[i], e = E[i] - gamma * own;
    const int *partner = state->partner + i * pairs;
    double *trained = fold->trained + i * pairs, *held = fold->held + i * pairs;
    for (ptrdiff_t p = 0; p < pairs && partner[pairs - 1] >= 0; p++)
      if (partner[p] >= 0) {
        trained[p] -= gamma * M[partner[p]];
        held[p] -= gamma * E[partner[p]] + inverse * M[partner[p]] * e;
      }
  }
  for (ptrdiff_t y = state->order - s->pb->L; y < state->order; y++)
    error -= inverse * M[y] * (2 * E[y] - inverse * M[y] * own);
  fold->error[l + 1] = error;
}

/* What the model without a fold knows of x~_v of some new members with all variables, over the rows
   held out: E of follow_move(), `fold->row` (order x count). */
static void held_out_moves(
    const struct greedy *s, const struct product_fold *fold, ptrdiff_t count) {
  const struct products_state *state = s->state;
  const ptrdiff_t order = state->order, size = fold->joined, most = state->most;
  const int *v = state->member + size;
  const double *Z = fold->Z + size * order;
  for (ptrdiff_t p = 0; p < count; p++) {
    double *with = fold->with + p * most;
    for (ptrdiff_t l = 0; l < size; l++)
      with[l] = product_at(state, Z + p * order, state->member[l]);
    for (ptrdiff_t q = 0; q < p; q++)
      with[size + q] = product_at(state, Z + p * order, v[q]);
    solve_transposed(size + p, fold->gamma, most, with);
    for (ptrdiff_t l = 0; l < size + count; l++)
      with[l] = l < size + p ? with[l] / fold->kappa[l] : 0;
  }
  memcpy(fold->row, Z, (size_t)(order * count) * sizeof(double));
  less_members(s, fold->M, size + count, fold->with, 0, count, fold->row);
}

/* Of new members, rows (order x count) that are free of what the earlier members explain: row p
   less what the new ones before it explain. */
static void less_each_other(const struct products_state *state, const struct product_fold *fold,
    ptrdiff_t p, ptrdiff_t from, double *rows) {
  const ptrdiff_t order = state->order, size = fold->joined;
  simd->shift_all(order - from, rows + from + p * order, p, rows + from, order,
      fold->gamma + size + (size + p) * state->most);
}

/* The new members explain their part of the rows held out, which Z has the products of, and the
   pairs and the error of a fold follow. */
static void follow_moves(const struct greedy *s, const struct product_fold *fold, ptrdiff_t count) {
  const struct products_state *state = s->state;
  const ptrdiff_t size = fold->joined;
  double *Z = fold->Z + size * state->order;
  less_members(s, fold->Z, size, fold->gamma + size * state->most, 0, count, Z);
  for (ptrdiff_t p = 0; p < count; p++)
    less_each_other(state, fold, p, 0, Z);
  held_out_moves(s, fold, count);
  for (ptrdiff_t p = 0; p < count; p++)
    follow_move(s, fold, size + p, fold->row + p * state->order);
}

/* The coefficients of the first members, `size` of them, for output y: they solve Gamma b = Gamma
   with y. */
static void member_coefficients(const struct products_state *state, const struct product_fold *fold,
    ptrdiff_t size, ptrdiff_t y, double *b) {
  for (ptrdiff_t l = 0; l < size; l++)
    b[l] = fold->M[y + l * state->order] / fold->kappa[l];
  solve_upper(size, fold->gamma, state->most, b);
}

/* The error of the first members, `size` of them, over the rows held out: y'y - 2 b'Zy + b'Z b. */
static void error_of_members(
    const struct greedy *s, const struct product_fold *fold, ptrdiff_t size) {
  const struct products_state *state = s->state;
  const ptrdiff_t order = state->order, n = state->n;
  const ptrdiff_t to = !state->in_order ? n : size > s->pb->q ? state->member[size - 1] + 1 : 0;
  double *b = fold->with, *less = fold->row, error = fold->error[0];
  for (ptrdiff_t y = order - s->pb->L; y < order; y++) {
    member_coefficients(state, fold, size, y, b);
    memset(less, 0, (size_t)order * sizeof(double));
    simd->shift_all(to, less, size, fold->Z, order, b);
    simd->shift_all(order - n, less + n, size, fold->Z + n, order, b);
    error += 2 * less[y];
    for (ptrdiff_t l = 0; l < size; l++)
      error -= b[l] * product_at(state, less, state->member[l]);
  }
  fold->error[size] = error;
}

/* The next members, which a penalty `lambda` shrinks, join the model without fold f; f = folds: the
   model of all rows. */
static void move_in_fold(const struct greedy *s, int f, ptrdiff_t count, double lambda) {
  const struct products_state *state = s->state;
  struct product_fold *fold = state->fold + f;
  const ptrdiff_t order = state->order, size = fold->joined, most = state->most;
  const int *v = state->member + size;
  const ptrdiff_t first = state->in_order && v[0] < state->n ? v[0] : 0;
  const int held_out = f < products_of(s)->folds;
  double *M = fold->M + size * order, *Z = held_out ? fold->Z + size * order : NULL;
  double *gamma = fold->gamma + size * most;
  memcpy(M, state->row + size * order, (size_t)(order * count) * sizeof(double));
  if (held_out) {
    product_rows(state, over_fold(s, f), count, v, fold->row, Z);
    simd->shift(order * count, M, 1, Z);
  }
  for (ptrdiff_t p = 0; p < count; p++)
    for (ptrdiff_t l = 0; l < size; l++)
      gamma[l + p * most] = product_at(state, fold->M + l * order, v[p]) / fold->kappa[l];
  less_members(s, fold->M, size, gamma, first, count, M);
  for (ptrdiff_t p = 0; p < count; p++) {
    for (ptrdiff_t q = 0; q < p; q++)
      gamma[size + q + p * most] = product_at(state, M + q * order, v[p]) / fold->kappa[size + q];
    gamma[size + p + p * most] = 1;
    less_each_other(state, fold, p, first, M);
    fold->kappa[size + p] = product_at(state, M + p * order, v[p]) + lambda;
  }
  if (held_out && state->scores)
    follow_moves(s, fold, count);
  fold->joined += count;
}

/* The columns of a unit, or a single variable, become members from l on, with their products over
   the training set. */
static void set_members(const struct greedy *s, ptrdiff_t l, int count, const int *v) {
  struct products_state *state = s->state;
  memcpy(state->member + l, v, (size_t)count * sizeof(int));
  product_rows(state, over_trained(s), count, v, state->fold[products_of(s)->folds].row,
      state->row + l * state->order);
}

/* The next members, which have joined the models of all folds, are part of the model from now on.
 */
static void count_members(const struct greedy *s, ptrdiff_t count) {
  struct products_state *state = s->state;
  const int folds = products_of(s)->folds;
  for (ptrdiff_t l = state->size; l < state->size + count; l++) {
    const double all = state->fold[folds].kappa[l];
    for (int f = 0; f < folds; f++)
      if (is_trained(s, f) && all > 0 && l < state->fold[f].joined)
        state->least_pivot = fmin(state->least_pivot, state->fold[f].kappa[l] / all);
  }
  state->size += count;
}

/* Columns that join have no score any more. */
static void close_columns(const struct products_state *state, const int *columns, int count) {
  for (int p = 0; p < count; p++)
    for (ptrdiff_t q = 0; q < state->pairs; q++)
      state->partner[q + columns[p] * state->pairs] = -1;
}

/* The products of columns over the rows of fold f and over the training set without it. */
static void begin_pairs(const struct greedy *s, int f) {
  const struct products_state *state = s->state;
  const struct product_fold *fold = state->fold + f;
  for (ptrdiff_t v = 0; v < state->n; v++)
    for (ptrdiff_t p = 0; p < state->pairs; p++) {
      const ptrdiff_t place = p + v * state->pairs, other = state->partner[place];
      if (other < 0)
        continue;
      fold->held[place] = given_product(state, over_fold(s, f), v, other);
      fold->trained[place] = given_product(state, over_trained(s), v, other) - fold->held[place];
    }
}

/* The covariates and the known units up to the last size that is not left join the model without
   fold f. All moves of a fold are made before the next fold begins, so that M and Z stay in the
   processor's cache. */
static void begin_fold(const struct greedy *s, int f) {
  const struct products_state *state = s->state;
  struct product_fold *fold = state->fold + f;
  const int held_out = f < products_of(s)->folds, scores = state->scores;
  const int last = held_out ? state->last : s->control->given_count;
  int count;
  fold->joined = 0;
  if (held_out)
    fold->error[0] = products_yy(s, over_fold(s, f));
  if (held_out && scores)
    begin_pairs(s, f);
  for (ptrdiff_t l = 0; l < s->pb->q; l++)
    move_in_fold(s, f, 1, 0);
  if (held_out && !scores)
    error_of_members(s, fold, fold->joined);
  for (int g = 0; g < last; g++) {
    known_unit(s, g, &count);
    move_in_fold(s, f, count, s->control->lambda);
    if (held_out && !scores && !state->left[g + 1])
      error_of_members(s, fold, fold->joined);
  }
}

/* The squared error of the first members, `size` of them, over the rows of the training set by the
   model of all of these: the penalised error less the penalty. */
static double error_of_all(const struct greedy *s, ptrdiff_t size) {
  const struct products_state *state = s->state;
  const struct product_fold *fold = state->fold + products_of(s)->folds;
  double sum = greedy_products_total(s);
  for (ptrdiff_t y = state->order - s->pb->L; y < state->order; y++) {
    double *b = fold->with;
    member_coefficients(state, fold, size, y, b);
    for (ptrdiff_t l = 0; l < size; l++)
      sum -= fold->M[y + l * state->order] * fold->M[y + l * state->order] / fold->kappa[l];
    for (ptrdiff_t l = s->pb->q; l < size; l++)
      sum -= s->control->lambda * b[l] * b[l];
  }
  return sum;
}

/* Leaves the sizes of known units whose error is sure to be above the ceiling: rows held out have
   no smaller error than they have in the training set of the model of all rows. */
static void leave_sizes(const struct greedy *s) {
  struct products_state *state = s->state;
  const double *ceiling = s->control->ceiling;
  const double margin = CEILING_MARGIN * greedy_products_total(s);
  ptrdiff_t size = s->pb->q;
  memset(state->left, 0, (size_t)(s->control->k + 1) * sizeof(int));
  state->last = 0;
  for (int g = 0; g < s->control->given_count; g++) {
    const double most = ceiling == NULL ? INFINITY : ceiling[g + 1] * s->total_weight;
    int count;
    known_unit(s, g, &count);
    size += count;
    state->left[g + 1] = most < 0 || (most < INFINITY && error_of_all(s, size) > most + margin);
    if (!state->left[g + 1])
      state->last = g + 1;
  }
}

static enum status products_begin(struct greedy *s) {
  struct products_state *state = s->state;
  const ptrdiff_t q = s->pb->q;
  const int folds = products_of(s)->folds, together = (int)greedy_max(1, s->host->threads);
  ptrdiff_t named = 0;
  state->size = state->ahead = 0;
  state->least_pivot = 1;
  number_variables(s);
  if (state->turn != NULL && state->scores)
    find_penalties(s);
  state->in_order = joins_in_order(s);
  for (int v = (int)state->n; v < state->n + q; v++)
    set_members(s, named++, 1, &v);
  for (int g = 0; g < s->control->given_count; g++) {
    int count;
    const int *unit = known_unit(s, g, &count);
    close_columns(state, unit, count);
    set_members(s, named, count, unit);
    named += count;
  }
  begin_fold(s, folds);
  leave_sizes(s);
  for (int from = 0; from < folds; from += together) {
    const int to = (int)greedy_min(from + together, folds);
#ifdef _OPENMP
#pragma omp parallel for num_threads(together) schedule(static) if (together > 1)
#endif
    for (int f = from; f < to; f++)
      if (is_trained(s, f))
        begin_fold(s, f);
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  count_members(s, q);
  return COMPLETE;
}

/* The columns of a unit join the models without each fold and of all rows. */
static void join_folds(const struct greedy *s, const int *unit, int count) {
  const struct products_state *state = s->state;
  const int folds = products_of(s)->folds;
  close_columns(state, unit, count);
  set_members(s, state->size, count, unit);
#ifdef _OPENMP
  const int threads = s->host->threads;
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && state->order * (1 + state->size) > PARALLEL_FROM)
#endif
  for (int f = 0; f <= folds; f++)
    if (is_trained(s, f))
      move_in_fold(s, f, count, s->control->lambda);
}

/* The columns of a unit, which are committed one after the other, join with the first of them.
   Known units have joined when the search began. */
static void products_commit(struct greedy *s) {
  struct products_state *state = s->state;
  int count;
  s->kappa_b = 1; /* which no other part of a forward search needs */
  if (state->ahead > 0) {
    state->ahead--;
    return;
  }
  const int *unit = unit_of(state, state->place[s->b], &count);
  if (state->size == state->fold[products_of(s)->folds].joined)
    join_folds(s, unit, count);
  count_members(s, count);
  state->ahead = count - 1;
}

/* ---- scores ---- */

/* What adding the unit of column i adds to the squared error of a fold; work: width^2 + width. */
static double products_change(
    const struct greedy *s, const struct product_fold *fold, int i, double *work) {
  const ptrdiff_t width = s->state->width, pairs = s->state->pairs;
  int count;
  const int *columns = unit_of(s->state, s->state->place[i], &count);
  double *A = work, *beta = work + width * width, change = 0;
  for (int p = 0; p < count; p++) {
    memcpy(A + p * width, fold->trained + pairs * columns[p], (size_t)count * sizeof(double));
    if (s->state->penalty == NULL)
      A[p + p * width] += s->control->lambda;
    else
      simd->shift(
          count, A + p * width, -s->control->lambda, s->state->penalty + columns[p] * width);
  }
  factor_in_place(count, A, width, 0);
  for (ptrdiff_t y = width; y < pairs; y++) {
    for (int p = 0; p < count; p++)
      beta[p] = fold->trained[y + pairs * columns[p]];
    solve_transposed(count, A, width, beta);
    solve_upper(count, A, width, beta);
    for (int p = 0; p < count; p++) {
      const double *held = fold->held + pairs * columns[p];
      change += beta[p] * (simd->dot(count, held, beta) - 2 * held[y]);
    }
  }
  return change;
}

static double products_error(const struct greedy *s) {
  double sum = 0;
  for (int f = 0; f < products_of(s)->folds; f++)
    if (is_trained(s, f))
      sum += s->state->fold[f].error[s->state->size];
  return sum;
}

static enum status products_sweep(struct greedy *s) {
  const double now = products_error(s);
  const int threads = s->host->threads;
  greedy_list_scored(s);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
  for (ptrdiff_t q = 0; q < s->scored_count; q++) {
#ifdef _OPENMP
    double *work = s->scratch + (size_t)omp_get_thread_num() * s->scratch_size;
#else
    double *work = s->scratch;
#endif
    double sum = now;
    for (int f = 0; f < products_of(s)->folds; f++)
      if (is_trained(s, f))
        sum += products_change(s, s->state->fold + f, s->scored[q], work);
    const double value = sum / s->total_weight;
    s->score[s->scored[q]] = (struct greedy_score){value, value};
  }
  (void)threads;
  return greedy_stopped(s) ? INTERRUPTED : COMPLETE;
}

/* ---- the model ---- */

static struct estimate products_estimate(const struct greedy *s) {
  const struct fold_products *products = products_of(s);
  struct fold_tally tally = {0};
  if (s->state->left[s->groups])
    return (struct estimate){DBL_MAX, NAN};
  for (int f = 0; f < products->folds; f++)
    if (is_trained(s, f))
      criterion_tally_fold(
          &tally, s->state->fold[f].error[s->state->size] / (double)s->pb->L, products->weight[f]);
  return criterion_of_folds(&tally);
}

static void fold_coefficients(const struct greedy *s, const struct product_fold *fold, double *beta,
    ptrdiff_t ld, double *u) {
  const struct products_state *state = s->state;
  const ptrdiff_t q = s->pb->q, L = s->pb->L;
  double *b = fold->row;
  for (ptrdiff_t l = 0; l < L; l++) {
    member_coefficients(state, fold, state->size, state->order - L + l, b);
    memcpy(u + q * l, b, (size_t)q * sizeof(double));
    memcpy(beta + ld * l, b + q, (size_t)(state->size - q) * sizeof(double));
  }
}

static void products_coefficients(const struct greedy *s, double *beta, ptrdiff_t ld) {
  const struct fold_products *products = products_of(s);
  const ptrdiff_t L = s->pb->L, of_u = s->pb->q * L, of_beta = ld * L;
  struct greedy_result *out = s->out;
  fold_coefficients(
      s, s->state->fold + products->folds, beta, ld, out->covariates + of_u * s->groups);
  const int kept = s->groups < s->control->products.fold_sizes && !s->state->left[s->groups];
  for (int f = 0; f < products->folds && kept; f++) {
    const ptrdiff_t place = f + s->groups * products->folds;
    if (is_trained(s, f))
      fold_coefficients(s, s->state->fold + f, out->fold_beta + of_beta * place, ld,
          out->fold_covariates + of_u * place);
  }
}

/* Products know nothing of single rows. */
static void products_keep_residuals(struct greedy *s) {
  (void)s;
}

/* The errors are differences of products, which have lost as many digits as y'y is larger. */
static double products_min_pivot(const struct greedy *s) {
  const double total = greedy_products_total(s);
  const int known = !s->state->left[s->groups];
  return total > 0 && known ? fmin(s->state->least_pivot, products_error(s) / total) : 1;
}

const struct greedy_engine greedy_by_products = {.lay_out = by_products_lay_out,
    .begin = products_begin,
    .sweep = products_sweep,
    .commit = products_commit,
    .coefficients = products_coefficients,
    .estimate = products_estimate,
    .keep_residuals = products_keep_residuals,
    .min_pivot = products_min_pivot};
