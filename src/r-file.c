/* Matrices in files: a file is mapped into memory, to be read only, by each process that reads of
   it, when it first does. */
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOGDI /* whose ABSOLUTE is not ours */
#include <windows.h>
#endif
#include "r.h"

#include "column.h"
#include <stdlib.h>
#ifndef _WIN32
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

/* What the external pointer of a file_matrix is to. */
struct map {
  size_t bytes;
  void *at;
  unsigned long long device, inode; /* of the file, not on Windows, where an open one is kept */
};

static const char map_tag[] = "sparsels_map";

static const char *const file_types[] = {[DOUBLES] = "double",
    [INTEGERS] = "int32",
    [FLOATS] = "float",
    [SHORTS] = "int16",
    [UNSIGNED_SHORTS] = "uint16",
    [BYTES] = "uint8",
    [CODED] = "codes",
    [CALLS] = "bed",
    [FILLED_SHORTS] = "int16 or missing"};

enum { FILE_TYPES = FILLED_SHORTS + 1 };
enum { CALLS_HEADER = 3 }; /* bytes before the first column */

/* ---- the system's part: the whole file at an address, or NULL ---- */

#ifdef _WIN32

static void *map_bytes(HANDLE file, size_t bytes) {
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file, &size) || (size_t)size.QuadPart != bytes)
    return NULL;
  HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
  if (mapping == NULL)
    return NULL;
  void *at = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  CloseHandle(mapping); /* the view keeps it */
  return at;
}

static void map_path(struct map *map, SEXP path) {
  wchar_t wide[32768];
  if (MultiByteToWideChar(CP_UTF8, 0, translateCharUTF8(path), -1, wide, 32768) == 0)
    return;
  HANDLE file = CreateFileW(
      wide, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE)
    return;
  map->at = map_bytes(file, map->bytes);
  CloseHandle(file);
}

static int is_replaced(const struct map *map, SEXP path) {
  (void)map;
  (void)path;
  return 0;
}

static void unmap(const struct map *map) {
  UnmapViewOfFile(map->at);
}

#else

static void map_bytes(struct map *map, int file) {
  struct stat facts;
  if (fstat(file, &facts) != 0 || (size_t)facts.st_size != map->bytes)
    return;
  void *at = mmap(NULL, map->bytes, PROT_READ, MAP_SHARED, file, 0);
  map->at = at == MAP_FAILED ? NULL : at;
  map->device = (unsigned long long)facts.st_dev;
  map->inode = (unsigned long long)facts.st_ino;
}

static void map_path(struct map *map, SEXP path) {
  const int file = open(translateChar(path), O_RDONLY);
  if (file < 0)
    return;
  map_bytes(map, file);
  close(file); /* the map keeps it */
}

static int is_replaced(const struct map *map, SEXP path) {
  struct stat facts;
  return map->bytes > 0 && stat(translateChar(path), &facts) == 0 &&
         ((unsigned long long)facts.st_dev != map->device ||
             (unsigned long long)facts.st_ino != map->inode);
}

static void unmap(const struct map *map) {
  munmap(map->at, map->bytes);
}

#endif

/* ---- R's part ---- */

/* A pointer without a map: R's reader of saved objects makes the same of any. */
SEXP C_new_map(void) {
  return R_MakeExternalPtr(NULL, install(map_tag), R_NilValue);
}

static void release_map(SEXP pointer) {
  struct map *map = R_ExternalPtrAddr(pointer);
  R_ClearExternalPtr(pointer);
  if (map != NULL && map->bytes > 0)
    unmap(map);
  free(map);
}

/* The map of a file of so many bytes, or NULL. An empty one has no address. */
static struct map *open_map(SEXP path, size_t bytes) {
  struct map *map = malloc(sizeof *map);
  if (map == NULL)
    return NULL;
  *map = (struct map){.bytes = bytes, .at = bytes > 0 ? NULL : map};
  if (bytes > 0)
    map_path(map, path);
  if (map->at != NULL)
    return map;
  free(map);
  return NULL;
}

/* The bytes of a file of values, doubles as they may be more than memory. */
static double file_bytes(enum element element, struct size size) {
  const struct matrix view = {.element = element};
  const double column = (double)((size.rows * loops_of(&view)->bits + 7) / 8);
  return (element == CALLS ? CALLS_HEADER : 0) + column * (double)size.columns;
}

