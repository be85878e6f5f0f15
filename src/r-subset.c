/* What R calls for the best subset: Pareto optimisation, and branch and bound. */
#include "r.h" /* first: it makes `error` another name */

#include "subset.h"
#include "subset-certificate.h"
#include "subset-proof.h"
#include <string.h>

/* A part of the answer that begins as R gave it, integers from `from` to `to`, for a kernel to
   change. */
static int *copy_int(
    struct answer *out, const char *name, SEXP control, double length, int from, int to) {
  const int *given = index_field(control, name, length, from, to);
  int *copy = add_int(out, name, (size_t)length);
  memcpy(copy, given, (size_t)length * sizeof(int));
  return copy;
}

/* The most sets that an archive can hold, beside the empty set: with prices any number, else one of
   each size, or one of each size and first column. */
static double most_sets(const struct poss_control *ctl, double n) {
  const double sizes = ctl->max_size;
  return ctl->price != NULL ? 0 : ctl->isolated ? sizes * (n - (sizes - 1) / 2) : sizes;
}

static struct poss_control unpack_poss(SEXP control, int n, int threads) {
  SEXP price = field(control, "price");
  const struct poss_control out = {.lambda = real_field(control, "lambda"),
      .max_size = count_field(control, "max_size"),
      .isolated = int_field(control, "isolated"),
      .exchanged = int_field(control, "exchanged"),
      .price = double_or_null(control, "price", n),
      .assay = isNull(price) ? NULL : index_field(control, "assay", n, -1, INT_MAX),
      .max_price = real_field(control, "max_price"),
      .islands = length(field(control, "count")),
      .capacity = count_field(control, "capacity"),
      .max_cached = count_field(control, "kept") / threads,
      .iterations = real_field(control, "iterations")};
  expect(n > 0 && out.max_size <= n, "max_size");
  expect(out.capacity >= most_sets(&out, n) + 2, "capacity");
  return out;
}

SEXP C_poss(SEXP terms, SEXP control) {
  const struct gram gram = unpack_gram(terms);
  const int n = (int)gram.n;
  struct r_host r;
  struct host host = make_host(&r, control, 0, length(field(control, "count")));
  const struct poss_control ctl = unpack_poss(control, n, host.threads);
  const double islands = ctl.islands, sets = ctl.capacity * islands;
  struct answer out = new_answer();
  PROTECT(out.list);
  struct poss_state state = {
      .random = copy_int(&out, "random", control, 8 * islands, INT_MIN, INT_MAX),
      .count = copy_int(&out, "count", control, islands, 0, ctl.capacity),
      .size = copy_int(&out, "size", control, sets, 0, ctl.max_size),
      .columns = copy_int(&out, "columns", control, sets * ctl.max_size, 0, n - 1),
      .gain = add_real(&out, "gain", (size_t)sets),
      .done = add_real(&out, "done", 1)};
  void *work = R_alloc(poss_work(&gram, &ctl, host.threads), 1);
  add_status(&out, final_status(poss(&gram, &ctl, &host, work, &state), &r));
  UNPROTECT(1);
  return answer_list(&out);
}

SEXP C_best_subset(SEXP terms, SEXP control) {
  const struct gram gram = unpack_gram(terms);
  expect(gram.full != NULL, "whole");
  const struct best_control ctl = {.lambda = real_field(control, "lambda"),
      .k = count_field(control, "k"),
      .nodes = real_field(control, "nodes"),
      .total = real_field(terms, "total")};
  const size_t k = (size_t)ctl.k;
  struct answer out = new_answer();
  PROTECT(out.list);
  struct best_result result = {.set = add_int(&out, "set", k * k),
      .gain = add_real(&out, "gain", k),
      .bound = add_real(&out, "bound", k),
      .nodes = add_real(&out, "nodes", k)};
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  void *work = R_alloc(best_work(&gram, &ctl), 1);
  add_status(&out, final_status(best_subset(&gram, &ctl, &host, work, &result), &r));
  *add_int(&out, "sizes", 1) = result.sizes;
  UNPROTECT(1);
  return answer_list(&out);
}

/* ---- proofs ---- */

enum { CACHED_BYTES = 1 << 29 }; /* of columns of X'X */

static struct proof_terms unpack_proof(SEXP terms, SEXP control) {
  const struct gram gram = unpack_gram(terms);
  SEXP unit = field(control, "unit");
  const int units = length(unit) - 1, n = (int)gram.n;
  expect(n > 0 && units > 0, "unit");
  const struct proof_terms out = {.gram = gram,
      .units = units,
      .unit = start_values(unit, "unit", units, n),
      .total = real_field(terms, "total"),
      .max_cached = (int)fmin(n, fmax(1, CACHED_BYTES / (8.0 * n)))};
  for (int g = 0; g < units; g++)
    expect(out.unit[g] < out.unit[g + 1], "unit");
  expect(out.unit[units] == n, "unit");
  return out;
}

