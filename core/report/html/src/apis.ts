// The report of check and of precision-compare: which APIs are in error, and every call in the table.
import {detailOf} from "./api_detail.ts";
import {apiFinding, judgementsView, outcomeName} from "./api_finding.ts";
import {ApiFilter, ApiModel, emptyApiFilter, filterCalls, sortCalls} from "./api_model.ts";
import {metricOf, section} from "./app.ts";
import {h} from "./dom.ts";
import {columnChoice, Grid, GridSource, verdictBoxes} from "./grid.ts";
import {limitsView} from "./limits.ts";
import {SYMBOLS, VERDICTS} from "./model.ts";
import {Drawn} from "./shell.ts";
import {count, t} from "./text.ts";

// What the views of one drawing share.
export interface ApiApp {
  model: ApiModel;
  filter: ApiFilter;
  setFilter: (change: Partial<ApiFilter>, scroll?: boolean) => void;
  onFilter: (() => void)[];
  showCall: (call: number) => void;
}

const WIDTHS: Record<string, number> = {
  verdict: 92,
  api: 210,
  forward: 92,
  backward: 92,
  output: 140,
  outputs: 72,
  judgement: 140,
  message: 280,
  device_dtype: 120
};
const MOST_NOTICES = 50;
const TEXTS = ["judgement", "output", "device_dtype", "shape"];

function cellText(app: ApiApp, column: string, index: number): string {
  const {report} = app.model, call = app.model.calls[index]!;
  switch (column) {
    case "verdict":
      return SYMBOLS[call.verdict]! + " " + outcomeName(call.verdict);
    case "forward":
    case "backward": {
      const verdict = report.integer(column)[call.first]!;
      return verdict < 0 ? "" : SYMBOLS[verdict]! + " " + outcomeName(verdict);
    }
    case "outputs":
      return report.text("name", call.first) === "" ? "0" : String(call.end - call.first);
    case "message":
      return app.model.message(call);
    case "output":
      return [report.text("direction", call.speaker), report.text("output", call.speaker)]
          .filter((part) => part !== "")
          .join(" ");
    default:
      return report.metricNames.includes(column) ? metricOf(report, column, call.speaker) :
                                                   report.text(column, call.speaker);
  }
}

function gridSource(app: ApiApp): GridSource {
  const {model} = app, {report} = model, {calls, all_calls} = report.head.page;
  const isNumber = (column: string) => column === "outputs" || report.metricNames.includes(column);
  const used = (column: string) => report.integer(column).some((text) => text >= 0);
  const columns = [
    "verdict", "api", "forward", "backward", ...TEXTS.filter(used), ...model.metrics(), "message"
  ].filter((column) => column !== "backward" || used("backward"));
  return {
    columns,
    all: [...columns, "backward", "outputs", "dtype", ...report.metricNames].filter(
        (c, i, list) => list.indexOf(c) === i),
    widths: {
      ...WIDTHS,
      ...Object.fromEntries(report.metricNames.map((name) => [name, Math.max(100, 30 + 8 * name.length)]))
    },
    growing: new Set(["api", "message"]),
    isNumber,
    largestFirst: (column) => isNumber(column) || ["verdict", "forward", "backward"].includes(column),
    text: (column, call) => cellText(app, column, call),
    rowClass: (call) => VERDICTS[model.calls[call]!.verdict]!,
    rows: (sort) => sortCalls(model, filterCalls(model, app.filter), sort),
    status: (shown) => count(shown) + " " + t("of") + " " + count(calls) + " " + t("callsCount") +
        (calls < all_calls ? " (" + count(all_calls) + ")" : ""),
    open: (call) => app.showCall(call),
  };
}

// A choice of texts; the first, empty one is all.
function choice(
    app: ApiApp, name: "direction"|"judgement", label: string, values: [string, string][]): HTMLElement {
  const select =
      h("select", {"aria-label": label}, h("option", {value: ""}, label + ": " + t("all")),
        ...values.map(([value, text]) => h("option", {value}, text)));
  select.addEventListener("change", () => app.setFilter({[name]: select.value}));
  app.onFilter.push(() => {
    select.value = app.filter[name];
  });
  return select;
}

