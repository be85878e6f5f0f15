/* Safe tests: which columns can no solution have. El Ghaoui, Viallon and Rabbani 2010.

   A dual point of classes is kept as alpha = -theta, 0 <= alpha <= w, and a column with the labels
   folded in, v = y x, so that v'alpha is its product. Where there is an intercept, y'alpha = 0.
   What is returned is never below the exact value: rounding is added to it. */
#include "l1.h"
#include "simd.h"
#include "column.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const double MARGIN = 1e-10; /* of every bound, beside what rounding its sums may cost */

/* ---- dual values ---- */

/* -p log p - (1 - p) log(1 - p), 0 at 0 and 1 */
static double entropy(double p) {
  return (p > 0 ? -p * log(p) : 0) + (p < 1 ? -(1 - p) * log1p(-p) : 0);
}

static double case_weight(const struct problem *pb, ptrdiff_t i) {
  return pb->root_w[i] * pb->root_w[i];
}

/* alpha_i / w_i */
static double share(const struct problem *pb, const double *r, ptrdiff_t i) {
  return fmax(0, pb->response[i] * r[i] / pb->root_w[i]);
}

static double entropy_at(const struct problem *pb, const double *r, double s) {
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    value += case_weight(pb, i) * entropy(s * share(pb, r, i));
  return value;
}

/* The slope of that along s. */
static double entropy_slope(const struct problem *pb, const double *r, double s) {
  double slope = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double p = share(pb, r, i);
    if (p > 0)
      slope += case_weight(pb, i) * p * (log1p(-fmin(s * p, 1)) - log(s * p));
  }
  return slope;
}

/* The largest entropy of s r for 0 < s <= top. It is concave, and flat where it is largest, so that
   half of all digits of s are enough. */
static double best_entropy(const struct problem *pb, const double *r, double top) {
  if (entropy_slope(pb, r, top) >= 0)
    return entropy_at(pb, r, top);
  double low = 0, high = top;
  for (int i = 0; i < 30; i++) {
    const double s = (low + high) / 2;
    if (entropy_slope(pb, r, s) > 0)
      low = s;
    else
      high = s;
  }
  return entropy_at(pb, r, low > 0 ? low : high);
}

/* For squares s y'r - s^2 r'r / 2. */
static double best_square(const struct problem *pb, const double *r, double widest) {
  const double a = simd->dot(pb->m, r, r), b = simd->dot(pb->m, pb->y, r);
  const double s = fmax(-widest, fmin(a > 0 ? b / a : 0, widest));
  const double rounding = DBL_EPSILON * (double)pb->m * (fabs(s * b) + s * s * a);
  return s * b - s * s * a / 2 - rounding;
}

double dual_bound(
    const struct problem *pb, enum loss loss, const double *r, double most, double lambda) {
  const double widest = most > 0 ? lambda / most : DBL_MAX;
  if (loss == LEAST_SQUARES)
    return best_square(pb, r, widest);
  double total = 0, largest = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    total += case_weight(pb, i) * share(pb, r, i);
    largest = fmax(largest, share(pb, r, i));
  }
  if (largest == 0)
    return 0;
  const double top = fmin(widest, 1 / largest);
  const double value = loss == HINGE ? top * total : best_entropy(pb, r, top);
  return value * (1 - DBL_EPSILON * (double)(pb->m + 8));
}

/* ---- what all columns share ---- */

struct piece {
  double x, w;
};

struct shared {
  const struct problem *pb;
  enum loss loss;
  int balanced;      /* whether y'alpha = 0 */
  double *w;         /* m, case weights */
  const double *y;   /* m, the labels */
  double *h;         /* m, 1 - y f, for hinge_gap_bounds() */
  double weights[2]; /* sum of w of each class, +1 first */
  double yy;         /* y'y of squares */
  double gap;
};

/* What one thread has: room of a column. */
struct room {
  double *x, *w, *y;      /* m each */
  struct piece *piece[2]; /* 2 m + 2 each, of safe_bounds() */
  struct item *item;      /* m, of hinge_gap_bounds(), in the same place */
};

/* A column without its labels: d rows that are not 0, and the weight of the others by class. */
struct column {
  ptrdiff_t d;
  const double *x, *w, *y;
  double rest[2];
  double mean,
      square;  /* weighted mean, weighted sum of squares about it (about 0 without balance) */
  double size; /* sum of w |x|, what rounding is relative to */
};

