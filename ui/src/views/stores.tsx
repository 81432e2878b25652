// The list of stores, compared; without one, how to begin.

import { Empty, Problem, Score, Web } from "../bits";
import type { Store } from "../api";
import { clean, count, percent, time } from "../format";
import { href } from "../route";

export function Stores({ stores }: { stores: Store[] }) {
  if (stores.length === 0) return <Begin />;
  const best = stores.reduce((a, b) => ((b.harvest ?? 0) > (a.harvest ?? 0) ? b : a));
  return (
    <>
      <h1>{count(stores.length)} stores, {count(stores.reduce((n, s) => n + s.pages, 0))} pages</h1>
      {best.harvest != null && <p class="lead"><Web text={best.name} /> has the largest share of pages on topic: {percent(best.harvest)}.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Stores">
        <table class="table">
          <thead><tr><th scope="col">Store</th><th scope="col">Topic</th><th scope="col" class="num">Pages</th><th scope="col" class="num">On topic</th><th scope="col">Harvest</th><th scope="col">State</th><th scope="col">Last page</th></tr></thead>
          <tbody>
            {stores.map((s, i) => (
              <tr key={s.dir}>
                <th scope="row"><a href={href(i, "crawl")}><Web text={s.name} length={60} /></a><small class="block"><Web text={s.dir} length={90} /></small></th>
                <td><Web text={s.topics?.join(", ") || s.topic} length={60} /></td>
                <td class="num">{count(s.pages)}</td>
                <td class="num">{count(s.relevant)}</td>
                <td><Score value={s.harvest} /></td>
                <td><span class={s.running ? "tag good" : "tag"}>{s.running ? "running" : "ended"}</span>{s.error && <Problem text={clean(s.error)} />}</td>
                <td>{time(s.updated)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const steps: [string, string][] = [
  ["See all of it on a small web of its own, offline", "fossick demo"],
  ["Make a topic from words and start pages", "fossick topic new bees --keywords bee,hive,honey --seed example.org/bees"],
  ["Crawl for it, and watch here", "fossick focus --topic bees --contact you@example.org --ui"],
  ["Look at a crawl again", "fossick ui fossick-bees"],
];

function Begin() {
  return (
    <section class="card narrow">
      <h1>No crawl is open</h1>
      <Empty>Run one of these in a terminal; fossick ui without a store starts them here.</Empty>
      <ol class="steps">{steps.map(([why, line]) => <li key={line}>{why}<code class="block">{line}</code></li>)}</ol>
    </section>
  );
}
