/* Logistic, Poisson, binomial, negative binomial, Cox and ordinal regression with an l1 penalty. A
   solution is certified by its duality gap, worked out anew from the coefficients alone, by sums
   over dense columns. */
#include "ctest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THETA = 3 }; /* of dispersed counts */
enum kind { PLAIN, DEPENDENT, SEPARABLE, UNBALANCED, OFFSET, KINDS };

struct data {
  struct problem pb;
  double *x, *centre, *inv_scale, *squares, *rss, *root_w, *Q, *y, *working, *products;
  int *usable;
  double *value; /* nonzeros */
  int *row, *first;
  double ridge; /* of the elastic net */
  const char *loss;
  double *offset;                                      /* of counts */
  int *first_moment, *from_moment, *to_moment, *event; /* of times */
};

static double *reals(ptrdiff_t count) {
  return room((size_t)(count + 1) * sizeof(double), 0);
}

static void fill_columns(struct data *data, enum kind kind, int sparse, ptrdiff_t m, ptrdiff_t n) {
  double *x = data->x;
  for (ptrdiff_t i = 0; i < m * n; i++) {
    x[i] = 2 * uniform();
    if (sparse && fabs(x[i]) < 1.5)
      x[i] = 0;
  }
  for (ptrdiff_t i = 0; i < m && kind == DEPENDENT; i++) {
    x[i + 4 * m] = x[i];
    x[i + 5 * m] = -x[i + m];
    x[i + 6 * m] = x[i] + x[i + 2 * m];
    x[i + 7 * m] = x[i];
  }
  for (ptrdiff_t i = 0; i < m * n && kind == OFFSET; i++)
    x[i] += 1000;
  for (ptrdiff_t i = 0; i < m; i++)
    x[i + 3 * m] = 1; /* set aside */
}

static void fill_response(struct data *data, enum kind kind, ptrdiff_t m) {
  const double *x = data->x;
  for (ptrdiff_t i = 0; i < m; i++) {
    double score = x[i] - x[i + m] + x[i + 2 * m] - (kind == OFFSET ? 1000 : 0);
    if (kind != SEPARABLE)
      score += 3 * uniform();
    data->y[i] = score > (kind == UNBALANCED ? 3.5 : 0) ? 1 : -1;
  }
  data->y[0] = -1;
  for (int i = 1; i < 6; i++) /* so many that the covariates alone do not tell the classes apart */
    data->y[i] = kind == UNBALANCED || i == 1 ? 1 : data->y[i];
}

/* Counts of about exp(score + offset), less the offset. */
static void fill_counts(struct data *data, enum kind kind, ptrdiff_t m) {
  const double *x = data->x;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double score = (x[i] - x[i + m] + x[i + 2 * m] - (kind == OFFSET ? 1000 : 0)) / 2;
    data->offset[i] = uniform();
    const double mean = exp(fmin(score + data->offset[i] + (kind == UNBALANCED ? -1.5 : 1), 6));
    data->y[i] = (i < 3 ? (double)i : floor(mean * (1 + uniform()))) - data->offset[i];
  }
}

/* Shares, of which some are 0 or 1, less the offset. */
static void fill_shares(struct data *data, enum kind kind, ptrdiff_t m) {
  const double *x = data->x;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double score = x[i] - x[i + m] + x[i + 2 * m] - (kind == OFFSET ? 1000 : 0);
    data->offset[i] = uniform();
    const double mean = 1 / (1 + exp(-score - data->offset[i] - (kind == UNBALANCED ? 2 : 0)));
    const double share = i < 3 ? (double)i / 2 : floor(4 * mean + 0.5 + uniform() / 2) / 4;
    data->y[i] = fmax(0, fmin(share, 1)) - data->offset[i];
  }
}

/* Late entries, ties and two strata, by the kind. The moments of the first stratum come first. Rows
   of a stratum have the moments from `from` to before `to`, and their own. */
static void fill_times(struct data *data, enum kind kind, ptrdiff_t m) {
  const double *x = data->x;
  const int strata = kind == DEPENDENT ? 2 : 1, moments = kind == UNBALANCED ? 4 : 9;
  data->pb.risk = (struct risk_sets){.moments = strata * moments,
      .efron = kind == UNBALANCED || kind == SEPARABLE,
      .late = kind == PLAIN || kind == DEPENDENT,
      .first = data->first_moment,
      .from = data->from_moment,
      .to = data->to_moment,
      .event = data->event};
  for (int t = 0; t < strata * moments; t++)
    data->first_moment[t] = t / moments * moments;
  for (ptrdiff_t i = 0; i < m; i++) {
    const int stratum = (int)i % strata, begin = stratum * moments, each = (int)i / strata;
    const double score = x[i] - x[i + m] - (kind == OFFSET ? 1000 : 0) + uniform();
    const int near = (int)floor((double)moments / (1 + exp(score)));
    /* so that every moment has an event */
    const int last = each < moments ? each : near < moments ? near : moments - 1;
    const int died = each < moments || uniform() > -0.3;
    const int enters =
        data->pb.risk.late && uniform() > 0.3 ? (int)(last * (0.5 + uniform() / 2)) : 0;
    data->event[i] = died ? begin + last : -1;
    data->from_moment[i] = begin + enters;
    data->to_moment[i] = begin + last + (died ? 0 : 1);
    data->y[i] = died;
  }
}