static size_t aligned(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static size_t thread_room(const struct problem *pb, enum loss loss) {
  const size_t m = (size_t)pb->m, pieces = loss == HINGE ? 4 * m + 4 : 0;
  return aligned(3 * m * sizeof(double) + pieces * sizeof(struct piece));
}

size_t safe_work(const struct problem *pb, enum loss loss, int threads) {
  return 64 + aligned(2 * (size_t)pb->m * sizeof(double)) +
         (size_t)(threads < 1 ? 1 : threads) * thread_room(pb, loss);
}

static char *align(void *work) {
  return (char *)work + (64 - (uintptr_t)work % 64) % 64;
}

static struct room room_of(const struct shared *s, void *work, int thread) {
  const ptrdiff_t m = s->pb->m;
  char *base = align(work) + aligned(2 * (size_t)m * sizeof(double));
  double *x = (double *)(void *)(base + (size_t)thread * thread_room(s->pb, s->loss));
  struct room room = {.x = x, .w = x + m, .y = x + 2 * m};
  room.piece[0] = (struct piece *)(void *)(x + 3 * m);
  room.piece[1] = room.piece[0] + 2 * m + 2;
  room.item = (struct item *)(void *)room.piece[0];
  return room;
}

/* Whether the covariates make a constant: root_w is then its own projection on Q. */
static int has_intercept(const struct problem *pb, double *left) {
  memcpy(left, pb->root_w, (size_t)pb->m * sizeof(double));
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * pb->m;
    simd->shift(pb->m, left, simd->dot(pb->m, q, left), q);
  }
  const double all = simd->dot(pb->m, pb->root_w, pb->root_w);
  return pb->q > 0 && simd->dot(pb->m, left, left) <= 1e-24 * all;
}

static struct shared share_out(const struct problem *pb, enum loss loss, void *work) {
  double *first = (double *)(void *)align(work);
  struct shared s = {.pb = pb, .loss = loss, .w = first, .h = first + pb->m, .y = pb->response};
  s.balanced = has_intercept(pb, s.h);
  s.yy = simd->dot(pb->m, pb->y, pb->y);
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    s.w[i] = case_weight(pb, i);
    s.weights[s.y[i] < 0] += s.w[i];
  }
  return s;
}

/* ---- columns ---- */

/* A column less its projection on the covariates: any multiple of them may be added. */
static void fill_projected(const struct shared *s, ptrdiff_t j, double *x) {
  working_column(s->pb, j, x);
  for (ptrdiff_t i = 0; i < s->pb->m; i++)
    x[i] /= s->pb->root_w[i];
}

/* The nonzeros of a sparse column, not centred: with an intercept that is no matter, and without
   one the centre is 0. */
static void fill_sparse(
    const struct shared *s, ptrdiff_t j, const struct room *room, struct column *column) {
  const struct matrix *x = &s->pb->x;
  column->d = x->p[j + 1] - x->p[j];
  for (int c = 0; c < 2; c++)
    column->rest[c] = s->weights[c];
  ptrdiff_t in_class[2] = {0, 0};
  for (ptrdiff_t k = 0; k < column->d; k++) {
    const int i = x->i[x->p[j] + k], c = s->y[i] < 0;
    room->x[k] = x->x[x->p[j] + k] * s->pb->inv_scale[j];
    room->w[k] = s->w[i];
    room->y[k] = s->y[i];
    column->rest[c] -= s->w[i];
    in_class[c]++;
  }
  for (int c = 0; c < 2; c++)
    column->rest[c] = column->d == s->pb->m ? 0 : fmax(0, column->rest[c]);
  column->w = room->w;
  column->y = room->y;
}

