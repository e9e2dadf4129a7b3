// All rows of the page: only those in sight are elements. Filters, sorting, columns, search, keyboard.
import {App, causeText, errorText, metricText, section} from "./app.ts";
import {clear, h} from "./dom.ts";
import {emptyFilter, filterRows, Sort, sortRows} from "./filter.ts";
import {CAUSES, Model, SYMBOLS, VERDICTS} from "./model.ts";
import {count, t} from "./text.ts";

const ROW_HEIGHT = 28, SPARE = 8, PRINTED = 200;
// Browsers clip elements beyond some ten million pixels.
const MOST_PIXELS = 8_000_000;
const FIRST = [
  "verdict", "step", "rank", "op", "tensor", "error", "dtype", "shape", "cosine", "max_abs_err", "cause",
  "message"
];
const OTHERS = [
  "row", "token", "golden_op", "golden_tensor", "golden_dtype", "golden_shape", "match", "mode", "judgement",
  "judged", "absent", "module", "value", "golden_value"
];
const WIDTHS: Record<string, number> = {
  verdict: 100,
  judged: 100,
  step: 56,
  rank: 56,
  token: 64,
  row: 72,
  op: 260,
  golden_op: 240,
  module: 240,
  tensor: 140,
  golden_tensor: 140,
  error: 90,
  cause: 90,
  message: 260,
  value: 140,
  golden_value: 140
};
const GROWING = new Set(["op", "message"]);
const NUMBERS = new Set(["row", "step", "rank", "token", "error"]);

export function cellText(model: Model, column: string, row: number): string {
  const {report} = model;
  switch (column) {
    case "verdict":
    case "judged": {
      const verdict = report.integer(column)[row]!;
      return SYMBOLS[verdict]! + " " + t(VERDICTS[verdict]!);
    }
    case "cause":
      return causeText(report.integer("cause")[row]!);
    case "error":
      return errorText(model.errors[row]!);
    case "step":
    case "rank":
    case "token":
    case "row": {
      const value = report.integer(column)[row]!;
      return value < 0 ? "" : String(value);
    }
    case "op":
      return model.opName(row);
    case "tensor":
      return model.tensorName(row);
    default:
      return report.metricNames.includes(column) ? metricText(model, column, row) : report.text(column, row);
  }
}

class Table {
  readonly head = h("div", {class: "thead", role: "row"});
  readonly body = h("div", {class: "tbody"});
  readonly spacer = h("div", {class: "spacer"});
  readonly box = h("div", {class: "tablebox", tabindex: "0", role: "grid", "aria-label": t("table")});
  readonly status = h("span", {class: "status", "aria-live": "polite"});
  columns: string[];
  rows: Int32Array = new Int32Array(0);
  sort: Sort|null = null;
  private active = 0;
  private waiting = false;

