/* A workspace: memory that is shared out part by part. With no base it is only measured, so that
   one function both lays the workspace out and tells its size. */
#ifndef SPARSELS_WORK_H
#define SPARSELS_WORK_H

#include <stddef.h>

struct arena {
  char *base;
  size_t used; /* bytes */
};

/* Memory for `count` things of `size` bytes; parts begin at cache lines. */
static inline void *arena_alloc(struct arena *arena, ptrdiff_t count, size_t size) {
  const size_t line = 64, bytes = ((size_t)count * size + line - 1) / line * line;
  char *part = arena->base == NULL ? NULL : arena->base + arena->used;
  arena->used += bytes;
  return part;
}

static inline double *alloc_doubles(struct arena *arena, ptrdiff_t count) {
  return arena_alloc(arena, count, sizeof(double));
}

static inline int *alloc_ints(struct arena *arena, ptrdiff_t count) {
  return arena_alloc(arena, count, sizeof(int));
}

#endif
