/* Small sets of columns. */
#ifndef SPARSELS_SUBSET_SET_H
#define SPARSELS_SUBSET_SET_H

static inline void sort_columns(int *column, int size) {
  for (int i = 1; i < size; i++)
    for (int p = i; p > 0 && column[p - 1] > column[p]; p--) {
      const int held = column[p];
      column[p] = column[p - 1];
      column[p - 1] = held;
    }
}

/* Where column j stands, -1 if it does not. */
static inline int place_of(const int *column, int size, int j) {
  for (int i = 0; i < size; i++)
    if (column[i] == j)
      return i;
  return -1;
}

#endif
