// The six steps of a localisation as a path: how far it came, where it ended, and which operators are at
// fault. Pure.
import {LocateHead, LocateStep} from "./data.ts";

// right: the stage shows nothing wrong; wrong: it does not reach the accuracy, or does not cure; fault: what
// it takes away is at fault; asked: it is needed next; open: the flow has not come so far; spare: it was not
// needed.
export type PlaceState = "right"|"wrong"|"fault"|"asked"|"open"|"spare";
export interface Place {
  number: number;
  state: PlaceState;
  steps: LocateStep[];
}

const FAULTS: Record<string, number> = {
  cured_by_high_precision: 2,
  cured_by_keep: 2,
  nothing_found: 2,
  no_progress: 2,
  cache: 3,
  fusion: 4,
  data: 5,
  golden_compared: 6
};

export function placeOfStage(stage: string): number {
  if (stage === "origin") return 1;
  if (stage === "high_precision" || stage.startsWith("keep_")) return 2;
  return ({cache_off: 3, fusion_off: 4, data_check: 5, data_checked: 5, golden: 6} as
          Record<string, number>)[stage] ??
      0;
}

const numberOf = (step: LocateStep) => Number(step.step[0] ?? 0);

function stateOf(head: LocateHead, number: number, steps: LocateStep[]): PlaceState {
  if (head.ask && placeOfStage(head.ask.stage) === number) return "asked";
  if (FAULTS[head.outcome] === number) return "fault";
  if (steps.length === 0) return head.ask ? "open" : "spare";
  if (number === 5) return "right";
  const judged = [...steps].reverse().find((step) => step.met !== null);
  return judged?.met ? "right" : "wrong";
}

export function path(head: LocateHead): Place[] {
  return [1, 2, 3, 4, 5, 6].map((number) => {
    const steps = head.steps.filter((step) => numberOf(step) === number);
    return {number, steps, state: stateOf(head, number, steps)};
  });
}

// The first operator of each comparison: those of the rounds in their order, each once.
export function culprits(head: LocateHead): {op: string, step: LocateStep}[] {
  const found: {op: string, step: LocateStep}[] = [];
  for (const step of head.steps)
    if (step.first && !found.some((known) => known.op === step.first!.op))
      found.push({op: step.first.op, step});
  return found;
}

export const stepName = (step: LocateStep) => "S" + step.step;
