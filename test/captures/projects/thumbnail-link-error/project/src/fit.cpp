#include "thumbnail.hpp"

#include <algorithm>

Size fit(Size image, Size box)
{
  const double scale = std::min({1.0, double(box.width) / image.width, double(box.height) / image.height});
  return {std::size_t(image.width * scale), std::size_t(image.height * scale)};
}
