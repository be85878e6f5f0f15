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
  double *space; /* the vectors of each path, m L */
  double *made;  /* with several outputs their products, n L of each path */
  /* of each path */
  const double **v; /* L */
  double **out;     /* L */
  double *sum;      /* L */
  double *rest;
  void *products;
};

static struct share_work share_lay_out(
    const struct problem *pb, int paths, int threads, struct arena *arena) {
  const ptrdiff_t vectors = paths * pb->L;
  return (struct share_work){.list = alloc_ints(arena, pb->n),
      .ones = alloc_doubles(arena, pb->n > pb->m ? pb->n : pb->m),
      .space = alloc_doubles(arena, pb->m * vectors),
      .made = alloc_doubles(arena, pb->L > 1 ? pb->n * vectors : 0),
      .v = arena_alloc(arena, vectors, sizeof(double *)),
      .out = arena_alloc(arena, vectors, sizeof(double *)),
      .sum = alloc_doubles(arena, vectors),
      .rest = alloc_doubles(arena, paths),
      .products = arena_alloc(arena, 1, column_products_work(pb, vectors, threads))};
}

size_t l1_share_work(const struct problem *pb, int paths, int threads) {
  struct arena count = arena_over(NULL);
  share_lay_out(pb, paths, threads, &count);
  return count.used;
}

/* list := the columns that some of the paths may use; returns how many. */
static ptrdiff_t share_list(struct l1_state *const *states, int paths, int *list) {
  const ptrdiff_t n = states[0]->pb->n, L = states[0]->pb->L;
  ptrdiff_t count = 0;
  for (ptrdiff_t j = 0; j < n; j++) {
    int used = 0;
    for (int i = 0; i < paths; i++)
      for (ptrdiff_t l = 0; l < L; l++)
        used |= !states[i]->excluded[j * L + l];
    list[count] = (int)j;
    count += used;
  }
  return count;
}

/* corr := a_k'd of a path, from x_k'v in `out` about another path's centre. */
static ptrdiff_t share_take(
    struct l1_state *state, const double *centre, double *const *out, const double *sum) {
  const struct problem *pb = state->pb;
  const ptrdiff_t count = l1_list_all(state);
  for (ptrdiff_t i = 0; i < count; i++) {
    const int k = state->list[i];
    const ptrdiff_t j = l1_column_of(pb, k), l = l1_output_of(pb, k);
    state->corr[k] = pb->inv_scale[j] * (out[l][j] - (pb->centre[j] - centre[j]) * sum[l]);
  }
  return count;
}

enum status l1_share_products(
    struct l1_state *const *states, int paths, struct host *host, void *memory) {
  struct arena arena = arena_over(memory);
  struct problem pb = *states[0]->pb;
  const ptrdiff_t L = pb.L;
  struct share_work work = share_lay_out(&pb, paths, host->threads, &arena);
  for (ptrdiff_t i = 0; i < pb.m || i < pb.n; i++)
    work.ones[i] = 1;
  pb.root_w = pb.inv_scale = work.ones;
  for (int i = 0; i < paths; i++) {
    struct l1_state *state = states[i];
    double *v = work.space + i * L * pb.m;
    double *out = L > 1 ? work.made + i * L * pb.n : state->corr;
    work.rest[i] = l1_next_direction(state, v, work.sum + i * L);
    for (ptrdiff_t l = 0; l < L; l++) {
      work.v[i * L + l] = v + l * pb.m;
      work.out[i * L + l] = out + l * pb.n;
    }
    memset(out, 0, (size_t)(L * pb.n) * sizeof(double));
  }
  const struct column_pass pass = {.pb = &pb,
      .list = work.list,
      .count = share_list(states, paths, work.list),
      .r = paths * L,
      .v = work.v,
      .out = work.out,
      .done = states[0]->done,
      .total = states[0]->total};
  if (column_products(&pass, host, work.products) != COMPLETE)
    return INTERRUPTED;
  for (int i = 0; i < paths; i++) {
    struct l1_state *state = states[i];
    const ptrdiff_t count = share_take(state, pb.centre, work.out + i * L, work.sum + i * L);
    state->products += (double)count;
    l1_keep_direction(state, count, work.rest[i]);
    l1_mark_fresh(state, count);
  }
  return COMPLETE;
}
