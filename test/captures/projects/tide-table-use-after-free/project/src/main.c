#include <stdio.h>

#include "table.h"

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  struct table *table = table_read(argv[1]);
  if (table == NULL) return 1;
  printf("%d heights\n", table->count);
  table_free(table);
  printf("highest water: %.2f m\n", table_highest(table));
  return 0;
}