struct matrix unpack_file(SEXP x, struct size size) {
  call_r("check_file", x);
  SEXP pointer = field(x, "map"), path = field(x, "path"), codes = field(x, "codes");
  const enum element element = (enum element)choice_field(x, "type", file_types, FILE_TYPES);
  const double given_bytes = real_field(x, "size");
  expect(given_bytes == file_bytes(element, size), "size");
  const size_t bytes = (size_t)given_bytes;
  const int values = element == CALLS ? 4 : element == CODED ? 256 : 0;
  expect(values == 0 || (isReal(codes) && length(codes) == values), "codes");
  expect(isString(path) && length(path) == 1, "path");
  const int ours = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == install(map_tag);
  expect(ours, "map");
  struct map *map = R_ExternalPtrAddr(pointer);
  if (map == NULL) {
    map = open_map(STRING_ELT(path, 0), bytes);
    R_SetExternalPtrAddr(pointer, map);
    R_RegisterCFinalizer(pointer, release_map);
  }
  if (map == NULL)
    call_r("stop_unmapped", x);
  expect(map->bytes == bytes, "map");
  if (is_replaced(map, STRING_ELT(path, 0)))
    call_r("stop_replaced", x);
  return (struct matrix){.element = element,
      .dense = (const char *)map->at + (element == CALLS ? CALLS_HEADER : 0),
      .codes = values == 0 ? NULL : REAL(codes)};
}

/* Rows that are read at a time: from `first`, which counts from 0 and is a multiple of 4. They hold
   the next `served` of the wanted rows. */
struct span {
  ptrdiff_t first, rows;
  int served;
};

/* As many of the wanted rows, counted from 1, as lie within `most` rows. */
static struct span span_of(int count, const int *row, ptrdiff_t most) {
  int low = row[0], high = row[0], served = 1;
  for (; served < count; served++) {
    const int next = row[served];
    if ((next > high ? next : high) - (ptrdiff_t)(next < low ? next : low) >= most)
      break;
    low = next < low ? next : low;
    high = next > high ? next : high;
  }
  const ptrdiff_t first = (low - 1) / 4 * 4;
  return (struct span){first, high - first, served};
}

/* out (count) := column j in some rows; part: `most` + 3 values, or as many as there are rows. */
static void some_values(const struct matrix *x, ptrdiff_t m, ptrdiff_t j, int count, const int *row,
    ptrdiff_t most, double *part, double *out) {
  for (int i = 0; i < count;) {
    const struct span span = span_of(count - i, row + i, most);
    const double *values = column_rows(x, m, j, span.first, span.rows, part);
    for (const int end = i + span.served; i < end; i++)
      out[i] = values[row[i] - 1 - span.first];
  }
}

/* Some rows of some columns as doubles, both counted from 1. Memory is for rows near each other, as
   many as there are wanted rows. */
SEXP C_values_in_place(SEXP x, SEXP rows, SEXP columns) {
  const struct size size = size_of(x);
  const ptrdiff_t m = size.rows;
  const struct matrix view = read_missing(unpack_matrix(x, m, size.columns));
  const int has_payload = view.element == DOUBLES || view.element == FLOATS;
  const int count = length(rows), *row = index_values(rows, "rows", count, 1, (int)m);
  const int *column = index_values(columns, "columns", length(columns), 1, (int)size.columns);
  const ptrdiff_t most = count > 2048 ? 2 * (ptrdiff_t)count : 4096;
  double *part = (double *)R_alloc((size_t)(most < m ? most + 3 : m), sizeof(double));
  int all = count == m;
  for (int i = 0; i < count && all; i++)
    all = row[i] == i + 1;
  SEXP values = PROTECT(allocMatrix(REALSXP, count, length(columns)));
  double *out = REAL(values);
  for (ptrdiff_t l = 0; l < length(columns); l++, out += count) {
    if (all)
      gather_column(&view, m, column[l] - 1, out);
    else
      some_values(&view, m, column[l] - 1, count, row, most, part, out);
    for (int i = 0; i < count && !has_payload; i++)
      out[i] = isnan(out[i]) ? NA_REAL : out[i];
  }
  UNPROTECT(1);
  return values;
}