/* Three classes in order, of which the first six rows have two each. With OFFSET all others are of
   the first class. */
static void fill_classes(struct data *data, enum kind kind, ptrdiff_t m) {
  const double *x = data->x, last = kind == UNBALANCED ? 4 : 1;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double score = x[i] - x[i + m] - (kind == OFFSET ? 1000 : 0) + 2 * uniform();
    data->y[i] = i < 6 ? (double)(1 + i % 3) : 1 + (score > -1) + (score > last);
  }
}

static int has_loss(const struct data *data, const char *name) {
  return strcmp(data->loss, name) == 0;
}

/* Whether rows are tied together by a loss, which then has no intercept. */
static int ties_rows(const struct data *data) {
  return has_loss(data, "cox") || has_loss(data, "ordinal") || has_loss(data, "ordinal(probit)");
}

/* Q from covariates 1, and others at random, by Gram and Schmidt */
static void fill_covariates(struct data *data, int weights, ptrdiff_t m, ptrdiff_t q) {
  double *Q = data->Q;
  for (ptrdiff_t i = 0; i < m; i++)
    data->root_w[i] = weights ? sqrt(1.2 + uniform()) : 1;
  for (ptrdiff_t l = 0; l < q; l++) {
    double square = 0;
    for (ptrdiff_t i = 0; i < m; i++)
      Q[i + l * m] = data->root_w[i] * (l == 0 && !ties_rows(data) ? 1 : uniform());
    for (ptrdiff_t k = 0; k < 2 * l; k++) {
      double dot = 0;
      for (ptrdiff_t i = 0; i < m; i++)
        dot += Q[i + k % l * m] * Q[i + l * m];
      for (ptrdiff_t i = 0; i < m; i++)
        Q[i + l * m] -= dot * Q[i + k % l * m];
    }
    for (ptrdiff_t i = 0; i < m; i++)
      square += Q[i + l * m] * Q[i + l * m];
    for (ptrdiff_t i = 0; i < m; i++)
      Q[i + l * m] /= sqrt(square);
  }
}

static void measure(struct data *data, ptrdiff_t m, ptrdiff_t n, ptrdiff_t q) {
  for (ptrdiff_t j = 0; j < n; j++) {
    double sum = 0, total = 0, square = 0;
    for (ptrdiff_t i = 0; i < m; i++) {
      const double w = data->root_w[i] * data->root_w[i];
      sum += w * data->x[i + j * m];
      total += w;
    }
    data->centre[j] = q > 0 || ties_rows(data) ? sum / total : 0;
    data->inv_scale[j] = j % 3 == 0 ? 1 : 1 + uniform() / 2;
    for (ptrdiff_t i = 0; i < m; i++)
      square += pow(data->root_w[i] * (data->x[i + j * m] - data->centre[j]), 2);
    data->squares[j] = square * data->inv_scale[j] * data->inv_scale[j];
    data->rss[j] = data->squares[j];
    for (ptrdiff_t l = 0; l < q; l++) {
      double along = 0;
      for (ptrdiff_t i = 0; i < m; i++)
        along += data->Q[i + l * m] * data->root_w[i] * (data->x[i + j * m] - data->centre[j]);
      data->rss[j] -= pow(along * data->inv_scale[j], 2);
    }
    data->rss[j] = fmax(data->rss[j], 0);
    data->usable[j] = j != 3;
  }
}

/* The working response, and its products with the columns. */
static void multiply(struct data *data, ptrdiff_t m, ptrdiff_t n, ptrdiff_t q) {
  for (ptrdiff_t i = 0; i < m; i++)
    data->working[i] = data->root_w[i] * data->y[i];
  for (ptrdiff_t l = 0; l < q; l++) {
    double along = 0;
    for (ptrdiff_t i = 0; i < m; i++)
      along += data->Q[i + l * m] * data->working[i];
    for (ptrdiff_t i = 0; i < m; i++)
      data->working[i] -= along * data->Q[i + l * m];
  }
  for (ptrdiff_t j = 0; j < n; j++) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < m; i++)
      sum += data->root_w[i] * (data->x[i + j * m] - data->centre[j]) * data->working[i];
    data->products[j] = sum * data->inv_scale[j];
  }
}

