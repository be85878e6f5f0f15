/* The quadratic model by a Gram matrix: where rows are many, products of the columns with each
   other cost less than products with vectors of rows. The matrix is K = Z'(H - HB (B'HB)^-1 B'H) Z
   at an earlier point, of all columns Z that have been in the working set since. A step by K misses
   the minimum of the model by what H has changed, of which K learns what the step shows. K is made
   anew at the present point once the steps that leave much of the gap have cost as much. */
#include "column.h"
#include "l1-newton.h"
#include "simd.h"
#include <string.h>

enum {
  GRAM_MAX = 600,  /* order, at most */
  GRAM_TALL = 4,   /* rows for each column of the working set, at least */
  GRAM_BLOCK = 8,  /* columns of K that are made together */
  GRAM_ROWS = 512, /* rows of a block, of which a few columns stay in the nearest cache; with fewer
                      rows steps are quick as they are */
  GRAM_TILE = 4,   /* columns that are read together */
  GRAM_PRICE = 16  /* a step costs two products of each column with a vector; K half as many as it
                      has entries, in blocks, where four cost as much as one */
};

struct newton_gram newton_layout_gram(
    const struct problem *pb, const struct l1_control *control, struct arena *arena) {
  const int may = pb->L == 1 && !is_sparse(&pb->x) && pb->m >= GRAM_ROWS;
  const ptrdiff_t m = may ? pb->m : 0, q = may ? pb->q : 0;
  ptrdiff_t max = m / GRAM_TALL;
  max = max < GRAM_MAX ? max : GRAM_MAX;
  max = max < control->max_active ? max : control->max_active;
  return (struct newton_gram){.max = (int)max,
      .number = alloc_ints(arena, max),
      .slot = alloc_ints(arena, max),
      .K = alloc_doubles(arena, max * max),
      .centre = alloc_doubles(arena, max),
      .inv_scale = alloc_doubles(arena, max),
      .slope = alloc_doubles(arena, max),
      .before = alloc_doubles(arena, max),
      .change = alloc_doubles(arena, max),
      .block = alloc_doubles(arena, m * GRAM_BLOCK),
      .tile = alloc_doubles(arena, may ? GRAM_ROWS * GRAM_TILE : 0),
      .at = {.h = alloc_doubles(arena, m),
          .HB = alloc_doubles(arena, m * q),
          .BHB = alloc_doubles(arena, q * q),
          .memo = alloc_doubles(arena, may ? l1_memo(pb, control->loss) : 0)}};
}

int newton_gram_serves(const struct newton_fit *fit) {
  return fit->gram.max > 0 && fit->count <= fit->gram.max;
}

/* ---- the matrix ---- */

/* Swaps the second derivatives at the present point with those of K. */
static void gram_swap_points(struct newton_fit *fit) {
  const struct newton_curvature here = {fit->h, fit->HB, fit->BHB, fit->rows.memo};
  fit->h = fit->gram.at.h;
  fit->HB = fit->gram.at.HB;
  fit->BHB = fit->gram.at.BHB;
  fit->rows.memo = fit->gram.at.memo;
  fit->gram.at = here;
}

/* K := the matrix of no column, at the present point. */
static void gram_restart(const struct l1_state *state, struct newton_fit *fit) {
  const size_t m = (size_t)state->pb->m, q = (size_t)state->pb->q;
  const size_t memo = (size_t)l1_memo(state->pb, state->control.loss);
  struct newton_gram *gram = &fit->gram;
  memcpy(gram->at.h, fit->h, m * sizeof(double));
  memcpy(gram->at.HB, fit->HB, m * q * sizeof(double));
  memcpy(gram->at.BHB, fit->BHB, q * q * sizeof(double));
  memcpy(gram->at.memo, fit->rows.memo, memo * sizeof(double));
  gram->order = 0;
  gram->excess = 0;
}

