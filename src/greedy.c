/* Greedy regularised least-squares: the search. A move is chosen by the scores of a sweep,
   committed and recorded; an engine knows how the state follows it (greedy-state.h). */
#include "greedy-state.h"
#include "simd.h"
#include "tolerance.h"
#include <math.h>
#include <string.h>

/* ---- workspace ---- */

ptrdiff_t greedy_most_members(const struct greedy *s) {
  const struct greedy_control *control = s->control;
  if (control->search != BACKWARD)
    return greedy_most_columns(control);
  return control->given_count > 0 ? control->given_count : s->pb->n;
}

static const struct greedy_engine *greedy_choose_engine(const struct greedy *s) {
  const struct folds *folds = s->folds;
  const struct greedy_control *control = s->control;
  if (control->products.of != NULL)
    return &greedy_by_products;
  if (lazy_can_skip(s))
    return folds->loo ? &greedy_lazy : &greedy_lazy_folds;
  if (control->rereads)
    return folds->loo ? &greedy_reread : &greedy_reread_folds;
  if (given_are_all(s))
    return &greedy_given;
  return folds->loo ? &greedy_leave_one_out : &greedy_folds;
}

/* A state without memory. */
static struct greedy greedy_state(
    const struct problem *pb, const struct folds *folds, const struct greedy_control *control) {
  struct greedy s = {
      .pb = pb, .folds = folds, .control = control, .b = -1, .given_count = control->given_count};
  s.engine = greedy_choose_engine(&s);
  for (ptrdiff_t j = 0; greedy_by_pairs(&s) && j < pb->m; j++)
    if (pb->response[j] > 0)
      s.positives++;
    else
      s.negatives++;
  return s;
}

/* What a search that only adds keeps of its members, whose columns then need not follow. */
static void greedy_lay_out_members(struct greedy *s, struct arena *arena) {
  const ptrdiff_t most = greedy_most_members(s);
  if (greedy_drops(s) || s->engine->follow == NULL)
    return;
  s->products = alloc_doubles(arena, most * s->pb->n);
  s->moved_kappa = alloc_doubles(arena, most);
  s->moved_t = alloc_doubles(arena, s->pb->L * most);
}

/* What a state has of its own at a queued move; other memory is the search's. */
static void greedy_lay_out_queue(struct greedy *s, struct arena *arena) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const struct column_groups *groups = &s->control->groups;
  if (groups->rule != MOVE_TOGETHER || greedy_largest_group(groups) < 2 || greedy_drops(s) ||
      s->engine->follow == NULL)
    return;
  s->queue = arena_alloc(arena, FOLLOWED, sizeof(struct greedy));
  for (int p = 0; p < FOLLOWED; p++) {
    struct greedy at = {.a = alloc_doubles(arena, m * L),
        .x_b = alloc_doubles(arena, m),
        .c_b = alloc_doubles(arena, m),
        .t_b = alloc_doubles(arena, L),
        .part = arena_alloc(arena, s->parts, sizeof(struct greedy_partition))};
    for (int r = 0; r < s->parts; r++) {
      const struct greedy_partition part = {.q = alloc_doubles(arena, m),
          .c = alloc_doubles(arena, m),
          .eta = alloc_doubles(arena, s->folds->count[r])};
      if (arena->base != NULL)
        at.part[r] = part;
    }
    if (arena->base != NULL)
      s->queue[p] = at;
  }
}

ptrdiff_t greedy_given_products(
    const struct problem *pb, const struct folds *folds, const struct greedy_control *control) {
  const struct greedy s = greedy_state(pb, folds, control);
  return given_products_of(&s);
}

