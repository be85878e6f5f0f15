/* Products of r with the working columns, which are left as the user has them: centre, scale and
   covariates are met in passing. A product that cannot matter is not made. */
#include "l1-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>

double weigh_rows(const struct problem *pb, const double *r, double *v) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    sum += v[i] = pb->root_w[i] * r[i];
  return sum;
}

double column_product(const struct problem *pb, ptrdiff_t j, const double *v, double sum) {
  const struct matrix *x = &pb->x;
  if (x->p == NULL)
    return simd->centred_dot(pb->m, x->x + j * pb->m, pb->centre[j], v) * pb->inv_scale[j];
  double dot = 0;
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    dot += x->x[k] * v[x->i[k]];
  return (dot - pb->centre[j] * sum) * pb->inv_scale[j];
}

void add_column(const struct problem *pb, ptrdiff_t j, double beta, double *f, double *offset) {
  const struct matrix *x = &pb->x;
  const double step = beta * pb->inv_scale[j];
  if (x->p == NULL) {
    simd->add_centred(pb->m, f, step, x->x + j * pb->m, pb->centre[j]);
    return;
  }
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    f[x->i[k]] += step * x->x[k];
  *offset -= step * pb->centre[j];
}

void predict_rows(
    const struct problem *pb, int size, const int *feature, const double *beta, double *f) {
  double offset = 0;
  memset(f, 0, (size_t)pb->m * sizeof(double));
  for (int k = 0; k < size; k++)
    add_column(pb, feature[k], beta[k], f, &offset);
  if (offset != 0)
    for (ptrdiff_t i = 0; i < pb->m; i++)
      f[i] += offset;
}

void column_norms(const struct problem *pb, double *norm) {
  const double rounding = 1e-14 * (double)pb->m;
  for (ptrdiff_t j = 0; j < pb->n; j++)
    norm[j] = pb->usable[j] ? sqrt(pb->rss[j] + rounding * pb->squares[j]) : 0;
}

/* ---- lazy products ---- */

/* A direction costs as much as a pass over all columns, and its products n doubles. */
int directions_kept(const struct problem *pb, const struct l1_control *control) {
  if (control->screen != LAZY)
    return 0;
  const ptrdiff_t rows = pb->x.p == NULL ? pb->m : pb->x.p[pb->n] / pb->n;
  return rows < 8 ? 1 : rows > 256 ? 32 : (int)(rows / 8);
}

/* How far r has gone since it was last looked at; it is then the one looked at. */
static double distance_gone(struct l1 *at) {
  double square = 0;
  for (ptrdiff_t i = 0; i < at->pb->m; i++) {
    const double d = at->r[i] - at->seen[i];
    square += d * d;
  }
  memcpy(at->seen, at->r, (size_t)at->pb->m * sizeof(double));
  return sqrt(square) * (1 + 1e-12);
}

/* share and rest of the present r; returns the length of rest. */
static double split_residual(struct l1 *at) {
  const ptrdiff_t m = at->pb->m;
  memcpy(at->rest, at->r, (size_t)m * sizeof(double));
  memset(at->share, 0, (size_t)at->directions * sizeof(double));
  /* twice is enough: orthogonal to rounding */
  for (int l = 0; l < 2 * at->directions; l++) {
    const int j = l % at->directions;
    const double part = simd->dot(m, at->basis + j * m, at->rest);
    simd->shift(m, at->rest, part, at->basis + j * m);
    at->share[j] += part;
  }
  return sqrt(simd->dot(m, at->rest, at->rest));
}

/* a_k'r without the part of r that lies outside the known directions */
static double known_part(const struct l1 *at, ptrdiff_t k) {
  return simd->dot(at->directions, at->known + k * at->most_directions, at->share);
}

/* |a_k'r| is at most reach now, and no more than that plus what r goes from here times the norm. */
static void set_reach(struct l1 *at, ptrdiff_t k, double reach) {
  at->base[k] = reach - at->norm[k] * at->travelled;
}

/* Whether what r has along the known directions still leaves |a_k'r| above `level` open. */
static int may_exceed(struct l1 *at, ptrdiff_t k, double level, double rest, double rounding) {
  if (at->directions == 0)
    return 1;
  const double reach = fabs(known_part(at, k)) + at->norm[k] * rest;
  if (reach < at->base[k] + at->norm[k] * at->travelled)
    set_reach(at, k, reach);
  return reach + at->norm[k] * rounding > level;
}

/* The columns whose product is to be made, in at->list; *avoidable counts those that one more
   direction would have spared. */
