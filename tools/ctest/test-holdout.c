/* The eigen coordinates of a ridge model, and rows held out of it against training without them. */
#include "blas.h"
#include "ctest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(ptrdiff_t count) {
  return room((size_t)count * sizeof(double), 0xFF);
}

static double *copy(const double *from, ptrdiff_t count) {
  return memcpy(doubles(count), from, (size_t)count * sizeof(double));
}

/* out (a x b) := A'B, A (m x a) and B (m x b), entry by entry */
static void cross(
    ptrdiff_t m, ptrdiff_t a, const double *A, ptrdiff_t b, const double *B, double *out) {
  for (ptrdiff_t j = 0; j < b; j++)
    for (ptrdiff_t i = 0; i < a; i++) {
      double sum = 0;
      for (ptrdiff_t r = 0; r < m; r++)
        sum += A[r + i * m] * B[r + j * m];
      out[i + j * a] = sum;
    }
}

/* ---- hosts ---- */

static int stop_always(struct host *host, double done, double total) {
  (void)host;
  (void)done;
  (void)total;
  return 1;
}

static struct host host_with(struct polls *polls, int threads) {
  return (struct host){.threads = threads, .stop = poll, .self = polls};
}

/* ---- models ---- */

/* Unpenalised covariates and p features K with the penalty a'Pa; in made are the rest. */
struct model {
  struct made made;
  ptrdiff_t p;
  double *K;          /* m x p, the user's rows without weights */
  double *P, *C;      /* p x p, P = C'C, C upper triangular */
  int *basis, *kept;  /* m each: the feature that a row is, -1 where it is none; always -1 */
  double *F, *values; /* m x r, r */
  double *Q, *t;      /* p x r, r x L */
  struct spectrum sp;
};

static void discard_model(struct model *model) {
  void *parts[] = {model->K, model->P, model->C, model->basis, model->kept, model->F, model->values,
      model->Q, model->t};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    free(parts[i]);
  discard(&model->made);
}

static double gauss(const struct made *made, double gamma, ptrdiff_t i, ptrdiff_t j) {
  const ptrdiff_t m = made->pb.m;
  double square = 0;
  for (ptrdiff_t d = 0; d < 2; d++) {
    const double difference = made->x[i + d * m] - made->x[j + d * m];
    square += difference * difference;
  }
  return exp(-gamma * square);
}

/* C := the upper triangular matrix with C'C = P, zero below its diagonal */
static void cholesky(ptrdiff_t n, const double *P, double *C) {
  for (ptrdiff_t j = 0; j < n; j++)
    for (ptrdiff_t i = 0; i < n; i++) {
      double sum = P[i + j * n];
      for (ptrdiff_t l = 0; l < i && i <= j; l++)
        sum -= C[l + i * n] * C[l + j * n];
      C[i + j * n] = i < j ? sum / C[i + i * n] : i == j ? sqrt(sum) : 0;
    }
}

static void shuffle(ptrdiff_t m, int *order) {
  for (ptrdiff_t i = 0; i < m; i++)
    order[i] = (int)i;
  for (ptrdiff_t i = m - 1; i > 0; i--) {
    const ptrdiff_t j = (ptrdiff_t)((uniform() + 1) / 2 * (double)(i + 1));
    const int other = order[j];
    order[j] = order[i];
    order[i] = other;
  }
}

static struct model new_model(struct shape shape, ptrdiff_t p) {
  struct model model = {.made = make(shape), .p = p};
  model.K = doubles(shape.m * p);
  model.P = doubles(p * p);
  model.C = doubles(p * p);
  model.basis = room((size_t)shape.m * sizeof(int), 0xFF);
  model.kept = room((size_t)shape.m * sizeof(int), 0xFF);
  return model;
}

/* n of the rows as the basis of a Gaussian kernel, without its spectrum yet */
static struct model basis_model(struct shape shape, ptrdiff_t n, double gamma, double shift) {
  struct model model = new_model(shape, n);
  int *order = room((size_t)shape.m * sizeof(int), 0);
  shuffle(shape.m, order);
  for (ptrdiff_t j = 0; j < n; j++) {
    model.basis[order[j]] = (int)j;
    for (ptrdiff_t i = 0; i < shape.m; i++)
      model.K[i + j * shape.m] = gauss(&model.made, gamma, i, order[j]);
    for (ptrdiff_t i = 0; i < n; i++)
      model.P[i + j * n] = gauss(&model.made, gamma, order[i], order[j]) + (i == j ? shift : 0);
  }
  cholesky(n, model.P, model.C);
  free(order);
  return model;
}

/* Runs kernel_spectrum() in room of exactly the size it asks for. */
static enum status decompose(struct model *model, struct host *host) {
  const struct problem *pb = &model->made.pb;
  const ptrdiff_t m = pb->m, n = model->p;
  model->F = copy(model->K, m * n);
  model->Q = copy(model->C, n * n);
  model->values = doubles(n);
  void *work = room(kernel_spectrum_work(m, n, pb->q), 0xFF);
  const enum status status = kernel_spectrum(
      m, n, pb->q, pb->root_w, pb->Q, host, work, model->F, model->Q, model->values);
  free(work);
  return status;
}

static void fill_spectrum(struct model *model, ptrdiff_t r, int complete) {
  const struct problem *pb = &model->made.pb;
  model->t = doubles(r * pb->L);
  cross(pb->m, r, model->F, pb->L, pb->y, model->t);
  model->sp = (struct spectrum){.m = pb->m,
      .r = r,
      .q = pb->q,
      .L = pb->L,
      .complete = complete,
      .F = model->F,
      .values = model->values,
      .t = model->t,
      .y = pb->y,
      .Z = pb->Q,
      .root_w = pb->root_w,
      .Q = model->Q,
      .n = complete ? 0 : model->p};
}

