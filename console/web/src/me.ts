// Who looks at the page, and what the server will let them do. The server decides; the page only spares people
// buttons that it would refuse.
import { ask, Problem, why } from "./api";
import { note } from "./chrome";
import { page } from "./page";

interface Grant {
  role: "viewer" | "operator" | "admin";
  namespace: string;
  jobs: string;
}
interface Me {
  name: string;
  how: string;
  roles: string[];
  grants?: Grant[];
}

const RANKS = { viewer: 0, operator: 1, admin: 2 };

/** TRIES is how often the server is asked, RETRY how long a page waits in between, in ms. */
const TRIES = 3;
const RETRY = 1_000;

let grants: Grant[] | null = null;

/** know asks the server, and says so if it does not answer. Who it is that nobody knows may do everything: the server listens on
 * loopback only. */
export async function know(): Promise<void> {
  for (let left = TRIES; !grants; ) {
    try {
      const me = (await ask<Me>("GET", "api/v1/me")).body;
      grants = me.grants ?? me.roles.map((role) => ({ role: role as Grant["role"], namespace: "*", jobs: "*" }));
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return; // it leads to the login
      if (--left === 0) return note(`What you may do is not known, so no operation is offered: ${why(error)}. Load the page again later.`, true);
      await new Promise((wake) => setTimeout(wake, RETRY));
    }
  }
}

/** may tells whether the role reaches a job; an empty name is the namespace as a whole. */
function may(role: keyof typeof RANKS, job: string): boolean {
  if (!grants) return false;
  return grants.some((g) => RANKS[g.role] >= RANKS[role] && matches(g.namespace || "*", page.namespace) && (job === "" ? (g.jobs || "*") === "*" : matches(g.jobs || "*", job)));
}

export const mayOperate = (job: string): boolean => may("operator", job);
export const mayAdminister = (job: string): boolean => may("admin", job);
/** mayOperateSome tells whether it is worth while to offer operations on lists. */
export const mayOperateSome = (): boolean => !!grants?.some((g) => RANKS[g.role] >= RANKS.operator && matches(g.namespace || "*", page.namespace));

function matches(glob: string, name: string): boolean {
  const parts = glob.split(/(\*|\?|\[[^\]]*\])/).map((p) => (p === "*" ? ".*" : p === "?" ? "." : /^\[.*\]$/.test(p) ? p : p.replace(/[.+^${}()|\\]/g, "\\$&")));
  return new RegExp(`^${parts.join("")}$`).test(name);
}
