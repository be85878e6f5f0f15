/* The harness, and all tests. */
#include "ctest.h"
#include "simd.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

int every(int apart) {
  const char *extended = getenv("SPARSELS_EXTENDED_TESTS");
  return extended != NULL && strcmp(extended, "true") == 0 ? 1 : apart;
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

/* ---- all tests, as run.sh found them: TEST(name) for each ---- */

#undef TEST
#define TEST(name) void test_##name(void);
#include "tests.inc"

#undef TEST
#define TEST(name) {#name, test_##name},
static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
#include "tests.inc"
};
enum { TESTS = sizeof tests / sizeof *tests };

static int begins_with(const char *name, const char *word) {
  return strncmp(name, word, strlen(word)) == 0;
}

static int is_wanted(const char *name, int count, char **words) {
  for (int i = 0; i < count; i++)
    if (begins_with(name, words[i]))
      return 1;
  return count == 0;
}

/* Runs the tests whose names begin with one of the words given, or all of them. */
int main(int count, char **words) {
  for (int i = 0; i < TESTS; i++) {
    if (!is_wanted(tests[i].name, count - 1, words + 1))
      continue;
    const clock_t start = clock();
    const int before = passed;
    seed(1);
    simd = simd_for(8);
    tests[i].run();
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%6.2f s %8d passed  %s\n", seconds, passed - before, tests[i].name);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