static struct model solved_model(struct shape shape, ptrdiff_t n, double gamma, double shift) {
  struct model model = basis_model(shape, n, gamma, shift);
  struct polls polls = {0};
  struct host host = host_with(&polls, 1);
  CHECK(decompose(&model, &host) == COMPLETE);
  fill_spectrum(&model, n, 0);
  return model;
}

/* F := orthonormal eigenvectors of the Gram matrix of the weighted features on what the covariates
   leave of R^m. The covariates themselves are given the largest values, and left out. */
static void decompose_all(struct model *model) {
  const struct problem *pb = &model->made.pb;
  const ptrdiff_t m = pb->m, p = model->p, q = pb->q;
  double *X = copy(model->K, m * p), *F = model->F = doubles(m * m), large = 1;
  double *work = doubles((ptrdiff_t)lapack_eigen_work(m));
  for (ptrdiff_t j = 0; j < p; j++) {
    double *x = X + j * m;
    for (ptrdiff_t i = 0; i < m; i++)
      x[i] *= pb->root_w[i];
    for (ptrdiff_t l = 0; l < 2 * q; l++) {
      const double *z = pb->Q + l % q * m;
      double dot = 0;
      cross(m, 1, z, 1, x, &dot);
      for (ptrdiff_t i = 0; i < m; i++)
        x[i] -= dot * z[i];
    }
    for (ptrdiff_t i = 0; i < m; i++)
      large += 2 * x[i] * x[i];
  }
  for (ptrdiff_t j = 0; j < m; j++)
    for (ptrdiff_t i = 0; i < m; i++) {
      double sum = 0;
      for (ptrdiff_t l = 0; l < p; l++)
        sum += X[i + l * m] * X[j + l * m];
      for (ptrdiff_t l = 0; l < q; l++)
        sum += large * pb->Q[i + l * m] * pb->Q[j + l * m];
      F[i + j * m] = sum;
    }
  model->values = doubles(m);
  CHECK(lapack_eigen(m, F, model->values, work) == 0);
  for (ptrdiff_t j = 0; j < m; j++)
    model->values[j] = fmax(model->values[j], 0);
  free(work);
  free(X);
}

/* A model whose F is orthonormal and, with the covariates, spans R^m: p random features, or the
   whole kernel matrix when p = 0. */
static struct model complete_model(struct shape shape, ptrdiff_t p, double gamma) {
  struct model model = new_model(shape, p > 0 ? p : shape.m);
  const ptrdiff_t m = shape.m;
  p = model.p;
  if (p == m) { /* the rows of C' are features whose products make the kernel matrix */
    for (ptrdiff_t j = 0; j < m; j++)
      for (ptrdiff_t i = 0; i < m; i++)
        model.P[i + j * m] = gauss(&model.made, gamma, i, j) + (i == j ? 1e-6 : 0);
    cholesky(m, model.P, model.C);
    for (ptrdiff_t j = 0; j < m; j++)
      for (ptrdiff_t i = 0; i < m; i++)
        model.K[i + j * m] = model.C[j + i * m];
  } else {
    for (ptrdiff_t i = 0; i < m * p; i++)
      model.K[i] = uniform();
  }
  for (ptrdiff_t j = 0; j < p; j++)
    for (ptrdiff_t i = 0; i < p; i++)
      model.P[i + j * p] = model.C[i + j * p] = i == j;
  decompose_all(&model);
  fill_spectrum(&model, m - shape.q, 1);
  return model;
}

/* ---- training from scratch ---- */

/* The first rows of B (rows x L) := what minimises |AX - B|, by Householder's reflections. */
static void least_squares(ptrdiff_t rows, ptrdiff_t columns, double *A, ptrdiff_t L, double *B) {
  for (ptrdiff_t k = 0; k < columns; k++) {
    double *v = A + k * rows, square = 0;
    for (ptrdiff_t i = k; i < rows; i++)
      square += v[i] * v[i];
    const double end = v[k] > 0 ? -sqrt(square) : sqrt(square);
    const double half = square - v[k] * end; /* |v|^2 / 2 once v is the reflection's vector */
    v[k] -= end;
    for (ptrdiff_t j = k + 1; j < columns + L && half > 0; j++) {
      double *column = j < columns ? A + j * rows : B + (j - columns) * rows, dot = 0;
      for (ptrdiff_t i = k; i < rows; i++)
        dot += v[i] * column[i];
      for (ptrdiff_t i = k; i < rows; i++)
        column[i] -= dot / half * v[i];
    }
    v[k] = end; /* what is below stays, and is not read again */
  }
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t k = columns - 1; k >= 0; k--) {
      double *b = B + l * rows;
      for (ptrdiff_t j = k + 1; j < columns; j++)
        b[k] -= A[k + j * rows] * b[j];
      b[k] /= A[k + k * rows];
    }
}

/* out (h x L) := residuals of the h rows of a model that never saw them, nor any feature that
   `basis` ties to them. */
