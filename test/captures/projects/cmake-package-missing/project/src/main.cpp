#include <spdlog/spdlog.h>

int main()
{
  spdlog::info("next bus in {} minutes", 7);
}
