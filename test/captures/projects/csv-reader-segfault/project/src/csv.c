#include "csv.h"

#include <stdlib.h>
#include <string.h>

struct csv_row *csv_parse_row(char *line)
{
  struct csv_row *row;
  char *token;

  if (line[0] == '#' || line[0] == '\0')
    return NULL;
  row = calloc(1, sizeof *row);
  for (token = strtok(line, ";"); token && row->count < CSV_MAX_FIELDS; token = strtok(NULL, ";"))
    row->fields[row->count++] = token;
  return row;
}

const char *csv_field(const struct csv_row *row, int index)
{
  return index < row->count ? row->fields[index] : "";
}

void csv_free_row(struct csv_row *row)
{
  free(row);
}
