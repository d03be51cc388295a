// Where TensorBoard starts the viewer.

import { Viewer } from "./app.js";
import { Permalink } from "./state.js";
import { TensorBoardSource } from "./tensorboard.js";

function followTheme(body) {
  const set = () => {
    document.documentElement.dataset.theme = body.classList.contains("dark-mode") ? "dark" : "light";
  };
  set();
  new MutationObserver(() => {
    set();
    window.dispatchEvent(new Event("themechange"));
  }).observe(body, { attributes: true, attributeFilter: ["class"] });
}

export function render() {
  followTheme(window.parent.document.body);
  new Viewer(document.body, new TensorBoardSource(), new Permalink(window.parent)).start();
}