static struct matrix compress_data(struct data *data, ptrdiff_t m, ptrdiff_t n) {
  int count = 0;
  for (ptrdiff_t j = 0; j < n; j++) {
    for (ptrdiff_t i = 0; i < m; i++)
      if (data->x[i + j * m] != 0) {
        data->value[count] = data->x[i + j * m];
        data->row[count++] = (int)i;
      }
    data->first[j + 1] = count;
  }
  return (struct matrix){.x = data->value, .i = data->row, .p = data->first};
}

static struct data make_data(const char *loss, enum kind kind, int sparse, int weights, ptrdiff_t m,
    ptrdiff_t n, ptrdiff_t q) {
  struct data data = {.loss = loss,
      .offset = reals(m),
      .x = reals(m * n),
      .centre = reals(n),
      .inv_scale = reals(n),
      .squares = reals(n),
      .rss = reals(n),
      .root_w = reals(m),
      .Q = reals(m * q),
      .y = reals(m),
      .working = reals(m),
      .first_moment = room((size_t)m * sizeof(int), 0),
      .from_moment = room((size_t)m * sizeof(int), 0),
      .to_moment = room((size_t)m * sizeof(int), 0),
      .event = room((size_t)m * sizeof(int), 0),
      .products = reals(n),
      .usable = room((size_t)n * sizeof(int), 0),
      .value = reals(m * n),
      .row = room((size_t)(m * n) * sizeof(int), 0),
      .first = room((size_t)(n + 1) * sizeof(int), 0)};
  fill_columns(&data, kind, sparse, m, n);
  if (has_loss(&data, "logistic"))
    fill_response(&data, kind, m);
  else if (has_loss(&data, "poisson") || has_loss(&data, "negbin"))
    fill_counts(&data, kind, m);
  else if (has_loss(&data, "cox"))
    fill_times(&data, kind, m);
  else if (has_loss(&data, "ordinal") || has_loss(&data, "ordinal(probit)"))
    fill_classes(&data, kind, m);
  else
    fill_shares(&data, kind, m);
  fill_covariates(&data, weights, m, q);
  measure(&data, m, n, q);
  multiply(&data, m, n, q);
  data.pb = (struct problem){.m = m,
      .n = n,
      .L = 1,
      .q = q,
      .x = sparse ? compress_data(&data, m, n) : (struct matrix){.dense = data.x},
      .centre = data.centre,
      .inv_scale = data.inv_scale,
      .squares = data.squares,
      .rss = data.rss,
      .products = data.products,
      .usable = data.usable,
      .root_w = data.root_w,
      .divisor = data.root_w,
      .Q = data.Q,
      .y = data.working,
      .response = data.y,
      .risk = data.pb.risk,
      .parameter = has_loss(&data, "negbin") ? THETA : 0,
      .offset = has_loss(&data, "logistic") || ties_rows(&data) ? NULL : data.offset};
  return data;
}

static void discard_data(struct data *data) {
  double *parts[] = {data->x, data->centre, data->inv_scale, data->squares, data->rss, data->root_w,
      data->Q, data->y, data->offset, data->working, data->products, data->value};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
    free(parts[i]);
  free(data->first_moment);
  free(data->from_moment);
  free(data->to_moment);
  free(data->event);
  free(data->usable);
  free(data->row);
  free(data->first);
}

/* ---- the problem in plain sums ---- */

static double entry(const struct data *data, ptrdiff_t i, ptrdiff_t j) {
  return (data->x[i + j * data->pb.m] - data->centre[j]) * data->inv_scale[j];
}

static double value_at(const struct data *data, const struct l1_solution *at, ptrdiff_t i,
    ptrdiff_t bumped, double by) {
  double f = bumped >= 0 ? by * entry(data, i, bumped) : 0;
  for (int k = 0; k < at->size; k++)
    f += at->beta[k] * entry(data, i, at->feature[k]);
  for (ptrdiff_t l = 0; l < data->pb.q; l++)
    f += at->u[l] * data->Q[i + l * data->pb.m] / data->root_w[i];
  return f;
}

