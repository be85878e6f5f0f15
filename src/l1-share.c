/* Paths of problems with the same x side by side, as those without each fold are. Each keeps its
   own directions with known products (l1-correlations.c) and goes on until it needs another one;
   when all do, x is read once for all of them. */
#include "column.h"
#include "l1-state.h"
#include "products.h"
#include <string.h>

struct share_work {
  int *list;     /* n, the columns to be multiplied */
  double *ones;  /* the larger of m and n, weights and scales that are in the vectors already */
  double *space; /* paths x m, for the vectors */
  const double **v;
  double **out, *sum, *rest; /* of each path */
  void *products;
};

static struct share_work share_lay_out(
    const struct problem *pb, int paths, int threads, struct arena *arena) {
  return (struct share_work){.list = alloc_ints(arena, pb->n),
      .ones = alloc_doubles(arena, pb->n > pb->m ? pb->n : pb->m),
      .space = alloc_doubles(arena, pb->m * paths),
      .v = arena_alloc(arena, paths, sizeof(double *)),
      .out = arena_alloc(arena, paths, sizeof(double *)),
      .sum = alloc_doubles(arena, paths),
      .rest = alloc_doubles(arena, paths),
      .products = arena_alloc(arena, 1, column_products_work(pb, paths, threads))};
}

size_t l1_share_work(const struct problem *pb, int paths, int threads) {
  struct arena count = arena_over(NULL);
  share_lay_out(pb, paths, threads, &count);
  return count.used;
}

/* list := the columns that some of the paths may use; returns how many. */
static ptrdiff_t share_list(struct l1_state *const *states, int paths, int *list) {
  const ptrdiff_t n = states[0]->pb->n;
  ptrdiff_t count = 0;
  for (ptrdiff_t k = 0; k < n; k++) {
    int used = 0;
    for (int i = 0; i < paths; i++)
      used |= !states[i]->excluded[k];
    list[count] = (int)k;
    count += used;
  }
  return count;
}

/* corr := a_k'd of a path, from x_k'v about another path's centre. */
static ptrdiff_t share_take(struct l1_state *state, const double *centre, double sum) {
  const struct problem *pb = state->pb;
  const ptrdiff_t count = l1_list_all(state);
  for (ptrdiff_t l = 0; l < count; l++) {
    const int k = state->list[l];
    state->corr[k] = pb->inv_scale[k] * (state->corr[k] - (pb->centre[k] - centre[k]) * sum);
  }
  return count;
}

enum status l1_share_products(
    struct l1_state *const *states, int paths, struct host *host, void *memory) {
  struct arena arena = arena_over(memory);
  struct problem pb = *states[0]->pb;
  struct share_work work = share_lay_out(&pb, paths, host->threads, &arena);
  for (ptrdiff_t i = 0; i < pb.m || i < pb.n; i++)
    work.ones[i] = 1;
  pb.root_w = pb.inv_scale = work.ones;
  for (int i = 0; i < paths; i++) {
    struct l1_state *state = states[i];
    double *v = work.space + i * pb.m;
    work.rest[i] = l1_next_direction(state, v, work.sum + i);
    work.v[i] = v;
    work.out[i] = state->corr;
    memset(state->corr, 0, (size_t)pb.n * sizeof(double));
  }
  const struct column_pass pass = {.pb = &pb,
      .list = work.list,
      .count = share_list(states, paths, work.list),
      .r = paths,
      .v = work.v,
      .out = work.out,
      .done = states[0]->done,
      .total = states[0]->total};
  if (column_products(&pass, host, work.products) != COMPLETE)
    return INTERRUPTED;
  for (int i = 0; i < paths; i++) {
    struct l1_state *state = states[i];
    const ptrdiff_t columns = share_take(state, pb.centre, work.sum[i]);
    state->products += (double)columns;
    l1_keep_direction(state, columns, work.rest[i]);
    l1_mark_fresh(state, columns);
  }
  return COMPLETE;
}
