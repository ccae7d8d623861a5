#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "../src/csv.h"

int main(void)
{
  char line[] = "4711;bolt;0.35";
  char short_line[] = "4712";
  struct csv_row *row = csv_parse_row(line);

  assert(row->count == 3);
  printf("ok 1 - splits a row into three fields\n");
  assert(strcmp(csv_field(row, 1), "bolt") == 0);
  printf("ok 2 - returns a field by index\n");
  csv_free_row(row);

  row = csv_parse_row(short_line);
  assert(strcmp(csv_field(row, 5), "") == 0);
  printf("ok 3 - a missing field is empty\n");
  csv_free_row(row);
  return 0;
}
