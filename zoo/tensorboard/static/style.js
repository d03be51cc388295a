// How the viewer looks, as text: a style element is what both TensorBoard's and the page's own policy allow.

export const STYLE = `
:root { --paper: #ffffff; --ink: #22262b; --soft: #5d6670; --line: #d7dce1; --mark: #b45309; --panel: #f6f8fa; }
:root[data-theme=dark] { --paper: #14171b; --ink: #e8eaed; --soft: #a3abb4; --line: #3a424b; --mark: #ffb454; --panel: #1d2127; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 14px/1.45 Roboto, "Segoe UI", "Noto Sans", sans-serif; }
.zoo { padding: 12px 16px; max-width: 1700px; }
.zoo h1 { font-size: 18px; margin: 0 12px 0 0; display: inline-block; }
.zoo h2 { font-size: 14px; margin: 0 0 4px; }
.zoo .bar { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; margin-bottom: 8px; }
.zoo .panels { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start; }
.zoo section { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 8px 10px; min-width: 0; max-width: 100%; overflow: auto; }
.zoo .column { display: flex; flex-direction: column; gap: 12px; max-width: 100%; }
.zoo .soft { color: var(--soft); font-size: 12.5px; max-width: 54ch; margin: 2px 0 6px; }
.zoo select, .zoo button, .zoo input { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 4px; accent-color: #0072b2; }
.zoo select { max-width: 34ch; padding: 1px 4px; }
.zoo button { padding: 1px 8px; cursor: pointer; }
.zoo button[aria-pressed=true], .zoo [role=tab][aria-selected=true] { border-color: var(--mark); box-shadow: inset 0 -2px 0 var(--mark); }
.zoo :focus-visible { outline: 2px solid #0072b2; outline-offset: 1px; }
.zoo .steps input { width: min(420px, 40vw); }
.zoo .grid { display: grid; gap: 4px; width: max-content; }
.zoo .grid button { padding: 2px; line-height: 0; position: relative; background: var(--paper); }
.zoo .grid button.chosen { outline: 2px solid var(--mark); }
.zoo .grid .badge { position: absolute; left: 1px; bottom: 1px; font: 10px/1.2 sans-serif; background: var(--mark); color: var(--paper); padding: 0 3px; border-radius: 3px; }
.zoo .grid .name { font: 11px/1.3 sans-serif; color: var(--soft); align-self: center; text-align: center; }
.zoo .readout { min-height: 1.5em; font-variant-numeric: tabular-nums; }
.zoo canvas, .zoo svg { display: block; }
.zoo svg text { fill: var(--ink); font-size: 12px; }
.zoo svg .axis { stroke: var(--line); }
.zoo svg .faint { opacity: 0.25; }
.zoo .error, .zoo .empty { border-left: 4px solid var(--mark); padding: 8px 12px; background: var(--panel); }
.zoo pre { background: var(--paper); border: 1px solid var(--line); padding: 8px; overflow: auto; }
.zoo .pair { display: flex; gap: 14px; flex-wrap: wrap; }
.zoo figure { margin: 0; }
.zoo figcaption { font-size: 12.5px; color: var(--soft); }
`;