static void train_without(const struct model *model, const int *rows, ptrdiff_t h, const int *basis,
    double lambda, double *out) {
  const struct problem *pb = &model->made.pb;
  const ptrdiff_t m = pb->m, q = pb->q, p = model->p, L = pb->L, all = m - h + p;
  int *heldout = room((size_t)m * sizeof(int), 0), *gone = room((size_t)p * sizeof(int), 0);
  for (ptrdiff_t i = 0; i < h; i++) {
    heldout[rows[i]] = 1;
    if (basis[rows[i]] >= 0)
      gone[basis[rows[i]]] = 1;
  }
  /* sqrt(w) [Z, K] over [0, sqrt(lambda) C] */
  double *A = room((size_t)(all * (q + p)) * sizeof(double), 0);
  double *B = room((size_t)(all * L) * sizeof(double), 0);
  const double **design = room((size_t)(q + p) * sizeof *design, 0);
  ptrdiff_t columns = 0;
  for (ptrdiff_t j = 0; j < q + p; j++) {
    if (j >= q && gone[j - q])
      continue;
    const double *column = design[columns] = j < q ? model->made.z + j * m : model->K + (j - q) * m;
    double *a = A + columns++ * all;
    for (ptrdiff_t i = 0; i < m; i++)
      if (!heldout[i])
        *a++ = sqrt(model->made.w[i]) * column[i];
    for (ptrdiff_t i = 0; i < p && j >= q; i++)
      *a++ = sqrt(lambda) * model->C[i + (j - q) * p];
  }
  for (ptrdiff_t l = 0; l < L; l++) {
    double *b = B + l * all;
    for (ptrdiff_t i = 0; i < m; i++)
      if (!heldout[i])
        *b++ = sqrt(model->made.w[i]) * pb->response[i + l * m];
  }
  least_squares(all, columns, A, L, B);
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t i = 0; i < h; i++) {
      double fit = 0;
      for (ptrdiff_t j = 0; j < columns; j++)
        fit += design[j][rows[i]] * B[j + l * all];
      out[i + l * h] = pb->response[rows[i] + l * m] - fit;
    }
  free(design);
  free(B);
  free(A);
  free(gone);
  free(heldout);
}

/* ---- sets of rows ---- */

enum { MOST_SETS = 16 };

struct sets {
  int sets, *order, start[MOST_SETS + 1];
  ptrdiff_t m;
};

static void add_set(struct sets *sets, const int *rows, ptrdiff_t h) {
  int *next = sets->order + sets->start[sets->sets];
  memcpy(next, rows, (size_t)h * sizeof(int));
  sets->start[sets->sets + 1] = sets->start[sets->sets] + (int)h;
  sets->sets++;
}

/* h rows at random */
static void add_random(struct sets *sets, ptrdiff_t h) {
  int *order = room((size_t)sets->m * sizeof(int), 0);
  shuffle(sets->m, order);
  add_set(sets, order, h);
  free(order);
}

/* Every row of the basis and so many others; with others = -1 all of the basis but one. */
static void add_basis(struct sets *sets, const struct model *model, ptrdiff_t others) {
  int *order = room((size_t)sets->m * sizeof(int), 0),
      *rows = room((size_t)sets->m * sizeof(int), 0);
  ptrdiff_t h = 0, left_out = others < 0;
  shuffle(sets->m, order);
  for (ptrdiff_t i = 0; i < sets->m; i++) {
    const int in_basis = model->basis[order[i]] >= 0;
    if (in_basis ? left_out-- <= 0 : others-- > 0)
      rows[h++] = order[i];
  }
  if (h > 0)
    add_set(sets, rows, h);
  free(rows);
  free(order);
}

/* Sets of many sizes one after the other, any of them with rows of the others. */
static struct sets make_sets(const struct model *model) {
  const ptrdiff_t m = model->made.pb.m, q = model->made.pb.q, n = model->sp.n;
  struct sets sets = {.order = room((size_t)(m * MOST_SETS) * sizeof(int), 0xFF), .m = m};
  int row = 0, other = 0;
  while (model->basis[row] < 0 && row < m - 1)
    row++;
  while (model->basis[other] >= 0)
    other++;
  add_set(&sets, &row, 1);
  add_random(&sets, m / 3);
  add_set(&sets, &other, 1);
  add_set(&sets, (int[]){other, row}, row == other ? 1 : 2);
  if (n > 0) {
    add_random(&sets, n + 2);
    add_basis(&sets, model, 0);
    add_basis(&sets, model, 2);
    add_basis(&sets, model, -1);
  }
  add_random(&sets, 3);
  add_random(&sets, m - q - 2 - m / 12);
  add_random(&sets, m / 2);
  add_random(&sets, 1);
  if (q == 0)
    add_random(&sets, m);
  return sets;
}

static struct heldout heldout_of(const struct sets *sets, const int *basis) {
  return (struct heldout){
      .sets = sets->sets, .order = sets->order, .start = sets->start, .basis = basis};
}

/* ---- holding out ---- */

struct answer {
  enum status status;
  double *residual; /* total x L x c */
  int *done;
  ptrdiff_t total, count; /* count = total L c */
};

static void discard_answer(struct answer *answer) {
  free(answer->residual);
  free(answer->done);
}

/* Runs holdout() in room of exactly the size it asks for. */
static struct answer run_with(const struct model *model, const struct heldout *heldout,
    const double *lambda, ptrdiff_t c, enum holdout_form form, struct host *host) {
  struct answer answer = {.total = heldout->start[heldout->sets]};
  answer.count = answer.total * model->sp.L * c;
  answer.residual = doubles(answer.count);
  answer.done = room((size_t)heldout->sets * sizeof(int), 0xFF);
  void *work = room(holdout_work(&model->sp, heldout, c, form, host->threads), 0xFF);
  answer.status =
      holdout(&model->sp, heldout, lambda, c, form, host, work, answer.residual, answer.done);
  free(work);
  return answer;
}

/* The same with one thread and with more, to the last bit. */
static struct answer run(const struct model *model, const struct heldout *heldout,
    const double *lambda, ptrdiff_t c, enum holdout_form form) {
  struct polls polls = {0};
  struct host host = host_with(&polls, 1);
  struct answer one = run_with(model, heldout, lambda, c, form, &host);
  CHECK(one.status == COMPLETE);
  for (int threads = 2; threads <= 3; threads++) {
    host.threads = threads;
    struct answer more = run_with(model, heldout, lambda, c, form, &host);
    CHECK(more.status == COMPLETE);
    CHECK(memcmp(one.done, more.done, (size_t)heldout->sets * sizeof(int)) == 0);
    CHECK(memcmp(one.residual, more.residual, (size_t)one.count * sizeof(double)) == 0);
    discard_answer(&more);
  }
  return one;
}

