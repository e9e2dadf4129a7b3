// What the views share: the model, what is chosen, and who wants to know of a change.
import {AnyReport} from "./data.ts";
import {Child, h} from "./dom.ts";
import {emptyFilter, Filter} from "./filter.ts";
import {CAUSES, Model, ROUNDING} from "./model.ts";
import {nearOne, number, t} from "./text.ts";

export interface App {
  model: Model;
  filter: Filter;
  op: number;                      // that the graph stands around; -1: none
  showRow: (row: number) => void;  // opens the detail
  showOp: (op: number) => void;    // puts the graph around it
  setFilter: (change: Partial<Filter>, scroll?: boolean) => void;
  onFilter: (() => void)[];
  onOp: (() => void)[];
  onTheme: (() => void)[];
}

export function makeApp(model: Model): App {
  const app: App = {
    model,
    filter: emptyFilter(),
    op: -1,
    showRow: () => undefined,
    showOp: (op) => {
      app.op = op;
      for (const told of app.onOp) told();
    },
    setFilter: (change, scroll = false) => {
      Object.assign(app.filter, change);
      for (const told of app.onFilter) told();
      if (scroll) document.getElementById("table")?.scrollIntoView({behavior: "auto", block: "start"});
    },
    onFilter: [],
    onOp: [],
    onTheme: [],
  };
  return app;
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h(
      "section", {id, "aria-labelledby": id + "-title"}, h("h2", {id: id + "-title"}, title), ...children);
}

// A metric of a row for people; empty where there is none.
export const metricText = (model: Model, name: string, row: number) => metricOf(model.report, name, row);
export function metricOf(report: AnyReport, name: string, row: number): string {
  const column = report.metric(name);
  if (column === null || !column.has(row)) return "";
  return column.nearOne ? nearOne(column.values[row]!) : number(column.value(row));
}

export function place(step: number|null, rank: number|null, token?: number): string {
  const parts: string[] = [];
  if (step !== null && step >= 0) parts.push("step " + step);
  if (rank !== null && rank >= 0) parts.push("rank " + rank);
  if (token !== undefined && token >= 0) parts.push("token " + token);
  return parts.join(" · ");
}

// A cause of a row by its number; empty for none.
export function causeText(cause: number): string {
  return cause === ROUNDING ? t("byRounding") : t(CAUSES[cause]!);
}

export function errorText(error: number): string {
  return Number.isNaN(error) ? "" : error === Infinity ? "∞" : number(error);
}
