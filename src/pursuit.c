/* Sparse conjugate directions pursuit: a solution of A w = b with one more nonzero at every step.
   Its conjugate directions are the columns of L^-T diag(L) for the Cholesky factor L of A_SS, so
   the factor is what is kept. */
#include "simd.h"
#include "pursuit.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* scores as near as this are equal, and the first component wins */
static const double TIE = 1e-12;

enum { CHOSEN = 1, DEPENDENT = 2 };

size_t scdp_work(const struct system *system, const struct scdp_control *control) {
  const size_t D = (size_t)system->D, L = (size_t)system->L, k = (size_t)control->k;
  const size_t extra = (size_t)system->extra;
  return ((D + extra) * k + k * L + D * L + D + extra * L + 2 * k) * sizeof(double) +
         (k + D) * sizeof(int);
}

struct pursuit scdp_begin(
    const struct system *system, const struct scdp_control *control, void *work) {
  const ptrdiff_t D = system->D, L = system->L, k = control->k, rows = D + system->extra;
  struct pursuit at = {.k = control->k, .F = work, .least = 1};
  at.z = at.F + rows * k;
  at.c = at.z + k * L;
  at.d = at.c + D * L;
  at.value = at.d + D;
  at.left = at.value + system->extra * L;
  at.row = at.left + k;
  at.chosen = (int *)(void *)(at.row + k);
  at.blocked = at.chosen + k;
  for (ptrdiff_t i = 0; i < D * L; i++)
    at.c[i] = -system->b[i];
  if (system->diagonal != NULL)
    memcpy(at.d, system->diagonal, (size_t)D * sizeof(double));
  memset(at.z, 0, (size_t)(k * L) * sizeof(double));
  memset(at.value, 0, (size_t)(system->extra * L) * sizeof(double));
  memset(at.blocked, 0, (size_t)D * sizeof(int));
  return at;
}

/* ---- choosing ---- */

/* Whether component i is neither chosen nor known to depend on the chosen ones. */
static int is_free(const struct pursuit *at, const struct system *system,
    const struct scdp_control *control, ptrdiff_t i) {
  return !at->blocked[i] &&
         (system->diagonal == NULL || at->d[i] > control->dependent * system->diagonal[i]);
}

/* What is left at a component when nothing but rounding is. */
static double rounding_left(const struct system *system) {
  double most = 0;
  for (ptrdiff_t j = 0; j < system->D * system->L; j++)
    most = fmax(most, fabs(system->b[j]));
  return DBL_EPSILON * most;
}

/* 0 for a component that cannot be chosen, or that would change nothing. */
static double score_of(const struct pursuit *at, const struct system *system,
    const struct scdp_control *control, double rounding, ptrdiff_t i) {
  double square = 0, most = 0;
  if (!is_free(at, system, control, i))
    return 0;
  for (ptrdiff_t l = 0; l < system->L; l++) {
    const double left = at->c[i + l * system->D];
    square += left * left;
    most = fmax(most, fabs(left));
  }
  if (most <= rounding)
    return 0;
  if (control->score == NORMALISED)
    return square / system->diagonal[i];
  if (control->score == OLS)
    return square / at->d[i];
  return square;
}

/* The best of the first `wanted` components of a list (NULL: of all) that are not chosen. */
static ptrdiff_t best_of(const struct pursuit *at, const struct system *system,
    const struct scdp_control *control, const int *list, ptrdiff_t length, ptrdiff_t wanted) {
  const double rounding = rounding_left(system);
  double highest = 0;
  ptrdiff_t best = -1;
  for (ptrdiff_t l = 0, seen = 0; l < length && seen < wanted; l++) {
    const ptrdiff_t i = list != NULL ? list[l] : l;
    const double score = score_of(at, system, control, rounding, i);
    seen += at->blocked[i] != CHOSEN;
    if (score > highest * (1 + TIE)) {
      best = i;
      highest = score;
    }
  }
  return best;
}

ptrdiff_t scdp_choose(
    const struct pursuit *at, const struct system *system, const struct scdp_control *control) {
  for (int i = 0; i < control->forced; i++)
    if (is_free(at, system, control, control->first[i]))
      return control->first[i];
  ptrdiff_t best = -1;
  if (control->drawn > 0) {
    const int *list = control->candidates + (ptrdiff_t)at->size * control->width;
    best = best_of(at, system, control, list, control->width, control->drawn);
  }
  return best >= 0 ? best : best_of(at, system, control, NULL, system->D, system->D);
}

