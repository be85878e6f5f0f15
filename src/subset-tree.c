/* A tree of sets by the bounds of the relaxation.

   A node is solved when it is made: from the shares of its parent, over the units with the largest
   gains there, with all free units priced at the end. Where c_(k) are the sorted gains and D is the
   bound, a free unit is out of every set that is of use if D + c_(k) - c_j exceeds the limit, and
   in if D + c_j - c_(k+1) does. A node branches at the unit for which s^2 (1 - s)^2 / K_jj^2 is
   largest: with K = [H 1; 1' 0]^-1, s^2 / 2 K_jj and (1 - s)^2 / 2 K_jj are what fixing s_j at 0 or
   1 costs in the quadratic model of f. */
#include "subset-tree.h"
#include "simd.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
  TREE_LIKELY = 120,   /* units over which a relaxation begins, beside the support */
  TREE_ADDED = 150,    /* units that are added at a time when others have larger gains */
  TREE_MEMBERS = 1024, /* columns of these */
  TREE_ROUNDS = 20,
  TREE_STEPS = 50,
  TREE_SUPPORT = 96, /* shares kept of an open node, or twice as many as a set has units */
  TREE_EAGER = 40,   /* nodes whose rounded sets are improved by exchanges, */
  TREE_OFTEN = 16    /* and every so manyth one later */
};

/* ---- limits ---- */

static int is_inclusive(const struct tree *t) {
  return t->control->task == ALL_WITHIN || t->control->first;
}

/* By how much values must differ to be told apart: rounding in a bound of F moves the bound F^2 / Q
   of a leave-one-out error as its derivative says. */
static double tree_tie(const struct tree *t) {
  double slope = 1;
  if (t->control->task == LEAST_HELD_OUT)
    slope = t->Q > 0 ? 2 * sqrt(fmin(tree_target(t), DBL_MAX) / t->Q) : 0;
  return fmax(TIE * t->scale, 2 * slope * t->margin);
}

/* Sets with larger values are of no use. */
static double tree_useful(struct tree *t) {
  if (is_inclusive(t))
    return t->control->cutoff;
  const double tie = tree_tie(t);
  t->result->margin = fmax(t->result->margin, tie);
  return tree_target(t) - tie;
}

/* t->limit := the largest F of a set of the node in hand that is of use: a leave-one-out error is
   at least F^2 / Q. */
static void tree_set_limit(struct tree *t) {
  const double useful = tree_useful(t);
  t->limit = t->control->task == LEAST_HELD_OUT ? sqrt(fmax(useful, 0) * t->Q) : useful;
}

static int needed(const struct tree *t, const struct tree_node *node) {
  return t->control->k - node->ins;
}

static void copy_ints(int *to, const int *from, int count) {
  for (int i = 0; i < count; i++)
    to[i] = from[i];
}

/* ---- prices ---- */

static int unit_columns(const struct tree *t, int g) {
  return t->terms->unit[g + 1] - t->terms->unit[g];
}

/* t := t - beta C_j, at the columns listed, or at all where most are. */
static void tree_shift(
    struct tree *t, ptrdiff_t j, const double *beta, ptrdiff_t ld, ptrdiff_t listed) {
  const ptrdiff_t n = t->terms->gram.n;
  const double *C = dual_take_column(&t->dual, j);
  for (ptrdiff_t l = 0; l < t->terms->gram.L; l++) {
    double *out = t->t + l * n;
    const double f = beta[l * ld];
    if (4 * listed > n)
      simd->shift(n, out, f, C);
    else
      for (ptrdiff_t i = 0; i < listed; i++)
        out[t->column[i]] -= f * C[t->column[i]];
  }
}

