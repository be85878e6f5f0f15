/* A tree of sets by the bounds of the relaxation.

   A node is solved when it is made: from the shares of its parent, over the units with the largest
   gains there, with all free units priced at the end. It branches at the unit for which
   s^2 (1 - s)^2 / K_jj^2 is largest: with K the inverse of [H 1; 1' 0], fixing s_j at 0 costs
   s_j^2 / 2 K_jj in the quadratic model of f, and fixing it at 1 costs (1 - s_j)^2 / 2 K_jj. */
#include "subset-tree.h"
#include "simd.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
  TREE_SUPPORT = 192, /* shares kept of an open node, or twice as many as a set has units */
  TREE_EAGER = 40,    /* nodes whose rounded sets are improved by exchanges, */
  TREE_OFTEN = 16     /* and every so manyth one later */
};

/* ---- nodes ---- */

static void copy_ints(int *to, const int *from, int count) {
  for (int i = 0; i < count; i++)
    to[i] = from[i];
}

/* Whether a node is a set, or all its sets count; they are then dealt with. */
static int tree_ends(struct tree *t, const struct tree_node *node) {
  const int more = needed(t, node), whole = more == 0 || node->frees == more;
  if (t->control->task == ALL_WITHIN) {
    const int all = tree_penalised(t, node->ins, node->in) <= t->control->cutoff;
    memcpy(t->trial, node->in, (size_t)node->ins * sizeof(int));
    if (whole)
      memcpy(t->trial + node->ins, node->free, (size_t)more * sizeof(int));
    if (all || (whole && tree_penalised(t, t->control->k, t->trial) <= t->control->cutoff))
      tree_list_all(t, node);
    return all || whole;
  }
  if (whole)
    tree_offer_rounded(t, node, 0);
  return whole;
}

/* The least value of the node's sets, by the last prices. */
static double tree_key(struct tree *t, const struct tree_node *node) {
  if (t->control->task != LEAST_HELD_OUT)
    return t->bound;
  tree_residual(t);
  held_rows(t, node->ins, node->in);
  tree_set_limit(t);
  return held_bound(t, t->bound, t->limit);
}

/* Solves a node and keeps it if it may have a set of use. */
static void tree_make(struct tree *t, struct tree_node *node) {
  t->result->nodes++;
  if (node->frees < needed(t, node) || tree_ends(t, node))
    return;
  tree_relax(t, node);
  if (!tree_settle(t, node) || tree_ends(t, node))
    return;
  const double nodes = t->result->nodes;
  node->key = fmax(node->key, tree_key(t, node));
  if (t->control->task != ALL_WITHIN)
    tree_offer_rounded(t, node, nodes <= TREE_EAGER || fmod(nodes, TREE_OFTEN) == 0);
  if (node->key <= tree_useful(t))
    store_push(&t->store, node, t->control->task == ALL_WITHIN);
}

/* Diagonal of [H 1; 1' 0]^-1 over the active units of the dual, in dual.change. O(a^3) */
static void tree_curvatures(struct dual *d) {
  const ptrdiff_t a = d->active;
  double *x = d->solution, *one = d->solution + a, sum = 0, largest = 0;
  for (ptrdiff_t i = 0; i < a; i++) {
    largest = fmax(largest, d->H[i + i * a]);
    one[i] = 1;
  }
  factor_in_place(a, d->H, a, DUAL_FLAT * largest + DBL_MIN);
  solve_transposed(a, d->H, a, one);
  solve_upper(a, d->H, a, one);
  for (ptrdiff_t i = 0; i < a; i++)
    sum += one[i];
  for (ptrdiff_t i = 0; i < a; i++) {
    memset(x, 0, (size_t)a * sizeof(double));
    x[i] = 1;
    solve_transposed(a, d->H, a, x);
    d->change[i] = simd->dot(a, x, x) - one[i] * one[i] / sum;
  }
}

/* The free unit to branch at: by the model, or without a share between 0 and 1 the one of the
   largest gain. */
static int tree_choose(struct tree *t, const struct tree_node *node) {
  struct dual *d = &t->dual;
  d->active = 0;
  for (int i = 0; i < d->members; i++)
    if (d->share[i] > 0 && d->share[i] < 1 && !t->mark[t->member[i]])
      d->unit[d->active++] = i;
  int chosen = -1;
  double most = -1;
  if (d->active > 1) {
    dual_hessian(d);
    tree_curvatures(d);
  }
  for (int i = 0; i < d->active; i++) {
    const double share = d->share[d->unit[i]];
    const double price = share * (1 - share) / (d->active > 1 ? fmax(d->change[i], DBL_MIN) : 1);
    if (price > most) {
      most = price;
      chosen = t->member[d->unit[i]];
    }
  }
  for (int f = 0; d->active == 0 && f < node->frees; f++)
    if (t->gain[f] > most) {
      most = t->gain[f];
      chosen = node->free[f];
    }
  return chosen;
}

