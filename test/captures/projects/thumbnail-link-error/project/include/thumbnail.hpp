#pragma once
#include <cstddef>
#include <string>

struct Size {
  std::size_t width;
  std::size_t height;
};

Size fit(Size image, Size box);
std::string thumbnail_name(const std::string &file, Size size);
double aspect_ratio(Size image);
