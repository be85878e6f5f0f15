/* Sparse conjugate directions pursuit: a solution of A w = b with one more nonzero at every step.
   Its conjugate directions are the columns of L^-T diag(L) for the Cholesky factor L of A_SS, so
   the factor is what is kept. */
#include "simd.h"
#include "pursuit.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { PURSUIT_CHOSEN = 1, PURSUIT_DEPENDENT = 2 };

static struct pursuit pursuit_lay_out(
    const struct system *system, const struct scdp_control *control, struct arena *arena) {
  const ptrdiff_t D = system->D, L = system->L, k = control->k;
  return (struct pursuit){.k = control->k,
      .min_pivot = 1,
      .F = alloc_doubles(arena, (D + system->extra) * k),
      .z = alloc_doubles(arena, k * L),
      .c = alloc_doubles(arena, D * L),
      .d = alloc_doubles(arena, D),
      .predicted = alloc_doubles(arena, system->extra * L),
      .resid_norm = alloc_doubles(arena, k),
      .row = alloc_doubles(arena, k),
      .chosen = alloc_ints(arena, k),
      .blocked = alloc_ints(arena, D)};
}

size_t scdp_work(const struct system *system, const struct scdp_control *control) {
  struct arena arena = arena_over(NULL);
  pursuit_lay_out(system, control, &arena);
  return arena.used;
}

struct pursuit scdp_begin(
    const struct system *system, const struct scdp_control *control, void *work) {
  const ptrdiff_t D = system->D, L = system->L, k = control->k;
  struct arena arena = arena_over(work);
  const struct pursuit path = pursuit_lay_out(system, control, &arena);
  for (ptrdiff_t i = 0; i < D * L; i++)
    path.c[i] = -system->b[i];
  if (system->diagonal != NULL)
    memcpy(path.d, system->diagonal, (size_t)D * sizeof(double));
  memset(path.z, 0, (size_t)(k * L) * sizeof(double));
  memset(path.predicted, 0, (size_t)(system->extra * L) * sizeof(double));
  memset(path.blocked, 0, (size_t)D * sizeof(int));
  return path;
}

/* ---- choosing ---- */

/* Whether component i is neither chosen nor known to depend on the chosen ones. */
static int pursuit_is_free(const struct pursuit *path, const struct system *system,
    const struct scdp_control *control, ptrdiff_t i) {
  return !path->blocked[i] &&
         (system->diagonal == NULL || path->d[i] > control->dependent * system->diagonal[i]);
}

/* The largest |c_i| that is nothing but rounding. */
static double pursuit_rounding(const struct system *system) {
  double max_abs = 0;
  for (ptrdiff_t j = 0; j < system->D * system->L; j++)
    max_abs = fmax(max_abs, fabs(system->b[j]));
  return DBL_EPSILON * max_abs;
}

/* The score of component i, 0 when it cannot be chosen or would change nothing. */
static double pursuit_score(const struct pursuit *path, const struct system *system,
    const struct scdp_control *control, double rounding, ptrdiff_t i) {
  double square = 0, max_abs = 0;
  if (!pursuit_is_free(path, system, control, i))
    return 0;
  for (ptrdiff_t l = 0; l < system->L; l++) {
    const double c = path->c[i + l * system->D];
    square += c * c;
    max_abs = fmax(max_abs, fabs(c));
  }
  if (max_abs <= rounding)
    return 0;
  if (control->score == NORMALISED)
    return square / system->diagonal[i];
  if (control->score == OLS)
    return square / path->d[i];
  return square;
}

/* The best of the first `wanted` components of a list (NULL: of all) that are not chosen. */
static ptrdiff_t pursuit_best(const struct pursuit *path, const struct system *system,
    const struct scdp_control *control, const int *list, ptrdiff_t length, ptrdiff_t wanted) {
  const double rounding = pursuit_rounding(system);
  double highest = 0;
  ptrdiff_t best = -1;
  for (ptrdiff_t l = 0, seen = 0; l < length && seen < wanted; l++) {
    const ptrdiff_t i = list != NULL ? list[l] : l;
    const double score = pursuit_score(path, system, control, rounding, i);
    seen += path->blocked[i] != PURSUIT_CHOSEN;
    if (score > highest * (1 + TIE)) {
      best = i;
      highest = score;
    }
  }
  return best;
}

ptrdiff_t scdp_choose(
    const struct pursuit *path, const struct system *system, const struct scdp_control *control) {
  for (int i = 0; i < control->forced; i++)
    if (pursuit_is_free(path, system, control, control->first[i]))
      return control->first[i];
  ptrdiff_t best = -1;
  if (control->drawn > 0) {
    const int *list = control->candidates + (ptrdiff_t)path->size * control->width;
    best = pursuit_best(path, system, control, list, control->width, control->drawn);
  }
  return best >= 0 ? best : pursuit_best(path, system, control, NULL, system->D, system->D);
}