static double softplus(double x) {
  return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double log_times(double a, double b) {
  return a > 0 ? a * log(b) : 0;
}

/* The loss of row i at the value f, and minus its derivative. */
static double row_loss(const struct data *data, ptrdiff_t i, double f) {
  if (has_loss(data, "logistic"))
    return softplus(-data->y[i] * f);
  const double o = data->offset[i], y = data->y[i] + o;
  if (has_loss(data, "poisson"))
    return exp(f + o) - y * (f + o) - y + log_times(y, y);
  if (has_loss(data, "negbin"))
    return log_times(y, y) - y * (f + o) + (y + THETA) * log((exp(f + o) + THETA) / (y + THETA));
  return softplus(f + o) - y * (f + o) + log_times(y, y) + log_times(1 - y, 1 - y);
}

static double row_slope(const struct data *data, ptrdiff_t i, double f) {
  if (has_loss(data, "logistic"))
    return data->y[i] * exp(-softplus(data->y[i] * f));
  const double link = f + data->offset[i];
  const double mean = has_loss(data, "binomial") ? exp(-softplus(-link)) : exp(link);
  const double slope = data->y[i] + data->offset[i] - mean;
  return has_loss(data, "negbin") ? slope / (1 + mean / THETA) : slope;
}

/* Whether row i is at risk at moment t, and the share of it in the r-th of the moment's sums. */
static double share_at(const struct data *data, ptrdiff_t i, int t, int r, int tied) {
  if (data->event[i] == t)
    return 1 - (double)r / tied;
  return data->from_moment[i] <= t && t < data->to_moment[i];
}

/* Half the deviance of the partial likelihood at f (m), and with v (m) minus its gradient; with s
   above 0 instead the value of the dual point s v in the mixture of all shares, by its definition.
 */
static double partial_loss(const struct data *data, const double *f, double *v, double s) {
  const ptrdiff_t m = data->pb.m;
  double value = 0, dual = 0;
  for (ptrdiff_t i = 0; i < m && v != NULL; i++)
    v[i] = data->event[i] < 0 ? 0 : data->root_w[i] * data->root_w[i];
  for (int t = 0; t < data->pb.risk.moments; t++) {
    int tied = 0;
    double weight = 0, top = -INFINITY;
    for (ptrdiff_t i = 0; i < m; i++) {
      tied += data->event[i] == t;
      weight += data->event[i] == t ? data->root_w[i] * data->root_w[i] : 0;
      if (share_at(data, i, t, 0, 1) > 0)
        top = fmax(top, f[i]);
    }
    const int sums = data->pb.risk.efron ? tied : 1;
    for (int r = 0; r < sums; r++) {
      double sum = 0;
      for (ptrdiff_t i = 0; i < m; i++)
        sum += data->root_w[i] * data->root_w[i] * share_at(data, i, t, r, tied) * exp(f[i] - top);
      value += weight / sums * (log(sum / (weight * (1 - (double)r / tied))) + top);
      dual -= weight / sums * log(weight * (1 - (double)r / tied));
      for (ptrdiff_t i = 0; i < m; i++) {
        const double w = data->root_w[i] * data->root_w[i];
        const double c = w * share_at(data, i, t, r, tied), p = c * exp(f[i] - top) / sum;
        const double share = (data->event[i] == t ? (1 - s) * w / sums : 0) + s * weight / sums * p;
        if (v != NULL)
          v[i] -= weight / sums * p;
        if (s > 0 && share > 0)
          dual -= share * log(share / (c * weight / sums));
      }
    }
  }
  for (ptrdiff_t i = 0; i < m; i++)
    value -= data->event[i] < 0 ? 0 : data->root_w[i] * data->root_w[i] * f[i];
  return s > 0 ? dual : value;
}

static double entropy(double x) {
  return x > 0 ? -x * log(x) : 0;
}

/* The share below a cut at a distance x from f, its derivative, and the derivative of the
   logarithm of this derivative. */
static double share_below(const struct data *data, double x, double *density, double *fall) {
  if (has_loss(data, "ordinal(probit)")) {
    *density = exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
    *fall = -x;
    return erfc(-x / sqrt(2)) / 2;
  }
  const double share = exp(-softplus(-x));
  *density = share * (1 - share);
  *fall = 1 - 2 * share;
  return share;
}

/* What row i of class 1, 2 or 3 says of two cuts at f: the probability of its class, and the slopes
   of its logarithm by the lower and the upper cut. */
static double class_share(
    const struct data *data, ptrdiff_t i, double f, const double *cut, double *slope) {
  double above = 0, below = 0, fall;
  const double up = data->y[i] < 3 ? share_below(data, cut[data->y[i] > 1] - f, &above, &fall) : 1;
  const double low = data->y[i] > 1 ? share_below(data, cut[data->y[i] > 2] - f, &below, &fall) : 0;
  slope[0] = -below / (up - low);
  slope[1] = above / (up - low);
  return up - low;
}

/* Newton's step of the cuts at f, which are moved; returns how far. */
static double move_cuts(const struct data *data, const double *f, double *cut) {
  double g[2] = {0, 0}, h[3] = {0, 0, 0};
  for (ptrdiff_t i = 0; i < data->pb.m; i++) {
    const double w = data->root_w[i] * data->root_w[i];
    double slope[2];
    class_share(data, i, f[i], cut, slope);
    for (int k = 0; k < 2; k++) { /* the lower and the upper cut of the class */
      const int c = (int)data->y[i] - 2 + k;
      if (c < 0 || c > 1)
        continue;
      double density, fall;
      share_below(data, cut[c] - f[i], &density, &fall);
      g[c] += w * slope[k];
      h[c] += w * slope[k] * (slope[k] - fall);
    }
    h[2] += data->y[i] == 2 ? w * slope[0] * slope[1] : 0;
  }
  const double det = h[0] * h[1] - h[2] * h[2];
  double by[2] = {(h[1] * g[0] - h[2] * g[1]) / det, (h[0] * g[1] - h[2] * g[0]) / det};
  double scale = 1;
  while (cut[0] + scale * by[0] >= cut[1] + scale * by[1] ||
         fmax(fabs(scale * by[0]), fabs(scale * by[1])) > 1)
    scale /= 2;
  for (int k = 0; k < 2; k++)
    cut[k] += scale * by[k];
  return fmax(fabs(by[0]), fabs(by[1]));
}

/* The loss of classes at f (m) with the best cuts, and with v (m) minus its gradient; with s above
   0 instead the value of the dual point s v. */
static double class_loss(const struct data *data, const double *f, double *v, double s) {
  const ptrdiff_t m = data->pb.m;
  double mean = 0, value = 0, dual = 0;
  for (ptrdiff_t i = 0; i < m; i++)
    mean += f[i] / (double)m;
  double cut[2] = {mean - 1, mean + 1};
  for (int k = 0; k < 200 && move_cuts(data, f, cut) > 1e-13; k++)
    ;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double w = data->root_w[i] * data->root_w[i];
    double slope[2];
    const double loss = -log(class_share(data, i, f[i], cut, slope));
    value += w * loss;
    if (v != NULL)
      v[i] = -w * (slope[0] + slope[1]);
    if (has_loss(data, "ordinal(probit)")) {
      dual += s * w * loss;
      for (int k = 0; k < 2; k++)
        if (slope[k] != 0)
          dual += s * w * slope[k] * (cut[(int)data->y[i] - 2 + k] - f[i]);
      continue;
    }
    const double A = -s * slope[0], B = s * slope[1], q = (sqrt(1 + 4 * A * B) - 1) / 2;
    dual += w * (entropy(A - q) + entropy(1 - A + q) + entropy(B - q) + entropy(1 - B + q) +
                    log_times(1 + q, 1 + q) - log_times(q, q));
  }
  return s > 0 ? dual : value;
}

