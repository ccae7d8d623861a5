#include "thumbnail.hpp"

double aspect_ratio(Size image)
{
  return double(image.width) / image.height;
}