  constructor(private readonly app: App) {
    const {report} = app.model;
    this.columns = FIRST.filter((c) => !(c === "cosine" || c === "max_abs_err") || report.metric(c) !== null);
    if (report.metric("cosine") === null && report.metric("l2norm_rel") !== null)
      this.columns.splice(8, 0, "max_rel", "l2norm_rel");
    this.spacer.append(this.body);
    this.box.append(this.head, this.spacer);
    this.box.addEventListener("scroll", () => this.later());
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  update(): void {
    this.rows = sortRows(this.app.model, filterRows(this.app.model, this.app.filter), this.sort);
    this.active = Math.min(this.active, Math.max(0, this.rows.length - 1));
    const {rows, all_rows} = this.app.model.report.head.page;
    clear(this.status);
    this.status.append(
        count(this.rows.length) + " " + t("of") + " " + count(rows) + " " + t("rows") +
        (rows < all_rows ? " (" + count(all_rows) + ")" : ""));
    this.box.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.box.scrollTop = 0;
    this.drawHead();
    this.draw();
  }

  private later(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  // In pixels, the same for head and rows. What the box has left over goes to names and messages.
  private template(): string {
    const widths = this.columns.map((c) => WIDTHS[c] ?? 110);
    const wide = this.columns.filter((c) => GROWING.has(c)).length;
    const left = Math.max(0, this.box.clientWidth - widths.reduce((sum, width) => sum + width, 0));
    const share = wide === 0 ? 0 : Math.floor(left / wide);
    return widths.map((width, i) => width + (GROWING.has(this.columns[i]!) ? share : 0) + "px").join(" ");
  }

  private drawHead(): void {
    clear(this.head);
    for (const column of this.columns) {
      const on = this.sort?.column === column;
      const cell =
          h("button", {
            type: "button",
            class: "th",
            role: "columnheader",
            "aria-sort": on ? (this.sort!.down ? "descending" : "ascending") : "none",
            title: column
          },
            t(column) + (on ? (this.sort!.down ? " ▼" : " ▲") : ""));
      cell.addEventListener("click", () => {
        // Numbers start with the largest, which is what one looks for; the third click ends sorting.
        const first =
            NUMBERS.has(column) || column === "verdict" || this.app.model.report.metricNames.includes(column);
        this.sort = !on ? {column, down: first} : this.sort!.down === first ? {column, down: !first} : null;
        this.update();
      });
      this.head.append(cell);
    }
  }

  // Above the pixel limit a row's place is scaled, so that the scroll bar still reaches every row.
  private firstInSight(): number {
    const total = this.rows.length * ROW_HEIGHT;
    if (total <= MOST_PIXELS) return Math.floor(this.box.scrollTop / ROW_HEIGHT);
    const share = this.box.scrollTop / Math.max(1, MOST_PIXELS - this.box.clientHeight);
    return Math.floor(share * (this.rows.length - this.box.clientHeight / ROW_HEIGHT));
  }

  draw(): void {
    this.box.style.setProperty("--columns", this.template());
    const total = this.rows.length * ROW_HEIGHT;
    this.spacer.style.height = Math.min(Math.max(total, ROW_HEIGHT), MOST_PIXELS) + "px";
    const visible = Math.ceil(this.box.clientHeight / ROW_HEIGHT) + 1;
    const first = Math.max(0, this.firstInSight() - SPARE),
          end = Math.min(this.rows.length, first + visible + 2 * SPARE);
    this.body.style.transform = "translateY(" +
        (total <= MOST_PIXELS ? first * ROW_HEIGHT : Math.max(0, this.box.scrollTop - SPARE * ROW_HEIGHT)) +
        "px)";
    this.body.replaceChildren(...this.elements(first, end));
    if (this.rows.length === 0) this.body.append(h("p", {class: "muted"}, t("nothing")));
  }

  private elements(first: number, end: number): HTMLElement[] {
    const {model} = this.app, verdict = model.report.integer("verdict"),
          cause = model.report.integer("cause");
    const made: HTMLElement[] = [];
    for (let i = first; i < end; ++i) {
      const row = this.rows[i]!;
      const line = h("div", {
        role: "row",
        "aria-rowindex": i + 2,
        "data-place": i,
        class:
            "tr " + VERDICTS[verdict[row]!]! + " cause" + cause[row]! + (i === this.active ? " active" : "")
      });
      for (const column of this.columns) {
        const text = cellText(model, column, row).slice(0, 400);
        const isNumber = NUMBERS.has(column) || model.report.metricNames.includes(column);
        line.append(
            h("div", {
              role: "gridcell",
              class: isNumber ? "td number" : "td " + (column === "verdict" ? "verdictcell" : ""),
              title: text
            },
              text));
      }
      line.addEventListener("click", () => {
        this.active = i;
        this.draw();
        this.app.showRow(row);
      });
      made.push(line);
    }
    return made;
  }

  // Enough rows for paper.
  print(): void { this.body.replaceChildren(...this.elements(0, Math.min(this.rows.length, PRINTED))); }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW_HEIGHT) - 2);
    const moves: Record<string, number> =
        {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.target !== this.box) return;
    if (event.key === "Enter" && this.rows.length > 0) this.app.showRow(this.rows[this.active]!);
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    this.active = Math.min(this.rows.length - 1, Math.max(0, this.active + move));
    this.bringIntoSight();
    this.draw();
  }

  private bringIntoSight(): void {
    const inner = this.box.clientHeight - ROW_HEIGHT;
    if (this.rows.length * ROW_HEIGHT > MOST_PIXELS) {
      this.box.scrollTop = this.active / this.rows.length * (MOST_PIXELS - this.box.clientHeight);
      return;
    }
    const top = this.active * ROW_HEIGHT;
    if (top < this.box.scrollTop)
      this.box.scrollTop = top;
    else if (top + ROW_HEIGHT > this.box.scrollTop + inner)
      this.box.scrollTop = top + ROW_HEIGHT - inner;
  }
  // The row before or after one in the order of the table; -1 at its ends.
  beside(row: number, by: number): number {
    const at = this.rows.indexOf(row);
    return at < 0 ? -1 : this.rows[at + by] ?? -1;
  }
}

