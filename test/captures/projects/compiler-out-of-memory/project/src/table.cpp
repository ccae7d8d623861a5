// Tide heights for every minute of a year, computed by the compiler.
#include <array>
#include <cstddef>
#include <utility>

template <std::size_t Minute>
struct Tide {
  static constexpr int centimetres = int((Minute * 2654435761u) >> 24) + Tide<Minute / 2>::centimetres % 7;
};

template <>
struct Tide<0> {
  static constexpr int centimetres = 12;
};

template <std::size_t... Minutes>
constexpr std::array<int, sizeof...(Minutes)> tides(std::index_sequence<Minutes...>)
{
  return {Tide<Minutes>::centimetres...};
}

extern const std::array<int, 525600> year = tides(std::make_index_sequence<525600>{});
