/* The columns of a working set of a sparse x, one after the other in memory: where they lie apart
   among all columns, finding each costs more than its few nonzeros. */
#include "column.h"
#include "l1-state.h"

/* The most nonzeros that the columns of `count` coefficients can have together. */
static ptrdiff_t l1_most_nonzeros(const struct problem *pb, ptrdiff_t count) {
  int longest = 0;
  for (ptrdiff_t j = 0; j < pb->n; j++)
    if (longest < pb->x.p[j + 1] - pb->x.p[j])
      longest = pb->x.p[j + 1] - pb->x.p[j];
  const ptrdiff_t all = pb->x.p[pb->n] * pb->L;
  return count * longest < all ? count * longest : all;
}

struct problem l1_layout_copy(
    const struct problem *pb, ptrdiff_t k, struct l1_copy *copy, struct arena *arena) {
  struct problem local = *pb;
  if (!is_sparse(&pb->x))
    return local;
  const ptrdiff_t filled = l1_most_nonzeros(pb, k);
  *copy = (struct l1_copy){.x = alloc_doubles(arena, filled),
      .i = alloc_ints(arena, filled),
      .p = alloc_ints(arena, k + 1),
      .centre = alloc_doubles(arena, k),
      .inv_scale = alloc_doubles(arena, k)};
  local.x = (struct matrix){.x = copy->x, .i = copy->i, .p = copy->p};
  local.centre = copy->centre;
  local.inv_scale = copy->inv_scale;
  return local;
}

void l1_copy_column(const struct problem *pb, struct l1_copy *copy, int k, ptrdiff_t j) {
  const int from = pb->x.p[j], count = pb->x.p[j + 1] - from, to = k > 0 ? copy->p[k] : 0;
  memcpy(copy->x + to, pb->x.x + from, (size_t)count * sizeof(double));
  memcpy(copy->i + to, pb->x.i + from, (size_t)count * sizeof(int));
  copy->p[k] = to;
  copy->p[k + 1] = to + count;
  copy->centre[k] = pb->centre[j];
  copy->inv_scale[k] = pb->inv_scale[j];
}