/* ---- taking ---- */

/* c, d and the values of the rows below, with f_k in: c + z f, d - f o f. */
static void follow(struct pursuit *at, const struct system *system, ptrdiff_t s, const double *f) {
  const ptrdiff_t D = system->D;
  double square = 0;
  for (ptrdiff_t l = 0; l < system->L; l++) {
    const double z = at->z[at->size + l * at->k];
    simd->shift(D, at->c + l * D, -z, f);
    simd->shift(system->extra, at->value + l * system->extra, -z, f + D);
    at->c[s + l * D] = 0; /* and so it stays: f is 0 at the chosen ones */
    square += simd->dot(D, at->c + l * D, at->c + l * D);
  }
  at->left[at->size] = sqrt(square);
  if (system->diagonal != NULL)
    for (ptrdiff_t i = 0; i < D; i++)
      at->d[i] -= f[i] * f[i];
}

/* Whether a pivot, of which `own` was there before any step, is negative beyond rounding, which the
   smallest pivot so far has magnified. */
static int is_beyond(const struct pursuit *at, double pivot, double own) {
  return pivot < -(1e-8 + 10 * (at->size + 1) * DBL_EPSILON / at->least) * fabs(own);
}

/* Whether some pivot on the diagonal is negative beyond rounding, which it then remembers. */
static int is_negative(struct pursuit *at, const struct system *system) {
  if (system->diagonal == NULL)
    return 0;
  for (ptrdiff_t i = 0; i < system->D; i++)
    if (!at->blocked[i] && is_beyond(at, at->d[i], system->diagonal[i])) {
      at->worst = i;
      at->pivot = at->d[i];
      return 1;
    }
  return 0;
}

enum status scdp_take(struct pursuit *at, const struct system *system,
    const struct scdp_control *control, ptrdiff_t s) {
  const ptrdiff_t rows = system->D + system->extra;
  double *f = at->F + at->size * rows, *l = at->row;
  double own = f[s], pivot = own;
  for (int i = 0; i < at->size; i++) {
    l[i] = at->F[s + i * rows];
    pivot -= l[i] * l[i];
  }
  if (system->diagonal != NULL) { /* what it was chosen by */
    own = system->diagonal[s];
    pivot = at->d[s];
  }
  at->blocked[s] = DEPENDENT;
  if (is_beyond(at, pivot, own)) {
    at->worst = s;
    at->pivot = pivot;
    return NOT_POSITIVE;
  }
  if (pivot <= control->dependent * own)
    return EARLY_STOP;
  const double root = sqrt(pivot);
  at->least = fmin(at->least, pivot / own);
  simd->shift_all(rows, f, at->size, at->F, rows, l);
  for (ptrdiff_t i = 0; i < rows; i++)
    f[i] /= root;
  for (int i = 0; i < at->size; i++)
    f[at->chosen[i]] = 0;
  f[s] = root;
  for (ptrdiff_t c = 0; c < system->L; c++)
    at->z[at->size + c * at->k] = -at->c[s + c * system->D] / root;
  follow(at, system, s, f);
  at->blocked[s] = CHOSEN;
  at->chosen[at->size++] = (int)s;
  return is_negative(at, system) ? NOT_POSITIVE : COMPLETE;
}

enum status scdp(struct pursuit *at, struct system *system, const struct scdp_control *control,
    struct host *host) {
  while (at->size < at->k) {
    if (host->stop(host, (double)at->size, (double)at->k))
      return INTERRUPTED;
    const ptrdiff_t s = scdp_choose(at, system, control);
    if (s < 0)
      return EARLY_STOP;
    if (system->column(system, s, at->F + at->size * (system->D + system->extra)))
      return INTERRUPTED;
    if (scdp_take(at, system, control, s) == NOT_POSITIVE)
      return NOT_POSITIVE;
  }
  return COMPLETE;
}

void pursuit_path(
    const struct pursuit *at, const struct system *system, int *chosen, double *factor) {
  const ptrdiff_t rows = system->D + system->extra;
  memcpy(chosen, at->chosen, (size_t)at->size * sizeof(int));
  for (ptrdiff_t j = 0; j < at->size; j++)
    for (ptrdiff_t i = j; i < at->size; i++)
      factor[i + j * at->k] = at->F[at->chosen[i] + j * rows];
}