/* The sum over outputs of beta (b - t) of column j, which is added to *length, too. */
static double tree_explained(
    const struct tree *t, ptrdiff_t j, const double *beta, ptrdiff_t ld, double *length) {
  const struct gram *gram = &t->terms->gram;
  double sum = 0, square = 0;
  for (ptrdiff_t l = 0; l < gram->L; l++) {
    sum += beta[l * ld] * (gram->b[j + l * gram->n] - t->t[j + l * gram->n]);
    square += beta[l * ld] * beta[l * ld];
  }
  *length += sqrt(square * gram->diagonal[j]);
  return sum;
}

static double tree_gain(const struct tree *t, int g) {
  double sum = 0;
  for (int j = t->terms->unit[g]; j < t->terms->unit[g + 1]; j++)
    for (ptrdiff_t l = 0; l < t->terms->gram.L; l++) {
      const double v = t->t[j + l * t->terms->gram.n];
      sum += v * v;
    }
  return sum;
}

/* The columns whose prices count: free ones and fixed ones. */
static ptrdiff_t list_priced(struct tree *t, const struct tree_node *node) {
  ptrdiff_t listed = 0;
  for (int i = 0; i < t->dual.fixed; i++)
    t->column[listed++] = t->dual.fixed_column[i];
  for (int f = 0; f < node->frees; f++)
    for (int j = t->terms->unit[node->free[f]]; j < t->terms->unit[node->free[f] + 1]; j++)
      t->column[listed++] = j;
  return listed;
}

static void tree_residual(struct tree *t) {
  const struct dual *d = &t->dual;
  const ptrdiff_t m = t->terms->gram.m;
  const double *X = t->terms->gram.X;
  memcpy(t->A, t->control->Y, (size_t)(m * t->terms->gram.L) * sizeof(double));
  for (ptrdiff_t l = 0; l < t->terms->gram.L; l++) {
    for (int i = 0; i < d->fixed; i++)
      simd->shift(m, t->A + l * m, t->beta[i + l * d->max_fixed], X + d->fixed_column[i] * m);
    for (ptrdiff_t j = 0; j < d->q; j++)
      simd->shift(m, t->A + l * m, d->beta[j + l * d->max_support], X + d->at[d->support[j]] * m);
  }
}

/* What rounding may do to a bound whose coefficients have columns of this length in all. */
static double tree_rounding(const struct tree *t, double length, double largest_gain) {
  const double columns = (double)t->set_columns, g = ((double)t->terms->gram.m + columns) * 1.1e-16;
  const double y = sqrt(t->terms->total);
  return g * (length * length + 2 * columns * sqrt(largest_gain) * t->longest * (y + length));
}

/* Gains of all free units at the dual's point, and the bound of F with its margin. */
static void tree_price(struct tree *t, const struct tree_node *node) {
  const struct gram *gram = &t->terms->gram;
  struct dual *d = &t->dual;
  const ptrdiff_t n = gram->n, listed = list_priced(t, node);
  dual_fixed_beta(d, t->beta);
  for (ptrdiff_t l = 0; l < gram->L; l++)
    for (ptrdiff_t i = 0; i < listed; i++)
      t->t[t->column[i] + l * n] = gram->b[t->column[i] + l * n];
  for (int i = 0; i < d->fixed; i++)
    tree_shift(t, d->fixed_column[i], t->beta + i, d->max_fixed, listed);
  for (ptrdiff_t j = 0; j < d->q; j++)
    tree_shift(t, d->at[d->support[j]], d->beta + j, d->max_support, listed);
  double bound = t->terms->total, length = 0, largest = 0;
  for (int i = 0; i < d->fixed; i++)
    bound -= tree_explained(t, d->fixed_column[i], t->beta + i, d->max_fixed, &length);
  for (ptrdiff_t j = 0; j < d->q; j++)
    bound -= tree_explained(t, d->at[d->support[j]], d->beta + j, d->max_support, &length);
  for (int i = 0; i < node->ins; i++) {
    const double gain = tree_gain(t, node->in[i]);
    largest = fmax(largest, gain);
    bound -= gain;
  }
  for (int f = 0; f < node->frees; f++)
    t->gain[f] = tree_gain(t, node->free[f]);
  const int chosen = list_largest(node->frees, t->gain, needed(t, node), t->order);
  for (int i = 0; i < chosen; i++)
    bound -= t->gain[t->order[i]];
  largest = fmax(largest, chosen > 0 ? t->gain[t->order[0]] : 0);
  t->margin = tree_rounding(t, length, largest);
  t->bound = bound - t->margin;
}