/* The same of a loss that ties rows together. */
static double tied_loss(const struct data *data, const double *f, double *v, double s) {
  return has_loss(data, "cox") ? partial_loss(data, f, v, s) : class_loss(data, f, v, s);
}

/* The penalty of a coefficient for a lambda of 1. */
static double norm_of(const struct data *data, double beta) {
  return fabs(beta) + data->ridge / 2 * beta * beta;
}

/* The objective, with `by` added to the coefficient of a column unless that is -1. */
static double objective(const struct data *data, const struct l1_solution *at, double lambda,
    ptrdiff_t bumped, double by) {
  double sum = 0, norms = 0, f[100];
  CHECK(data->pb.m <= 100);
  for (ptrdiff_t i = 0; i < data->pb.m; i++) {
    f[i] = value_at(data, at, i, bumped, by);
    if (!ties_rows(data))
      sum += data->root_w[i] * data->root_w[i] * row_loss(data, i, f[i]);
  }
  if (ties_rows(data))
    sum = tied_loss(data, f, NULL, 0);
  for (int k = 0; k < at->size; k++) {
    norms += norm_of(data, at->beta[k] + (at->feature[k] == bumped ? by : 0));
    by = at->feature[k] == bumped ? 0 : by;
  }
  return sum + lambda * (norms + (bumped >= 0 ? norm_of(data, by) : 0));
}

static double coefficient(const struct l1_solution *at, ptrdiff_t j) {
  for (int k = 0; k < at->size; k++)
    if (at->feature[k] == j)
      return at->beta[k];
  return 0;
}

static double product(const struct data *data, const double *r, ptrdiff_t j) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < data->pb.m; i++)
    sum += data->root_w[i] * entry(data, i, j) * r[i];
  return sum;
}

/* The conjugate at means a (m), where risk sets are nested and moments have one sum: B_t are their
   sums over the risk sets less the weight of later events. */
static double nested_dual(const struct data *data, const double *a) {
  const struct risk_sets *risk = &data->pb.risk;
  double value = 0;
  for (ptrdiff_t i = 0; i < data->pb.m; i++)
    value -= log_times(a[i], a[i] / (data->root_w[i] * data->root_w[i]));
  for (int t = 0; t < risk->moments; t++) {
    double B = 0, W = 0;
    for (ptrdiff_t i = 0; i < data->pb.m; i++) {
      const double w = data->root_w[i] * data->root_w[i];
      const int later = data->event[i] > t && risk->first[data->event[i]] == risk->first[t];
      B += (share_at(data, i, t, 0, 1) > 0 ? a[i] : 0) - (later ? w : 0);
      W += data->event[i] == t ? w : 0;
    }
    B = risk->first[t] == t ? W : fmax(B, W);
    value += log_times(B, B) - log_times(B - W, B - W) - log_times(W, W);
  }
  return value;
}

