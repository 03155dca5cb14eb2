// A new job: its name, when it fires and how many items it has; everything else has a default and can be changed later.
import { goOn } from "../chrome";
import { h } from "../draw";
import { operate } from "../operate";
import { page } from "../page";

export function createJob(): void {
  const config = { jobName: "", jobClass: "", jobType: "SIMPLE", cron: "0 0 * * * ?", shardingTotalCount: 1 };
  const body: Record<string, unknown> = {};
  let items = "1"; // as it is typed
  const put = (): void => {
    body.job = config.jobName;
    body.text = JSON.stringify({ ...config, jobClass: config.jobClass || config.jobName, shardingTotalCount: Number(items) });
  };
  put();
  const field = (label: string, hint: string, value: string, take: (typed: string) => void, again: () => void, more: Record<string, unknown> = {}): unknown =>
    h("label", { class: "field" }, h("span", null, label, " ", h("small", null, hint)), h("input", { class: "deed-field", autocomplete: "off", spellcheck: "false", value, oninput: (e: Event) => { take((e.target as HTMLInputElement).value); put(); again(); }, ...more }));
  operate({
    title: "Create a job", button: "Create the job", url: page.api("jobs"), body,
    does: "The settings are stored. The job runs as soon as a process that has its code joins it.",
    lacks: () => (config.jobName === "" ? "Give the job a name." : /^\d+$/.test(items) ? "" : "Items is to be a number."),
    fields: (again) => [
      field("Name", "", config.jobName, (typed) => (config.jobName = typed), again),
      field("Class", "the name of the code; empty is the job's name", config.jobClass, (typed) => (config.jobClass = typed), again),
      field("Cron", "", config.cron, (typed) => (config.cron = typed), again),
      field("Items", "1 to 100,000", items, (typed) => (items = typed.trim()), again, { inputmode: "numeric" }),
    ] as never,
    quiet: true,
    done: () => goOn(page.link("jobs", config.jobName), `Done: Create ${config.jobName}.`),
  });
}