/* ---- relaxations ---- */

static void add_member(struct tree *t, int g, double share) {
  t->member[t->members] = g;
  t->member_share[t->members++] = share;
  t->mark[g] = 1;
}

/* The node's support and likely units, which sum to what is needed. */
static void tree_list_members(struct tree *t, const struct tree_node *node) {
  const int more = needed(t, node);
  ptrdiff_t columns = 0;
  t->members = 0;
  memset(t->mark, 1, (size_t)t->terms->units);
  for (int f = 0; f < node->frees; f++)
    t->mark[node->free[f]] = 0;
  for (int i = 0; i < node->support; i++) {
    add_member(t, node->unit[i], node->share[i]);
    columns += unit_columns(t, node->unit[i]);
  }
  int spread = t->members;
  for (int i = 0; i < t->likely; i++) {
    const int g = t->likely_unit[i];
    columns += unit_columns(t, g);
    if (!t->mark[g] && (columns <= TREE_MEMBERS || t->members < more))
      add_member(t, g, 0);
  }
  for (int f = 0; t->members < more; f++)
    if (!t->mark[node->free[f]])
      add_member(t, node->free[f], 0);
  spread = spread < more ? more : spread;
  dual_fit_shares(spread, t->member_share, more);
}

static void tree_begin(struct tree *t, const struct tree_node *node) {
  dual_begin(&t->dual, node->ins, node->in, t->members, t->member, needed(t, node));
  memcpy(t->dual.share, t->member_share, (size_t)t->members * sizeof(double));
}

static void tree_take_support(struct tree *t, struct tree_node *node) {
  node->support = 0;
  for (int i = 0; i < t->members; i++) {
    t->member_share[i] = t->dual.share[i];
    if (t->dual.share[i] > 0) {
      node->unit[node->support] = t->member[i];
      node->share[node->support++] = t->dual.share[i];
    }
  }
}

/* Adds the free units that have more gain than one of the support; 0 when there is none. */
static int tree_add_members(struct tree *t, const struct tree_node *node) {
  double least = DBL_MAX;
  ptrdiff_t columns = t->dual.columns;
  for (int i = 0; i < t->members; i++)
    if (t->member_share[i] > 0)
      least = fmin(least, t->dual.gain[i]);
  const int before = t->members;
  const int count = list_largest(node->frees, t->gain, before + TREE_ADDED, t->order);
  for (int i = 0; i < count && t->members < before + TREE_ADDED; i++) {
    const int g = node->free[t->order[i]];
    if (t->gain[t->order[i]] <= least)
      break;
    columns += unit_columns(t, g);
    if (!t->mark[g] && columns <= t->dual.max_columns)
      add_member(t, g, 0);
  }
  return t->members > before;
}

/* Solves the relaxation of a node as far as its bound matters, and prices its free units. */
static void tree_relax(struct tree *t, struct tree_node *node) {
  if (t->control->task == LEAST_HELD_OUT)
    held_rows(t, node->ins, node->in);
  tree_set_limit(t);
  const struct dual_goal goal = {.limit = t->limit,
      .slack = TREE_SLACK,
      .tolerance = TREE_ROUNDING * t->terms->total,
      .max_steps = TREE_STEPS};
  tree_list_members(t, node);
  for (int round = 0; round < TREE_ROUNDS; round++) {
    tree_begin(t, node);
    dual_minimise(&t->dual, &goal);
    tree_take_support(t, node);
    tree_price(t, node);
    t->dual.bound = t->bound;
    if (dual_reached(&t->dual, &goal) || !tree_add_members(t, node))
      return;
  }
}

