/* Safe tests: which columns can be in no solution. El Ghaoui, Viallon and Rabbani 2010. */
#include "l1-safe.h"
#include "l1-state.h"
#include "simd.h"
#include "column.h"
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- what all columns share ---- */

static struct safe_data safe_layout(
    const struct problem *pb, enum loss loss, int threads, struct arena *arena) {
  const ptrdiff_t m = pb->m, pieces = loss == HINGE ? 2 * m + 2 : 0;
  struct safe_data s = {.pb = pb,
      .loss = loss,
      .relative = l1_loss_record(loss)->relative,
      .w = alloc_doubles(arena, m),
      .y = pb->response,
      .h = alloc_doubles(arena, m * pb->L),
      .buffer = arena_alloc(arena, threads, sizeof(struct safe_buffer))};
  for (int t = 0; t < threads; t++) {
    const struct safe_buffer parts = {.x = alloc_doubles(arena, m),
        .w = alloc_doubles(arena, m),
        .y = alloc_doubles(arena, m),
        .piece = {arena_alloc(arena, pieces, sizeof(struct safe_piece)),
            arena_alloc(arena, pieces, sizeof(struct safe_piece))},
        .item = arena_alloc(arena, loss == HINGE ? m : 0, sizeof(struct safe_item))};
    if (arena->base != NULL)
      s.buffer[t] = parts;
  }
  return s;
}

size_t safe_work(const struct problem *pb, enum loss loss, int threads) {
  struct arena arena = arena_over(NULL);
  safe_layout(pb, loss, threads, &arena);
  return arena.used;
}

/* Whether the covariates make a constant: root_w is then its own projection on Q. rest (m) is
   temporary. */
static int safe_has_intercept(const struct problem *pb, double *rest) {
  memcpy(rest, pb->root_w, (size_t)pb->m * sizeof(double));
  project_out(pb, rest);
  const double all = simd->dot(pb->m, pb->root_w, pb->root_w);
  return pb->q > 0 && simd->dot(pb->m, rest, rest) <= SAFE_INTERCEPT * all;
}

static struct safe_data safe_prepare(
    const struct problem *pb, enum loss loss, const struct host *host, void *work) {
  struct arena arena = arena_over(work);
  struct safe_data s = safe_layout(pb, loss, host->threads, &arena);
  s.balanced = safe_has_intercept(pb, s.h);
  s.yy = simd->dot(pb->m, pb->y, pb->y);
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    s.w[i] = case_weight(pb, i);
    s.weights[s.y[i] < 0] += s.w[i];
  }
  return s;
}

/* ---- columns ---- */

/* x (m) := a column less its projection on the covariates, any multiple of which may be added. */
static void safe_fill_projected(const struct safe_data *s, ptrdiff_t j, double *x) {
  working_column(s->pb, j, x);
  for (ptrdiff_t i = 0; i < s->pb->m; i++)
    x[i] /= s->pb->divisor[i];
}

/* The nonzeros of a sparse column, not centred: with an intercept that is no matter, and without
   one the centre is 0. */
static void safe_fill_sparse(const struct safe_data *s, ptrdiff_t j,
    const struct safe_buffer *buffer, struct safe_column *column) {
  const struct matrix *x = &s->pb->x;
  column->d = x->p[j + 1] - x->p[j];
  for (int c = 0; c < 2; c++)
    column->rest[c] = s->weights[c];
  for (ptrdiff_t k = 0; k < column->d; k++) {
    const int i = x->i[x->p[j] + k], c = s->y[i] < 0;
    buffer->x[k] = x->x[x->p[j] + k] * s->pb->inv_scale[j];
    buffer->w[k] = s->w[i];
    buffer->y[k] = s->y[i];
    column->rest[c] -= s->w[i];
  }
  for (int c = 0; c < 2; c++)
    column->rest[c] = column->d == s->pb->m ? 0 : fmax(0, column->rest[c]);
  column->w = buffer->w;
  column->y = buffer->y;
}

/* Sets size, mean and square. */
static void safe_measure_column(const struct safe_data *s, struct safe_column *column) {
  double sum = 0, size = 0, square = 0;
  for (ptrdiff_t k = 0; k < column->d; k++) {
    sum += column->w[k] * column->x[k];
    size += column->w[k] * fabs(column->x[k]);
  }
  column->size = size;
  column->mean = s->balanced ? sum / (s->weights[0] + s->weights[1]) : 0;
  for (ptrdiff_t k = 0; k < column->d; k++)
    square += column->w[k] * (column->x[k] - column->mean) * (column->x[k] - column->mean);
  column->square = square + (column->rest[0] + column->rest[1]) * column->mean * column->mean;
}

