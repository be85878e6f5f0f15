/* The dual bound of best subsets: Newton's method on the active units of the relaxation.

   f(s) = total - |u|^2 with R'R = I + S^.5 C S^.5 and u = R'^-1 S^.5 b over the support of s. Its
   derivatives are -c_g and 2 tr(T_g'P_gh T_h), where t = b - C beta, beta = S^.5 R^-1 u and
   P = C - W'W, W = R'^-1 S^.5 C. At the minimum c_g is the same for all units with 0 < s < 1, no
   smaller where s = 1 and no larger where s = 0. */
#include "subset-dual.h"
#include "simd.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
  DUAL_SUPPORT = 400, /* columns with s > 0, or twice as many as the sets have */
  DUAL_ENTERING = 25, /* units that a step may bring into the support */
  DUAL_HALVINGS = 40
};

/* ---- memory ---- */

ptrdiff_t widest_unit(const struct proof_terms *terms) {
  int widest = 1;
  for (ptrdiff_t g = 0; g < terms->units; g++) {
    const int width = terms->unit[g + 1] - terms->unit[g];
    widest = width > widest ? width : widest;
  }
  return widest;
}

static ptrdiff_t least_of(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

static ptrdiff_t most_of(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

struct dual dual_alloc(const struct proof_terms *terms, ptrdiff_t max_fixed, ptrdiff_t max_members,
    ptrdiff_t max_columns, struct arena *arena) {
  const ptrdiff_t L = terms->gram.L, widest = widest_unit(terms);
  const ptrdiff_t most = least_of(max_columns, most_of(DUAL_SUPPORT, 2 * max_members * widest));
  const ptrdiff_t made = least_of(max_columns, 2 * most + DUAL_ENTERING * widest);
  struct dual d = {.terms = terms,
      .max_fixed = max_fixed,
      .max_columns = max_columns,
      .max_support = most,
      .max_made = made,
      .column = alloc_doubles(arena, terms->gram.n),
      .fixed_column = alloc_ints(arena, max_fixed),
      .factor = alloc_doubles(arena, max_fixed * max_fixed),
      .root_b = alloc_doubles(arena, max_fixed * L),
      .first = alloc_ints(arena, max_columns + 1),
      .at = alloc_ints(arena, max_columns),
      .V = alloc_doubles(arena, max_columns * max_fixed),
      .row = alloc_doubles(arena, max_fixed),
      .b = alloc_doubles(arena, max_columns * L),
      .made = arena_alloc(arena, max_columns, sizeof(double *)),
      .store = alloc_doubles(arena, max_columns * made),
      .share = alloc_doubles(arena, max_columns),
      .support = alloc_ints(arena, most),
      .root = alloc_doubles(arena, most),
      .R = alloc_doubles(arena, most * most),
      .u = alloc_doubles(arena, most * L),
      .beta = alloc_doubles(arena, most * L),
      .t = alloc_doubles(arena, max_columns * L),
      .gain = alloc_doubles(arena, max_columns),
      .unit = alloc_ints(arena, most),
      .H = alloc_doubles(arena, most * most),
      .slope = alloc_doubles(arena, most),
      .moved = alloc_doubles(arena, most),
      .change = alloc_doubles(arena, most),
      .trial = alloc_doubles(arena, max_columns),
      .order = alloc_ints(arena, max_columns),
      .W = alloc_doubles(arena, most * most),
      .rows = alloc_doubles(arena, most * most),
      .solution = alloc_doubles(arena, 2 * most),
      .inner = alloc_ints(arena, most)};
  if (terms->gram.full == NULL)
    d.cache = gram_cache_alloc(&terms->gram, terms->max_cached, arena);
  return d;
}

/* ---- small algebra ---- */

int list_largest(ptrdiff_t n, const double *value, int m, int *order) {
  int count = 0;
  if (m < 1)
    return 0;
  for (ptrdiff_t j = 0; j < n; j++) {
    if (count == m && !(value[j] > value[order[m - 1]]))
      continue;
    int place = count < m ? count++ : m - 1;
    for (; place > 0 && value[order[place - 1]] < value[j]; place--)
      order[place] = order[place - 1];
    order[place] = (int)j;
  }
  return count;
}

/* ---- the problem ---- */

const double *dual_take_column(struct dual *d, ptrdiff_t j) {
  const struct gram *gram = &d->terms->gram;
  if (gram->full == NULL && d->cache.slot[j] < 0 && d->cache.used == d->cache.capacity)
    gram_cache_clear(gram, &d->cache);
  return gram_take_column(gram, &d->cache, j, d->column);
}

static void dual_list_fixed(struct dual *d, int count, const int *unit) {
  d->fixed = 0;
  for (int i = 0; i < count; i++)
    for (int j = d->terms->unit[unit[i]]; j < d->terms->unit[unit[i] + 1]; j++)
      d->fixed_column[d->fixed++] = j;
}

static void dual_list_members(struct dual *d, int count, const int *unit) {
  d->members = count;
  d->columns = 0;
  for (int g = 0; g < count; g++) {
    d->first[g] = d->columns;
    for (int j = d->terms->unit[unit[g]]; j < d->terms->unit[unit[g] + 1]; j++)
      d->at[d->columns++] = j;
  }
  d->first[count] = d->columns;
}

/* One more row of R, z and V, of the fixed column r. */
static void dual_fix(struct dual *d, ptrdiff_t r) {
  const struct gram *gram = &d->terms->gram;
  const ptrdiff_t ld = d->max_fixed, j = d->fixed_column[r];
  const double *column = dual_take_column(d, j);
  double *R = d->factor + r * ld, *V = d->V + r * d->max_columns;
  for (ptrdiff_t i = 0; i < r; i++)
    R[i] = column[d->fixed_column[i]];
  for (ptrdiff_t i = 0; i < d->columns; i++)
    V[i] = column[d->at[i]];
  solve_transposed(r, d->factor, ld, R);
  R[r] = sqrt(1 + gram->diagonal[j] - simd->dot(r, R, R));
  simd->shift_all(d->columns, V, r, d->V, d->max_columns, R);
  for (ptrdiff_t i = 0; i < d->columns; i++)
    V[i] /= R[r];
  for (ptrdiff_t l = 0; l < gram->L; l++) {
    double *z = d->root_b + l * ld;
    z[r] = (gram->b[j + l * gram->n] - simd->dot(r, R, z)) / R[r];
    d->total -= z[r] * z[r];
    simd->shift(d->columns, d->b + l * d->max_columns, z[r], V);
  }
}

void dual_begin(
    struct dual *d, int fixed, const int *fixed_unit, int members, const int *member, int k) {
  const struct gram *gram = &d->terms->gram;
  d->k = k;
  d->total = d->terms->total;
  d->stored = 0;
  d->whole = gram->full != NULL && fixed == 0 && members == d->terms->units;
  dual_list_fixed(d, fixed, fixed_unit);
  dual_list_members(d, members, member);
  for (ptrdiff_t i = 0; i < d->columns; i++) {
    d->made[i] = NULL;
    d->whole = d->whole && d->at[i] == i;
    for (ptrdiff_t l = 0; l < gram->L; l++)
      d->b[i + l * d->max_columns] = gram->b[d->at[i] + l * gram->n];
  }
  for (ptrdiff_t r = 0; r < d->fixed; r++)
    dual_fix(d, r);
}

/* Column i of C - V'V. */
static const double *dual_column(struct dual *d, ptrdiff_t i) {
  if (d->made[i] != NULL)
    return d->made[i];
  const struct gram *gram = &d->terms->gram;
  if (d->whole)
    return d->made[i] = gram->full + d->at[i] * gram->n;
  double *out = d->store + d->stored++ * d->max_columns;
  const double *column = dual_take_column(d, d->at[i]);
  for (ptrdiff_t j = 0; j < d->columns; j++)
    out[j] = column[d->at[j]];
  out[i] = gram->diagonal[d->at[i]];
  for (ptrdiff_t r = 0; r < d->fixed; r++)
    d->row[r] = d->V[i + r * d->max_columns];
  simd->shift_all(d->columns, out, d->fixed, d->V, d->max_columns, d->row);
  return d->made[i] = out;
}

/* Forgets the columns that were made if a step might not find room for what it adds. */
static void dual_make_room(struct dual *d) {
  if (d->stored + d->max_support - d->q <= d->max_made)
    return;
  d->stored = 0;
  for (ptrdiff_t i = 0; i < d->columns; i++)
    d->made[i] = NULL;
}

void dual_fit_shares(int count, double *share, int k) {
  double sum = 0;
  for (int g = 0; g < count; g++)
    sum += share[g];
  const double excess = sum - k;
  for (int g = 0; g < count; g++)
    if (excess > 0)
      share[g] *= k / sum;
    else if (excess < 0)
      share[g] = fmin(1, share[g] - (1 - share[g]) * excess / (count - sum));
}

/* ---- the point ---- */

/* The support of `share`, and R, u and f there. O(q^3) */
static double dual_value(struct dual *d, const double *share) {
  const ptrdiff_t L = d->terms->gram.L, ld = d->max_support;
  d->q = 0;
  for (int g = 0; g < d->members; g++)
    for (int i = d->first[g]; share[g] > 0 && i < d->first[g + 1]; i++) {
      d->support[d->q] = i;
      d->root[d->q++] = sqrt(share[g]);
    }
  for (ptrdiff_t j = 0; j < d->q; j++) {
    const double *C = dual_column(d, d->support[j]);
    for (ptrdiff_t i = j; i < d->q; i++)
      d->R[i + j * ld] = d->root[i] * d->root[j] * C[d->support[i]];
    d->R[j + j * ld] += 1;
  }
  factor_in_place(d->q, d->R, ld, DBL_MIN);
  double value = d->total;
  for (ptrdiff_t l = 0; l < L; l++) {
    double *u = d->u + l * ld;
    for (ptrdiff_t j = 0; j < d->q; j++)
      u[j] = d->root[j] * d->b[d->support[j] + l * d->max_columns];
    solve_transposed(d->q, d->R, ld, u);
    value -= simd->dot(d->q, u, u);
  }
  return value;
}

/* beta, t, gain and bound where dual_value() was. O(q n) */
static void dual_price(struct dual *d) {
  const ptrdiff_t L = d->terms->gram.L, ld = d->max_support, n = d->columns;
  memset(d->gain, 0, (size_t)d->members * sizeof(double));
  d->bound = d->total;
  for (ptrdiff_t l = 0; l < L; l++) {
    double *beta = d->beta + l * ld, *t = d->t + l * d->max_columns;
    const double *b = d->b + l * d->max_columns;
    memcpy(beta, d->u + l * ld, (size_t)d->q * sizeof(double));
    solve_upper(d->q, d->R, ld, beta);
    memcpy(t, b, (size_t)n * sizeof(double));
    for (ptrdiff_t j = 0; j < d->q; j++) {
      beta[j] *= d->root[j];
      simd->shift(n, t, beta[j], dual_column(d, d->support[j]));
    }
    for (ptrdiff_t j = 0; j < d->q; j++)
      d->bound -= beta[j] * (b[d->support[j]] - t[d->support[j]]);
    for (int g = 0; g < d->members; g++)
      for (int i = d->first[g]; i < d->first[g + 1]; i++)
        d->gain[g] += t[i] * t[i];
  }
  const int chosen = list_largest(d->members, d->gain, d->k, d->order);
  for (int g = 0; g < chosen; g++)
    d->bound -= d->gain[d->order[g]];
}

void dual_evaluate(struct dual *d) {
  d->value = dual_value(d, d->share);
  dual_price(d);
}

void dual_fixed_beta(const struct dual *d, double *beta) {
  const ptrdiff_t ld = d->max_fixed;
  for (ptrdiff_t l = 0; l < d->terms->gram.L; l++) {
    double *out = beta + l * ld;
    memcpy(out, d->root_b + l * ld, (size_t)d->fixed * sizeof(double));
    for (ptrdiff_t r = 0; r < d->fixed; r++)
      for (ptrdiff_t j = 0; j < d->q; j++)
        out[r] -= d->V[d->support[j] + r * d->max_columns] * d->beta[j + l * d->max_support];
    solve_upper(d->fixed, d->factor, ld, out);
  }
}

/* ---- the active units ---- */

/* The gain at which a unit should change: the mean of units with 0 < s < 1, or between the units in
   and out. */
static double dual_level(const struct dual *d) {
  double sum = 0, least_in = DBL_MAX, most_out = 0;
  int count = 0;
  for (int g = 0; g < d->members; g++) {
    if (d->share[g] >= 1)
      least_in = fmin(least_in, d->gain[g]);
    else if (d->share[g] <= 0)
      most_out = fmax(most_out, d->gain[g]);
    else
      count++, sum += d->gain[g];
  }
  return count > 0 ? sum / count : (fmin(least_in, most_out) + most_out) / 2;
}

static int unit_width(const struct dual *d, int g) {
  return d->first[g + 1] - d->first[g];
}

/* The units outside with the largest gains above the level. */
static void dual_list_entering(struct dual *d, double level) {
  ptrdiff_t q = d->q;
  for (int g = 0; g < d->members; g++)
    d->trial[g] = d->share[g] > 0 ? 0 : d->gain[g];
  const int count = list_largest(d->members, d->trial, DUAL_ENTERING, d->order);
  for (int i = 0; i < count; i++) {
    const int g = d->order[i];
    q += unit_width(d, g);
    if (d->trial[g] <= level || q > d->max_support)
      return;
    d->unit[d->active++] = g;
  }
}

static void dual_list_active(struct dual *d) {
  const double level = dual_level(d);
  d->active = 0;
  for (int g = 0; g < d->members; g++)
    if (d->share[g] > 0 && (d->share[g] < 1 || d->gain[g] < level))
      d->unit[d->active++] = g;
  dual_list_entering(d, level);
}

/* The columns of the active units, and the unit of each. */
static ptrdiff_t dual_list_columns(struct dual *d) {
  ptrdiff_t columns = 0;
  for (int g = 0; g < d->active; g++)
    for (int i = d->first[d->unit[g]]; i < d->first[d->unit[g] + 1]; i++) {
      d->inner[columns] = g;
      d->order[columns++] = i;
    }
  return columns;
}

/* W' (p x q) of the p columns in d->order. O(p q^2) */
static void dual_solve_columns(struct dual *d, ptrdiff_t p) {
  const ptrdiff_t ld = d->max_support;
  for (ptrdiff_t i = 0; i < d->q; i++) {
    double *W = d->W + i * ld;
    const double *C = dual_column(d, d->support[i]), *R = d->R + i * ld;
    for (ptrdiff_t j = 0; j < p; j++)
      W[j] = d->root[i] * C[d->order[j]];
    simd->shift_all(p, W, i, d->W, ld, R);
    for (ptrdiff_t j = 0; j < p; j++)
      W[j] /= R[i];
  }
}

/* P = C - W'W from column j of those in d->order on, in d->rows. O(p q) */
static const double *dual_curvatures(struct dual *d, ptrdiff_t p, ptrdiff_t j) {
  const double *C = dual_column(d, d->order[j]);
  for (ptrdiff_t i = 0; i < d->q; i++)
    d->solution[i] = d->W[j + i * d->max_support];
  for (ptrdiff_t i = j; i < p; i++)
    d->rows[i] = C[d->order[i]];
  simd->shift_all(p - j, d->rows + j, d->q, d->W + j, d->max_support, d->solution);
  return d->rows;
}

static double dual_product(const struct dual *d, ptrdiff_t i, ptrdiff_t j) {
  double sum = 0;
  for (ptrdiff_t l = 0; l < d->terms->gram.L; l++)
    sum += d->t[i + l * d->max_columns] * d->t[j + l * d->max_columns];
  return sum;
}

void dual_hessian(struct dual *d) {
  const ptrdiff_t a = d->active, p = dual_list_columns(d);
  memset(d->H, 0, (size_t)(a * a) * sizeof(double));
  dual_solve_columns(d, p);
  for (ptrdiff_t j = 0; j < p; j++) {
    const double *P = dual_curvatures(d, p, j);
    const ptrdiff_t h = d->inner[j];
    for (ptrdiff_t i = j; i < p; i++) {
      const ptrdiff_t g = d->inner[i];
      const double bend = 2 * P[i] * dual_product(d, d->order[i], d->order[j]);
      d->H[g + h * a] += g == h && i > j ? 2 * bend : bend;
    }
  }
  for (ptrdiff_t h = 0; h < a; h++)
    for (ptrdiff_t g = 0; g < h; g++)
      d->H[g + h * a] = d->H[h + g * a];
}

/* ---- the method ---- */

static double clean_share(double share) {
  return share < DUAL_NO_SHARE ? 0 : share > 1 - DUAL_NO_SHARE ? 1 : share;
}

/* Halves the step of the model until f falls. 0 when it does not, or when what it falls by is below
   rounding and the bound does not rise. */
static int dual_line_search(struct dual *d) {
  const double before = d->bound, rounding = DUAL_ROUNDING * d->terms->total;
  double fall = 0;
  for (int i = 0; i < d->active; i++)
    fall += (d->gain[d->unit[i]] - d->gain[d->unit[0]]) * d->change[i];
  double length = fall > -rounding ? 1 : 0;
  for (int halving = 0; halving < DUAL_HALVINGS && length > 0; halving++, length /= 2) {
    memcpy(d->trial, d->share, (size_t)d->members * sizeof(double));
    for (int i = 0; i < d->active; i++)
      d->trial[d->unit[i]] = clean_share(d->share[d->unit[i]] + length * d->change[i]);
    const double value = dual_value(d, d->trial);
    if (value <= d->value - DUAL_SUFFICIENT * length * fall + rounding) {
      memcpy(d->share, d->trial, (size_t)d->members * sizeof(double));
      d->value = value;
      dual_price(d);
      return length * fall > rounding || d->bound > before;
    }
  }
  dual_evaluate(d);
  return 0;
}

int dual_reached(const struct dual *d, const struct dual_goal *goal) {
  const double near = goal->slack * fmax(goal->limit - d->value, 0);
  return d->bound >= goal->limit || d->value - d->bound <= fmax(goal->tolerance, near);
}

int dual_step(struct dual *d) {
  dual_make_room(d);
  dual_list_active(d);
  if (d->active < 2)
    return 0;
  dual_hessian(d);
  dual_minimise_model(d);
  return dual_line_search(d);
}

void dual_minimise(struct dual *d, const struct dual_goal *goal) {
  dual_evaluate(d);
  for (int step = 0; step < goal->max_steps && !dual_reached(d, goal) && dual_step(d); step++)
    ;
}

/* ---- one problem ---- */

static struct dual dual_whole(
    const struct proof_terms *terms, const struct dual_control *control, struct arena *arena) {
  return dual_alloc(terms, 0, control->k, terms->gram.n, arena);
}

size_t subset_dual_work(const struct proof_terms *terms, const struct dual_control *control) {
  struct arena arena = arena_over(NULL);
  dual_whole(terms, control, &arena);
  alloc_ints(&arena, terms->units);
  return arena.used;
}

/* Begins where the caller says, or with the k units of the largest |X_g'Y|; in either case with no
   more columns than the support can have. */
static void dual_start(struct dual *d, const double *share) {
  const ptrdiff_t L = d->terms->gram.L;
  memset(d->gain, 0, (size_t)d->members * sizeof(double));
  for (int g = 0; g < d->members; g++)
    for (ptrdiff_t i = d->first[g]; share == NULL && i < d->first[g + 1]; i++)
      for (ptrdiff_t l = 0; l < L; l++)
        d->gain[g] += d->b[i + l * d->max_columns] * d->b[i + l * d->max_columns];
  const int most = share == NULL ? d->k : d->members;
  const int count = list_largest(d->members, share == NULL ? d->gain : share, most, d->order);
  memset(d->share, 0, (size_t)d->members * sizeof(double));
  ptrdiff_t q = 0;
  for (int i = 0; i < count; i++) {
    const int g = d->order[i];
    q += unit_width(d, g);
    d->trial[i] = q > d->max_support ? 0 : share == NULL ? 1 : fmin(share[g], 1);
  }
  int used = 0;
  while (used < count && d->trial[used] > 0)
    used++;
  dual_fit_shares(used, d->trial, d->k);
  for (int i = 0; i < used; i++)
    d->share[d->order[i]] = d->trial[i];
}

static void dual_give(const struct dual *d, struct dual_result *result) {
  const ptrdiff_t n = d->terms->gram.n, L = d->terms->gram.L;
  memcpy(result->share, d->share, (size_t)d->members * sizeof(double));
  memcpy(result->gain, d->gain, (size_t)d->members * sizeof(double));
  memset(result->beta, 0, (size_t)(n * L) * sizeof(double));
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t j = 0; j < d->q; j++)
      result->beta[d->support[j] + l * n] = d->beta[j + l * d->max_support];
  result->value = d->value;
  result->bound = d->bound;
}

enum status subset_dual(const struct proof_terms *terms, const struct dual_control *control,
    struct host *host, void *work, struct dual_result *result) {
  struct arena arena = arena_over(work);
  struct dual d = dual_whole(terms, control, &arena);
  int *all = alloc_ints(&arena, terms->units);
  for (int g = 0; g < terms->units; g++)
    all[g] = g;
  if (terms->gram.full == NULL)
    gram_cache_clear(&terms->gram, &d.cache);
  dual_begin(&d, 0, NULL, (int)terms->units, all, control->k);
  dual_start(&d, control->share);
  dual_evaluate(&d);
  const struct dual_goal goal = {.limit = DBL_MAX, .tolerance = control->tolerance};
  int stopped = 0;
  for (result->steps = 0; result->steps < control->max_steps; result->steps++) {
    stopped = host->stop(host, result->steps, control->max_steps);
    if (stopped || dual_reached(&d, &goal) || !dual_step(&d))
      break;
  }
  dual_give(&d, result);
  return stopped ? INTERRUPTED : dual_reached(&d, &goal) ? COMPLETE : MOVE_LIMIT;
}