/* The value of s r, which is the residual of a model. */
static double dual_value(
    const struct data *data, const struct l1_solution *at, const double *r, double s) {
  double sum = 0, f[100];
  if (ties_rows(data)) {
    for (ptrdiff_t i = 0; i < data->pb.m; i++)
      f[i] = value_at(data, at, i, -1, 0);
    if (!has_loss(data, "cox") || data->pb.risk.late || data->pb.risk.efron)
      return tied_loss(data, f, NULL, s);
    for (ptrdiff_t i = 0; i < data->pb.m; i++)
      f[i] = fmax(0, data->root_w[i] * (data->y[i] * data->root_w[i] - s * r[i]));
    return nested_dual(data, f);
  }
  for (ptrdiff_t i = 0; i < data->pb.m; i++) {
    const double w = data->root_w[i] * data->root_w[i], change = s * r[i] / data->root_w[i];
    if (has_loss(data, "logistic")) {
      const double share = data->y[i] * change;
      CHECK(share >= 0 && share <= 1);
      sum += w * (entropy(share) + entropy(1 - share));
    } else {
      const double y = data->y[i] + data->offset[i], mean = y - change;
      CHECK(mean >= -1e-12 * (1 + y));
      sum += w * (log_times(y, y) - log_times(mean, mean) - change * data->offset[i]);
      if (has_loss(data, "poisson"))
        sum += w * (mean - y);
      else if (has_loss(data, "negbin"))
        sum +=
            w * (change * log(THETA) + (y + THETA - mean) * log((y + THETA) / (y + THETA - mean)) -
                    THETA * log((y + THETA) / THETA) + (mean - y) * log(y + THETA));
      else
        sum += w * (log_times(1 - y, 1 - y) - log_times(1 - mean, 1 - mean));
    }
  }
  return sum;
}

/* r, from the model; and how far the covariates are from balance. */
static void check_residual(const struct data *data, const struct l1_solution *at) {
  const ptrdiff_t m = data->pb.m;
  double length = 0, f[100] = {0}, v[100];
  for (ptrdiff_t i = 0; i < m; i++)
    f[i] = value_at(data, at, i, -1, 0);
  if (ties_rows(data))
    tied_loss(data, f, v, 0);
  for (ptrdiff_t i = 0; i < m; i++) {
    const double size = data->y[i] + data->offset[i];
    const double r =
        ties_rows(data) ? v[i] / data->root_w[i] : data->root_w[i] * row_slope(data, i, f[i]);
    CHECK_NEAR(at->r[i], r, 1e-10 * fmax(1, size));
    length += data->root_w[i] * data->root_w[i] * fmax(1, size * size);
  }
  for (ptrdiff_t l = 0; l < data->pb.q; l++) {
    double dot = 0;
    for (ptrdiff_t i = 0; i < m; i++)
      dot += data->Q[i + l * m] * at->r[i];
    CHECK(fabs(dot) <= 1e-13 * sqrt(length));
  }
}

/* All that a solution must be. */
static void check_solution(
    const struct data *data, const struct l1_solution *at, double lambda, double tolerance) {
  const double ridge = lambda * data->ridge;
  double most = 0, squares = 0;
  check_residual(data, at);
  for (ptrdiff_t j = 0; j < data->pb.n; j++)
    if (data->usable[j])
      most = fmax(most, fabs(product(data, at->r, j) - ridge * coefficient(at, j)));
  for (int k = 0; k < at->size; k++)
    squares += ridge * at->beta[k] * at->beta[k];
  const double primal = objective(data, at, lambda, -1, 0), s = fmin(1, lambda / most);
  const double gap = primal - dual_value(data, at, at->r, s) + s * s * squares / 2;
  CHECK(gap <= (tolerance + 1e-13) * at->null_objective && gap >= -1e-13 * at->null_objective);
  CHECK(fabs(primal - at->primal) <= 1e-13 * at->null_objective);
  CHECK(at->primal - at->dual <= tolerance * at->null_objective);
  CHECK(at->dual <= primal - gap + 1e-12 * at->null_objective);
  for (int k = 0; k < at->size; k++) {
    const double c = s * (product(data, at->r, at->feature[k]) - ridge * at->beta[k]);
    CHECK(at->beta[k] != 0 && data->usable[at->feature[k]]);
    CHECK(fabs(at->beta[k]) * lambda - at->beta[k] * c <= (tolerance + 1e-12) * at->null_objective);
    for (int l = 0; l < k; l++)
      CHECK(at->feature[l] != at->feature[k]);
  }
}

/* No step along a column leads down, and the slope of a column without penalty is its product. */
static void check_slopes(const struct data *data, const struct l1_solution *at, double lambda) {
  const double here = objective(data, at, lambda, -1, 0);
  for (ptrdiff_t j = 0; j < data->pb.n && j < 12; j++) {
    if (!data->usable[j])
      continue;
    const double step = 1e-4 / fmax(1, fabs(entry(data, 0, j)));
    const double up = objective(data, at, lambda, j, step);
    const double down = objective(data, at, lambda, j, -step);
    CHECK(up >= here - 1e-10 * at->null_objective && down >= here - 1e-10 * at->null_objective);
    const double slope =
        (objective(data, at, 0, j, step) - objective(data, at, 0, j, -step)) / (2 * step);
    CHECK_NEAR(-slope, product(data, at->r, j), 1e-4);
  }
}