static void greedy_lay_out(struct greedy *s, int threads, struct arena *arena) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L, k = s->control->k;
  const ptrdiff_t most = greedy_most_members(s);
  const ptrdiff_t started = greedy_drops(s) ? most : 0; /* the largest set made from scratch */
  s->engine->lay_out(s, threads, arena);
  s->weights = alloc_doubles(arena, m);
  s->a = alloc_doubles(arena, m * L);
  s->d = alloc_doubles(arena, m);
  s->kappa = alloc_doubles(arena, n);
  s->kappa_ref = alloc_doubles(arena, n);
  s->t = alloc_doubles(arena, L * n);
  s->x_b = alloc_doubles(arena, m);
  s->c_b = alloc_doubles(arena, m);
  s->t_b = alloc_doubles(arena, L);
  s->residual = alloc_doubles(arena, m * L);
  s->gain = alloc_doubles(arena, most + 1);
  s->score = arena_alloc(arena, n, sizeof(struct greedy_score));
  s->scored = alloc_ints(arena, n);
  s->seen = arena_alloc(arena, most + 1, sizeof(struct greedy_score));
  s->member = alloc_ints(arena, n + k);
  s->order = alloc_ints(arena, most);
  s->taken = alloc_ints(arena, s->control->groups.count);
  s->needed = s->control->needs.start == NULL ? NULL : alloc_ints(arena, n);
  s->price = s->control->price == NULL ? NULL : alloc_doubles(arena, n);
  s->positive = alloc_ints(arena, s->positives);
  s->negative = alloc_ints(arena, s->negatives);
  const size_t evaluation = (size_t)(m * (L + 2) + L);
  s->scratch_size = s->scratch_size > evaluation ? s->scratch_size : evaluation;
  if (criterion_is_of_pairs(s->control->criterion))
    s->scratch_size += greedy_by_pairs(s) ? greedy_pairs_work(s) : criterion_work(m);
  if (s->control->criterion == USER)
    s->scratch_size += (size_t)(m * L);
  s->scratch_size += (size_t)s->control->row_groups.count;
  s->scratch = alloc_doubles(arena, threads * (ptrdiff_t)s->scratch_size);
  s->inverse_order = greedy_min(started, m);
  s->inverse = alloc_doubles(arena, s->inverse_order * s->inverse_order);
  s->inverse_b = alloc_doubles(arena, started > 0 ? n : 0);
  s->max_start = greedy_max(s->max_start, started);
  s->start_work = arena_alloc(arena, 1, greedy_start_work(pb, s->folds, s->max_start));
  greedy_lay_out_groups(s, threads, arena);
  greedy_lay_out_members(s, arena);
  greedy_lay_out_queue(s, arena);
}

size_t greedy_work(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, int threads) {
  struct greedy s = greedy_state(pb, folds, control);
  struct arena count = arena_over(NULL);
  arena_alloc(&count, 1, sizeof s);
  greedy_lay_out(&s, threads, &count);
  return count.used;
}

/* ---- scores ---- */

/* Whether x is better than y by more than the tolerance. */
static int greedy_is_better(
    struct greedy_score x, struct greedy_score y, struct greedy_score tolerance) {
  if (x.value < y.value - tolerance.value)
    return 1;
  return x.value <= y.value + tolerance.value && x.tie < y.tie - tolerance.tie;
}

/* ---- commit a move ---- */

/* One member more (change = 1) or less (-1) asks for what column b needs. */
static void greedy_ask(const struct greedy *s, ptrdiff_t b, int change) {
  const struct column_needs *needs = &s->control->needs;
  if (s->needed == NULL)
    return;
  for (int p = needs->start[b]; p < needs->start[b + 1]; p++)
    s->needed[needs->columns[p]] += change;
}

static void greedy_toggle_member(struct greedy *s, ptrdiff_t b) {
  const int change = s->member[b] ? -1 : 1, group = greedy_group_of(s, b);
  greedy_ask(s, b, change);
  if (b < s->pb->n)
    s->own_members += change;
  if (group >= 0)
    s->taken[group] += change;
  if (!s->member[b]) {
    s->member[b] = 1;
    s->order[s->size++] = (int)b;
    return;
  }
  int p = 0;
  while (s->order[p] != b)
    p++;
  memmove(s->order + p, s->order + p + 1, (size_t)(s->size - p - 1) * sizeof(int));
  s->member[b] = 0;
  s->size--;
  s->since_start++;
}

/* Column b is paid for, and with it its assay. */
static void greedy_pay(struct greedy *s, ptrdiff_t b) {
  const int *assay = s->control->assay;
  if (s->price == NULL)
    return;
  s->spent += s->price[b];
  for (ptrdiff_t i = 0; i < s->pb->n && assay[b] >= 0; i++)
    if (assay[i] == assay[b])
      s->price[i] = FREE_PRICE;
}