/* Reads column j, all of its rows with `dense`. */
static struct safe_column safe_read_column(
    const struct safe_data *s, ptrdiff_t j, const struct safe_buffer *buffer, int dense) {
  const struct problem *pb = s->pb;
  struct safe_column column = {.d = pb->m, .x = buffer->x, .w = s->w, .y = s->y};
  if (pb->q > s->balanced) {
    safe_fill_projected(s, j, buffer->x);
  } else if (is_sparse(&pb->x) && !dense && (s->balanced || pb->centre[j] == 0)) {
    safe_fill_sparse(s, j, buffer, &column);
  } else {
    gather_column(&pb->x, pb->m, j, buffer->x);
    for (ptrdiff_t i = 0; i < pb->m; i++)
      buffer->x[i] = (buffer->x[i] - pb->centre[j]) * pb->inv_scale[j];
  }
  safe_measure_column(s, &column);
  return column;
}

/* ---- one column: a bound ---- */

/* Squares, (10): |a'y| + sqrt(y'y - 2 gamma) |a|. */
static double safe_square_bound(
    const struct safe_data *s, ptrdiff_t j, double gamma, const struct safe_buffer *buffer) {
  const ptrdiff_t m = s->pb->m;
  working_column(s->pb, j, buffer->x);
  const double norm = sqrt(simd->dot(m, buffer->x, buffer->x));
  const double square = fmax(0, s->yy - 2 * gamma) + DBL_EPSILON * (double)m * s->yy;
  const double T = fabs(simd->dot(m, buffer->x, s->pb->y)) + sqrt(square) * norm;
  return T * (1 + L1_BOUND_MARGIN) + safe_rounding(m, norm * sqrt(s->yy));
}

/* A column of classes, for any gamma. */
struct safe_folded {
  struct safe_column column;
  ptrdiff_t count[2];               /* of hinge, pieces by class or of all rows */
  int sign, last;                   /* the signs of the product to be bounded */
  double slack;                     /* what rounding may have taken */
  struct safe_multipliers point[2]; /* of logistic, where the search ended */
};

static struct safe_folded safe_fold_column(
    const struct safe_data *s, ptrdiff_t j, const struct safe_buffer *buffer) {
  struct safe_folded folded = {.column = safe_read_column(s, j, buffer, 0), .sign = -1, .last = 1};
  const struct safe_column *column = &folded.column;
  double size = column->size, largest = 0, yx = 0;
  for (ptrdiff_t k = 0; k < column->d; k++) {
    largest = fmax(largest, fabs(column->x[k]));
    yx += column->w[k] * column->y[k] * column->x[k];
  }
  if (s->loss == HINGE) {
    safe_hinge_fold(s, column, buffer, folded.count);
    size += largest * (s->weights[0] + s->weights[1]);
  } else if (!s->balanced) {
    /* F is even in x up to the sum of w y x, so that one search serves both signs */
    folded.sign = folded.last = yx < 0 ? -1 : 1;
  }
  folded.slack = safe_rounding(column->d, size);
  return folded;
}

/* A bound of sign times the product with alpha, rounded up. */
static struct safe_line safe_class_line(const struct safe_data *s, struct safe_folded *folded,
    int sign, double gamma, double enough, const struct safe_buffer *buffer) {
  struct safe_line line;
  if (s->loss == LOGISTIC)
    line = safe_logistic_line(s, &folded->column, sign, gamma, enough, &folded->point[sign > 0]);
  else
    line = safe_hinge_line(s, buffer, folded->count, sign, gamma);
  line.value += folded->slack;
  line.value += L1_BOUND_MARGIN * fabs(line.value);
  return line;
}

static double safe_class_bound(const struct safe_data *s, ptrdiff_t j, double gamma, double enough,
    const struct safe_buffer *buffer) {
  struct safe_folded folded = safe_fold_column(s, j, buffer);
  double T = 0;
  for (int sign = folded.sign; sign <= folded.last && T < INFINITY; sign += 2)
    T = fmax(T, safe_class_line(s, &folded, sign, gamma, enough, buffer).value);
  return T;
}

/* For hinge: a bound from the model and the gap in s. */
static double safe_gap_bound(
    const struct safe_data *s, ptrdiff_t j, const struct safe_buffer *buffer) {
  const struct safe_column column = safe_read_column(s, j, buffer, 1);
  const double T = fmax(safe_hinge_knapsack(s, &column, 1, buffer->item),
      safe_hinge_knapsack(s, &column, -1, buffer->item));
  const double all = s->weights[0] + s->weights[1];
  return T * (1 + L1_BOUND_MARGIN) + safe_rounding(column.d, column.size + fabs(column.mean) * all);
}

static double safe_local_value(const struct safe_data *s, double c, double V, double R) {
  return (c + sqrt(2 * V * s->gap) + R * s->gap / 3) * (1 + L1_BOUND_MARGIN);
}

