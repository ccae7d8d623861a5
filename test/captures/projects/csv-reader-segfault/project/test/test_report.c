#include <assert.h>
#include <stdio.h>

int report_line(FILE *out, char *line);

int main(void)
{
  char item[] = "4711;bolt;0.35";
  char comment[] = "# exported by the warehouse";

  setvbuf(stdout, NULL, _IONBF, 0);
  assert(report_line(stdout, item) > 0);
  printf("ok 1 - prints number and price\n");
  assert(report_line(stdout, comment) == 0);
  printf("ok 2 - skips a comment\n");
  return 0;
}
