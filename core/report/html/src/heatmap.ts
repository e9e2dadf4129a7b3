// Layers (or kinds of op) down, ranks or steps across: the largest error of each cell.
import {App, errorText, section} from "./app.ts";
import {clear, h} from "./dom.ts";
import {CULPRIT, INHERITED, kindOf, layerOf, SYMBOLS} from "./model.ts";
import {count, t} from "./text.ts";

const MOST_ROWS = 120, MOST_COLUMNS = 128;

export interface Cell {
  error: number;
  verdict: number;
  cause: number;
  ops: number
}
export interface Grid {
  rows: string[];
  columns: number[];
  cells: Map<string, Cell>;
  byLayer: boolean
}

// by: what the columns are.
export function gridOf(app: App, by: "rank"|"step"): Grid {
  const {ops} = app.model, byLayer = ops.some((op) => layerOf(op) !== "");
  const rows: string[] = [], seen = new Set<string>(), columns = new Set<number>(),
              cells = new Map<string, Cell>();
  for (const op of ops) {
    const row = byLayer ? layerOf(op) : kindOf(op.name);
    if (row === "") continue;
    if (!seen.has(row)) {
      seen.add(row);
      rows.push(row);
    }
    columns.add(op[by]);
    const key = row + "\n" + op[by], cell = cells.get(key) ?? {error: NaN, verdict: 0, cause: 0, ops: 0};
    if (!(op.error <= cell.error) && !Number.isNaN(op.error)) cell.error = op.error;
    cell.verdict = Math.max(cell.verdict, op.verdict);
    if (op.cause === CULPRIT || cell.cause === 0) cell.cause = op.cause;
    ++cell.ops;
    cells.set(key, cell);
  }
  if (byLayer) rows.sort(new Intl.Collator(undefined, {numeric: true}).compare);
  return {rows, columns: [...columns].sort((a, b) => a - b), cells, byLayer};
}

// 0 … 9: how dark a cell is. Errors of 1e-8 and less are the lightest, of 1 and more the darkest.
export function heat(error: number): number {
  if (Number.isNaN(error) || error === 0) return 0;
  if (error === Infinity) return 9;
  return Math.min(9, Math.max(1, Math.round(9 + Math.log10(error))));
}

function rowFilter(app: App, grid: Grid, name: string): (row: number) => boolean {
  const {model} = app;
  const hit = model.ops.map((op) => (grid.byLayer ? layerOf(op) : kindOf(op.name)) === name);
  return (row) => hit[model.opOfRow[row]!]!;
}

function cellOf(app: App, grid: Grid, by: "rank"|"step", name: string, column: number): HTMLElement {
  const cell = grid.cells.get(name + "\n" + column);
  if (!cell) return h("td", {class: "none"});
  const symbol = cell.cause === CULPRIT ? "✗" :
      cell.cause === INHERITED          ? "·" :
      cell.verdict >= 2                 ? SYMBOLS[cell.verdict]! :
                                          "";
  const label = name + " · " + by + " " + column + " · " + t("error") + " " + (errorText(cell.error) || "–") +
      " · " + count(cell.ops);
  const button = h("button", {type: "button", class: "cell", title: label, "aria-label": label}, symbol);
  button.addEventListener(
      "click",
      () => app.setFilter(
          {
            step: null,
            rank: null,
            search: "",
            verdicts: new Set([0, 1, 2, 3]),
            cause: null,
            [by]: column,
            only: rowFilter(app, grid, name),
            onlyText: name
          },
          true));
  return h(
      "td", {
        class: (cell.cause === CULPRIT       ? "isculprit " :
                    cell.cause === INHERITED ? "grey " :
                                               "") +
            "heat" + heat(cell.error)
      },
      button);
}

export function heatmapView(app: App): HTMLElement {
  const ranks = new Set(app.model.lanes.map((lane) => lane.rank)).size;
  let by: "rank"|"step" = ranks > 1 ? "rank" : "step";
  const box = h("div", {class: "heatbox", tabindex: "0"});
  const draw = () => {
    const grid = gridOf(app, by), columns = grid.columns.slice(0, MOST_COLUMNS),
          rows = grid.rows.slice(0, MOST_ROWS);
    clear(box);
    const head =
        h("tr", {}, h("th", {}, ""), ...columns.map((c) => h("th", {scope: "col"}, c < 0 ? "–" : String(c))));
    const body = rows.map(
        (name) =>
            h("tr", {}, h("th", {scope: "row", class: "name", title: name}, name),
              ...columns.map((column) => cellOf(app, grid, by, name, column))));
    box.append(h("table", {class: "heatmap"}, h("thead", {}, head), h("tbody", {}, ...body)));
    const hidden = grid.rows.length - rows.length + grid.columns.length - columns.length;
    if (hidden > 0) box.append(h("p", {}, t("truncated", count(hidden))));
    if (rows.length === 0) box.append(h("p", {class: "muted"}, t("nothing")));
  };
  const choose = h(
      "select", {"aria-label": t("map")}, h("option", {value: "rank", selected: by === "rank"}, t("byRank")),
      h("option", {value: "step", selected: by === "step"}, t("byStep")));
  choose.addEventListener("change", () => {
    by = choose.value === "rank" ? "rank" : "step";
    draw();
  });
  draw();
  return section("map", t("map"), h("p", {class: "legend"}, choose, h("span", {}, t("hint"))), box);
}
