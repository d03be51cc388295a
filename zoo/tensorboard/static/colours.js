// Colours that stay apart for colour-blind eyes: one hue whose brightness falls evenly, blue against orange for signs.

const SEQUENTIAL = { light: [[255, 255, 255], [8, 48, 107]], dark: [[24, 28, 34], [255, 214, 102]] };
const SIGNED = { light: [[255, 255, 255], [0, 90, 181], [200, 80, 0]], dark: [[24, 28, 34], [86, 180, 233], [255, 160, 60]] };

// Okabe and Ito's, for heads; the last is a neutral one.
const HEADS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#a08000", "#808080"];

/** The theme's name: what TensorBoard or the system asks for. */
function theme() {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

/** Sets the theme, and tells who has drawn in the other one. */
export function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  window.dispatchEvent(new Event("themechange"));
}

/** [r, g, b] of a weight from 0 to 1. */
export function shadeOf(weight) {
  const [low, high] = SEQUENTIAL[theme()];
  const share = Math.min(Math.max(weight, 0), 1);
  return low.map((from, i) => Math.round(from + share * (high[i] - from)));
}

/** [r, g, b] of a value from -1 (orange) to 1 (blue). */
export function signedShade(value) {
  const [middle, above, below] = SIGNED[theme()];
  const share = Math.min(Math.abs(value), 1);
  return middle.map((from, i) => Math.round(from + share * ((value >= 0 ? above : below)[i] - from)));
}

/** A head's colour. */
export function headColour(head) {
  return HEADS[head % HEADS.length];
}

/** The value that gets the full colour: 1 for weights, the largest size for signed values. */
export function fullScale(matrix) {
  if (!matrix.signed) return 1;
  let largest = 0;
  for (const value of matrix.data) largest = Math.max(largest, Math.abs(value));
  return largest || 1;
}

/** A matrix as an image of one pixel a weight. */
export function pixels(matrix) {
  const image = new ImageData(matrix.columns || 1, matrix.rows || 1);
  const scale = fullScale(matrix);
  for (let i = 0; i < matrix.data.length; i++) {
    const colour = matrix.signed ? signedShade(matrix.data[i] / scale) : shadeOf(matrix.data[i]);
    image.data.set([...colour, 255], 4 * i);
  }
  return image;
}

/** A CSS colour of [r, g, b]. */
export function css([r, g, b]) {
  return `rgb(${r},${g},${b})`;
}