/* From the curvature at the model and the gap, both in s, and the products c (L) with its residual:
   T (L) of the outputs, with `grouped` all the same. */
static void safe_local_bound(const struct safe_data *s, ptrdiff_t j, int grouped, const double *c,
    const struct safe_buffer *buffer, double *T) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  double low = 0, high = 0, steepest = 0, trace = 0, length = 0;
  safe_fill_projected(s, j, buffer->x);
  for (ptrdiff_t i = 0; i < m; i++) {
    low = fmin(low, buffer->x[i]);
    high = fmax(high, buffer->x[i]);
  }
  const double reach = s->relative ? high - low : fmax(-low, high);
  for (ptrdiff_t l = 0; l < L; l++) {
    double square = 0;
    for (ptrdiff_t i = 0; i < m; i++)
      square += s->h[i + l * m] * buffer->x[i] * buffer->x[i];
    T[l] = safe_local_value(s, fabs(c[l]), square, reach);
    steepest = fmax(steepest, square);
    trace += square;
    length += c[l] * c[l];
  }
  for (ptrdiff_t l = 0; l < L && grouped; l++)
    T[l] = safe_local_value(s, sqrt(length), fmin(trace, 2 * steepest), sqrt(2) * reach);
}

/* ---- one column: its threshold ---- */

/* The lower bound of the optimum at lambda. */
static double safe_knot_value(const struct safe_knots *bound, double lambda) {
  ptrdiff_t low = 0, high = bound->count - 1;
  if (lambda >= bound->lambda[high])
    return bound->value[high];
  while (high - low > 1) {
    const ptrdiff_t k = (low + high) / 2;
    *(bound->lambda[k] <= lambda ? &low : &high) = k;
  }
  const double step = bound->lambda[high] - bound->lambda[low];
  const double share = step > 0 ? (lambda - bound->lambda[low]) / step : 0;
  return fmax(0, bound->value[low] + share * (bound->value[high] - bound->value[low]));
}

/* How much lambda is above the line there. */
static double safe_excess(
    const struct safe_knots *bound, const struct safe_line *line, double lambda) {
  return lambda - line->value - line->slope * (safe_knot_value(bound, lambda) - line->gamma);
}

/* The lambda up to `top` from which on it is above the line, rounded up: the excess grows with
   lambda. */
static double safe_crossing(
    const struct safe_knots *bound, const struct safe_line *line, double top) {
  if (!(safe_excess(bound, line, top) > 0))
    return top;
  double low = 0, high = top;
  for (ptrdiff_t a = 0, b = bound->count - 1; a <= b;) { /* the knots on either side */
    const ptrdiff_t k = (a + b) / 2;
    const double lambda = fmin(bound->lambda[k], top);
    if (safe_excess(bound, line, lambda) > 0) {
      high = lambda;
      b = k - 1;
    } else {
      low = lambda;
      a = k + 1;
    }
  }
  const double below = fmin(0, safe_excess(bound, line, low));
  const double above = safe_excess(bound, line, high);
  return fmin(top, (low - (high - low) * below / (above - below)) * (1 + SAFE_THRESHOLD_ROUNDING));
}

enum { SAFE_THRESHOLD_STEPS = 60 };

/* *T := T at lambda; returns the lambda up to `top` from which on lambda is above T: Newton's
   method on lambda less T, which never gets on the unsafe side, since T is nowhere above its
   tangents. */
static double safe_threshold(const struct safe_data *s, ptrdiff_t j, const struct safe_knots *bound,
    double lambda, double top, const struct safe_buffer *buffer, double *T) {
  struct safe_folded folded = safe_fold_column(s, j, buffer);
  double threshold = 0;
  *T = 0;
  for (int sign = folded.sign; sign <= folded.last; sign += 2) {
    double trial = lambda, best = top;
    struct safe_line line =
        safe_class_line(s, &folded, sign, safe_knot_value(bound, trial), INFINITY, buffer);
    *T = fmax(*T, line.value);
    for (int t = 0; t < SAFE_THRESHOLD_STEPS && best > threshold; t++) {
      const double next = safe_crossing(bound, &line, top);
      best = fmin(best, next);
      if (trial < top && fabs(next - trial) <= SAFE_THRESHOLD_ERROR * top)
        break;
      trial = next < top ? next : trial < top ? (trial + top) / 2 : top / 2;
      line = safe_class_line(s, &folded, sign, safe_knot_value(bound, trial), INFINITY, buffer);
    }
    threshold = fmax(threshold, best);
  }
  return threshold;
}

/* ---- all columns ---- */

/* What is to be found of every column: T from `gamma` and `enough`; T by the model in the data, or
   by the curvature there; or T at lambda, and the threshold. */
