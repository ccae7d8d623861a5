#ifndef TABLE_H
#define TABLE_H

struct table {
  double *heights;
  int count;
};

struct table *table_read(const char *path);
void table_free(struct table *table);
double table_highest(const struct table *table);

#endif