/* child := the sets of the parent with the unit, or without it. */
static void tree_branch(struct tree *t, const struct tree_node *parent, int unit, int with) {
  struct tree_node *child = &t->child;
  child->key = parent->key;
  child->ins = parent->ins;
  copy_ints(child->in, parent->in, parent->ins);
  if (with)
    child->in[child->ins++] = unit;
  child->frees = child->support = 0;
  for (int f = 0; f < parent->frees; f++)
    if (parent->free[f] != unit)
      child->free[child->frees++] = parent->free[f];
  for (int i = 0; i < parent->support; i++)
    if (parent->unit[i] != unit) {
      child->unit[child->support] = parent->unit[i];
      child->share[child->support++] = parent->share[i];
    }
}

/* The free units with the largest gains. */
static void tree_list_likely(struct tree *t, const struct tree_node *node) {
  t->likely = list_largest(node->frees, t->gain, TREE_LIKELY, t->likely_unit);
  for (int i = 0; i < t->likely; i++)
    t->likely_unit[i] = node->free[t->likely_unit[i]];
}

/* Prices a node again, as its gains were not kept, and lists the likely units of its children. 0
   when it has no set of use. */
static int tree_open(struct tree *t, struct tree_node *node) {
  if (t->control->task == LEAST_HELD_OUT)
    held_rows(t, node->ins, node->in);
  t->likely = 0;
  tree_list_members(t, node);
  tree_begin(t, node);
  dual_evaluate(&t->dual);
  tree_price(t, node);
  if (!tree_settle(t, node) || tree_ends(t, node))
    return 0;
  tree_list_likely(t, node);
  return 1;
}

static void tree_expand(struct tree *t) {
  struct tree_node *parent = &t->parent;
  if (t->control->task != ALL_WITHIN && parent->key > tree_useful(t))
    return;
  if (!tree_open(t, parent))
    return;
  const int unit = tree_choose(t, parent);
  for (int with = 0; with <= 1; with++) {
    tree_branch(t, parent, unit, with);
    tree_make(t, &t->child);
  }
}

/* ---- the search ---- */

/* root := the node of all sets, whose likely units are those with the largest |X_g'Y|. */
static void tree_root(struct tree *t, struct tree_node *root) {
  const struct tree_control *control = t->control;
  root->key = -INFINITY;
  root->ins = control->given;
  copy_ints(root->in, control->given_unit, control->given);
  memset(t->mark, 0, (size_t)t->terms->units);
  for (int i = 0; i < control->given; i++)
    t->mark[control->given_unit[i]] = 1;
  root->frees = root->support = 0;
  memcpy(t->t, t->terms->gram.b, (size_t)(t->terms->gram.n * t->terms->gram.L) * sizeof(double));
  for (int g = 0; g < t->terms->units; g++)
    if (!t->mark[g]) {
      t->gain[root->frees] = tree_gain(t, g);
      root->free[root->frees++] = g;
    }
  tree_list_likely(t, root);
}

/* The root's relaxation begins at the best set known. */
static void tree_start_root(struct tree *t, struct tree_node *root) {
  for (int i = 0; i < t->result->size; i++)
    if (!t->mark[t->result->set[i]]) {
      root->unit[root->support] = t->result->set[i];
      root->share[root->support++] = 1;
    }
}

static struct tree_node node_alloc(const struct tree *t, struct arena *arena) {
  const ptrdiff_t units = t->terms->units;
  return (struct tree_node){.in = alloc_ints(arena, t->control->k),
      .free = alloc_ints(arena, units),
      .unit = alloc_ints(arena, units),
      .share = alloc_doubles(arena, units)};
}

static void alloc_rows(struct tree *t, struct arena *arena) {
  const ptrdiff_t m = t->terms->gram.m, L = t->terms->gram.L;
  t->V = alloc_doubles(arena, m * t->set_columns);
  t->d = alloc_doubles(arena, m);
  t->A = alloc_doubles(arena, m * L);
  t->lower = alloc_doubles(arena, HELD_INTERVALS);
  t->from = alloc_doubles(arena, HELD_INTERVALS);
  t->width = alloc_doubles(arena, HELD_INTERVALS);
}

