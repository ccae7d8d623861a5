export function draw(element, legend) {
  element.textContent = Object.values(legend).join(', ');
}
