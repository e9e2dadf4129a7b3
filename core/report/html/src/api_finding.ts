// The first thing that a reader of a check sees: which APIs are in error, the number that shows it best, why,
// and what to do next; then what each judgement said, and why calls were skipped.
import {emptyApiFilter} from "./api_model.ts";
import {ApiApp} from "./apis.ts";
import {section} from "./app.ts";
import {ApiGroup} from "./data.ts";
import {Child, h} from "./dom.ts";
import {copyable} from "./finding.ts";
import {SYMBOLS, VERDICTS} from "./model.ts";
import {count, nearOne, number, t} from "./text.ts";

// A verdict in the words of these commands.
export const outcomeName = (verdict: number) => verdict === 3 ? t("inError") : t(VERDICTS[verdict]!);

const MOST_OPEN = 3, MOST_LISTED = 300;

// "cosine 0.4211", or with both sides: "rmse ratio 12 (0.0012 against 0.0001)".
function metricWords(group: ApiGroup): string {
  if (group.metric === "" || group.value === undefined && group.ratio === undefined) return "";
  const near = group.metric === "cosine" && typeof group.value === "number";
  const value = near ? nearOne(1 - (group.value as number)) : number(group.value);
  if (group.ratio === undefined && group.reference === undefined) return group.metric + " " + value;
  const sides = number(group.value) + " " + t("against") + " " + number(group.reference);
  return group.ratio === undefined ?
      group.metric + " " + sides :
      group.metric + " " + t("ratio") + " " + number(group.ratio) + " (" + sides + ")";
}

function callIndex(app: ApiApp, api: string): number {
  const {report, calls} = app.model;
  return calls.findIndex((call) => report.text("api", call.first) === api);
}

function showKind(app: ApiApp, kind: string): void {
  const {report, calls} = app.model;
  const isOfKind = (call: number) => {
    const name = report.text("api", calls[call]!.first);
    return name === kind || name.startsWith(kind + ".") && /^\d+$/.test(name.slice(kind.length + 1));
  };
  app.setFilter({...emptyApiFilter(), only: isOfKind, onlyText: kind}, true);
}

function groupCounts(group: ApiGroup): string {
  if (group.error === 0) return t("callsWarn", count(group.warning), count(group.calls));
  return t("callsInError", count(group.error), count(group.calls)) +
      (group.warning > 0 ? " · " + t("alsoWarn", count(group.warning)) : "");
}

function groupCard(app: ApiApp, group: ApiGroup): HTMLElement {
  const call = callIndex(app, group.call), words = metricWords(group);
  return h(
      "article", {class: "culprit"}, h("h3", {}, h("span", {class: "name"}, group.api)),
      h("p", {class: "tags"},
        h("span", {class: "tag " + (group.error > 0 ? "fail" : "warning")}, groupCounts(group)),
        h("span", {class: "tag"}, group.judgement),
        group.dtype === "" ? null : h("span", {class: "tag"}, group.dtype + " " + group.shape)),
      h("ul", {class: "evidence"},
        h("li", {}, t("sampleCall") + " ", h("span", {class: "name"}, group.call), " ",
          h("span", {class: "name tensor"}, [group.direction, group.output].join(" ").trim())),
        words === "" ? null : h("li", {}, t("worstNumber") + " " + words),
        group.message === "" ? null : h("li", {}, group.message)),
      ...(group.next === "" ? [] : [h("h4", {}, t("next")), copyable(group.next)]),
      h("p", {class: "buttons"},
        call < 0 ? null : h("button", {type: "button", click: () => app.showCall(call)}, t("open")),
        h("button", {type: "button", click: () => showKind(app, group.api)}, t("showCalls"))));
}

function tiles(app: ApiApp): HTMLElement {
  const {summary} = app.model.report.head;
  return h(
      "div", {class: "tiles"},
      ...[3, 2, 1, 0].map(
          (verdict) =>
              h("button", {
                type: "button",
                class: "tile " + VERDICTS[verdict]!,
                click: () => app.setFilter({...emptyApiFilter(), verdicts: new Set([verdict])}, true)
              },
                h("strong", {}, SYMBOLS[verdict]! + " " + count(summary[VERDICTS[verdict]!] ?? 0)),
                h("span", {}, outcomeName(verdict)))));
}

