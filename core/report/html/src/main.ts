// Reads what kind of report this is, and draws it.
import {ApiModel} from "./api_model.ts";
import {drawApis} from "./apis.ts";
import {drawComparison} from "./compare.ts";
import {AnyHead, ApiHead, Head, LocateHead, Report} from "./data.ts";
import {h} from "./dom.ts";
import {drawLocate} from "./locate.ts";
import {Model} from "./model.ts";
import {Drawn, listenToKeys, show} from "./shell.ts";
import {setLanguage} from "./text.ts";

const block = (name: string) => document.getElementById("block-" + name)!.textContent!;

function drawer(): () => Drawn {
  const kind = new Report<AnyHead>(block).head.schema.split("/")[0];
  if (kind === "ulpscope.check" || kind === "ulpscope.precision_compare") {
    const model = new ApiModel(new Report<ApiHead>(block));
    return () => drawApis(model);
  }
  if (kind === "ulpscope.locate") {
    const report = new Report<LocateHead>(block);
    return () => drawLocate(report);
  }
  const model = new Model(new Report<Head>(block));
  return () => drawComparison(model);
}

try {
  setLanguage(document.documentElement.lang === "zh" ? "zh" : "en");
  show(drawer());
  listenToKeys();
  document.documentElement.dataset["ready"] = "yes";
} catch (error) {
  document.getElementById("app")!.append(
      h("p", {class: "fail"}, "The report cannot be shown: " + String(error)));
}