/* Everything with m entries or fewer moves now; the columns follow in the next sweep. */
static void greedy_commit(struct greedy *s, ptrdiff_t b) {
  s->b = b;
  s->engine->commit(s);
  s->dropped = s->member[b];
  s->factor_b = (s->dropped ? -1 : 1) * s->control->lambda / s->kappa_b;
  if (greedy_drops(s))
    greedy_commit_inverse(s);
  greedy_toggle_member(s, b);
  greedy_pay(s, b);
}

/* ---- record the current model ---- */

/* The criterion of the current model, for one repeat, whose held-out residuals are given. */
static struct estimate greedy_evaluate_model(
    const struct greedy *s, const double *residual, int repeat) {
  const enum criterion kind = s->control->criterion;
  if (s->engine->estimate != NULL)
    return s->engine->estimate(s);
  if (kind == USER)
    return (struct estimate){s->host->user_loss(s->host, residual, repeat), NAN};
  if (greedy_by_pairs(s)) {
    struct pair_candidate none = {s->scratch, 1, 0, 0};
    memset(s->scratch, 0, (size_t)s->pb->m * sizeof(double));
    greedy_evaluate_pairs(s, &none, 1, greedy_criterion_work(s, s->scratch));
    return (struct estimate){none.loss, NAN};
  }
  const int *start = s->folds->start;
  for (int r = 0; r < repeat; r++)
    start += s->folds->count[r] + 1;
  return criterion_estimate(&s->weighted, kind, residual, s->folds->order + repeat * s->pb->m,
      start, s->folds->count[repeat], greedy_criterion_work(s, s->scratch));
}

static void greedy_keep_model(struct greedy *s, int entry) {
  const ptrdiff_t most = greedy_most_columns(s->control), L = s->pb->L, size = s->groups;
  s->out->model_entry[size] = entry;
  s->out->model_columns[size] = s->size;
  memcpy(s->out->model + size * most, s->order, (size_t)s->size * sizeof(int));
  s->engine->coefficients(s, s->out->beta + most * L * size, most);
}

/* Writes entry `moves` of the path; returns 1 when this is the best model so far, of equally good
   ones the smallest. */
static int greedy_record(struct greedy *s, ptrdiff_t feature) {
  struct greedy_result *out = s->out;
  const int entry = out->moves, size = s->groups;
  const int repeats = s->engine->estimate != NULL ? 1 : s->folds->repeats;
  const struct greedy_score none = {0, 0};
  struct greedy_score now = {0, 0};
  double se = 0, error = 0;
  for (int r = 0; r < repeats; r++) {
    if (s->engine->estimate == NULL)
      s->engine->hold_out(s, r);
    const struct estimate estimate = greedy_evaluate_model(s, s->residual, r);
    now.value += estimate.value / repeats;
    const int squared = s->control->criterion == SQUARED;
    now.tie += (squared ? estimate.value : criterion_value(s->pb, SQUARED, s->residual)) / repeats;
    se += estimate.se / repeats;
    if (s->control->classes)
      error += criterion_value(s->pb, ERROR, s->residual) / repeats;
  }
  s->now = now.value;
  out->feature[entry] = (int)feature;
  out->size[entry] = size;
  out->loss[entry] = now.value;
  out->se[entry] = se;
  out->squared[entry] = now.tie;
  out->error[entry] = error;
  out->pivot[entry] = s->engine->min_pivot(s);
  if (greedy_is_better(now, s->seen[size], none))
    s->seen[size] = now;
  if (size > s->control->k || !isfinite(now.value))
    return 0;
  /* a set that the search comes to again has the same errors but for rounding: the first stays */
  const int old = out->model_entry[size];
  if (old < 0 ||
      greedy_is_better(now, (struct greedy_score){out->loss[old], out->squared[old]}, s->tolerance))
    greedy_keep_model(s, entry);
  if (!greedy_is_better(now, s->best, s->tolerance) &&
      (greedy_is_better(s->best, now, s->tolerance) || size >= out->best))
    return 0;
  s->best = now;
  out->best = size;
  s->engine->keep_residuals(s);
  return 1;
}