static void measure(const struct shared *s, struct column *column) {
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

static struct column read_column(
    const struct shared *s, ptrdiff_t j, const struct room *room, int dense) {
  const struct problem *pb = s->pb;
  struct column column = {.d = pb->m, .x = room->x, .w = s->w, .y = s->y};
  if (pb->q > s->balanced) {
    fill_projected(s, j, room->x);
  } else if (pb->x.p != NULL && !dense && (s->balanced || pb->centre[j] == 0)) {
    fill_sparse(s, j, room, &column);
  } else {
    gather_column(&pb->x, pb->m, j, room->x);
    for (ptrdiff_t i = 0; i < pb->m; i++)
      room->x[i] = (room->x[i] - pb->centre[j]) * pb->inv_scale[j];
  }
  measure(s, &column);
  return column;
}

/* What rounding may have taken from a sum of d terms of that size. */
static double rounding(ptrdiff_t d, double size) {
  return 4 * DBL_EPSILON * (double)(d + 8) * size;
}

/* ---- squares, (10): |a'y| + sqrt(y'y - 2 gamma) |a| ---- */

static double square_bound(
    const struct shared *s, ptrdiff_t j, double gamma, const struct room *room) {
  const ptrdiff_t m = s->pb->m;
  working_column(s->pb, j, room->x);
  const double norm = sqrt(simd->dot(m, room->x, room->x));
  const double square = fmax(0, s->yy - 2 * gamma) + DBL_EPSILON * (double)m * s->yy;
  const double T = fabs(simd->dot(m, room->x, s->pb->y)) + sqrt(square) * norm;
  return T * (1 + MARGIN) + rounding(m, norm * sqrt(s->yy));
}

/* ---- hinge, (20): the most of v'alpha when the sum of alpha is at least gamma ---- */

/* Sorts by x, largest first, by merging; other (count) is room. */
static void sort_pieces(struct piece *piece, ptrdiff_t count, struct piece *other) {
  struct piece *from = piece, *to = other;
  for (ptrdiff_t run = 1; run < count; run *= 2) {
    for (ptrdiff_t start = 0; start < count; start += 2 * run) {
      ptrdiff_t a = start, b = start + run < count ? start + run : count;
      const ptrdiff_t a_end = b, b_end = b + run < count ? b + run : count;
      for (ptrdiff_t k = start; k < b_end; k++)
        to[k] = b == b_end || (a < a_end && from[a].x >= from[b].x) ? from[a++] : from[b++];
    }
    struct piece *swap = from;
    from = to;
    to = swap;
  }
  if (from != piece)
    memcpy(piece, from, (size_t)count * sizeof(struct piece));
}

/* Labels folded into the rows of one class (1 or -1), or of both (0), with their zeros in one
   piece, sorted; their number. */
static ptrdiff_t fold(const struct column *column, int label, struct piece *piece) {
  ptrdiff_t count = 0;
  double rest = 0;
  for (ptrdiff_t k = 0; k < column->d; k++)
    if (label == 0 || column->y[k] == label)
      piece[count++] = (struct piece){column->y[k] * column->x[k], column->w[k]};
  for (int c = 0; c < 2; c++)
    if (label != (c == 0 ? -1 : 1))
      rest += column->rest[c];
  if (rest > 0)
    piece[count++] = (struct piece){0, rest};
  sort_pieces(piece, count, piece + count);
  return count;
}

/* Sorted pieces taken one after the other, from the largest for sign 1, or of -x for sign -1. */
struct walk {
  const struct piece *piece;
  ptrdiff_t left; /* pieces not done with */
  int sign;
  double w; /* what is left of the present one */
};

static struct walk begin_walk(const struct piece *piece, ptrdiff_t count, int sign) {
  struct walk walk = {.piece = sign > 0 ? piece : piece + count - 1, .left = count, .sign = sign};
  walk.w = count > 0 ? walk.piece->w : 0;
  return walk;
}

static void advance(struct walk *walk, double w) {
  walk->w = w < walk->w ? walk->w - w : 0;
  if (walk->w == 0 && --walk->left > 0) {
    walk->piece += walk->sign;
    walk->w = walk->piece->w;
  }
}

/* A bound for one gamma, and for any other: value + slope (gamma' - gamma), as it is concave. */
struct line {
  double gamma, value, slope;
};

/* The largest F(h, v+) + F(h, v-) of any h >= gamma / 2: concave, and its slope falls from piece to
   piece. */
static struct line most_of_classes(struct walk plus, struct walk minus, double gamma) {
  struct line line = {gamma, 0, 0};
  double h = 0;
  while (plus.left > 0 && minus.left > 0) {
    const double slope = plus.sign * (plus.piece->x + minus.piece->x);
    double w = fmin(plus.w, minus.w);
    if (slope <= 0) {
      if (h >= gamma / 2)
        break;
      w = fmin(w, gamma / 2 - h);
      line.slope = slope / 2;
    }
    line.value += slope * w;
    h += w;
    advance(&plus, w);
    advance(&minus, w);
  }
  return line;
}

/* The same for all rows at once, where nothing balances. */
static struct line most_of_rows(struct walk walk, double gamma) {
  struct line line = {gamma, 0, 0};
  double h = 0;
  while (walk.left > 0) {
    const double slope = walk.sign * walk.piece->x;
    const double w = slope > 0 ? walk.w : fmin(walk.w, gamma - h);
    if (w <= 0)
      break;
    line.slope = fmin(slope, 0);
    line.value += slope * w;
    h += w;
    advance(&walk, w);
  }
  return line;
}

/* ---- logistic, (27): min over mu > 0 and nu of
   F = -gamma mu + mu sum w log(1 + exp(t)),  t = y (sign x + nu) / mu,
   any of which is a bound of the product with alpha ---- */

/* Sums over the rows at one (mu, nu), p = 1 / (1 + exp(-t)), q = p (1 - p). */
struct sums {
  double loss;       /* sum of w log(1 + exp(t)) */
  double balance;    /* sum of w y p */
  double entropy;    /* sum of w H(p) */
  double q, qt, qtt; /* sums of w q, w q y t, w q t^2 */
};

static void add_rows(struct sums *sums, double t, double y, double w) {
  const double e = exp(-fabs(t)), large = 1 / (1 + e), p = t > 0 ? large : e * large;
  const double loss = fmax(t, 0) + log1p(e), q = e * large * large;
  sums->loss += w * loss;
  sums->balance += w * y * p;
  sums->entropy += w * (loss - t * p);
  sums->q += w * q;
  sums->qt += w * q * y * t;
  sums->qtt += w * q * t * t;
}

static struct sums sum_rows(const struct column *column, int sign, double mu, double nu) {
  struct sums sums = {0};
  for (ptrdiff_t k = 0; k < column->d; k++) {
    const double y = column->y[k];
    add_rows(&sums, y * (sign * column->x[k] + nu) / mu, y, column->w[k]);
  }
  for (int c = 0; c < 2; c++)
    if (column->rest[c] > 0)
      add_rows(&sums, (c == 0 ? nu : -nu) / mu, c == 0 ? 1 : -1, column->rest[c]);
  return sums;
}

struct place {
  double mu, nu;
  double g; /* of a search's last place: how far gamma was below the largest entropy */
};

/* Newton's step for F; with no balance nu stays. `gain` is twice what it promises. */
static struct place newton_step(
    const struct sums *sums, double gamma, int balanced, double mu, double *gain) {
  const double g_nu = sums->balance, g_mu = sums->entropy - gamma;
  struct place step = {0, 0, 0};
  if (!balanced) {
    step.mu = -mu * g_mu / sums->qtt;
  } else {
    const double det = sums->q * sums->qtt - sums->qt * sums->qt;
    step.nu = -mu * (sums->qtt * g_nu + sums->qt * g_mu) / det;
    step.mu = -mu * (sums->qt * g_nu + sums->q * g_mu) / det;
  }
  *gain = -(step.nu * g_nu + step.mu * g_mu);
  return step;
}

/* Where F is least to the second order about the alpha of largest entropy, g beyond gamma: its
   shares are those of the classes, its products all alike up to the column's. With a place where F
   was least for another g, what is known of it is taken along. */
static struct place first_place(
    const struct shared *s, const struct column *column, int sign, double g, struct place last) {
  const double all = s->weights[0] + s->weights[1];
  const double plus = s->balanced ? s->weights[1] / all : 0.5, odds = log(plus / (1 - plus));
  struct place at = {.g = g};
  if (last.g > 0) {
    at.mu = last.mu * sqrt(last.g / g);
    at.nu = s->balanced ? last.nu + odds * (at.mu - last.mu) : 0;
  } else {
    at.mu = sqrt(plus * (1 - plus) * column->square / (2 * g));
    at.nu = s->balanced ? odds * at.mu - sign * column->mean : 0;
  }
  return at;
}

/* What the entropy of an alpha can be at most. */
static double largest_entropy(const struct shared *s) {
  const double all = s->weights[0] + s->weights[1];
  return all * (s->balanced ? entropy(s->weights[0] / all) : log(2));
}

/* The search for the least F of one sign. */
struct descent {
  const struct shared *s;
  const struct column *column;
  int sign;
  double gamma, enough;
  double best, mu; /* the least F so far, rounding added, and its mu */
};

static double try_place(struct descent *search, struct place at, struct sums *sums) {
  *sums = sum_rows(search->column, search->sign, at.mu, at.nu);
  const double slack = rounding(search->column->d, at.mu * (sums->loss + search->gamma));
  const double F = at.mu * (sums->loss - search->gamma);
  if (F + slack < search->best) {
    search->best = F + slack;
    search->mu = at.mu;
  }
  return F;
}

/* Whether the best F already tells that the bound is not above `enough`. */
static int is_enough(const struct descent *search) {
  return search->enough < INFINITY && search->best <= search->enough;
}

enum { NEWTON = 30, BRACKET = 80 };

/* Newton's method from the place for which F is nearly quadratic. 0 when it does not get on: where
   gamma is far below the largest entropy F has almost an edge. */
static int newton_search(struct descent *search, struct place *at) {
  struct sums sums;
  double F = try_place(search, *at, &sums);
  for (int i = 0; i < NEWTON && !is_enough(search); i++) {
    double gain;
    const struct place step = newton_step(&sums, search->gamma, search->s->balanced, at->mu, &gain);
    if (gain <= 1e-10 * fabs(F))
      return 1;
    const struct place next = {at->mu + step.mu, at->nu + step.nu, at->g};
    if (!(next.mu > 0.1 * at->mu && next.mu < 10 * at->mu))
      return 0;
    if (F - gain > search->enough) {
      search->best = INFINITY;
      return 1;
    }
    const double value = try_place(search, next, &sums);
    if (!(value <= F + 1e-12 * fabs(F)))
      return 0;
    *at = next;
    F = value;
  }
  return is_enough(search);
}

/* The best nu for a mu: between ends that are known, where the classes balance. */
static double settle(struct descent *search, struct place *at, struct sums *sums) {
  const struct column *column = search->column;
  const double odds = fabs(log(search->s->weights[0] / search->s->weights[1]));
  double low = INFINITY, high = -INFINITY;
  for (ptrdiff_t k = 0; k < column->d; k++) {
    low = fmin(low, -search->sign * column->x[k]);
    high = fmax(high, -search->sign * column->x[k]);
  }
  if (column->rest[0] + column->rest[1] > 0) {
    low = fmin(low, 0);
    high = fmax(high, 0);
  }
  low -= at->mu * odds;
  high += at->mu * odds;
  for (int i = 0;; i++) {
    const double F = try_place(search, *at, sums), slope = sums->balance;
    *(slope > 0 ? &high : &low) = at->nu;
    if (i == BRACKET || !search->s->balanced || fabs(slope) * (high - low) <= 1e-11 * fabs(F))
      return F;
    at->nu -= slope * at->mu / sums->q;
    if (!(at->nu > low && at->nu < high))
      at->nu = (low + high) / 2;
  }
}

/* The least F along mu, the best nu taken for each: convex, its slope the entropy less gamma. */
static void bracket_search(struct descent *search, struct place *at) {
  double low = 0, high = INFINITY;
  for (int i = 0; i < BRACKET && !is_enough(search); i++) {
    struct sums sums;
    const double F = settle(search, at, &sums), slope = sums.entropy - search->gamma;
    *(slope > 0 ? &high : &low) = at->mu;
    const double left = fabs(slope) * (slope > 0 ? at->mu - low : high - at->mu);
    if (left <= 1e-11 * fabs(F))
      return;
    if (F - left > search->enough) {
      search->best = INFINITY;
      return;
    }
    const double curve = sums.qtt - (search->s->balanced ? sums.qt * sums.qt / sums.q : 0);
    const double newton = at->mu - slope * at->mu / curve, old = at->mu;
    const double middle = high == INFINITY ? 10 * low : low == 0 ? high / 10 : sqrt(low * high);
    at->mu = newton > low && newton < high ? newton : middle;
    at->nu *= at->mu / old;
  }
}

/* The least F for one sign, or with a finite `enough` any F that is not above it; INFINITY where
   the least one is, by what the slopes promise. Begins at *at when its mu is above 0, and leaves
   the last place there. */
static struct line logistic_line(const struct shared *s, const struct column *column, int sign,
    double gamma, double enough, struct place *at) {
  const double bar = largest_entropy(s);
  gamma = fmin(gamma, bar * (1 - 1e-14 - 4 * DBL_EPSILON * (double)column->d));
  struct descent search = {s, column, sign, gamma, enough, INFINITY, 0};
  *at = first_place(s, column, sign, bar - gamma, *at);
  if (!newton_search(&search, at))
    bracket_search(&search, at);
  return (struct line){gamma, search.best, -search.mu};
}

/* ---- one column of classes, for any gamma ---- */

struct side {
  struct column column;
  ptrdiff_t count[2];    /* pieces by class, or of all rows, of hinge */
  int sign, last;        /* the signs that count: this one, and `last` when it is another */
  double slack;          /* what rounding may have taken */
  struct place place[2]; /* of logistic, where the search ended */
};

static struct side read_side(const struct shared *s, ptrdiff_t j, const struct room *room) {
  struct side side = {.column = read_column(s, j, room, 0), .sign = -1, .last = 1};
  const struct column *column = &side.column;
  double size = column->size, largest = 0, folded = 0;
  for (ptrdiff_t k = 0; k < column->d; k++) {
    largest = fmax(largest, fabs(column->x[k]));
    folded += column->w[k] * column->y[k] * column->x[k];
  }
  if (s->loss == HINGE) {
    side.count[0] = fold(column, s->balanced ? 1 : 0, room->piece[0]);
    side.count[1] = s->balanced ? fold(column, -1, room->piece[1]) : 0;
    size += largest * (s->weights[0] + s->weights[1]);
  } else if (!s->balanced) {
    /* F is even in x up to the sum of w y x, so that one search serves both signs */
    side.sign = side.last = folded < 0 ? -1 : 1;
  }
  side.slack = rounding(column->d, size);
  return side;
}

/* A bound of sign times the product with alpha, rounded up. */
static struct line side_line(const struct shared *s, struct side *side, int sign, double gamma,
    double enough, const struct room *room) {
  struct line line;
  if (s->loss == LOGISTIC)
    line = logistic_line(s, &side->column, sign, gamma, enough, &side->place[sign > 0]);
  else if (s->balanced)
    line = most_of_classes(begin_walk(room->piece[0], side->count[0], sign),
        begin_walk(room->piece[1], side->count[1], sign), gamma);
  else
    line = most_of_rows(begin_walk(room->piece[0], side->count[0], sign), gamma);
  line.value += side->slack;
  line.value += MARGIN * fabs(line.value);
  return line;
}

static double class_bound(
    const struct shared *s, ptrdiff_t j, double gamma, double enough, const struct room *room) {
  struct side side = read_side(s, j, room);
  double T = 0;
  for (int sign = side.sign; sign <= side.last && T < INFINITY; sign += 2)
    T = fmax(T, side_line(s, &side, sign, gamma, enough, room).value);
  return T;
}

/* ---- from which lambda on is a column out ---- */

static double value_at(const struct knots *bound, double lambda) {
  ptrdiff_t low = 0, high = bound->count - 1;
  if (lambda >= bound->lambda[high])
    return bound->value[high];
  while (high - low > 1) {
    const ptrdiff_t k = (low + high) / 2;
    *(bound->lambda[k] <= lambda ? &low : &high) = k;
  }
  const double step = bound->lambda[high] - bound->lambda[low];
  const double part = step > 0 ? (lambda - bound->lambda[low]) / step : 0;
  return fmax(0, bound->value[low] + part * (bound->value[high] - bound->value[low]));
}

/* How much lambda is above the line there. */
static double excess(const struct knots *bound, const struct line *line, double lambda) {
  return lambda - line->value - line->slope * (value_at(bound, lambda) - line->gamma);
}

/* The lambda up to `top` from which on it is above the line: the excess grows with lambda. */
static double meet(const struct knots *bound, const struct line *line, double top) {
  if (!(excess(bound, line, top) > 0))
    return top;
  double low = 0, high = top;
  for (ptrdiff_t a = 0, b = bound->count - 1; a <= b;) { /* the knots on either side */
    const ptrdiff_t k = (a + b) / 2;
    const double lambda = fmin(bound->lambda[k], top);
    if (excess(bound, line, lambda) > 0) {
      high = lambda;
      b = k - 1;
    } else {
      low = lambda;
      a = k + 1;
    }
  }
  const double below = fmin(0, excess(bound, line, low)), above = excess(bound, line, high);
  return fmin(top, (low - (high - low) * below / (above - below)) * (1 + 1e-12));
}

enum { TRIES = 60 };

/* T at lambda, and the lambda up to `top` from which on lambda is above T: Newton's method on
   lambda less T, which never gets on the unsafe side, since T is nowhere above its tangents. */
static double reach_of(const struct shared *s, ptrdiff_t j, const struct knots *bound,
    double lambda, double top, const struct room *room, double *T) {
  struct side side = read_side(s, j, room);
  double most = 0;
  *T = 0;
  for (int sign = side.sign; sign <= side.last; sign += 2) {
    double at = lambda, best = top;
    struct line line = side_line(s, &side, sign, value_at(bound, at), INFINITY, room);
    *T = fmax(*T, line.value);
    for (int t = 0; t < TRIES && best > most; t++) {
      const double next = meet(bound, &line, top);
      best = fmin(best, next);
      if (at < top && fabs(next - at) <= 1e-6 * top)
        break;
      at = next < top ? next : at < top ? (at + top) / 2 : top / 2;
      line = side_line(s, &side, sign, value_at(bound, at), INFINITY, room);
    }
    most = fmax(most, best);
  }
  return most;
}

/* ---- hinge from a model: a fractional knapsack ---- */

/* A row whose alpha would better not be where the model has it. */
struct item {
  double density; /* |v| / |h|, what is gained for each unit of the gap */
  ptrdiff_t row;
};

/* The item with the largest density is on top. */
static void sift(struct item *heap, ptrdiff_t count, ptrdiff_t at) {
  const struct item item = heap[at];
  for (ptrdiff_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && heap[child + 1].density > heap[child].density)
      child++;
    if (heap[child].density <= item.density)
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

/* A bound for one nu, and its slope along nu. */
struct tangent {
  double nu, value, slope;
};

/* The most of v'alpha, v = y (sign x + nu), when sum |h| |alpha - hat| <= gap, hat being w where h
   is above 0 and 0 where it is below. */
static struct tangent knapsack(
    const struct shared *s, const struct column *column, int sign, double nu, struct item *heap) {
  struct tangent at = {.nu = nu};
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < column->d; i++) {
    const double h = s->h[i], w = s->w[i], v = s->y[i] * (sign * column->x[i] + nu);
    if (h > 0 || (h == 0 && v > 0)) {
      at.value += w * v;
      at.slope += w * s->y[i];
    }
    if ((h > 0 && v < 0) || (h < 0 && v > 0))
      heap[count++] = (struct item){fabs(v / h), i};
  }
  for (ptrdiff_t k = count / 2; k-- > 0;)
    sift(heap, count, k);
  for (double left = s->gap; count > 0 && left > 0; sift(heap, count, 0)) {
    const ptrdiff_t i = heap[0].row;
    const double h = s->h[i], used = fmin(fabs(h) * s->w[i], left);
    at.value += heap[0].density * used;
    at.slope -= s->y[i] * used / h;
    left -= used;
    heap[0] = heap[--count];
  }
  return at;
}

enum { TANGENTS = 12 };

/* The least bound of any nu, nearly: it is convex along nu, and where two tangents meet is the next
   one to try. */
static double least_knapsack(
    const struct shared *s, const struct column *column, int sign, struct item *heap) {
  struct tangent a = knapsack(s, column, sign, -sign * column->mean, heap);
  double best = a.value, end = 0;
  if (!s->balanced || a.slope == 0)
    return best;
  for (ptrdiff_t i = 0; i < column->d; i++) {
    const double nu = -sign * column->x[i];
    end = i == 0 || (a.slope > 0 ? nu < end : nu > end) ? nu : end;
  }
  struct tangent b = knapsack(s, column, sign, end, heap);
  best = fmin(best, b.value);
  for (int t = 0; t < TANGENTS && a.slope * b.slope > 0; t++) {
    b = knapsack(s, column, sign, 3 * b.nu - 2 * a.nu, heap);
    best = fmin(best, b.value);
  }
  for (int t = 0; t < TANGENTS && a.slope * b.slope < 0; t++) {
    const double nu = (b.value - a.value + a.slope * a.nu - b.slope * b.nu) / (a.slope - b.slope);
    if (best - (a.value + a.slope * (nu - a.nu)) <= 1e-3 * fabs(best))
      break;
    const struct tangent c = knapsack(s, column, sign, nu, heap);
    best = fmin(best, c.value);
    *(a.slope * c.slope > 0 ? &a : &b) = c;
  }
  return best;
}

static double gap_bound(const struct shared *s, ptrdiff_t j, const struct room *room) {
  const struct column column = read_column(s, j, room, 1);
  const double T =
      fmax(least_knapsack(s, &column, 1, room->item), least_knapsack(s, &column, -1, room->item));
  const double all = s->weights[0] + s->weights[1];
  return T * (1 + MARGIN) + rounding(column.d, column.size + fabs(column.mean) * all);
}

/* ---- all columns ---- */

/* What is to be found of every column: T from `gamma` and `enough`, T by the model in `shared`, or
   T at lambda and from which lambda on it is out. */
struct order {
  enum { BY_VALUE, BY_MODEL, REACH } kind;
  double gamma, enough;
  const struct knots *bound;
  double lambda, top;
  double *T, *reach; /* n */
};

static void fill_bound(
    const struct shared *s, const struct order *order, ptrdiff_t j, const struct room *room) {
  if (!s->pb->usable[j]) {
    order->T[j] = 0;
    if (order->kind == REACH)
      order->reach[j] = 0;
  } else if (order->kind == REACH) {
    order->reach[j] = reach_of(s, j, order->bound, order->lambda, order->top, room, order->T + j);
  } else if (order->kind == BY_MODEL) {
    order->T[j] = gap_bound(s, j, room);
  } else if (s->loss == LEAST_SQUARES) {
    order->T[j] = square_bound(s, j, order->gamma, room);
  } else {
    order->T[j] = class_bound(s, j, order->gamma, order->enough, room);
  }
}

static enum status fill_bounds(const struct shared *s, const struct order *order, const int *skip,
    struct host *host, void *work) {
  const ptrdiff_t n = s->pb->n;
  const int threads = host->threads < 1 ? 1 : host->threads;
  const ptrdiff_t block = 1 + (ptrdiff_t)threads * 200000 / (s->pb->m + 1);
  for (ptrdiff_t from = 0; from < n; from += block) {
    const ptrdiff_t to = from + block < n ? from + block : n;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8) if (threads > 1)
#endif
    for (ptrdiff_t j = from; j < to; j++) {
#ifdef _OPENMP
      const struct room room = room_of(s, work, omp_get_thread_num());
#else
      const struct room room = room_of(s, work, 0);
#endif
      if (skip == NULL || !skip[j])
        fill_bound(s, order, j, &room);
    }
    if (host->stop(host, (double)to, (double)n))
      return INTERRUPTED;
  }
  return COMPLETE;
}