/* The tile of the columns in slots from `slot` on, rows [row, row + rows); at: their slots. */
static struct tile gram_tile(const struct problem *pb, const struct newton_gram *gram, int *at,
    ptrdiff_t slot, ptrdiff_t row, ptrdiff_t rows) {
  const ptrdiff_t left = gram->order - slot;
  struct tile tile = {.count = left < GRAM_TILE ? left : GRAM_TILE,
      .at = at,
      .centre = gram->centre,
      .scale = gram->inv_scale,
      .line = simd->columns[pb->x.element].bits};
  for (ptrdiff_t i = 0; i < GRAM_TILE; i++) {
    at[i] = (int)(slot + (i < tile.count ? i : tile.count - 1));
    const int j = gram->number[at[i]];
    tile.x[i] = column_rows(&pb->x, pb->m, j, row, rows, gram->tile + i * GRAM_ROWS);
    tile.next[i] = column_at(&pb->x, pb->m, j, row);
  }
  return tile;
}

/* Columns of K from slot `from` on := the products of all its columns with the vectors of `block`.
 */
static void gram_multiply_block(const struct problem *pb, struct newton_gram *gram, int from) {
  const ptrdiff_t m = pb->m, count = gram->order - from;
  double *out[GRAM_BLOCK];
  int at[GRAM_TILE];
  for (ptrdiff_t l = 0; l < count; l++) {
    out[l] = gram->K + (from + l) * gram->max;
    memset(out[l], 0, (size_t)gram->order * sizeof(double));
  }
  for (ptrdiff_t row = 0; row < m; row += GRAM_ROWS) {
    const ptrdiff_t rows = m - row < GRAM_ROWS ? m - row : GRAM_ROWS;
    for (ptrdiff_t slot = 0; slot < gram->order; slot += GRAM_TILE) {
      const struct tile tile = gram_tile(pb, gram, at, slot, row, rows);
      simd->products(rows, &tile, count, gram->block + row, m, out);
    }
  }
  for (ptrdiff_t j = from; j < gram->order; j++)
    for (ptrdiff_t i = 0; i < j; i++)
      gram->K[j + i * gram->max] = gram->K[i + j * gram->max];
}

/* Takes the coefficients at `count` places of the working set into K. */
static void gram_add(
    const struct l1_state *state, struct newton_fit *fit, int count, const int *place) {
  const struct problem *pb = state->pb;
  struct newton_gram *gram = &fit->gram;
  const int from = gram->order;
  for (int l = 0; l < count; l++) {
    const int j = fit->number[place[l]];
    newton_begin_values(fit, fit->t);
    newton_add_values(fit, place[l], 1, fit->t);
    newton_apply_hessian(state, fit);
    memcpy(gram->block + l * pb->m, fit->Ht, (size_t)pb->m * sizeof(double));
    gram->centre[gram->order] = pb->centre[j];
    gram->inv_scale[gram->order] = pb->inv_scale[j];
    gram->number[gram->order] = j;
    gram->slot[place[l]] = gram->order++;
  }
  gram_multiply_block(pb, gram, from);
}

/* Takes the coefficients without a slot into K. */
static enum status gram_complete(struct l1_state *state, struct newton_fit *fit) {
  enum status status = COMPLETE;
  int place[GRAM_BLOCK], count = 0;
  gram_swap_points(fit);
  for (int k = 0; k < fit->count && status == COMPLETE; k++) {
    if (fit->gram.slot[k] < 0)
      place[count++] = k;
    if (count == GRAM_BLOCK || (count > 0 && k == fit->count - 1)) {
      gram_add(state, fit, count, place);
      count = 0;
      if (state->host->stop(state->host, state->done, state->total))
        status = INTERRUPTED;
    }
  }
  gram_swap_points(fit);
  return status;
}

/* slot := where the coefficients of the working set are in K, -1 for those that are not there;
   returns the number of these. */
static int gram_find(struct newton_fit *fit) {
  struct newton_gram *gram = &fit->gram;
  int missing = fit->count;
  for (int k = 0; k < fit->count; k++)
    gram->slot[k] = -1;
  for (int s = 0; s < gram->order; s++)
    if (fit->place[gram->number[s]] >= 0) {
      gram->slot[fit->place[gram->number[s]]] = s;
      missing--;
    }
  return missing;
}