static ptrdiff_t list_columns(struct l1 *at, double level, double rounding, ptrdiff_t *avoidable) {
  const ptrdiff_t n = at->pb->n;
  ptrdiff_t count = 0, left = 0;
  if (at->control.screen != LAZY) {
    for (ptrdiff_t k = 0; k < n; k++)
      if (!at->out[k] && !is_fresh(at, k))
        at->list[count++] = (int)k;
    return count;
  }
  const double rest = split_residual(at), gone = at->travelled + rounding;
  for (ptrdiff_t k = 0; k < n; k++) {
    at->list[count] = (int)k;
    count += at->base[k] + at->norm[k] * gone > level;
  }
  for (ptrdiff_t l = 0; l < count; l++) {
    const int k = at->list[l];
    if (at->out[k] || is_fresh(at, k) || !may_exceed(at, k, level, rest, rounding))
      continue;
    *avoidable += fabs(known_part(at, k)) < 0.9 * level;
    at->list[left++] = k;
  }
  return left;
}

/* Columns for which a second thread is worth waking. */
enum { SHARED = 256 };

/* c[k] := a_k'v for the columns listed. */
static enum status make_products(struct l1 *at, ptrdiff_t count, double sum) {
  const struct problem *pb = at->pb;
  const ptrdiff_t block = 1 + (pb->x.p == NULL ? 4000000 / (pb->m + 1) : 200000);
  for (ptrdiff_t from = 0; from < count; from += block) {
    const ptrdiff_t to = from + block < count ? from + block : count;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(at->host->threads) if (to - from > SHARED)
#endif
    for (ptrdiff_t l = from; l < to; l++)
      at->c[at->list[l]] = column_product(pb, at->list[l], at->v, sum);
    if (at->host->stop(at->host, at->done, at->total))
      return INTERRUPTED;
  }
  at->products += (double)count;
  return COMPLETE;
}

/* Makes what r has outside the known directions one of them: its products with all columns give c
   of all. With no place left the directions begin anew with r itself. */
static enum status learn_direction(struct l1 *at) {
  const struct problem *pb = at->pb;
  if (at->directions == at->most_directions)
    at->directions = 0;
  const double rest = split_residual(at);
  double *direction = at->basis + at->directions * pb->m;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    direction[i] = at->rest[i] / rest;
  const double sum = weigh_rows(pb, direction, at->v);
  ptrdiff_t count = 0;
  for (ptrdiff_t k = 0; k < pb->n; k++)
    if (!at->out[k])
      at->list[count++] = (int)k;
  if (make_products(at, count, sum) != COMPLETE)
    return INTERRUPTED;
  for (ptrdiff_t l = 0; l < count; l++) {
    const ptrdiff_t k = at->list[l];
    at->known[k * at->most_directions + at->directions] = at->c[k];
    at->c[k] = known_part(at, k) + rest * at->c[k];
  }
  at->directions++;
  return COMPLETE;
}

/* When a direction would spare more than this share of the columns, it is learnt. */
static const double share_to_learn = 0.06;

enum status correlate(struct l1 *at, double level) {
  const struct problem *pb = at->pb;
  const double gone = distance_gone(at);
  at->travelled += gone;
  at->passes += gone > 0 || at->passes == 0;
  const double length = sqrt(simd->dot(pb->m, at->r, at->r));
  const double rounding =
      2.3e-16 * ((double)(pb->m * (1 + at->directions)) * length + 4 * at->travelled);
  ptrdiff_t avoidable = 0, count = list_columns(at, level, rounding, &avoidable);
  enum status status;
  if (at->most_directions > 0 && length > 0 && (double)avoidable > share_to_learn * (double)pb->n) {
    status = learn_direction(at);
    count = 0;
    for (ptrdiff_t k = 0; k < pb->n; k++)
      if (!at->out[k])
        at->list[count++] = (int)k;
  } else {
    status = make_products(at, count, weigh_rows(pb, at->r, at->v));
  }
  if (status != COMPLETE)
    return INTERRUPTED;
  at->rounds++;
  at->most = at->control.screen == LAZY ? level : 0; /* no column left aside exceeds that */
  for (ptrdiff_t l = 0; l < count; l++) {
    at->pass[at->list[l]] = at->passes;
    set_reach(at, at->list[l], fabs(at->c[at->list[l]]));
    at->most = fmax(at->most, fabs(at->c[at->list[l]]));
  }
  for (ptrdiff_t k = 0; k < pb->n && gone == 0; k++)
    if (!at->out[k] && is_fresh(at, k))
      at->most = fmax(at->most, fabs(at->c[k]));
  return COMPLETE;
}