/* The largest difference between set s of an answer and the truth (h x L), relative to at least 1;
   infinite where the answer is no number. */
static double difference(const struct answer *answer, const struct heldout *heldout, ptrdiff_t s,
    ptrdiff_t l, ptrdiff_t L, const double *truth) {
  const ptrdiff_t first = heldout->start[s], h = heldout->start[s + 1] - first;
  double worst = 0;
  for (ptrdiff_t k = 0; k < L; k++)
    for (ptrdiff_t i = 0; i < h; i++) {
      const double value = answer->residual[first + i + answer->total * (k + L * l)];
      const double expected = truth[i + k * h];
      if (!isfinite(value))
        return INFINITY;
      worst = fmax(worst, fabs(value - expected) / fmax(1, fabs(expected)));
    }
  return worst;
}

/* Every set, lambda and form against training from scratch. */
static void check_sets(const struct model *model, const struct heldout *heldout,
    const double *lambda, ptrdiff_t c, double tolerance) {
  const ptrdiff_t L = model->sp.L;
  struct answer cheaper = run(model, heldout, lambda, c, HOLDOUT_CHEAPER);
  struct answer per_fold = run(model, heldout, lambda, c, HOLDOUT_PER_FOLD);
  double *truth = doubles(model->sp.m * L);
  for (ptrdiff_t l = 0; l < c; l++) {
    /* by itself: then solving every lambda anew is cheaper more often */
    struct answer alone = run(model, heldout, lambda + l, 1, HOLDOUT_CHEAPER);
    for (ptrdiff_t s = 0; s < heldout->sets; s++) {
      const int *rows = heldout->order + heldout->start[s];
      train_without(
          model, rows, heldout->start[s + 1] - heldout->start[s], heldout->basis, lambda[l], truth);
      CHECK(cheaper.done[s] == 1 && per_fold.done[s] == 1 && alone.done[s] == 1);
      CHECK_NEAR(difference(&cheaper, heldout, s, l, L, truth), 0, tolerance);
      CHECK_NEAR(difference(&per_fold, heldout, s, l, L, truth), 0, tolerance);
      CHECK_NEAR(difference(&alone, heldout, s, 0, L, truth), 0, tolerance);
    }
    discard_answer(&alone);
  }
  free(truth);
  discard_answer(&per_fold);
  discard_answer(&cheaper);
}

static int basis_vectors(const struct heldout *heldout, ptrdiff_t s) {
  int count = 0;
  for (int i = heldout->start[s]; i < heldout->start[s + 1]; i++)
    count += heldout->basis[heldout->order[i]] >= 0;
  return count;
}

/* Without the whole basis there are the covariates alone, and lambda changes not a bit. */
static void check_without_basis(const struct model *model, const struct heldout *heldout,
    const double *lambda, ptrdiff_t c, enum holdout_form form) {
  const ptrdiff_t L = model->sp.L;
  struct answer first = run(model, heldout, lambda, 1, form);
  double *truth = doubles(model->sp.m * L);
  int whole = 0;
  for (ptrdiff_t l = 0; l < c; l++) {
    struct answer answer = run(model, heldout, lambda + l, 1, form);
    for (ptrdiff_t s = 0; s < heldout->sets; s++) {
      if (basis_vectors(heldout, s) < model->p)
        continue;
      whole++;
      const ptrdiff_t start = heldout->start[s], h = heldout->start[s + 1] - start;
      train_without(model, heldout->order + start, h, heldout->basis, 1, truth);
      CHECK_NEAR(difference(&answer, heldout, s, 0, L, truth), 0, 1e-10);
      for (ptrdiff_t k = 0; k < L; k++)
        CHECK(memcmp(answer.residual + start + k * answer.total,
                  first.residual + start + k * answer.total, (size_t)h * sizeof(double)) == 0);
    }
    discard_answer(&answer);
  }
  CHECK(whole >= 2 * c);
  free(truth);
  discard_answer(&first);
}

/* ---- kernel_spectrum() ---- */

/* |A - diag(values)|, at its largest entry; values = NULL: the identity */
static double off_diagonal(ptrdiff_t n, const double *A, const double *values) {
  double worst = 0;
  for (ptrdiff_t j = 0; j < n; j++)
    for (ptrdiff_t i = 0; i < n; i++)
      worst = fmax(worst, fabs(A[i + j * n] - (i != j ? 0 : values == NULL ? 1 : values[j])));
  return worst;
}

