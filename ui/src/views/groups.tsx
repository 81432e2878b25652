// Groups of like pages: the pages that the crawl found again elsewhere, the largest group first.

import { useRef, useState } from "preact/hooks";
import { get, type Groups as GroupsAnswer } from "../api";
import type { ViewProps } from "../app";
import { Empty, HostName, PageLink, Problem, Score, useLoad, Verdict } from "../bits";
import { count, counted } from "../format";
import { href } from "../route";

const step = 50; // groups of one request
const most = 200; // that the interface gives at once

export function Groups({ n }: ViewProps) {
  const [limit, setLimit] = useState(step);
  const list = useLoad(`groups/${n}/${limit}`, (signal) => get<GroupsAnswer>(n, "groups", { limit }, signal));
  const last = useRef(list.value);
  last.current = list.value ?? last.current;
  const got = last.current;
  const groups = got?.groups ?? [];
  return (
    <>
      <h1>{got ? counted(got.total, "group") : "Groups"} of like pages</h1>
      <Problem text={list.error} />
      {got && got.total > 0 && <p class="lead">The crawl left out {count(got.copies)} {got.copies === 1 ? "copy" : "copies"} of pages that it has.</p>}
      {got && got.total === 0 && <Empty>No URL ended as a copy of a stored page.</Empty>}
      {groups.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Groups of like pages">
          <table class="table">
            <thead><tr><th scope="col" class="num">URLs</th><th scope="col">Page that is kept</th><th scope="col">Host</th><th scope="col">Score</th><th scope="col">Label</th></tr></thead>
            <tbody>
              {groups.map((g) => (
                <tr key={g.number}>
                  <td class="num"><a href={href(n, "pages", { like: g.number })} aria-label={`open the group of ${counted(g.copies + 1, "URL")}`}>{count(g.copies + 1)}</a></td>
                  <th scope="row"><PageLink store={n} url={g.page.url} title={g.page.title} /></th>
                  <td><HostName host={g.page.host} /></td>
                  <td><Score value={g.page.score} /></td>
                  <td><Verdict row={g.page} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {groups.length < Math.min(got?.total ?? 0, most) && <button type="button" onClick={() => setLimit(Math.min(most, limit + step))}>Show more of {count(got?.total)}</button>}
    </>
  );
}