/* ---- tests ---- */

static void drop_support(struct tree *t, struct tree_node *node) {
  int kept = 0;
  for (int i = 0; i < node->support; i++)
    if (!t->mark[node->unit[i]]) {
      node->unit[kept] = node->unit[i];
      node->share[kept++] = node->share[i];
    }
  node->support = kept;
}

/* Moves the units that are certainly in, or out of, every set of use. 0 when the node has no such
   set. */
static int tree_settle(struct tree *t, struct tree_node *node) {
  const int more = needed(t, node);
  tree_set_limit(t);
  if (t->bound > t->limit)
    return 0;
  const int count = list_largest(node->frees, t->gain, more + 1, t->order);
  const double last = t->gain[t->order[more - 1]];
  const double next = count > more ? t->gain[t->order[more]] : -INFINITY;
  int kept = 0;
  for (int f = 0; f < node->frees; f++) {
    const int g = node->free[f];
    const double gain = t->gain[f];
    t->mark[g] = 1;
    if (gain > next && t->bound + gain - next > t->limit) {
      node->in[node->ins++] = g;
    } else if (!(gain < last && t->bound + last - gain > t->limit)) {
      t->mark[g] = 0;
      t->gain[kept] = gain;
      node->free[kept++] = g;
    }
  }
  node->frees = kept;
  drop_support(t, node);
  return node->frees >= needed(t, node);
}

/* ---- nodes ---- */

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
  if (t->control->task != ALL_WITHIN)
    tree_offer_rounded(t, node, nodes <= TREE_EAGER || fmod(nodes, TREE_OFTEN) == 0);
  node->key = fmax(node->key, tree_key(t, node));
  if (node->key <= tree_useful(t) && t->bound <= t->limit)
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
  t->likely = list_largest(node->frees, t->gain, TREE_LIKELY, t->likely_unit);
  for (int i = 0; i < t->likely; i++)
    t->likely_unit[i] = node->free[t->likely_unit[i]];
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

/* All sets; the likely units are those with the largest |X_g'Y|. */
static void tree_root(struct tree *t) {
  struct tree_node *root = &t->child;
  const struct tree_control *control = t->control;
  const ptrdiff_t n = t->terms->gram.n;
  root->key = -INFINITY;
  root->ins = control->given;
  copy_ints(root->in, control->given_unit, control->given);
  memset(t->mark, 0, (size_t)t->terms->units);
  for (int i = 0; i < control->given; i++)
    t->mark[control->given_unit[i]] = 1;
  root->frees = root->support = 0;
  memcpy(t->t, t->terms->gram.b, (size_t)(n * t->terms->gram.L) * sizeof(double));
  for (int g = 0; g < t->terms->units; g++)
    if (!t->mark[g]) {
      t->gain[root->frees] = tree_gain(t, g);
      root->free[root->frees++] = g;
    }
  t->likely = list_largest(root->frees, t->gain, TREE_LIKELY, t->likely_unit);
  for (int i = 0; i < t->likely; i++)
    t->likely_unit[i] = root->free[t->likely_unit[i]];
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

static ptrdiff_t most_columns(const struct proof_terms *terms, int k) {
  ptrdiff_t widest = 1;
  for (ptrdiff_t g = 0; g < terms->units; g++)
    if (terms->unit[g + 1] - terms->unit[g] > widest)
      widest = terms->unit[g + 1] - terms->unit[g];
  return k * widest < terms->gram.n ? k * widest : terms->gram.n;
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
  const ptrdiff_t set_columns = most_columns(terms, control->k), support = 2 * k;
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
  tree_first_sets(&t);
  enum status status = COMPLETE;
  if (!tree_is_found(&t)) {
    tree_root(&t);
    tree_make(&t, &t.child);
    t.in_hand = INFINITY;
    status = tree_search(&t, host);
  }
  result->open = store_open(&t.store);
  result->bound = tree_bound(&t);
  return status;
}
