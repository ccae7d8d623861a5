/** Computes the contrast of every visible text of the page. It is evaluated in the page. */
(function computeContrast() {
  const canvas = document.createElement('canvas');
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('no canvas');
  const known = new Map();
  const parse = (text) => {
    const old = known.get(text);
    if (old !== undefined) return old;
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
    const color = [red, green, blue, alpha / 255];
    known.set(text, color);
    return color;
  };
  const mix = (top, under) => {
    const part = (at) => top[at] * top[3] + under[at] * (1 - top[3]);
    return [part(0), part(1), part(2), 1];
  };
  const luminance = (color) => {
    const linear = (value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
  };
  const compare = (left, right) => {
    const [light = 0, dark = 0] = [luminance(left), luminance(right)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const isDark = getComputedStyle(document.documentElement).colorScheme.includes('dark')
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : false;
  const paper = isDark ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const findBackground = (element) => {
    const layers = [];
    for (let at = element; at !== null; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reduceRight((under, layer) => mix(layer, under), paper);
  };
  const findOpacity = (element) => {
    let opacity = 1;
    for (let at = element; at !== null; at = at.parentElement)
      opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  const findings = [];
  let texts = 0;
  const check = (element, text, colorText) => {
    const style = getComputedStyle(element);
    const [size, weight] = [Number.parseFloat(style.fontSize), Number(style.fontWeight)];
    const needed = size >= 24 || (size >= 18.66 && weight >= 700) ? 3 : 4.5;
    const background = findBackground(element);
    const color = parse(colorText);
    const shown = [color[0], color[1], color[2], color[3] * findOpacity(element)];
    const ratio = compare(mix(shown, background), background);
    texts += 1;
    if (ratio < needed)
      findings.push(
        `${ratio.toFixed(2)} of ${needed}: ${text.slice(0, 40)} (${element.localName}.${element.getAttribute('class')})`,
      );
  };
  const isSeen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return (
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && width > 1 && height > 1
    );
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const [element, text] = [node.parentElement, node.textContent?.trim() ?? ''];
    if (element === null || text === '' || !isSeen(element)) continue;
    if (element.closest('script, style, datalist, [disabled], [aria-disabled="true"], option') !== null)
      continue;
    const style = getComputedStyle(element);
    check(element, text, element instanceof SVGElement ? style.fill : style.color);
  }
  for (const field of document.querySelectorAll('input[placeholder], textarea[placeholder]'))
    if (isSeen(field) && field.value === '')
      check(field, field.placeholder, getComputedStyle(field, '::placeholder').color);
  return { texts, findings };
})();
