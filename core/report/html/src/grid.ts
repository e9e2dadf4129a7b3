// A table of which only the rows in sight are elements: scrolling, sorting, columns, keyboard. What its rows
// are is its source's matter.
import {clear, h} from "./dom.ts";
import {Sort} from "./filter.ts";
import {t} from "./text.ts";

const ROW_HEIGHT = 28, SPARE = 8, PRINTED = 200;
// Browsers clip elements beyond some ten million pixels.
const MOST_PIXELS = 8_000_000;

export interface GridSource {
  columns: string[];               // shown at first
  all: string[];                   // on offer
  widths: Record<string, number>;  // 110 where nothing is said
  growing: Set<string>;            // take what is left over
  isNumber: (column: string) => boolean;
  largestFirst: (column: string) => boolean;  // what a first click on its head sorts by
  text: (column: string, row: number) => string;
  rowClass: (row: number) => string;
  rows: (sort: Sort|null) => Int32Array;  // filtered and sorted
  status: (shown: number) => string;
  open: (row: number) => void;
}

export class Grid {
  readonly head = h("div", {class: "thead", role: "row"});
  readonly body = h("div", {class: "tbody"});
  readonly spacer = h("div", {class: "spacer"});
  readonly box: HTMLElement;
  readonly status = h("span", {class: "status", "aria-live": "polite"});
  columns: string[];
  rows: Int32Array = new Int32Array(0);
  sort: Sort|null = null;
  private active = 0;
  private waiting = false;
  private printing = false;

  constructor(private readonly source: GridSource, label: string) {
    this.columns = source.columns;
    this.box = h("div", {class: "tablebox", tabindex: "0", role: "grid", "aria-label": label});
    this.spacer.append(this.body);
    this.box.append(this.head, this.spacer);
    this.box.addEventListener("scroll", () => this.later());
    this.box.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
    window.addEventListener("beforeprint", () => this.print());
    window.addEventListener("afterprint", () => {
      this.printing = false;
      this.draw();
    });
  }

  update(): void {
    this.rows = this.source.rows(this.sort);
    this.active = Math.min(this.active, Math.max(0, this.rows.length - 1));
    clear(this.status);
    this.status.append(this.source.status(this.rows.length));
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
    const widths = this.columns.map((c) => this.source.widths[c] ?? 110);
    const wide = this.columns.filter((c) => this.source.growing.has(c)).length;
    const left = Math.max(0, this.box.clientWidth - widths.reduce((sum, width) => sum + width, 0));
    const share = wide === 0 ? 0 : Math.floor(left / wide);
    return widths.map((width, i) => width + (this.source.growing.has(this.columns[i]!) ? share : 0) + "px")
        .join(" ");
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
        const first = this.source.largestFirst(column);
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
    if (this.printing) return;
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
    const made: HTMLElement[] = [];
    for (let i = first; i < end; ++i) {
      const row = this.rows[i]!;
      const line = h("div", {
        role: "row",
        "aria-rowindex": i + 2,
        "data-place": i,
        class: "tr " + this.source.rowClass(row) + (i === this.active ? " active" : "")
      });
      for (const column of this.columns) {
        const text = this.source.text(column, row).slice(0, 400);
        line.append(
            h("div", {
              role: "gridcell",
              class: this.source.isNumber(column) ? "td number" :
                                                    "td " + (column === "verdict" ? "verdictcell" : ""),
              title: text
            },
              text));
      }
      line.addEventListener("click", () => {
        this.active = i;
        this.draw();
        this.source.open(row);
      });
      made.push(line);
    }
    return made;
  }

  // Enough rows for paper, in columns that share its width.
  print(): void {
    this.printing = true;  // paper has another size, which is no reason to draw anew
    const widths = this.columns.map((c) => "minmax(0, " + (this.source.widths[c] ?? 110) + "fr)");
    this.box.style.setProperty("--columns", widths.join(" "));
    this.body.replaceChildren(...this.elements(0, Math.min(this.rows.length, PRINTED)));
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW_HEIGHT) - 2);
    const moves: Record<string, number> =
        {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.target !== this.box) return;
    if (event.key === "Enter" && this.rows.length > 0) this.source.open(this.rows[this.active]!);
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


export function columnChoice(grid: Grid, source: GridSource): HTMLElement {
  const boxes = source.all.map((column) => {
    const box = h("input", {type: "checkbox", checked: grid.columns.includes(column)});
    box.addEventListener("change", () => {
      grid.columns = box.checked ? [...grid.columns, column] : grid.columns.filter((c) => c !== column);
      grid.update();
    });
    return h("label", {}, box, t(column));
  });
  return h(
      "details", {class: "choice"}, h("summary", {}, t("columns")), h("div", {class: "choices"}, ...boxes));
}

// Boxes that say which verdicts are shown. chosen: reads them; choose: changes them; name: a verdict in
// words. The second answer brings the boxes up to date.
export function verdictBoxes(
    chosen: () => Set<number>, choose: (verdicts: Set<number>) => void, symbols: readonly string[],
    classes: readonly string[], name: (verdict: number) => string): [HTMLElement[], () => void] {
  const boxes = [3, 2, 1, 0].map((verdict) => {
    const box = h("input", {type: "checkbox", checked: chosen().has(verdict)});
    box.addEventListener("change", () => {
      const next = new Set(chosen());
      if (box.checked)
        next.add(verdict);
      else
        next.delete(verdict);
      choose(next);
    });
    return {verdict, box};
  });
  const labels = boxes.map(
      ({verdict, box}) =>
          h("label", {class: "symbol " + classes[verdict]!}, box, symbols[verdict]! + " " + name(verdict)));
  return [
    labels,
    () => {
      for (const {verdict, box} of boxes) box.checked = chosen().has(verdict);
    }
  ];
}
