#include "table.h"

#include <stdio.h>
#include <stdlib.h>

struct table *table_read(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  struct table *table = malloc(sizeof *table);
  table->heights = malloc(64 * sizeof *table->heights);
  table->count = 0;
  while (table->count < 64 && fscanf(file, "%lf", &table->heights[table->count]) == 1) table->count++;
  fclose(file);
  return table;
}

void table_free(struct table *table) {
  free(table->heights);
  free(table);
}

double table_highest(const struct table *table) {
  double highest = table->heights[0];
  for (int i = 1; i < table->count; i++)
    if (table->heights[i] > highest) highest = table->heights[i];
  return highest;
}
