#ifndef CSV_H
#define CSV_H

#define CSV_MAX_FIELDS 16

struct csv_row {
  int count;
  char *fields[CSV_MAX_FIELDS];
};

struct csv_row *csv_parse_row(char *line);
const char *csv_field(const struct csv_row *row, int index);
void csv_free_row(struct csv_row *row);

#endif
