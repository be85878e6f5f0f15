/* A workspace: memory that is shared out part by part. With no base it is only measured, so that
   one function both lays the workspace out and tells its size. */
#ifndef SPARSELS_WORK_H
#define SPARSELS_WORK_H

#include <stddef.h>
#include <stdint.h>

struct arena {
  char *base;
  size_t used; /* bytes */
};

enum { CACHE_LINE = 64 };

/* An arena over `work`, from the first cache line in it, as vectors that lie across two lines are
   slower; over NULL one that measures. */
static inline struct arena arena_over(void *work) {
  const size_t past = (size_t)((uintptr_t)work % CACHE_LINE);
  return (struct arena){work, work == NULL ? CACHE_LINE : (CACHE_LINE - past) % CACHE_LINE};
}

/* Memory for `count` things of `size` bytes; parts begin at cache lines. */
static inline void *arena_alloc(struct arena *arena, ptrdiff_t count, size_t size) {
  const size_t bytes = ((size_t)count * size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
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