static void check_spectrum(const struct model *model, double tolerance) {
  const struct problem *pb = &model->made.pb;
  const ptrdiff_t m = pb->m, n = model->p, q = pb->q;
  double *square = doubles(n * n), *along = doubles(q * n), *PQ = doubles(n * n), worst = 0;
  for (ptrdiff_t j = 0; j < n; j++)
    CHECK(model->values[j] >= (j > 0 ? model->values[j - 1] : 0));
  const double largest = model->values[n - 1];
  cross(m, n, model->F, n, model->F, square);
  CHECK_NEAR(off_diagonal(n, square, model->values) / largest, 0, 1e-13);
  cross(m, q, pb->Q, n, model->F, along);
  for (ptrdiff_t i = 0; i < q * n; i++)
    worst = fmax(worst, fabs(along[i]));
  CHECK_NEAR(worst / sqrt(largest), 0, 1e-14);
  cross(n, n, model->P, n, model->Q, PQ); /* P is symmetric */
  cross(n, n, model->Q, n, PQ, square);
  CHECK_NEAR(off_diagonal(n, square, NULL), 0, tolerance);
  /* F is diag(root_w) K Q, less its projection on Z */
  double *KQ = doubles(m);
  worst = 0;
  for (ptrdiff_t j = 0; j < n; j++) {
    for (ptrdiff_t i = 0; i < m; i++) {
      KQ[i] = 0;
      for (ptrdiff_t k = 0; k < n; k++)
        KQ[i] += pb->root_w[i] * model->K[i + k * m] * model->Q[k + j * n];
    }
    for (ptrdiff_t l = 0; l < q; l++) {
      double dot = 0;
      cross(m, 1, pb->Q + l * m, 1, KQ, &dot);
      for (ptrdiff_t i = 0; i < m; i++)
        KQ[i] -= dot * pb->Q[i + l * m];
    }
    for (ptrdiff_t i = 0; i < m; i++)
      worst = fmax(worst, fabs(KQ[i] - model->F[i + j * m]));
  }
  CHECK_NEAR(worst / sqrt(largest), 0, tolerance);
  free(KQ);
  free(PQ);
  free(along);
  free(square);
}

/* ---- interrupts ---- */

static void stop_spectrum(struct shape shape, ptrdiff_t n) {
  int stop_at = 0, polls_of_all = 1;
  while (stop_at <= polls_of_all) { /* 0 never stops, and counts */
    seed(70);
    struct model model = basis_model(shape, n, 0.5, 1e-6);
    struct polls polls = {.stop_at = stop_at};
    struct host host = host_with(&polls, 1);
    CHECK(decompose(&model, &host) == (stop_at == 0 ? COMPLETE : INTERRUPTED));
    if (stop_at == 0)
      polls_of_all = polls.count;
    else
      CHECK(polls.count == stop_at);
    discard_model(&model);
    stop_at++;
  }
  CHECK(polls_of_all >= (shape.m > 512 ? 4 : 2)); /* both halves, panel by panel */
}

static void stop_at_once(struct shape shape, ptrdiff_t n) {
  seed(71);
  struct host host = {.threads = 2, .stop = stop_always};
  struct model stopped = basis_model(shape, n, 0.5, 1e-6);
  CHECK(decompose(&stopped, &host) == INTERRUPTED);
  discard_model(&stopped);
  struct model model = solved_model(shape, n, 0.5, 1e-6);
  struct sets sets = make_sets(&model);
  const struct heldout heldout = heldout_of(&sets, model.basis);
  const double lambda = 1;
  for (int form = HOLDOUT_CHEAPER; form <= HOLDOUT_PER_FOLD; form++) {
    struct answer answer = run_with(&model, &heldout, &lambda, 1, (enum holdout_form)form, &host);
    CHECK(answer.status == INTERRUPTED);
    for (ptrdiff_t s = 0; s < heldout.sets; s++)
      CHECK(answer.done[s] == -1); /* as it was */
    discard_answer(&answer);
  }
  free(sets.order);
  discard_model(&model);
}

/* So many sets that the host is asked more than once; what was done before it stops is kept. */
static void stop_between(int threads) {
  enum { SETS = 2000 };
  int order[SETS], start[SETS + 1];
  seed(72);
  struct model model = solved_model((struct shape){.m = 40, .n = 4, .L = 1}, 22, 0.5, 1e-6);
  for (int s = 0; s < SETS; s++) {
    order[s] = s % 40;
    start[s] = s;
  }
  start[SETS] = SETS;
  const struct heldout heldout = {
      .sets = SETS, .order = order, .start = start, .basis = model.kept};
  const double lambda = 0.1;
  struct polls polls = {0};
  struct host host = host_with(&polls, threads);
  struct answer whole = run_with(&model, &heldout, &lambda, 1, HOLDOUT_PER_FOLD, &host);
  const int polls_of_all = polls.count;
  CHECK(whole.status == COMPLETE && polls_of_all >= 2);
  for (int at = 1; at <= polls_of_all; at++) {
    polls = (struct polls){.stop_at = at};
    struct answer part = run_with(&model, &heldout, &lambda, 1, HOLDOUT_PER_FOLD, &host);
    CHECK(part.status == INTERRUPTED && polls.count == at);
    int first = 0;
    while (first < SETS && part.done[first] == 1)
      first++;
    CHECK(first < SETS && (first > 0) == (at > 1));
    CHECK(memcmp(part.residual, whole.residual, (size_t)first * sizeof(double)) == 0);
    for (int s = first; s < SETS; s++)
      CHECK(part.done[s] == -1 && isnan(part.residual[s]));
    discard_answer(&part);
  }
  discard_answer(&whole);
  discard_model(&model);
}

/* ---- digits ---- */

/* A narrow kernel and next to no penalty: a row of the basis is met by its own vector alone, and
   what it says of itself is no longer told from 1. The other rows lose nothing. */