struct safe_request {
  enum { BY_VALUE, BY_MODEL, BY_CURVATURE, THRESHOLDS } kind;
  const double *c; /* n L, products with the residual of the model in the data */
  int grouped;     /* T is of the norm over the outputs */
  double gamma, enough;
  const struct safe_knots *bound;
  double lambda, top;
  double *T, *threshold; /* n L, and n */
};

static void safe_fill_bound(const struct safe_data *s, const struct safe_request *request,
    ptrdiff_t j, const struct safe_buffer *buffer) {
  const ptrdiff_t L = s->pb->L;
  if (!s->pb->usable[j]) {
    memset(request->T + j * L, 0, (size_t)L * sizeof(double));
    if (request->kind == THRESHOLDS)
      request->threshold[j] = 0;
  } else if (request->kind == THRESHOLDS) {
    request->threshold[j] =
        safe_threshold(s, j, request->bound, request->lambda, request->top, buffer, request->T + j);
  } else if (request->kind == BY_MODEL) {
    request->T[j] = safe_gap_bound(s, j, buffer);
  } else if (request->kind == BY_CURVATURE) {
    safe_local_bound(s, j, request->grouped, request->c + j * L, buffer, request->T + j * L);
  } else if (s->loss == LEAST_SQUARES) {
    request->T[j] = safe_square_bound(s, j, request->gamma, buffer);
  } else {
    request->T[j] = safe_class_bound(s, j, request->gamma, request->enough, buffer);
  }
}

/* Whether all coefficients of column j are left alone. */
static int safe_skips(const struct safe_data *s, const int *skip, ptrdiff_t j) {
  int skips = skip != NULL;
  for (ptrdiff_t l = 0; l < s->pb->L && skips; l++)
    skips = skip[j * s->pb->L + l] != 0;
  return skips;
}

static enum status safe_fill_bounds(const struct safe_data *s, const struct safe_request *request,
    const int *skip, struct host *host) {
  const ptrdiff_t n = s->pb->n;
  const int threads = host->threads;
  const ptrdiff_t block = 1 + (ptrdiff_t)threads * 200000 / (s->pb->m + 1);
  for (ptrdiff_t from = 0; from < n; from += block) {
    const ptrdiff_t to = from + block < n ? from + block : n;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8) if (threads > 1)
#endif
    for (ptrdiff_t j = from; j < to; j++) {
#ifdef _OPENMP
      const struct safe_buffer *buffer = s->buffer + omp_get_thread_num();
#else
      const struct safe_buffer *buffer = s->buffer;
#endif
      if (!safe_skips(s, skip, j))
        safe_fill_bound(s, request, j, buffer);
    }
    if (host->stop(host, (double)to, (double)n))
      return INTERRUPTED;
  }
  return COMPLETE;
}

enum status safe_bounds(const struct problem *pb, enum loss loss, double gamma, double enough,
    const int *skip, struct host *host, void *work, double *T) {
  const struct safe_data s = safe_prepare(pb, loss, host, work);
  const struct safe_request request = {
      .kind = BY_VALUE, .gamma = fmax(0, gamma), .enough = enough, .T = T};
  return safe_fill_bounds(&s, &request, skip, host);
}

enum status safe_thresholds(const struct problem *pb, enum loss loss,
    const struct safe_knots *bound, double lambda, double top, struct host *host, void *work,
    double *T, double *threshold) {
  const struct safe_data s = safe_prepare(pb, loss, host, work);
  const struct safe_request request = {.kind = THRESHOLDS,
      .bound = bound,
      .lambda = lambda,
      .top = top,
      .T = T,
      .threshold = threshold};
  return safe_fill_bounds(&s, &request, NULL, host);
}

enum status safe_hinge_gap_bounds(const struct problem *pb, const double *f, double gap,
    const int *skip, struct host *host, void *work, double *T) {
  struct safe_data s = safe_prepare(pb, HINGE, host, work);
  double size = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    s.h[i] = 1 - s.y[i] * f[i];
    size += s.w[i] * (1 + fabs(s.h[i]));
  }
  s.gap = fmax(0, gap) * (1 + L1_BOUND_MARGIN) + safe_rounding(pb->m, size);
  const struct safe_request request = {.kind = BY_MODEL, .T = T};
  return safe_fill_bounds(&s, &request, skip, host);
}

enum status safe_local_bounds(const struct problem *pb, enum loss loss, int grouped,
    const double *c, const double *h, double gap, const int *skip, struct host *host, void *work,
    double *T) {
  struct safe_data s = safe_prepare(pb, loss, host, work);
  memcpy(s.h, h, (size_t)l1_length(pb) * sizeof(double));
  s.gap = fmax(0, gap);
  const struct safe_request request = {.kind = BY_CURVATURE, .c = c, .grouped = grouped, .T = T};
  return safe_fill_bounds(&s, &request, skip, host);
}