function headline(app: ApiApp): [string, string, string] {
  const {summary} = app.model.report.head, all = count(summary["apis"] ?? 0);
  const n = (name: string) => summary[name] ?? 0;
  if (n("fail") > 0) return ["fail", SYMBOLS[3], t("callsInError", count(n("fail")), all)];
  if (n("warning") > 0) return ["warning", SYMBOLS[2], t("callsWarn", count(n("warning")), all)];
  if (n("pass") > 0) return ["pass", SYMBOLS[1], t("allPass", count(n("pass")))];
  return ["skip", SYMBOLS[0], t("nothingChecked")];
}

export function apiFinding(app: ApiApp): HTMLElement {
  const {head} = app.model.report, {page} = head, [tone, symbol, title] = headline(app);
  const others = page.groups.slice(MOST_OPEN);
  const hidden = page.all_groups - Math.min(page.groups.length, MOST_OPEN + MOST_LISTED);
  const list: Child = others.length === 0 ?
      null :
      h("details", {class: "list"},
        h("summary", {}, t("otherApis") + " (" + count(page.all_groups - MOST_OPEN) + ")"),
        ...others.slice(0, MOST_LISTED)
            .map(
                (group) =>
                    h("details", {class: "other"},
                      h("summary", {}, h("span", {class: "name"}, group.api), " ",
                        h("small", {}, groupCounts(group))),
                      groupCard(app, group))),
        hidden > 0 ? h("p", {}, t("truncated", count(hidden))) : null);
  const sides = app.model.isPair ?
      [h("span", {class: "name"}, head.device), " ↔ ", h("span", {class: "name"}, head.reference)] :
      [
        h("span", {class: "name"}, head.dump),
        head.device === "" ? "" : " · " + t("device") + " " + head.device
      ];
  const unreadable = head.summary["unreadable"] ?? 0;
  return h(
      "section", {id: "finding", class: "finding " + tone},
      h("h1", {}, h("span", {class: "symbol", "aria-hidden": "true"}, symbol), " ", title),
      h("p", {class: "sides"}, ...sides),
      unreadable > 0 ? h("p", {class: "notice"}, t("couldNotCheck", count(unreadable))) : null,
      ...page.groups.slice(0, MOST_OPEN).map((group) => groupCard(app, group)), tiles(app),
      page.calls < page.all_calls ?
          h("p", {class: "partly"}, t("partlyCalls", count(page.calls), count(page.all_calls))) :
          null,
      list);
}

// Counts of outputs by judgement and verdict, and reasons for which calls were skipped.
export function judgementsView(app: ApiApp): HTMLElement {
  const {judgements, reasons} = app.model.report.head.page;
  const rows = judgements.map(
      ([name, skip, pass, warning, error]) =>
          h("tr", {}, h("th", {scope: "row"}, name === "" ? t("none") : name),
            ...[error, warning, pass, skip].map(
                (n, i) =>
                    h("td", {class: "number" + (n > 0 ? " symbol " + VERDICTS[3 - i]! : "")}, count(n)))));
  const head =
      h("tr", {}, h("th", {scope: "col"}, t("judgement")),
        ...[3, 2, 1, 0].map(
            (verdict) =>
                h("th", {scope: "col", class: "number"}, SYMBOLS[verdict]! + " " + outcomeName(verdict))));
  const told = [...reasons].sort((a, b) => b[1] - a[1]);
  const skips = told.map(
      ([reason, n]) => h(
          "tr", {}, h("td", {class: "number"}, count(n)), h("td", {class: "wrap"}, reason || t("noReason"))));
  return section(
      "judgements", t("judgements"), h("p", {class: "muted"}, t("judgementsHelp")),
      h("div", {class: "pair"},
        h("div", {class: "scroll"},
          rows.length === 0 ? h("p", {class: "muted"}, t("nothing")) :
                              h("table", {class: "facts"}, h("thead", {}, head), h("tbody", {}, ...rows))),
        h("div", {class: "scroll"}, skips.length === 0 ? null : h("h4", {}, t("skipReasons")),
          skips.length === 0 ? null : h("table", {class: "facts"}, h("tbody", {}, ...skips)))));
}