/* Whether adding column i is better than adding column o, or as good and the lower one. */
static int greedy_is_before(const struct greedy *s, int i, int o) {
  const struct greedy_score none = {0, 0};
  const struct greedy_score of_i = {greedy_merit(s, i, s->score[i].value), s->score[i].tie};
  const struct greedy_score of_o = {greedy_merit(s, o, s->score[o].value), s->score[o].tie};
  return greedy_is_better(of_i, of_o, none) || (!greedy_is_better(of_o, of_i, none) && i < o);
}

/* The `keep` best additions that were not chosen, best first. */
static void greedy_record_others(struct greedy *s, ptrdiff_t chosen) {
  const int keep = s->control->keep;
  int *other = s->out->runner_up + (ptrdiff_t)keep * s->out->moves, found = 0;
  double *loss = s->out->runner_up_loss + (ptrdiff_t)keep * s->out->moves;
  for (ptrdiff_t q = 0; keep > 0 && q < s->scored_count; q++) {
    const int i = s->scored[q];
    if (!greedy_can_add(s, i) || i == chosen)
      continue;
    int p = found;
    while (p > 0 && greedy_is_before(s, i, other[p - 1]))
      p--;
    if (p == keep)
      continue;
    found += found < keep;
    memmove(other + p + 1, other + p, (size_t)(found - p - 1) * sizeof(int));
    other[p] = i;
  }
  for (int p = 0; p < keep; p++) {
    loss[p] = p < found ? s->score[other[p]].value : NAN;
    other[p] = p < found ? other[p] : -1;
  }
}

/* ---- search ---- */

ptrdiff_t greedy_count_candidates(const struct greedy *s) {
  if (s->price == NULL && s->control->groups.rule == NO_GROUPS && s->needed == NULL)
    return s->usable_count - s->own_members;
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    count += greedy_can_add(s, i);
  return count;
}

/* Whether column i can be dropped (member = 1) or added. */
static int greedy_can_move(const struct greedy *s, ptrdiff_t i, int member) {
  return member ? greedy_can_drop(s, i) : greedy_can_add(s, i);
}

/* Whether moving column i is no worse than the best by more than a tie of the criterion. At a
   price a column that gains nothing ties with none that gains: for a free one a tie would count as
   a large gain. */
static int greedy_ties(const struct greedy *s, ptrdiff_t i, double best) {
  const double value = s->score[i].value;
  if (s->price == NULL)
    return value <= best + s->tolerance.value;
  return greedy_merit_of_tie(s, i, value) <= best && (best >= 0 || greedy_merit(s, i, value) < 0);
}

/* The least criterion of adding a column (member = 0) or of dropping one (member = 1), and the
   least squared error of those that tie with it. */
static struct greedy_score greedy_best_score(const struct greedy *s, int member) {
  struct greedy_score best = {INFINITY, INFINITY};
  for (ptrdiff_t p = 0; p < s->scored_count; p++) {
    const ptrdiff_t i = s->scored[p];
    if (greedy_merit(s, i, s->score[i].value) < best.value && greedy_can_move(s, i, member))
      best.value = greedy_merit(s, i, s->score[i].value);
  }
  for (ptrdiff_t p = 0; p < s->scored_count; p++) {
    const ptrdiff_t i = s->scored[p];
    if (greedy_ties(s, i, best.value) && s->score[i].tie < best.tie &&
        greedy_can_move(s, i, member))
      best.tie = s->score[i].tie;
  }
  return best;
}

/* The lowest column that ties with the best; where no score is finite the lowest of all; -1 if
   there is none. */
static ptrdiff_t greedy_first_of_ties(
    const struct greedy *s, int member, struct greedy_score best) {
  ptrdiff_t first = -1, lowest = -1;
  for (ptrdiff_t p = 0; p < s->scored_count; p++) {
    const ptrdiff_t i = s->scored[p];
    const int ties =
        greedy_ties(s, i, best.value) && s->score[i].tie <= best.tie + s->tolerance.tie;
    if ((best.value < INFINITY && !ties) || !greedy_can_move(s, i, member))
      continue;
    if (lowest < 0 || i < lowest)
      lowest = i;
    if (ties && (first < 0 || i < first))
      first = i;
  }
  return first < 0 ? lowest : first;
}

/* The best column to add or to drop, -1 if there is none. */
static ptrdiff_t greedy_best_move(const struct greedy *s, int member) {
  return greedy_first_of_ties(s, member, greedy_best_score(s, member));
}