TEST(holdout_lost_digits) {
  seed(80);
  struct model model =
      solved_model((struct shape){.m = 20, .n = 4, .L = 2, .q = 1, .weights = 1}, 6, 1e4, 0);
  int row = 0, other = 0;
  while (model.basis[row] < 0)
    row++;
  while (model.basis[other] >= 0)
    other++;
  int order[] = {other, row, other}, start[] = {0, 1, 2, 3};
  const struct heldout kept = {.sets = 3, .order = order, .start = start, .basis = model.kept};
  const struct heldout removed = {.sets = 3, .order = order, .start = start, .basis = model.basis};
  double truth[2];
  for (int i = 0; i < 2; i++) {
    const double lambda = i == 0 ? 1e-14 : 1e-11;
    struct answer lost = run(&model, &kept, &lambda, 1, HOLDOUT_CHEAPER);
    CHECK(lost.done[0] == 1 && lost.done[1] == 0 && lost.done[2] == 1);
    struct answer again = run(&model, &kept, &lambda, 1, HOLDOUT_PER_FOLD);
    for (ptrdiff_t s = 0; s < 3; s++) {
      train_without(&model, order + s, 1, kept.basis, lambda, truth);
      CHECK(again.done[s] == 1);
      CHECK(difference(&again, &kept, s, 0, 2, truth) < INFINITY);
      if (s != 1)
        CHECK_NEAR(difference(&lost, &kept, s, 0, 2, truth), 0, 1e-8);
      if (i == 1)
        CHECK_NEAR(difference(&again, &kept, s, 0, 2, truth), 0, 1e-3);
    }
    discard_answer(&again);
    discard_answer(&lost);
    struct answer without = run(&model, &removed, &lambda, 1, HOLDOUT_CHEAPER);
    CHECK(without.done[1] == 1); /* its vector goes with it, and nothing is left to lose */
    train_without(&model, &row, 1, removed.basis, lambda, truth);
    CHECK_NEAR(difference(&without, &removed, 1, 0, 2, truth), 0, 1e-8);
    discard_answer(&without);
  }
  discard_model(&model);
}

/* With no row left the constant is unknown, and the cheaper form says so. */
TEST(holdout_nothing_left) {
  int order[12], start[] = {0, 12};
  seed(82);
  struct model model = solved_model((struct shape){.m = 12, .n = 4, .L = 1, .q = 1}, 9, 0.5, 1e-6);
  shuffle(12, order);
  for (int keep = 0; keep < 2; keep++) {
    const struct heldout heldout = {
        .sets = 1, .order = order, .start = start, .basis = keep ? model.kept : model.basis};
    const double lambda = 1;
    struct answer answer = run(&model, &heldout, &lambda, 1, HOLDOUT_CHEAPER);
    CHECK(answer.done[0] == 0);
    discard_answer(&answer);
  }
  discard_model(&model);
}

/* A complete F cancels nothing, however small lambda is. */
TEST(holdout_small_lambda) {
  static const double small[] = {1e-6, 1e-9, 1e-12};
  seed(81);
  struct model model =
      complete_model((struct shape){.m = 25, .n = 4, .L = 2, .q = 1, .weights = 1}, 0, 1);
  struct sets sets = {.order = room(40 * sizeof(int), 0), .m = 25};
  for (ptrdiff_t h = 1; h < 9; h++)
    add_random(&sets, h);
  const struct heldout heldout = heldout_of(&sets, model.kept);
  double truth[2 * 9];
  for (int i = 0; i < 3; i++) {
    struct answer answer = run(&model, &heldout, small + i, 1, HOLDOUT_CHEAPER);
    for (ptrdiff_t s = 0; s < heldout.sets; s++) {
      const ptrdiff_t first = heldout.start[s], h = heldout.start[s + 1] - first;
      train_without(&model, heldout.order + first, h, heldout.basis, small[i], truth);
      CHECK(answer.done[s] == 1);
      CHECK_NEAR(difference(&answer, &heldout, s, 0, 2, truth), 0, 1e-9);
    }
    discard_answer(&answer);
  }
  free(sets.order);
  discard_model(&model);
}

/* ---- all shapes ---- */

static const double lambdas[] = {
    1.0 / 32768, 1.0 / 1024, 1.0 / 32, 0.5, 1, 4, 64, 2048, 32768}; /* 2^-15 to 2^15 */
enum { LAMBDAS = sizeof lambdas / sizeof *lambdas };

static const struct {
  struct shape shape;
  ptrdiff_t n;
  double gamma, shift, tolerance;
} cases[] = {
    {{.m = 12, .n = 4, .L = 1}, 1, 0.5, 1e-6, 1e-8},
    {{.m = 13, .n = 4, .L = 1, .q = 1, .weights = 1}, 3, 0.5, 1e-6, 1e-8},
    {{.m = 20, .n = 4, .L = 3, .q = 2, .weights = 1}, 5, 0.5, 0, 1e-8},
    {{.m = 40, .n = 4, .L = 2, .q = 1}, 9, 1, 1e-6, 1e-8},
    {{.m = 30, .n = 4, .L = 1, .weights = 1}, 9, 4, 1e-8, 1e-8},
    {{.m = 24, .n = 4, .L = 2, .q = 2, .weights = 1}, 7, 0.02, 1e-8, 1e-6}, /* hardly regular */
    {{.m = 16, .n = 4, .L = 3, .q = 2}, 2, 0.5, 1e-6, 1e-8},
    {{.m = 600, .n = 4, .L = 2, .q = 2, .weights = 1}, 4, 0.5, 1e-6, 1e-7}, /* two panels */
};
enum { CASES = sizeof cases / sizeof *cases };

TEST(holdout_basis_models) {
  for (int i = 0; i < CASES; i++) {
    seed(60 + (unsigned long long)i);
    struct model model = solved_model(cases[i].shape, cases[i].n, cases[i].gamma, cases[i].shift);
    check_spectrum(&model, cases[i].tolerance);
    struct sets sets = make_sets(&model);
    const struct heldout removed = heldout_of(&sets, model.basis),
                         kept = heldout_of(&sets, model.kept);
    check_sets(&model, &removed, lambdas, LAMBDAS, cases[i].tolerance);
    check_sets(&model, &kept, lambdas, LAMBDAS, cases[i].tolerance);
    check_without_basis(&model, &removed, lambdas, LAMBDAS, HOLDOUT_CHEAPER);
    check_without_basis(&model, &removed, lambdas, LAMBDAS, HOLDOUT_PER_FOLD);
    free(sets.order);
    discard_model(&model);
  }
}

