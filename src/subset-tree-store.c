/* Open nodes of a tree of sets, packed into slots of equal size: a bit for each unit that is free,
   the units in, and the support of s in single precision. */
#include "subset-tree.h"
#include <math.h>
#include <string.h>

enum { STORE_BITS = 32 };

struct slot {
  double key, pushed;
  int ins, support;
};

/* A slot's parts follow each other: units in, support, its shares, bits. */
static int *slot_in(const struct tree_store *store, int slot) {
  return (int *)(void *)(store->slots + slot * store->slot_bytes + sizeof(struct slot));
}

static int *slot_support(const struct tree_store *store, int slot) {
  return slot_in(store, slot) + store->k;
}

static float *slot_share(const struct tree_store *store, int slot) {
  return (float *)(void *)(slot_support(store, slot) + store->max_support);
}

static uint32_t *slot_free(const struct tree_store *store, int slot) {
  return (uint32_t *)(void *)(slot_share(store, slot) + store->max_support);
}

static struct slot *slot_head(const struct tree_store *store, int slot) {
  return (struct slot *)(void *)(store->slots + slot * store->slot_bytes);
}

static ptrdiff_t bit_words(ptrdiff_t units) {
  return (units + STORE_BITS - 1) / STORE_BITS;
}

struct tree_store store_alloc(
    ptrdiff_t units, int k, int capacity, ptrdiff_t max_support, struct arena *arena) {
  const ptrdiff_t words = k + 2 * max_support + bit_words(units);
  const ptrdiff_t bytes = (ptrdiff_t)sizeof(struct slot) + words * (ptrdiff_t)sizeof(int);
  const ptrdiff_t aligned = (bytes + 7) / 8 * 8, stack = units + 2, slots = capacity + stack;
  return (struct tree_store){.units = units,
      .slot_bytes = aligned,
      .k = k,
      .capacity = capacity,
      .max_support = (int)max_support,
      .heap = alloc_ints(arena, capacity),
      .stack = alloc_ints(arena, stack),
      .spare_slot = alloc_ints(arena, slots),
      .slots = arena_alloc(arena, slots, (size_t)aligned)};
}

int store_open(const struct tree_store *store) {
  return store->heaped + store->stacked;
}

/* ---- the heap ---- */

static int goes_before(const struct tree_store *store, int a, int b) {
  const struct slot *x = slot_head(store, a), *y = slot_head(store, b);
  return x->key < y->key || (x->key == y->key && x->pushed > y->pushed);
}

static void heap_insert(struct tree_store *store, int slot) {
  int *heap = store->heap, place = store->heaped++;
  for (; place > 0 && goes_before(store, slot, heap[(place - 1) / 2]); place = (place - 1) / 2)
    heap[place] = heap[(place - 1) / 2];
  heap[place] = slot;
}

static int heap_take(struct tree_store *store) {
  int *heap = store->heap, place = 0;
  const int first = heap[0], last = heap[--store->heaped];
  for (int below = 1; below < store->heaped; below = 2 * place + 1) {
    if (below + 1 < store->heaped && goes_before(store, heap[below + 1], heap[below]))
      below++;
    if (!goes_before(store, heap[below], last))
      break;
    heap[place] = heap[below];
    place = below;
  }
  heap[place] = last;
  return first;
}

double store_least(const struct tree_store *store) {
  double least = store->heaped > 0 ? slot_head(store, store->heap[0])->key : INFINITY;
  for (int i = 0; i < store->stacked; i++)
    least = fmin(least, slot_head(store, store->stack[i])->key);
  return least;
}

/* ---- packing ---- */

/* Keeps the largest shares, as many as there is room for. */
static int pack_support(struct tree_store *store, int slot, const struct tree_node *node) {
  int *unit = slot_support(store, slot), count = 0;
  float *share = slot_share(store, slot);
  double least = 0;
  for (int i = 0; i < node->support && node->support > store->max_support; i++) {
    int larger = 0;
    for (int j = 0; j < node->support; j++)
      larger += node->share[j] > node->share[i];
    if (larger >= store->max_support)
      least = fmax(least, node->share[i]);
  }
  for (int i = 0; i < node->support && count < store->max_support; i++)
    if (node->share[i] > least) {
      unit[count] = node->unit[i];
      share[count++] = (float)node->share[i];
    }
  return count;
}

void store_push(struct tree_store *store, const struct tree_node *node, int depth_first) {
  const int slot = store->spare > 0 ? store->spare_slot[--store->spare] : store->made++;
  uint32_t *bits = slot_free(store, slot);
  memcpy(slot_in(store, slot), node->in, (size_t)node->ins * sizeof(int));
  memset(bits, 0, (size_t)bit_words(store->units) * sizeof(uint32_t));
  for (int i = 0; i < node->frees; i++)
    bits[node->free[i] / STORE_BITS] |= (uint32_t)1 << node->free[i] % STORE_BITS;
  const int support = pack_support(store, slot, node);
  *slot_head(store, slot) = (struct slot){node->key, store->pushed++, node->ins, support};
  if (depth_first || store->stacked > 0 || store->heaped == store->capacity)
    store->stack[store->stacked++] = slot;
  else
    heap_insert(store, slot);
}

void store_take(struct tree_store *store, struct tree_node *node) {
  const int slot = store->stacked > 0 ? store->stack[--store->stacked] : heap_take(store);
  const struct slot *head = slot_head(store, slot);
  const uint32_t *bits = slot_free(store, slot);
  node->key = head->key;
  node->ins = head->ins;
  node->support = head->support;
  memcpy(node->in, slot_in(store, slot), (size_t)head->ins * sizeof(int));
  memcpy(node->unit, slot_support(store, slot), (size_t)head->support * sizeof(int));
  for (int i = 0; i < head->support; i++)
    node->share[i] = (double)slot_share(store, slot)[i];
  node->frees = 0;
  for (ptrdiff_t word = 0; word < bit_words(store->units); word++)
    for (int bit = 0; bit < STORE_BITS && bits[word] >> bit > 0; bit++)
      if (bits[word] >> bit & 1)
        node->free[node->frees++] = (int)(word * STORE_BITS) + bit;
  store->spare_slot[store->spare++] = slot;
}
