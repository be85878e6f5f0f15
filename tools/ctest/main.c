/* The harness, and all tests. */
#include "ctest.h"
#include "simd.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;
static unsigned long long state = 1;

void check(int holds, const char *what, const char *file, int line) {
  if (holds) {
    passed++;
    return;
  }
  failed++;
  printf("%s:%d: not true: %s\n", file, line, what);
}

void check_near(
    double value, double expected, double tolerance, const char *what, const char *file, int line) {
  const int holds = fabs(value - expected) <= tolerance * fmax(1, fabs(expected));
  if (!holds)
    printf("%.17g is not %.17g\n", value, expected);
  check(holds, what, file, line);
}

void seed(unsigned long long start) {
  state = start * 2685821657736338717ULL + 88172645463325252ULL;
}

/* xorshift64* */
double uniform(void) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (double)((state * 2685821657736338717ULL) >> 11) / 4503599627370496.0 - 1;
}

void *room(size_t bytes, int byte) {
  void *part = malloc(bytes > 0 ? bytes : 1);
  if (part == NULL)
    exit(2);
  return memset(part, byte, bytes);
}

int poll(struct host *host, double done, double total) {
  struct polls *polls = host->self;
  CHECK(done >= 0 && done <= total);
  return ++polls->count == polls->stop_at;
}

int main(void) {
  simd = simd_for(8);
  test_judge();
  test_columns();
  test_hot_loops();
  test_column_products();
  test_greedy();
  test_interrupts();
  test_lazy();
  test_holdout();
  test_poss();
  test_best();
  test_logistic();
  test_screen();
  test_hinge();
  test_lasso();
  test_scdp();
  test_fixed_size();
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