enum status safe_bounds(const struct problem *pb, enum loss loss, double gamma, double enough,
    const int *skip, struct host *host, void *work, double *T) {
  const struct shared s = share_out(pb, loss, work);
  const struct order order = {.kind = BY_VALUE, .gamma = fmax(0, gamma), .enough = enough, .T = T};
  return fill_bounds(&s, &order, skip, host, work);
}

enum status safe_reach(const struct problem *pb, enum loss loss, const struct knots *bound,
    double lambda, double top, struct host *host, void *work, double *T, double *reach) {
  const struct shared s = share_out(pb, loss, work);
  const struct order order = {
      .kind = REACH, .bound = bound, .lambda = lambda, .top = top, .T = T, .reach = reach};
  return fill_bounds(&s, &order, NULL, host, work);
}

enum status hinge_gap_bounds(const struct problem *pb, const double *f, double gap, const int *skip,
    struct host *host, void *work, double *T) {
  struct shared s = share_out(pb, HINGE, work);
  double size = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    s.h[i] = 1 - s.y[i] * f[i];
    size += s.w[i] * (1 + fabs(s.h[i]));
  }
  s.gap = fmax(0, gap) * (1 + MARGIN) + rounding(pb->m, size);
  const struct order order = {.kind = BY_MODEL, .T = T};
  return fill_bounds(&s, &order, skip, host, work);
}
