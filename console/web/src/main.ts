// The entry: furnishes what every page has and starts the module of this page.
import { furnish } from "./chrome";
import "./lanes";
import { know } from "./me";
import { page } from "./page";
import { audit } from "./pages/audit";
import { history } from "./pages/history";
import { job } from "./pages/job";
import { jobs } from "./pages/jobs";
import { log } from "./pages/log";
import { overview } from "./pages/overview";
import { servers } from "./pages/servers";
import { settings } from "./pages/settings";
import { transfer } from "./pages/transfer";

const pages: Record<string, () => void | Promise<void>> = { overview, jobs, job, settings, servers, history, log, audit, transfer };

/** work lets people use what the server sends as inert, because nothing would come of it before the page's module listens. */
const work = (within: string): void => document.querySelectorAll(`${within} [inert]`).forEach((part) => part.removeAttribute("inert"));

furnish();
work("header");
const start = pages[page.name];
if (start) void know().then(() => {
  void start();
  work("main");
});