/* Floating: drop while that beats the best model of the smaller size seen so far. */
static int greedy_floating_drops(struct greedy *s, ptrdiff_t i) {
  struct greedy_score *seen = s->seen + s->groups - 1;
  if (s->groups < 2 || !greedy_is_better(s->score[i], *seen, s->tolerance))
    return 0;
  *seen = s->score[i];
  return 1;
}

/* Zhang 2009: drop when it costs at most nu times what the last addition to this size gained. */
static int greedy_forward_backward_drops(const struct greedy *s, ptrdiff_t i) {
  const double now = s->out->loss[s->out->moves], gain = s->gain[s->groups];
  return s->groups > 1 && gain > s->tolerance.value &&
         s->score[i].value - now <= s->control->nu * gain;
}

/* The column to move next, -1 when the search is over. */
static ptrdiff_t greedy_next_move(struct greedy *s) {
  const struct greedy_control *control = s->control;
  if (greedy_next_is_given(s))
    return control->given[s->out->moves];
  if (control->search == BACKWARD)
    return greedy_best_move(s, 1);
  const ptrdiff_t drop = greedy_drops(s) ? greedy_best_move(s, 1) : -1;
  if (control->search == FLOATING && drop >= 0 && greedy_floating_drops(s, drop))
    return drop;
  if (control->search == FORWARD_BACKWARD && drop >= 0 && greedy_forward_backward_drops(s, drop))
    return drop;
  return s->groups < control->k ? greedy_best_move(s, 0) : -1;
}

/* A move into or out of a nearly singular model loses digits, which later drops magnify: a nearly
   collinear column, or a fold without which the column is nearly interpolated. */
static int greedy_digits_at_risk(const struct greedy *s) {
  const double lambda = s->control->lambda, ill = GREEDY_NEARLY_SINGULAR;
  const double schur = s->member[s->b] ? s->kappa_b : -lambda * lambda / s->kappa_b;
  if (schur < ill * (simd->dot(s->pb->m, s->x_b, s->x_b) + lambda))
    return 1;
  for (int r = 0; r < s->parts; r++)
    for (int f = 0; f < s->part[r].count; f++) {
      const double ratio = s->part[r].eta[f] / s->kappa_b;
      if (ratio < ill || ratio > 1 / ill)
        return 1;
    }
  return 0;
}

/* Searches that drop make the state afresh when digits are at risk, when the members become few
   enough for P, and from time to time in any case. */
static enum status greedy_refresh(struct greedy *s) {
  if (!greedy_drops(s))
    return COMPLETE;
  const int due = (s->since_start >= 8 && s->since_start >= s->size) ||
                  (!s->inverse_valid && s->size <= s->inverse_order);
  if (!due && !greedy_digits_at_risk(s))
    return COMPLETE;
  s->b = -1;
  return s->engine->begin(s);
}

/* Nothing can follow, so the columns need not be brought up to date. */
static int greedy_finished(const struct greedy *s) {
  switch (s->control->search) {
  case FORWARD:
    return s->groups == s->control->k;
  case BACKWARD:
    return s->size == 0;
  default:
    return 0;
  }
}

/* What the addition of a column counts as having gained: one that is given has gained at least
   nothing, so that it is dropped where that costs nothing. */
static double greedy_gain(const struct greedy *s, double gain, int given) {
  return given ? fmax(gain, s->tolerance.value / s->control->nu) : gain;
}

/* ---- columns that move together ---- */

/* Keeps what the columns follow of the move under way. */
static void greedy_queue_move(struct greedy *s) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  struct greedy *at = s->queue + s->queued++;
  const struct greedy own = *at;
  *at = *s;
  at->a = memcpy(own.a, s->a, (size_t)(m * L) * sizeof(double));
  at->x_b = memcpy(own.x_b, s->x_b, (size_t)m * sizeof(double));
  at->c_b = memcpy(own.c_b, s->c_b, (size_t)m * sizeof(double));
  at->t_b = memcpy(own.t_b, s->t_b, (size_t)L * sizeof(double));
  at->part = own.part;
  for (int r = 0; r < s->parts; r++) {
    const struct greedy_partition part = s->part[r], kept = own.part[r];
    at->part[r] = part;
    at->part[r].q = memcpy(kept.q, part.q, (size_t)m * sizeof(double));
    at->part[r].c = memcpy(kept.c, part.c, (size_t)m * sizeof(double));
    at->part[r].eta = memcpy(kept.eta, part.eta, (size_t)part.count * sizeof(double));
  }
}