/* ---- paths ---- */

struct run {
  struct polls polls;
  struct host host;
  struct l1_control control;
  void *work;
  struct l1_state *state;
};

static struct run *begin(
    const struct data *data, int max_active, double tolerance, enum screen screen, int threads) {
  struct run *run = room(sizeof(struct run), 0);
  run->polls = (struct polls){0, -1};
  run->host = (struct host){.threads = threads, .stop = poll, .self = &run->polls};
  run->control = (struct l1_control){.loss = (enum loss)l1_loss_named(data->loss),
      .screen = screen,
      .tolerance = tolerance,
      .max_active = max_active,
      .lambdas = 8,
      .ridge = data->ridge};
  run->work = room(l1_work(&data->pb, &run->control, &run->host), 0xff);
  run->state = l1_begin(&data->pb, &run->control, &run->host, run->work);
  return run;
}

static void end(struct run *run) {
  free(run->work);
  free(run);
}

static double largest_lambda(const struct data *data, const struct l1_solution *at) {
  double most = 0;
  for (ptrdiff_t j = 0; j < data->pb.n; j++)
    if (data->usable[j])
      most = fmax(most, fabs(product(data, at->r, j)));
  return most;
}

static const double shares[] = {1.2, 0.9, 0.7, 0.5, 0.3, 0.15, 0.05, 0.01};
static const int shuffled[] = {5, 0, 3, 7, 1, 6, 2, 4};
enum { LAMBDAS = 8 };

/* Down the path, and through the same lambdas in another order. */
static void check_path(const struct data *data, double tolerance, enum screen screen) {
  double found[LAMBDAS];
  for (int order = 0; order < 2; order++) {
    struct run *run = begin(data, (int)data->pb.n, tolerance, screen, 1);
    struct l1_solution at = l1_solution(run->state);
    const double top = largest_lambda(data, &at);
    check_residual(data, &at);
    CHECK(at.size == 0);
    CHECK_NEAR(at.null_objective, objective(data, &at, 1, -1, 0), 1e-13);
    for (int i = 0; i < LAMBDAS; i++) {
      const int which = order == 0 ? i : shuffled[i];
      const double lambda = top * shares[which];
      CHECK(l1_solve(run->state, i, lambda, -INFINITY) == COMPLETE);
      at = l1_solution(run->state);
      check_solution(data, &at, lambda, tolerance);
      CHECK((at.size == 0) == (which == 0));
      if (which == 4)
        check_slopes(data, &at, lambda);
      if (order == 0)
        found[which] = at.primal;
      else
        CHECK(fabs(at.primal - found[which]) <= 2 * tolerance * at.null_objective);
    }
    end(run);
  }
}

/* Room for two columns, doubled whenever it is not enough: the last solution still stands then, and
   is what the next run starts from. */
static void check_room(const struct data *data) {
  int max_active = 2, refusals = 0, solved = 0;
  struct run *run = begin(data, max_active, 1e-9, LAZY, 1);
  struct l1_solution at = l1_solution(run->state);
  const double top = largest_lambda(data, &at);
  double before = 2 * top;
  for (int i = 0; i < LAMBDAS;) {
    const enum status status = l1_solve(run->state, i, top * shares[i], -INFINITY);
    at = l1_solution(run->state);
    if (status == COMPLETE) {
      before = top * shares[i++];
      check_solution(data, &at, before, 1e-9);
      CHECK(at.size <= max_active);
      solved = 1;
      continue;
    }
    CHECK(status == WORKSPACE_FULL && max_active < data->pb.n);
    if (status != WORKSPACE_FULL || max_active >= data->pb.n)
      break;
    refusals++;
    if (solved)
      check_solution(data, &at, before, 1e-9);
    solved = 0;
    max_active = 2 * max_active < (int)data->pb.n ? 2 * max_active : (int)data->pb.n;
    struct run *next = begin(data, max_active, 1e-9, LAZY, 1);
    CHECK(l1_start(next->state, at.size, at.feature, at.beta) == COMPLETE);
    end(run);
    run = next;
  }
  CHECK(refusals > 0);
  end(run);
}

