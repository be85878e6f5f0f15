/* Small sets of columns, as lists. */
#ifndef SPARSELS_SUBSET_SET_H
#define SPARSELS_SUBSET_SET_H

static inline void subset_sort(int *column, int size) {
  for (int i = 1; i < size; i++)
    for (int p = i; p > 0 && column[p - 1] > column[p]; p--) {
      const int larger = column[p - 1];
      column[p - 1] = column[p];
      column[p] = larger;
    }
}

/* The index of column j in a set, -1 when it is not in it. */
static inline int subset_index(const int *column, int size, int j) {
  for (int i = 0; i < size; i++)
    if (column[i] == j)
      return i;
  return -1;
}

#endif