/* Column i follows the queued moves. */
static void greedy_follow_queue(struct greedy *s, ptrdiff_t i, double *scratch) {
  for (int p = 0; p < s->queued; p++)
    s->engine->follow(s->queue + p, i, scratch);
}

/* Moves these columns one after the other as greedy_commit_group() does, but all other columns
   follow several moves at a time, of which each then is in the processor's cache. */
static enum status greedy_commit_queue(struct greedy *s, const int *columns, int count) {
  for (int p = 0; p < count; p++) {
    s->within_group = p + 1 < count;
    if (s->queued == FOLLOWED || !s->within_group) {
      const double cost = (double)s->pb->m * (double)(1 + s->parts) * s->queued;
      if (greedy_each_column(s, cost, greedy_follow_queue) != COMPLETE)
        return INTERRUPTED;
      s->queued = 0;
    }
    greedy_follow_queue(s, columns[p], s->scratch);
    greedy_commit(s, columns[p]);
    if (s->within_group)
      greedy_queue_move(s);
  }
  return COMPLETE;
}

/* Moves column b, or those that move with it one after the other. */
static enum status greedy_commit_group(struct greedy *s, ptrdiff_t b) {
  const int alone = (int)b;
  int count = 1;
  const int *columns = b < s->pb->n ? columns_together(&s->control->groups, b, &count) : NULL;
  if (columns == NULL)
    columns = &alone;
  s->groups += s->member[b] ? -1 : 1;
  if (count > 1 && s->queue != NULL)
    return greedy_commit_queue(s, columns, count);
  for (int p = 0; p < count; p++) {
    s->within_group = p + 1 < count;
    greedy_commit(s, columns[p]);
    enum status status = greedy_refresh(s);
    if (status == COMPLETE && s->within_group)
      status = s->engine->sweep(s);
    if (status != COMPLETE)
      return status;
  }
  return COMPLETE;
}

int greedy_move(struct greedy *s, ptrdiff_t b, enum status *status) {
  struct greedy_result *out = s->out;
  const double before = out->loss[out->moves];
  const int given = greedy_next_is_given(s);
  out->moves++;
  greedy_record_others(s, b);
  *status = greedy_commit_group(s, b);
  if (*status != COMPLETE) {
    out->moves--;
    return 0;
  }
  s->since_best = greedy_record(s, b) || given ? 0 : s->since_best + 1;
  if (!isfinite(out->loss[out->moves])) {
    out->moves--;
    *status = s->control->criterion == USER ? INTERRUPTED : NOT_POSITIVE;
    return 0;
  }
  if (s->member[b])
    s->gain[s->groups] = greedy_gain(s, before - out->loss[out->moves], given);
  if (s->control->patience > 0 && s->since_best >= s->control->patience)
    *status = EARLY_STOP;
  return *status == COMPLETE && !greedy_finished(s);
}

/* Algorithm 3: scores every move, makes the best one and records the model, until the search is
   over. */
static enum status greedy_search(struct greedy *s) {
  enum status status;
  for (;;) {
    status = s->engine->sweep(s);
    if (status != COMPLETE)
      return status;
    const ptrdiff_t b = greedy_next_move(s);
    if (b < 0)
      return COMPLETE;
    if (s->out->moves == s->control->max_moves)
      return MOVE_LIMIT;
    if (!greedy_move(s, b, &status))
      return status;
  }
}

/* A backward search begins with the given columns, or with all that are usable. */
static void greedy_begin_with_members(struct greedy *s) {
  const struct greedy_control *control = s->control;
  const ptrdiff_t count = control->given_count > 0 ? control->given_count : s->pb->n;
  for (ptrdiff_t p = 0; control->search == BACKWARD && p < count; p++) {
    const int i = control->given_count > 0 ? control->given[p] : (int)p;
    if (!s->pb->usable[i])
      continue;
    s->member[i] = 1;
    s->order[s->size++] = i;
    s->groups += stands_for_group(&s->control->groups, i);
    greedy_ask(s, i, 1);
  }
  s->own_members = s->size;
}

