import { dishesFor } from "./menu.js";

export function board(menu, day) {
    return dishesFor(menu, day).map((dish) => `${dish.name} ${dish.price.toFixed(2)}`).join("\n");
}
