#include "thumbnail.hpp"

std::string thumbnail_name(const std::string &file, Size size)
{
  const auto dot = file.rfind('.');
  const auto suffix = "-" + std::to_string(size.width) + "x" + std::to_string(size.height);
  return dot == std::string::npos ? file + suffix : file.substr(0, dot) + suffix + file.substr(dot);
}