/* ---- activating ---- */

/* Brings the residual c, the diagonal d and the predictions up to date with f, the new column of F:
   c + z f, d - f o f. */
static void pursuit_update(
    struct pursuit *path, const struct system *system, ptrdiff_t s, const double *f) {
  const ptrdiff_t D = system->D;
  double square = 0;
  for (ptrdiff_t l = 0; l < system->L; l++) {
    const double z = path->z[path->size + l * path->k];
    simd->shift(D, path->c + l * D, -z, f);
    simd->shift(system->extra, path->predicted + l * system->extra, -z, f + D);
    path->c[s + l * D] = 0; /* later columns of F are 0 here */
    square += simd->dot(D, path->c + l * D, path->c + l * D);
  }
  path->resid_norm[path->size] = sqrt(square);
  if (system->diagonal != NULL)
    for (ptrdiff_t i = 0; i < D; i++)
      path->d[i] -= f[i] * f[i];
}

/* Whether a pivot is negative beyond rounding, which the smallest pivot so far has magnified;
   `diagonal` is the entry of A before any step. */
static int pursuit_is_beyond(const struct pursuit *path, double pivot, double diagonal) {
  return pivot < -(PURSUIT_NEGATIVE + 10 * (path->size + 1) * DBL_EPSILON / path->min_pivot) *
                     fabs(diagonal);
}

/* Whether some pivot on the diagonal is negative beyond rounding; the first is kept in `worst`. */
static int pursuit_is_negative(struct pursuit *path, const struct system *system) {
  if (system->diagonal == NULL)
    return 0;
  for (ptrdiff_t i = 0; i < system->D; i++)
    if (!path->blocked[i] && pursuit_is_beyond(path, path->d[i], system->diagonal[i])) {
      path->worst = i;
      path->pivot = path->d[i];
      return 1;
    }
  return 0;
}

enum status scdp_activate(struct pursuit *path, const struct system *system,
    const struct scdp_control *control, ptrdiff_t s) {
  const ptrdiff_t rows = system->D + system->extra;
  double *f = path->F + path->size * rows, *l = path->row;
  double diagonal = f[s], pivot = diagonal;
  for (int i = 0; i < path->size; i++) {
    l[i] = path->F[s + i * rows];
    pivot -= l[i] * l[i];
  }
  if (system->diagonal != NULL) { /* the values by which it was chosen */
    diagonal = system->diagonal[s];
    pivot = path->d[s];
  }
  path->blocked[s] = PURSUIT_DEPENDENT;
  if (pursuit_is_beyond(path, pivot, diagonal)) {
    path->worst = s;
    path->pivot = pivot;
    return NOT_POSITIVE;
  }
  if (pivot <= control->dependent * diagonal)
    return EARLY_STOP;
  const double root = sqrt(pivot);
  path->min_pivot = fmin(path->min_pivot, pivot / diagonal);
  simd->shift_all(rows, f, path->size, path->F, rows, l);
  for (ptrdiff_t i = 0; i < rows; i++)
    f[i] /= root;
  for (int i = 0; i < path->size; i++)
    f[path->chosen[i]] = 0;
  f[s] = root;
  for (ptrdiff_t c = 0; c < system->L; c++)
    path->z[path->size + c * path->k] = -path->c[s + c * system->D] / root;
  pursuit_update(path, system, s, f);
  path->blocked[s] = PURSUIT_CHOSEN;
  path->chosen[path->size++] = (int)s;
  return pursuit_is_negative(path, system) ? NOT_POSITIVE : COMPLETE;
}

enum status scdp(struct pursuit *path, struct system *system, const struct scdp_control *control,
    struct host *host) {
  while (path->size < path->k) {
    if (host->stop(host, (double)path->size, (double)path->k))
      return INTERRUPTED;
    const ptrdiff_t s = scdp_choose(path, system, control);
    if (s < 0)
      return EARLY_STOP;
    if (system->column(system, s, path->F + path->size * (system->D + system->extra)))
      return INTERRUPTED;
    if (scdp_activate(path, system, control, s) == NOT_POSITIVE)
      return NOT_POSITIVE;
  }
  return COMPLETE;
}

void pursuit_path(
    const struct pursuit *path, const struct system *system, int *chosen, double *factor) {
  const ptrdiff_t rows = system->D + system->extra;
  memcpy(chosen, path->chosen, (size_t)path->size * sizeof(int));
  for (ptrdiff_t j = 0; j < path->size; j++)
    for (ptrdiff_t i = j; i < path->size; i++)
      factor[i + j * path->k] = path->F[path->chosen[i] + j * rows];
}