function columnChoice(app: App, table: Table): HTMLElement {
  const all =
      [...FIRST, ...OTHERS, ...app.model.report.metricNames].filter((c, i, list) => list.indexOf(c) === i);
  const boxes = all.map((column) => {
    const box = h("input", {type: "checkbox", checked: table.columns.includes(column)});
    box.addEventListener("change", () => {
      table.columns = box.checked ? [...table.columns, column] : table.columns.filter((c) => c !== column);
      table.update();
    });
    return h("label", {}, box, t(column));
  });
  return h(
      "details", {class: "choice"}, h("summary", {}, t("columns")), h("div", {class: "choices"}, ...boxes));
}

function places(app: App, by: "step"|"rank"): HTMLSelectElement {
  const values = [...new Set(app.model.lanes.map((lane) => lane[by]))].sort((a, b) => a - b);
  const select =
      h("select", {"aria-label": t(by)}, h("option", {value: ""}, t(by) + ": " + t("all")),
        ...values.map((value) => h("option", {value}, t(by) + " " + (value < 0 ? "–" : value))));
  select.addEventListener(
      "change", () => app.setFilter({[by]: select.value === "" ? null : Number(select.value)}));
  app.onFilter.push(() => {
    select.value = app.filter[by] === null ? "" : String(app.filter[by]);
  });
  return select;
}

function filterBar(app: App, table: Table): HTMLElement {
  const search = h(
      "input", {type: "search", placeholder: t("search") + " (/)", "aria-label": t("search"), id: "search"});
  search.addEventListener("input", () => app.setFilter({search: search.value}));
  const verdicts = [3, 2, 1, 0].map((verdict) => {
    const box = h("input", {type: "checkbox", checked: app.filter.verdicts.has(verdict)});
    box.addEventListener("change", () => {
      const chosen = new Set(app.filter.verdicts);
      if (box.checked)
        chosen.add(verdict);
      else
        chosen.delete(verdict);
      app.setFilter({verdicts: chosen});
    });
    app.onFilter.push(() => {
      box.checked = app.filter.verdicts.has(verdict);
    });
    return h(
        "label", {class: "symbol " + VERDICTS[verdict]!}, box,
        SYMBOLS[verdict]! + " " + t(VERDICTS[verdict]!));
  });
  const cause =
      h("select", {"aria-label": t("cause")}, h("option", {value: ""}, t("cause") + ": " + t("all")),
        ...CAUSES.map((name, i) => h("option", {value: i}, name === "" ? t("none") : causeText(i))));
  cause.addEventListener(
      "change", () => app.setFilter({cause: cause.value === "" ? null : Number(cause.value)}));
  const only = h("button", {type: "button", class: "only", hidden: true});
  only.addEventListener("click", () => app.setFilter({only: null, onlyText: ""}));
  app.onFilter.push(() => {
    if (search.value !== app.filter.search) search.value = app.filter.search;
    cause.value = app.filter.cause === null ? "" : String(app.filter.cause);
    only.hidden = app.filter.only === null;
    only.replaceChildren(h("span", {}, app.filter.onlyText + " ✕"));
  });
  const reset =
      h("button", {
        type: "button",
        click: () => {
          table.sort = null;
          app.setFilter(emptyFilter());
        }
      },
        t("reset"));
  return h(
      "div", {class: "bar"}, search, ...verdicts, cause, places(app, "step"), places(app, "rank"), only,
      reset, columnChoice(app, table), table.status);
}

export function tableView(app: App): {element: HTMLElement, beside: (row: number, by: number) => number} {
  const table = new Table(app);
  // A run with failures opens on them; a healthy one on everything.
  if ((app.model.report.head.summary["fail"] ?? 0) > 0) app.filter.verdicts = new Set([3, 2]);
  const element = section("table", t("table"), filterBar(app, table), table.box);
  app.onFilter.push(() => table.update());
  table.update();
  new ResizeObserver(() => table.draw()).observe(table.box);
  window.addEventListener("beforeprint", () => table.print());
  window.addEventListener("afterprint", () => table.draw());
  return {element, beside: (row, by) => table.beside(row, by)};
}