TEST(holdout_complete_models) {
  static const struct shape shapes[] = {
      {.m = 12, .n = 4, .L = 1},
      {.m = 15, .n = 4, .L = 2, .q = 1, .weights = 1},
      {.m = 30, .n = 4, .L = 3, .q = 2, .weights = 1},
  };
  for (int i = 0; i < 9; i++) {
    const struct shape shape = shapes[i % 3];
    /* the whole kernel matrix, more features than rows, fewer */
    const ptrdiff_t p = i / 3 == 0 ? 0 : i / 3 == 1 ? shape.m + 3 : 3;
    seed(90 + (unsigned long long)i);
    struct model model = complete_model(shape, p, 1);
    struct sets sets = make_sets(&model);
    const struct heldout heldout = heldout_of(&sets, model.kept);
    check_sets(&model, &heldout, lambdas, LAMBDAS, 1e-7);
    free(sets.order);
    discard_model(&model);
  }
}

TEST(holdout_interrupts) {
  stop_spectrum((struct shape){.m = 20, .n = 4, .L = 1, .q = 1}, 5);
  stop_spectrum((struct shape){.m = 1030, .n = 4, .L = 1, .q = 2, .weights = 1}, 3);
  stop_at_once((struct shape){.m = 20, .n = 4, .L = 2, .q = 1, .weights = 1}, 5);
  stop_between(1);
  stop_between(2);
}

/* ---- kernel_factor() ---- */

/* F F' (K + lambda I) = lambda I for the Gaussian kernel of n points on a line */
static void check_factor(ptrdiff_t n, double lambda) {
  double *K = doubles(n * n), *F = doubles(n * n), *inverse = doubles(n * n);
  for (ptrdiff_t j = 0; j < n; j++)
    for (ptrdiff_t i = 0; i < n; i++)
      K[i + j * n] = exp(-(double)((i - j) * (i - j)) / 16);
  struct polls polls = {0};
  struct host host = host_with(&polls, 1);
  void *work = room(kernel_factor_work(n), 0xFF);
  CHECK(kernel_factor(n, K, lambda, &host, work, F) == COMPLETE);
  for (ptrdiff_t j = 0; j < n; j++)
    for (ptrdiff_t i = j + 1; i < n; i++)
      CHECK(F[i + j * n] == 0);
  memset(inverse, 0, (size_t)(n * n) * sizeof(double));
  for (ptrdiff_t k = 0; k < n; k++)
    for (ptrdiff_t j = 0; j < n; j++)
      for (ptrdiff_t i = 0; i < n; i++)
        inverse[i + j * n] += F[i + k * n] * F[j + k * n] / lambda;
  double worst = 0;
  for (ptrdiff_t j = 0; j < n; j++)
    for (ptrdiff_t i = 0; i < n; i++) {
      double dot = i == j ? -1 : 0;
      for (ptrdiff_t k = 0; k < n; k++)
        dot += inverse[i + k * n] * (K[k + j * n] + (k == j ? lambda : 0));
      worst = fmax(worst, fabs(dot));
    }
  CHECK_NEAR(worst, 0, 1e-12 / lambda);
  for (int at = 1, of_all = polls.count; at <= of_all; at++) {
    polls = (struct polls){.stop_at = at};
    CHECK(kernel_factor(n, K, lambda, &host, work, F) == INTERRUPTED && polls.count == at);
  }
  polls = (struct polls){0};
  K[n * n - 1] = -lambda; /* no kernel matrix */
  CHECK(kernel_factor(n, K, lambda, &host, work, F) == NOT_POSITIVE);
  free(work);
  free(inverse);
  free(F);
  free(K);
}

TEST(kernel_factor) {
  static const ptrdiff_t orders[] = {1, 2, 3, 5, 63, 64, 65, 131, 300};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    check_factor(orders[i], 0.5);
    check_factor(orders[i], 1e-3);
  }
}

TEST(triangle_of_rows) {
  static const ptrdiff_t rows[][2] = {{0, 0}, {0, 3}, {2, 1}, {5, 40}, {40, 0}};
  enum { P = 5 };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const ptrdiff_t a = rows[i][0], b = rows[i][1];
    double *A = doubles(a * P), *B = doubles(b * P), *R = doubles(P * P);
    double *sum = doubles(P * P), *below = doubles(P * P), *own = doubles(P * P);
    for (ptrdiff_t k = 0; k < a * P; k++)
      A[k] = uniform();
    for (ptrdiff_t k = 0; k < b * P; k++)
      B[k] = uniform();
    void *work = room(triangle_work(a + b, P), 0xFF);
    CHECK(triangle(P, a, A, b, B, work, R) == 0);
    cross(a, P, A, P, A, sum);
    cross(b, P, B, P, B, below);
    cross(P, P, R, P, R, own);
    for (ptrdiff_t k = 0; k < P * P; k++)
      CHECK_NEAR(own[k], sum[k] + below[k], 1e-13);
    for (ptrdiff_t j = 0; j < P; j++)
      for (ptrdiff_t k = j + 1; k < P; k++)
        CHECK(R[k + j * P] == 0);
    void *parts[] = {A, B, R, sum, below, own, work};
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
      free(parts[part]);
  }
}

/* ---- the choice of centres ---- */