static struct tree tree_alloc(
    const struct proof_terms *terms, const struct tree_control *control, struct arena *arena) {
  const ptrdiff_t n = terms->gram.n, units = terms->units, L = terms->gram.L, k = control->k;
  const ptrdiff_t widest = widest_unit(terms), support = 2 * k;
  const ptrdiff_t set_columns = k * widest < n ? k * widest : n;
  ptrdiff_t members = 2 * set_columns > TREE_MEMBERS ? 2 * set_columns : TREE_MEMBERS;
  members = 2 * members < n ? 2 * members : n;
  struct tree t = {.terms = terms,
      .control = control,
      .set_columns = set_columns,
      .dual = dual_alloc(terms, set_columns, k, members, arena),
      .store = store_alloc(units, control->k, control->capacity,
          support > TREE_SUPPORT ? support : TREE_SUPPORT, arena),
      .member = alloc_ints(arena, units),
      .member_share = alloc_doubles(arena, units),
      .likely_unit = alloc_ints(arena, TREE_LIKELY),
      .mark = arena_alloc(arena, units, 1),
      .t = alloc_doubles(arena, n * L),
      .gain = alloc_doubles(arena, units),
      .beta = alloc_doubles(arena, set_columns * L),
      .order = alloc_ints(arena, units + 1),
      .column = alloc_ints(arena, n),
      .trial = alloc_ints(arena, k),
      .swap = alloc_ints(arena, k),
      .factor = alloc_doubles(arena, set_columns * set_columns),
      .solved = alloc_doubles(arena, set_columns)};
  t.parent = node_alloc(&t, arena);
  t.child = node_alloc(&t, arena);
  if (units == n)
    t.exchange = exchange_alloc(&terms->gram, 1, control->k, arena);
  if (control->task == LEAST_HELD_OUT)
    alloc_rows(&t, arena);
  return t;
}

size_t subset_tree_work(const struct proof_terms *terms, const struct tree_control *control) {
  struct arena arena = arena_over(NULL);
  tree_alloc(terms, control, &arena);
  return arena.used;
}

static void tree_clear(struct tree *t) {
  struct tree_result *result = t->result;
  const ptrdiff_t k = t->control->k;
  memset(result->set, 0, (size_t)k * sizeof(int));
  memset(result->sets, 0, (size_t)(k * t->control->kept) * sizeof(int));
  memset(result->values, 0, (size_t)t->control->kept * sizeof(double));
  memset(result->trace, 0, 3 * TREE_TRACE * sizeof(double));
  result->size = result->listed = result->traced = 0;
  result->value = INFINITY;
  result->nodes = result->count = result->margin = 0;
  t->in_hand = -INFINITY;
  t->scale = t->terms->total;
  if (t->terms->gram.full == NULL)
    gram_cache_clear(&t->terms->gram, &t->dual.cache);
  t->exchange.cache = &t->dual.cache;
  for (ptrdiff_t j = 0; j < t->terms->gram.n; j++)
    t->longest = fmax(t->longest, sqrt(t->terms->gram.diagonal[j]));
  if (t->control->task == LEAST_HELD_OUT)
    t->scale = held_value(t, 0, NULL);
}

/* The known set, and one by forward selection. */
static void tree_first_sets(struct tree *t) {
  if (t->control->task == ALL_WITHIN)
    return;
  copy_ints(t->trial, t->control->known_set, t->control->known);
  if (t->control->known > 0)
    tree_offer(t);
  tree_offer_forward(t);
}

static int tree_is_found(const struct tree *t) {
  return t->control->first && t->result->value <= t->control->cutoff;
}

static enum status tree_search(struct tree *t, struct host *host) {
  const double limit = t->control->nodes;
  double noted = 1;
  while (store_open(&t->store) > 0 && !tree_is_found(t)) {
    if (host->stop(host, t->result->nodes < limit ? t->result->nodes : limit, limit))
      return INTERRUPTED;
    if (t->result->nodes + 2 > limit)
      return MOVE_LIMIT;
    if (t->result->nodes >= noted && t->control->task != ALL_WITHIN) {
      tree_note(t);
      noted *= 2;
    }
    store_take(&t->store, &t->parent);
    t->in_hand = t->parent.key;
    tree_expand(t);
    t->in_hand = INFINITY;
  }
  return COMPLETE;
}

enum status subset_tree(const struct proof_terms *terms, const struct tree_control *control,
    struct host *host, void *work, struct tree_result *result) {
  struct arena arena = arena_over(work);
  struct tree t = tree_alloc(terms, control, &arena);
  t.result = result;
  tree_clear(&t);
  tree_root(&t, &t.child);
  tree_first_sets(&t);
  enum status status = COMPLETE;
  if (!tree_is_found(&t)) {
    tree_start_root(&t, &t.child);
    tree_make(&t, &t.child);
    t.in_hand = INFINITY;
    status = tree_search(&t, host);
  }
  result->open = store_open(&t.store);
  result->bound = tree_bound(&t);
  return status;
}
