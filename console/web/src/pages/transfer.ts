// Export and import: jobs as a file, and what a file would make of the namespace.
import { ask, why } from "../api";
import { note, pattern } from "../chrome";
import { find } from "../draw";
import { many } from "../format";
import { mayAdminister } from "../me";
import { operate } from "../operate";
import { page } from "../page";

export function transfer(): void {
  const allowed = mayAdminister("");
  find("#refused").hidden = allowed;
  find("#forms").hidden = !allowed;
  const match = find<HTMLInputElement>("#export input");
  find<HTMLFormElement>("#export").onsubmit = (event) => {
    event.preventDefault();
    const url = new URL(page.api("export"));
    if (match.value.trim()) url.searchParams.set("match", pattern(match.value.trim()));
    void download(url);
  };

  /** download keeps an export as a file, and says what the file lacks, or why there is none. */
  const download = async (url: URL): Promise<void> => {
    try {
      const { body, headers } = await ask<string>("GET", url.href, undefined, {}, "yaml");
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([body], { type: "application/yaml" }));
      link.download = `${page.namespace}.yaml`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may still read it
      const lacks = Number(headers.get("Elasticron-Left-Out"));
      if (lacks > 0) note(`The file lacks ${many(lacks, "job")}, which its first lines name: ${body.slice(2, body.indexOf("\n"))}`, true);
    } catch (error) {
      note(`Nothing was exported: ${why(error)}`, true);
    }
  };

  const text = find<HTMLTextAreaElement>("#import textarea");
  const file = find<HTMLInputElement>("#import input[type=file]");
  file.onchange = async () => {
    const chosen = file.files?.[0];
    if (chosen) text.value = await chosen.text();
  };
  addEventListener("beforeunload", (event) => {
    if (text.value.trim() !== "") event.preventDefault();
  });
  find<HTMLFormElement>("#import").onsubmit = (event) => {
    event.preventDefault();
    if (text.value.trim() === "") return text.focus();
    operate({
      title: "Import jobs", button: "Import", url: page.api("import"), body: { text: text.value },
      does: "Jobs of the file that do not exist are created, the settings of the others become those of the file. Jobs that the file does not name stay as they are.",
      done: () => {
        text.value = "";
        file.value = "";
      },
    });
  };
}