/* The model on some of the basis vectors of another, which shares the rows. */
static struct model some_centres(const struct model *all, const int *chosen, int k) {
  const ptrdiff_t m = all->made.pb.m, n = all->p;
  struct model model = {.made = all->made, .p = k};
  model.K = doubles(m * k);
  model.P = doubles(k * k);
  model.C = doubles(k * k);
  model.basis = room((size_t)m * sizeof(int), 0xFF);
  for (int j = 0; j < k; j++) {
    memcpy(model.K + j * m, all->K + chosen[j] * m, (size_t)m * sizeof(double));
    for (int i = 0; i < k; i++)
      model.P[i + j * k] = all->P[chosen[i] + chosen[j] * n];
    for (ptrdiff_t row = 0; row < m; row++)
      if (all->basis[row] == chosen[j])
        model.basis[row] = j;
  }
  cholesky(k, model.P, model.C);
  return model;
}

/* The held-out sum of squares of a model retrained without each fold of one partition. */
static double retrained_error(
    const struct model *model, int folds, const int *start, int removed, double lambda) {
  const struct problem *pb = &model->made.pb;
  int *rows = room((size_t)pb->m * sizeof(int), 0), *kept = room((size_t)pb->m * sizeof(int), 0xFF);
  double *out = doubles(pb->m * pb->L), total = 0;
  for (ptrdiff_t j = 0; j < pb->m; j++)
    rows[j] = (int)j;
  for (int f = 0; f < folds; f++) {
    const int h = start[f + 1] - start[f];
    train_without(model, rows + start[f], h, removed ? model->basis : kept, lambda, out);
    for (ptrdiff_t l = 0; l < pb->L; l++)
      for (int i = 0; i < h; i++)
        total += case_weight(pb, start[f] + i) * out[i + l * h] * out[i + l * h];
  }
  free(out);
  free(kept);
  free(rows);
  return total;
}

static enum status run_centres(
    const struct centres *ct, int threads, int stop_at, struct centres_result *result) {
  struct polls polls = {.stop_at = stop_at};
  struct host host = host_with(&polls, threads);
  void *work = room(centres_work(ct), 0xFF);
  const enum status status = choose_centres(ct, &host, work, result);
  free(work);
  return status;
}

enum { CENTRES = 5 };

static void check_centres(struct shape shape, int removed, int loo) {
  struct model all = basis_model(shape, shape.m, 2, 1e-6);
  const struct problem *pb = &all.made.pb;
  int *row = room((size_t)pb->m * sizeof(int), 0),
      *single = room((size_t)(pb->m + 1) * sizeof(int), 0);
  for (int j = 0; j < pb->m; j++)
    row[all.basis[j]] = j;
  for (int j = 0; j <= pb->m; j++)
    single[j] = j;
  const int start[] = {0, 3, 9, (int)pb->m};
  const double lambda = 0.1;
  const struct centres ct = {.m = pb->m,
      .n = pb->m,
      .q = pb->q,
      .L = pb->L,
      .K = all.K,
      .penalty = all.P,
      .Z = pb->Q,
      .root_w = pb->root_w,
      .y = pb->y,
      .lambda = lambda,
      .row = row,
      .folds = loo ? 0 : 3,
      .start = loo ? NULL : start,
      .removed = removed,
      .k = CENTRES};
  int chosen[CENTRES], again[CENTRES];
  double error[CENTRES], same[CENTRES];
  struct centres_result one = {.chosen = chosen, .error = error};
  struct centres_result two = {.chosen = again, .error = same};
  CHECK(run_centres(&ct, 1, 0, &one) == COMPLETE && one.size == CENTRES);
  for (int k = 1; k <= CENTRES; k++) {
    struct model model = some_centres(&all, chosen, k);
    const double expected = loo ? retrained_error(&model, (int)pb->m, single, removed, lambda)
                                : retrained_error(&model, 3, start, removed, lambda);
    CHECK_NEAR(error[k - 1] / expected, 1, 1e-7);
    model.made = (struct made){0};
    discard_model(&model);
  }
  CHECK(run_centres(&ct, 3, 0, &two) == COMPLETE);
  CHECK(memcmp(chosen, again, sizeof chosen) == 0 && memcmp(error, same, sizeof error) == 0);
  CHECK(run_centres(&ct, 1, 3, &two) == INTERRUPTED && two.size == 2);
  CHECK(memcmp(chosen, again, 2 * sizeof *chosen) == 0);
  free(single);
  free(row);
  discard_model(&all);
}

TEST(centres_have_the_error_of_retraining) {
  for (int i = 0; i < 16; i++)
    check_centres((struct shape){.m = 16 + i,
                      .n = 2,
                      .L = 1 + i / 8,
                      .q = i % 3,
                      .weights = i % 2,
                      .columns = UNRELATED},
        i / 2 % 2, i / 4 % 2);
}

/* Candidates that are copies of each other: the second of them changes nothing and comes last. */
TEST(dependent_centres_come_last) {
  struct model all =
      basis_model((struct shape){.m = 12, .n = 2, .L = 1, .columns = UNRELATED}, 12, 2, 0);
  const struct problem *pb = &all.made.pb;
  double K[24 * 12], P[24 * 24];
  int row[24], chosen[24], seen[12] = {0};
  double error[24];
  for (int j = 0; j < 24; j++) {
    row[j] = -1;
    memcpy(K + j * 12, all.K + j % 12 * 12, 12 * sizeof(double));
    for (int i = 0; i < 24; i++)
      P[i + j * 24] = all.P[i % 12 + j % 12 * 12];
  }
  for (int removed = 0; removed < 2; removed++) {
    const struct centres ct = {.m = 12,
        .n = 24,
        .L = 1,
        .K = K,
        .penalty = P,
        .root_w = pb->root_w,
        .y = pb->y,
        .lambda = 1,
        .row = row,
        .removed = removed,
        .k = 24};
    struct centres_result result = {.chosen = chosen, .error = error};
    CHECK(run_centres(&ct, 1, 0, &result) == COMPLETE && result.size == 24);
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < 12; k++)
      CHECK(seen[chosen[k] % 12]++ == 0);
  }
  discard_model(&all);
}