function filterBar(app: ApiApp, grid: Grid, source: GridSource): HTMLElement {
  const search = h(
      "input", {type: "search", placeholder: t("search") + " (/)", "aria-label": t("search"), id: "search"});
  search.addEventListener("input", () => app.setFilter({search: search.value}));
  const [verdicts, showVerdicts] = verdictBoxes(
      () => app.filter.verdicts, (chosen) => app.setFilter({verdicts: chosen}), SYMBOLS, VERDICTS,
      outcomeName);
  const only = h("button", {type: "button", class: "only", hidden: true});
  only.addEventListener("click", () => app.setFilter({only: null, onlyText: ""}));
  app.onFilter.push(showVerdicts, () => {
    if (search.value !== app.filter.search) search.value = app.filter.search;
    only.hidden = app.filter.only === null;
    only.replaceChildren(h("span", {}, app.filter.onlyText + " ✕"));
  });
  const reset =
      h("button", {
        type: "button",
        click: () => {
          grid.sort = null;
          app.setFilter(emptyApiFilter());
        }
      },
        t("reset"));
  const judgements =
      app.model.report.head.page.judgements.map(([name]) => name).filter((name) => name !== "");
  return h(
      "div", {class: "bar"}, search, ...verdicts,
      choice(app, "direction", t("notPassing"), [["forward", t("forward")], ["backward", t("backward")]]),
      choice(app, "judgement", t("judgement"), judgements.map((name) => [name, name])), only, reset,
      columnChoice(grid, source), grid.status);
}

export function runFacts(rows: [string, string][]): HTMLElement {
  const body = rows.filter(([, value]) => value !== "")
                   .map(
                       ([name, value]) =>
                           h("tr", {}, h("th", {scope: "row"}, t(name)), h("td", {class: "wrap"}, value)));
  return h("table", {class: "facts"}, h("tbody", {}, ...body));
}

function runView(model: ApiModel): HTMLElement {
  const {head} = model.report;
  const notices = head.notices.filter((notice) => notice !== "device: " + head.device);
  return section(
      "run", t("run"), ...notices.slice(0, MOST_NOTICES).map((text) => h("p", {class: "notice"}, text)),
      notices.length > MOST_NOTICES ? h("p", {}, t("truncated", count(notices.length - MOST_NOTICES))) : null,
      runFacts([
        [model.isPair ? "deviceTable" : "dump", model.isPair ? head.device : head.dump],
        [model.isPair ? "referenceTable" : "device", model.isPair ? head.reference : head.device],
        ["command", head.command.join(" ")],
        ["version", "ulpscope " + head.version + " (" + head.schema + ")"], ["policy", head.policy],
        ["seed", head.seed < 0 ? "" : String(head.seed)], ["outputs", count(head.summary["outputs"] ?? 0)],
        ["unreadable", count(head.summary["unreadable"] ?? 0)]
      ]));
}

export function drawApis(model: ApiModel): Drawn {
  const app: ApiApp = {
    model,
    filter: emptyApiFilter(),
    onFilter: [],
    showCall: () => undefined,
    setFilter: (change, scroll = false) => {
      Object.assign(app.filter, change);
      for (const told of app.onFilter) told();
      if (scroll) document.getElementById("table")?.scrollIntoView({behavior: "auto", block: "start"});
    }
  };
  const {summary} = model.report.head;
  // A run with errors opens on them; a healthy one on everything.
  if ((summary["fail"] ?? 0) > 0) app.filter.verdicts = new Set([3, 2]);
  const source = gridSource(app), grid = new Grid(source, t("calls"));
  const table = section("table", t("calls"), filterBar(app, grid, source), grid.box);
  app.onFilter.push(() => grid.update());
  grid.update();
  const [dialog, showCall] = detailOf(app, (call, by) => grid.beside(call, by));
  app.showCall = showCall;
  const choose = (rows: Set<number>, name: string) => {
    const calls = new Set([...rows].map((row) => model.callOfRow[row]!));
    app.setFilter({...emptyApiFilter(), only: (call) => calls.has(call), onlyText: name}, true);
  };
  return {
    title: t(model.isPair ? "precisionTitle" : "checkTitle"),
    sections: [
      ["finding", "finding"], ["judgements", "judgements"], ["table", "calls"], ["limits", "limits"],
      ["run", "run"]
    ],
    parts: [
      apiFinding(app), judgementsView(app), table,
      h("div", {class: "pair"}, limitsView(model.report, "verdict", choose), runView(model))
    ],
    dialog
  };
}