enum status newton_gram_prepare(struct l1_state *state, struct newton_fit *fit, int is_poor) {
  struct newton_gram *gram = &fit->gram;
  gram->excess += is_poor;
  memcpy(gram->before, fit->corr, (size_t)fit->count * sizeof(double));
  const int missing = gram_find(fit), is_full = gram->order + missing > gram->max;
  if (gram->order == 0 || is_full || GRAM_PRICE * gram->excess > gram->order) {
    gram_restart(state, fit);
    gram_find(fit);
  }
  const enum status status = gram_complete(state, fit);
  for (int k = 0; k < fit->count && status == COMPLETE; k++)
    fit->curvature[k] = gram->K[gram->slot[k] * ((ptrdiff_t)gram->max + 1)] + fit->ridge;
  return status;
}

void newton_gram_learn(struct newton_fit *fit) {
  struct newton_gram *gram = &fit->gram;
  const double *now = fit->now.beta, *before = fit->next.beta;
  double expected = 0, found = 0;
  memset(gram->slope, 0, (size_t)gram->order * sizeof(double));
  for (int k = 0; k < fit->count; k++)
    simd->shift(gram->order, gram->slope, before[k] - now[k],
        gram->K + gram->slot[k] * (ptrdiff_t)gram->max);
  for (int k = 0; k < fit->count; k++) {
    const int s = gram->slot[k];
    const double step = now[k] - before[k];
    gram->change[s] = gram->before[k] - fit->corr[k] - fit->ridge * step;
    expected += step * gram->slope[s];
    found += step * gram->change[s];
  }
  if (!(expected > 0 && found > NEWTON_DEPENDENT * expected))
    return;
  for (int s = 0; s < gram->order; s++)
    if (fit->place[gram->number[s]] < 0)
      gram->change[s] = found / expected * gram->slope[s];
  for (int s = 0; s < gram->order; s++) {
    double *column = gram->K + s * (ptrdiff_t)gram->max;
    simd->shift(gram->order, column, -gram->change[s] / found, gram->change);
    simd->shift(gram->order, column, gram->slope[s] / expected, gram->slope);
  }
}

/* ---- the model ---- */

void newton_gram_descend(struct newton_fit *fit, double lambda, double level) {
  struct newton_gram *gram = &fit->gram;
  double *beta = fit->next.beta, *slope = gram->slope;
  memset(slope, 0, (size_t)gram->order * sizeof(double));
  for (int k = 0; k < fit->count; k++)
    slope[gram->slot[k]] = fit->corr[k] + fit->ridge * beta[k];
  for (int epoch = 0; epoch < NEWTON_EPOCHS; epoch++)
    for (int k = 0; k < fit->count; k++) {
      const ptrdiff_t s = gram->slot[k];
      const double curvature = fit->curvature[k], before = beta[k];
      if ((before == 0 && fabs(fit->corr[k]) < level) || !(curvature > 0))
        continue;
      const double pull = slope[s] + (curvature - fit->ridge) * before;
      beta[k] = l1_soft_threshold(pull, lambda) / curvature;
      if (beta[k] != before)
        simd->shift(gram->order, slope, beta[k] - before, gram->K + s * gram->max);
    }
  for (int k = 0; k < fit->count; k++)
    fit->corr[k] = beta[k] != 0 ? slope[gram->slot[k]] - fit->ridge * beta[k] : 0;
}

void newton_gram_multiply(struct newton_fit *fit, int size, const double *x, double *out) {
  const struct newton_gram *gram = &fit->gram;
  memset(gram->slope, 0, (size_t)gram->order * sizeof(double));
  for (int i = 0; i < size; i++) {
    const double *column = gram->K + (ptrdiff_t)gram->slot[fit->support[i]] * gram->max;
    if (x[i] != 0)
      simd->shift(gram->order, gram->slope, -x[i], column);
  }
  for (int i = 0; i < size; i++)
    out[i] = gram->slope[gram->slot[fit->support[i]]];
}
