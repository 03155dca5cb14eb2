// What html/template says of the page that it rendered.

const data = document.documentElement.dataset;

export const page = {
  name: data.page ?? "",
  namespace: data.namespace ?? "",
  job: data.job ?? "",
  worker: new URL(data.worker ?? "", document.baseURI).href,
  /** api is the address of a resource of this namespace. */
  api: (...parts: (string | number)[]): string =>
    new URL(["api/v1/namespaces", data.namespace ?? "", ...parts].map((p, i) => (i === 0 ? p : encodeURIComponent(p))).join("/"), document.baseURI).href,
  /** link is the address of a page of this namespace, relative to the base. */
  link: (...parts: string[]): string => ["ns", data.namespace ?? "", ...parts].map(encodeURIComponent).join("/"),
  get events(): string {
    return page.api("events");
  },
};
