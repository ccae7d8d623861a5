export function dishesFor(menu, day) {
  return menu.filter((dish) => dish.days.includes(day))
}