SEXP C_subset_dual(SEXP terms, SEXP control) {
  const struct proof_terms proof = unpack_proof(terms, control);
  const size_t units = (size_t)proof.units;
  const struct dual_control ctl = {.k = count_field(control, "k"),
      .share = double_or_null(control, "share", (double)units),
      .tolerance = real_field(control, "tolerance"),
      .max_steps = count_field(control, "max_iterations")};
  expect(ctl.k <= proof.units, "k");
  struct answer out = new_answer();
  PROTECT(out.list);
  struct dual_result result = {.share = add_real(&out, "share", units),
      .gain = add_real(&out, "gain", units),
      .beta = add_real(&out, "beta", (size_t)(proof.gram.n * proof.gram.L))};
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  void *work;
  SEXP workspace = PROTECT(alloc_workspace(subset_dual_work(&proof, &ctl), &work));
  add_status(&out, final_status(subset_dual(&proof, &ctl, &host, work, &result), &r));
  release_workspace(workspace);
  *add_real(&out, "value", 1) = result.value;
  *add_real(&out, "bound", 1) = result.bound;
  *add_int(&out, "iterations", 1) = result.steps;
  UNPROTECT(2);
  return answer_list(&out);
}

enum {
  OPEN_NODES = 100000, /* in memory; beyond, the search goes depth first */
  NODE_BYTES = 1 << 29 /* of these nodes */
};

/* Units of a set, without one twice. */
static const int *set_field(SEXP control, const char *name, int units, int *count) {
  *count = length(field(control, name));
  const int *set = index_field(control, name, *count, 0, units - 1);
  for (int i = 0; i < *count; i++)
    for (int j = 0; j < i; j++)
      expect(set[i] != set[j], name);
  return set;
}

/* An upper bound of the nodes that can be open: so many as memory has room for, or as a search of
   so few nodes can have. */
static int open_nodes(double units, double nodes) {
  const double bytes = 2048 + units / 8;
  return (int)fmin(fmin(OPEN_NODES, NODE_BYTES / bytes), nodes / 2 + 2);
}

static struct tree_control unpack_tree(SEXP terms, SEXP control, const struct proof_terms *proof) {
  const int units = (int)proof->units, k = count_field(control, "k");
  const double m = (double)proof->gram.m;
  struct tree_control out = {.task = (enum tree_task)int_field(control, "task"),
      .k = k < units ? k : units,
      .cutoff = real_field(control, "cutoff"),
      .first = int_field(control, "first"),
      .nodes = real_field(control, "nodes"),
      .kept = count_field(control, "kept")};
  expect(out.task >= LEAST_PENALISED && out.task <= ALL_WITHIN, "task");
  out.given_unit = set_field(control, "given", units, &out.given);
  out.known_set = set_field(control, "set", units, &out.known);
  expect(out.given <= out.k, "given");
  expect(out.known == 0 || out.known == out.k, "set");
  expect(out.nodes >= 1, "nodes");
  out.capacity = open_nodes(units, out.nodes);
  if (out.task == LEAST_HELD_OUT) {
    expect(proof->gram.X != NULL, "X");
    out.Y = double_field(terms, "Y", m * (double)proof->gram.L);
    out.h = double_field(terms, "h", m);
  }
  return out;
}

static void add_numbers(struct answer *out, const struct tree_result *result) {
  *add_real(out, "value", 1) = result->value;
  *add_real(out, "bound", 1) = result->bound;
  *add_real(out, "nodes", 1) = result->nodes;
  *add_real(out, "open", 1) = result->open;
  *add_real(out, "margin", 1) = result->margin;
  *add_real(out, "count", 1) = result->count;
  *add_int(out, "size", 1) = result->size;
  *add_int(out, "listed", 1) = result->listed;
  *add_int(out, "traced", 1) = result->traced;
}

SEXP C_subset_tree(SEXP terms, SEXP control) {
  const struct proof_terms proof = unpack_proof(terms, control);
  const struct tree_control ctl = unpack_tree(terms, control, &proof);
  const size_t k = (size_t)ctl.k, kept = (size_t)ctl.kept;
  struct answer out = new_answer();
  PROTECT(out.list);
  struct tree_result result = {.set = add_int(&out, "set", k),
      .sets = add_int(&out, "sets", k * kept),
      .values = add_real(&out, "values", kept),
      .trace = add_real(&out, "trace", 3 * TREE_TRACE)};
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  void *work;
  SEXP workspace = PROTECT(alloc_workspace(subset_tree_work(&proof, &ctl), &work));
  add_status(&out, final_status(subset_tree(&proof, &ctl, &host, work, &result), &r));
  release_workspace(workspace);
  add_numbers(&out, &result);
  UNPROTECT(2);
  return answer_list(&out);
}

/* At least |x_j'A|^2 of each column of X (m x n), for A (m x L), and at most 2 <A, Y> - |A|^2. */
SEXP C_certificate_gains(SEXP X, SEXP A) {
  const int m = nrows(X);
  expect(isReal(X) && isReal(A) && nrows(A) == m, "A");
  SEXP gain = PROTECT(allocVector(REALSXP, ncols(X)));
  certificate_gains(m, ncols(X), ncols(A), REAL(X), REAL(A), REAL(gain));
  UNPROTECT(1);
  return gain;
}

SEXP C_certificate_constant(SEXP A, SEXP Y) {
  const int m = nrows(A), L = ncols(A);
  expect(isReal(A) && isReal(Y) && nrows(Y) == m && ncols(Y) == L, "A");
  return ScalarReal(certificate_constant(m, L, REAL(A), REAL(Y)));
}