/* Begun with its own solution, a lambda needs no more than a look at the columns. */
static void check_start(const struct data *data) {
  struct run *run = begin(data, (int)data->pb.n, 1e-9, LAZY, 1);
  struct run *next = begin(data, (int)data->pb.n, 1e-9, LAZY, 1);
  struct l1_solution at = l1_solution(run->state);
  const double lambda = largest_lambda(data, &at) / 5;
  CHECK(l1_solve(run->state, 0, lambda, -INFINITY) == COMPLETE);
  at = l1_solution(run->state);
  CHECK(at.size > 0 && at.rounds > 1);
  CHECK(l1_start(next->state, at.size, at.feature, at.beta) == COMPLETE);
  struct l1_solution same = l1_solution(next->state);
  CHECK(same.size == 0);
  check_residual(data, &same);
  CHECK(l1_solve(next->state, 0, lambda, -INFINITY) == COMPLETE);
  same = l1_solution(next->state);
  check_solution(data, &same, lambda, 1e-9);
  CHECK(same.size == at.size && same.rounds == 1);
  end(run);
  end(next);
}

/* A solution is the same to the last bit with two threads. */
static void check_threads(const struct data *data) {
  struct run *one = begin(data, (int)data->pb.n, 1e-9, LAZY, 1);
  struct run *two = begin(data, (int)data->pb.n, 1e-9, LAZY, 2);
  struct l1_solution a = l1_solution(one->state), b;
  const double top = largest_lambda(data, &a);
  for (int i = 0; i < LAMBDAS; i++) {
    CHECK(l1_solve(one->state, i, top * shares[i], -INFINITY) == COMPLETE);
    CHECK(l1_solve(two->state, i, top * shares[i], -INFINITY) == COMPLETE);
    a = l1_solution(one->state);
    b = l1_solution(two->state);
    CHECK(a.size == b.size && a.primal == b.primal && a.dual == b.dual &&
          a.max_abs_corr == b.max_abs_corr);
    CHECK(memcmp(a.feature, b.feature, (size_t)a.size * sizeof(int)) == 0);
    CHECK(memcmp(a.beta, b.beta, (size_t)a.size * sizeof(double)) == 0);
    CHECK(memcmp(a.r, b.r, (size_t)data->pb.m * sizeof(double)) == 0);
  }
  end(one);
  end(two);
}

/* Stopped at any poll, the last solution stands, and the path can be gone on with. */
static void check_stop(const struct data *data) {
  int stopped = 1;
  for (int last = 1; stopped; last++) {
    struct run *run = begin(data, (int)data->pb.n, 1e-9, LAZY, 1);
    struct l1_solution at = l1_solution(run->state);
    const double top = largest_lambda(data, &at);
    CHECK(l1_solve(run->state, 0, top / 2, -INFINITY) == COMPLETE);
    run->polls = (struct polls){0, last};
    const enum status status = l1_solve(run->state, 1, top / 10, -INFINITY);
    stopped = status != COMPLETE;
    CHECK(status == (stopped ? INTERRUPTED : COMPLETE));
    at = l1_solution(run->state);
    check_solution(data, &at, stopped ? top / 2 : top / 10, 1e-9);
    run->polls.stop_at = -1;
    CHECK(l1_solve(run->state, 2, top / 20, -INFINITY) == COMPLETE);
    at = l1_solution(run->state);
    check_solution(data, &at, top / 20, 1e-9);
    CHECK(last < 100);
    end(run);
  }
}

static void check_paths(const char *loss) {
  static const ptrdiff_t covariates[] = {1, 0, 3};
  static const enum screen screens[] = {LAZY, NO_SCREEN, GAP_SAFE};
  static const double ridges[] = {0, 0.01, 0, 1, 0, 20, 1e-6}; /* every other path has none */
  for (int round = l1_loss_named(loss) % every(11); round < 160; round += every(11)) {
    const enum kind kind = (enum kind)(round % KINDS);
    const int sparse = kind != OFFSET && round / KINDS % 2, weights = round / 10 % 2;
    /* columns far from zero that nothing centres are all but the same column: not asked for here */
    const ptrdiff_t q = kind == OFFSET && round / 5 % 3 == 1 ? 2 : covariates[round / 5 % 3];
    const ptrdiff_t m = 20 + round % 41, n = 10 + (13 * round) % 70;
    seed(1000 + (unsigned long long)round);
    struct data data = make_data(loss, kind, sparse, weights, m, n, q);
    data.ridge = ridges[round % 7];
    check_path(&data, round % 4 == 3 ? 1e-12 : 1e-8, screens[round % 7 < 4 ? 0 : round % 7 % 3]);
    if (round % 6 == 0) {
      check_room(&data);
      check_start(&data);
      check_threads(&data);
      check_stop(&data);
    }
    discard_data(&data);
  }
}

TEST(logistic_paths) {
  check_paths("logistic");
}

TEST(poisson_paths) {
  check_paths("poisson");
}

TEST(binomial_paths) {
  check_paths("binomial");
}

TEST(negbin_paths) {
  check_paths("negbin");
}

TEST(cox_paths) {
  check_paths("cox");
}

TEST(ordinal_paths) {
  check_paths("ordinal");
}

TEST(probit_paths) {
  check_paths("ordinal(probit)");
}
