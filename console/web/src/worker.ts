// The SharedWorker: the hub for all pages of the browser.
import { Hub, type Message } from "./hub";

const hub = new Hub();

(globalThis as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = (event) => {
  const port = event.ports[0];
  const tell = (message: Message): void => port.postMessage(message);
  port.onmessage = (heard: MessageEvent<Message>) => {
    if (heard.data.kind === "want") hub.want(tell, heard.data.want);
  };
  port.addEventListener("close", () => hub.want(tell, null)); // the page is gone without a word
};
