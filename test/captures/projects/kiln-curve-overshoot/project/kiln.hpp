#pragma once
// Degrees a kiln may have after so many minutes at so many degrees an hour.
inline int target(int minutes, int degrees_an_hour, int top) {
  const int reached = 20 + minutes * degrees_an_hour / 60;
  return reached > top ? reached : top;
}
