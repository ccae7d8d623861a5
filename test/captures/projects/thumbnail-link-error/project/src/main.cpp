#include "thumbnail.hpp"

#include <iostream>

int main(int argc, char **argv)
{
  const Size photo{4032, 3024};
  const Size small = fit(photo, {320, 320});
  std::cout << thumbnail_name(argc > 1 ? argv[1] : "photo.jpg", small) << " " << aspect_ratio(small) << "\n";
}