/* The set to start from and an empty path. */
static void greedy_prepare(struct greedy *s) {
  const struct problem *pb = s->pb;
  s->weighted = *pb;
  s->weighted.groups = s->control->row_groups;
  criterion_weights(&s->weighted, s->control->criterion, s->weights);
  s->weighted.root_w = s->weights;
  s->weight = simd->dot(pb->m, s->weights, s->weights);
  s->best = (struct greedy_score){INFINITY, INFINITY};
  s->out->moves = 0;
  s->out->best = -1;
  if (s->price != NULL)
    memcpy(s->price, s->control->price, (size_t)pb->n * sizeof(double));
  for (ptrdiff_t i = 0; i < pb->n; i++)
    s->usable_count += pb->usable[i] != 0;
  memset(s->member, 0, (size_t)(pb->n + s->control->k) * sizeof(int));
  memset(s->taken, 0, (size_t)s->control->groups.count * sizeof(int));
  if (s->needed != NULL)
    memset(s->needed, 0, (size_t)pb->n * sizeof(int));
  greedy_begin_with_members(s);
  for (ptrdiff_t i = 0; i <= greedy_most_members(s); i++) {
    s->seen[i] = s->best;
    s->gain[i] = 0;
  }
  for (int i = 0; i <= s->control->k; i++)
    s->out->model_entry[i] = -1;
  for (ptrdiff_t j = 0, p = 0, n = 0; greedy_by_pairs(s) && j < pb->m; j++)
    if (pb->response[j] > 0)
      s->positive[p++] = (int)j;
    else
      s->negative[n++] = (int)j;
  /* no move is under way: the first sweep subtracts nothing from the columns */
  memset(s->c_b, 0, (size_t)pb->m * sizeof(double));
  greedy_order_rows(s);
  for (int r = 0; r < s->parts; r++)
    memset(s->part[r].q, 0, (size_t)pb->m * sizeof(double));
  for (ptrdiff_t j = 0; j < pb->m; j++)
    s->total_weight += pb->root_w[j] * pb->root_w[j] * (double)pb->L;
  if (s->control->products.of != NULL)
    s->total_weight = greedy_products_weight(s) * (double)pb->L;
}

/* ---- the search in steps ---- */

struct greedy *greedy_open(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, struct host *host, void *work,
    struct greedy_result *result, enum status *status) {
  struct arena arena = arena_over(work);
  struct greedy *s = arena_alloc(&arena, 1, sizeof *s);
  *s = greedy_state(pb, folds, control);
  s->host = host;
  s->out = result;
  greedy_lay_out(s, host->threads, &arena);
  greedy_prepare(s);
  const int skips = lazy_can_skip(s), rereads = control->rereads;
  result->work = (struct greedy_work_done){.recurrence_from = -1,
      .dense_from = skips || rereads || control->products.of != NULL ? -1 : 1,
      .reread_from = !skips && rereads ? 1 : -1};
  *status = s->engine->begin(s);
  if (*status != COMPLETE)
    return s;
  greedy_record(s, -1);
  const double total = control->products.of != NULL ? greedy_products_total(s)
                                                    : simd->dot(pb->m * pb->L, pb->y, pb->y);
  s->tolerance.tie = TIE * total / s->total_weight;
  s->tolerance.value =
      control->criterion == SQUARED ? s->tolerance.tie : TIE * fabs(result->loss[0]);
  return s;
}

enum status greedy_score_moves(struct greedy *s, double *best) {
  const enum status status = s->engine->sweep(s);
  *best = status == COMPLETE ? greedy_best_score(s, 0).value : INFINITY;
  return status;
}

ptrdiff_t greedy_first_tie(const struct greedy *s, double best) {
  return greedy_first_of_ties(s, 0, (struct greedy_score){best, best});
}

int greedy_move_other(struct greedy *s, const double *x, double read_norm2, enum status *status) {
  memcpy(s->x_b, x, (size_t)s->pb->m * sizeof(double));
  s->read_norm2_b = read_norm2;
  return greedy_move(s, s->pb->n + s->size, status);
}

enum status greedy_rls(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, struct host *host, void *work,
    struct greedy_result *result) {
  enum status status;
  struct greedy *s = greedy_open(pb, folds, control, host, work, result, &status);
  return status == COMPLETE ? greedy_search(s) : status;
}
