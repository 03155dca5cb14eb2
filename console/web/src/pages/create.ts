// A new job: its name, when it fires and how many items it has; everything else has a default and can be changed later.
import { h } from "../draw";
import { operate } from "../operate";
import { page } from "../page";

export function createJob(): void {
  const config = { jobName: "", jobClass: "", jobType: "SIMPLE", cron: "0 0 * * * ?", shardingTotalCount: 1 };
  const body: Record<string, unknown> = {};
  const put = (): void => {
    body.job = config.jobName;
    body.text = JSON.stringify(config);
  };
  put();
  const field = (label: string, hint: string, name: "jobName" | "jobClass" | "cron", again: () => void): unknown =>
    h("label", { class: "field" }, h("span", null, label, " ", h("small", null, hint)), h("input", { class: "deed-field", autocomplete: "off", spellcheck: "false", value: config[name], oninput: (e: Event) => { config[name] = (e.target as HTMLInputElement).value; put(); again(); } }));
  operate({
    title: "Create a job", button: "Create the job", url: page.api("jobs"), body,
    does: "The settings are stored. The job runs as soon as a process that has its code joins it.",
    fields: (again) => [
      field("Name", "", "jobName", again),
      field("Class", "the name of the code; empty is the job's name", "jobClass", again),
      field("Cron", "", "cron", again),
      h("label", { class: "field" }, h("span", null, "Items"), h("input", { type: "number", min: "1", value: String(config.shardingTotalCount), oninput: (e: Event) => { config.shardingTotalCount = Number((e.target as HTMLInputElement).value); put(); again(); } })),
    ] as never,
    done: () => location.assign(new URL(page.link("jobs", config.jobName), document.baseURI)),
  });
}
