// Export and import: jobs as a file, and what a file would make of the namespace.
import { pattern } from "../chrome";
import { find } from "../draw";
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
    const link = document.createElement("a");
    link.href = url.href;
    link.download = `${page.namespace}.yaml`;
    link.click();
  };

  const text = find<HTMLTextAreaElement>("#import textarea");
  const file = find<HTMLInputElement>("#import input[type=file]");
  file.onchange = async () => {
    const chosen = file.files?.[0];
    if (chosen) text.value = await chosen.text();
  };
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
