// The agents of a crawl that several make together, and who owns which site.

import { useState } from "preact/hooks";
import { get, serverTime, type Agents as All, type Whole } from "../api";
import { message, Problem, Tile, useLoad, Web } from "../bits";
import { count, duration, percent } from "../format";

const every = 3000; // ms between two looks
const partitions = 1024;

/** The figures of all agents together. */
export function WholeTiles({ whole }: { whole: Whole }) {
  return (
    <dl class="tiles">
      <Tile name="Pages" value={count(whole.fetched)} more={whole.max_pages ? `of ${count(whole.max_pages)}` : null} />
      <Tile name="On topic" value={count(whole.relevant)} />
      <Tile name="Harvest" value={percent(harvest(whole))} />
      <Tile name="Pages a second" value={whole.pages_per_second.toFixed(1)} />
      <Tile name="Waiting links" value={count(whole.waiting)} />
      <Tile name="Time left" value={duration(secondsLeft(whole))} />
      <Tile name="Agents" value={count(whole.agents)} more={whole.dead ? `${count(whole.dead)} gone` : null} />
    </dl>
  );
}

/** How long the rest of the pages takes at the present pace; null if there is no limit or no pace. */
function secondsLeft(w: Whole): number | null {
  return w.max_pages && w.pages_per_second > 0.01 ? Math.max(0, w.max_pages - w.fetched) / w.pages_per_second : null;
}

function harvest(of: { fetched: number; relevant: number }): number | null {
  return of.fetched ? of.relevant / of.fetched : null;
}

export function Agents({ n, whole }: { n: number; whole: Whole }) {
  const all = useLoad(`agents/${n}`, (signal) => get<All>(n, "agents", {}, signal), every);
  const agents = all.value?.agents ?? [];
  const heard = agents.some((a) => a.heard); // agents in one process know each other's state at once
  const word = (name: string, state: string) => (state === "dead" ? "gone" : state || (name === all.value?.coordinator ? "coordinator" : "works"));
  return (
    <>
      <h2 id="agents">Agents</h2>
      <Problem text={all.error} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of agents">
        <table class="table">
          <thead><tr>
            <th scope="col">Agent</th><th scope="col">State</th><th scope="col" class="num">Pages</th><th scope="col" class="num">On topic</th><th scope="col" class="num">Harvest</th>
            <th scope="col" class="num">Pages/s</th><th scope="col" class="num">Waiting</th><th scope="col" class="num">Its part of the web</th>{heard && <th scope="col" class="num">Heard</th>}
          </tr></thead>
          <tbody>
            {agents.map((a) => (
              <tr key={a.name}>
                <th scope="row" class="name"><Web text={a.name} length={40} /><small class="block"><Web text={a.place} length={40} />{a.name === all.value?.self && " (this one)"}</small></th>
                <td><span class={a.state === "dead" ? "tag bad" : a.state ? "tag" : "tag good"}>{word(a.name, a.state)}</span></td>
                <td class="num">{count(a.fetched)}</td>
                <td class="num">{count(a.relevant)}</td>
                <td class="num">{percent(harvest(a))}</td>
                <td class="num">{a.pages_per_second.toFixed(1)}</td>
                <td class="num">{count(a.waiting)}</td>
                <td class="num">{percent(a.partitions / partitions)}</td>
                {heard && <td class="num">{ago(a.heard)}</td>}
              </tr>
            ))}
          </tbody>
          <tfoot><tr>
            <th scope="row" class="name">All agents</th><td /><td class="num">{count(whole.fetched)}</td><td class="num">{count(whole.relevant)}</td><td class="num">{percent(harvest(whole))}</td>
            <td class="num">{whole.pages_per_second.toFixed(1)}</td><td class="num">{count(whole.waiting)}</td><td class="num">{percent(whole.partitions / partitions)}</td>{heard && <td />}
          </tr></tfoot>
        </table>
      </div>
      <p class="note">
        Each agent has reported this a few seconds ago. The limits of pages and harvest hold for all agents together, and a label given here reaches all. This page cannot pause
        or stop them: Ctrl-C in a terminal ends the agents that run there, and those elsewhere take over their sites.
      </p>
      <Owner n={n} />
    </>
  );
}

function ago(at: string | undefined): string {
  return at ? `${duration(Math.max(0, (Date.parse(serverTime()) - Date.parse(at)) / 1000))} ago` : "–";
}

/** Tells which agent owns a site. */
function Owner({ n }: { n: number }) {
  const [said, say] = useState<{ text?: string; error?: string }>({});
  const ask = async (e: SubmitEvent) => {
    e.preventDefault();
    const of = String(new FormData(e.currentTarget as HTMLFormElement).get("of")).trim();
    if (!of) return;
    try {
      const { owner, self, agents } = await get<All>(n, "agents", { of });
      if (!owner) say({ error: "The crawl has just ended." });
      else if (!owner.agent) say({ text: `${owner.site}, in part ${owner.partition} of ${count(partitions)}, belongs to nobody at the moment.` });
      else {
        const at = owner.agent === self ? "this one" : agents.find((a) => a.name === owner.agent)?.place;
        say({ text: `${owner.site}, in part ${owner.partition} of ${count(partitions)}, belongs to agent ${owner.agent}${at ? `, ${at}` : ""}.` });
      }
    } catch (err) {
      say({ error: message(err) });
    }
  };
  return (
    <>
      <form class="inline" onSubmit={ask}>
        <label class="grow">Which agent owns a host or URL?<input name="of" placeholder="www.example.org" autocomplete="off" spellcheck={false} /></label>
        <button type="submit">Ask</button>
      </form>
      <p class="note" role="status">{said.text && <Web text={said.text} length={300} />}</p>
      <Problem text={said.error ?? null} />
    </>
  );
}
