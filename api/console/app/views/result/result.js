// The result of a scan in a view: its summary and its tabs. Each tab has a file, loaded when it is opened.
import { address, PATHS, request, unlessAborted } from "../../api.js";
import { count } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { t } from "../../i18n.js";
import { go } from "../../router.js";
import { isPageOrder, PARTS, viewParts } from "../../parts/scan_request.js";
import { ErrorNote, Loading, Panel, Tabs } from "../../parts/ui.js";
import { Ranking } from "./ranking.js";
import { Summary } from "./summary.js";
import "../../messages/result.js";

// The view that an address asks for; `own`: the parameters of the job. `page_order`: by a column that the service does
// not rank by.
function viewOf(query, own) {
  return {
    page_order: isPageOrder(query.sort) ? query.sort : "",
    sort_by: query.sort && !isPageOrder(query.sort) ? query.sort : own.sort_by,
    count: query.rows ? Number(query.rows) : own.count,
    viral_only: query.viral ? query.viral === "1" : own.viral_only,
    viral_threshold: query.threshold ? Number(query.threshold) : own.viral_threshold,
    include_variants: query.variants === "1",
  };
}

// The result of a job in the order, length and filter of an address: {result, view, own, source, error, change}. The
// service ranks it; `source` is the path it is read from. `own`: the parameters of the job. `change(part, more)` goes
// to another view, with further parts of the address.
export function useView(job, query) {
  const own = job.parameters;
  const view = viewOf(query, own);
  const changed = Object.fromEntries(
    Object.values(PARTS)
      .filter((name) => view[name] !== own[name])
      .map((name) => [name, view[name]]),
  );
  if (view.include_variants) changed.include_variants = true;
  const isOwn = !Object.keys(changed).length;
  const source = address(`${PATHS.jobList}/${job.job_id}/ranking`, changed);
  const [other, setOther] = useState(null); // the result in another view than that of the job
  const [error, setError] = useState(null);
  useEffect(() => {
    setError(null); // of a view that is left
    if (isOwn) {
      setOther(null);
      return undefined;
    }
    const stopping = new AbortController();
    request(source, { signal: stopping.signal }).then(
      (envelope) => setOther(envelope.data.result),
      unlessAborted(setError),
    );
    return () => stopping.abort();
  }, [source]);
  const change = (part, more) => {
    const next = { ...view, ...part };
    go(["job", job.job_id], {
      ...query,
      ...more,
      ...viewParts(next, own),
      variants: next.include_variants ? "1" : "",
      ...(next.page_order && { sort: next.page_order }),
    });
  };
  // an order of a table: that of a column of the page, or of the service
  const order = view.page_order || view.sort_by;
  const setOrder = (next) =>
    change(isPageOrder(next) ? { page_order: next } : { page_order: "", sort_by: next });
  return { result: other ?? job.result, view, own, source, error, change, order, setOrder };
}

// These tabs are loaded when they are opened.
const LATER = {
  accounts: async () => (await import("./accounts.js")).Accounts,
  popularity: async () => (await import("./popularity.js")).Popularity,
  plots: async () => (await import("./plots.js")).Plots,
  genealogy: async () => (await import("./genealogy.js")).Genealogy,
  variants: async () => (await import("./variants.js")).Variants,
  versions: async () => (await import("./versions.js")).Versions,
  related: async () => (await import("./related.js")).Related,
  comparisons: async () => (await import("./comparisons.js")).Comparisons,
  coverage: async () => (await import("./coverage.js")).Coverage,
};
function Later({ name, ...props }) {
  const [Component, setComponent] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    LATER[name]().then((component) => setComponent(() => component), setError);
  }, [name]);
  if (error) return html`<${ErrorNote} error=${error} onRetry=${() => location.reload()} />`;
  return Component ? html`<${Component} ...${props} />` : html`<${Loading} tall />`;
}

// The result as the other tabs show it: variants are rows of the ranking alone.
function withoutVariants(result) {
  if (!result.totals.includes_variants) return result;
  return { ...result, aweme_list: result.aweme_list.filter((video) => !video.variant_kind) };
}

const OLD_TABS = { heard: "comparisons", picture: "plots" }; // names in addresses that were saved before

export function Result({ job, query }) {
  const viewed = useView(job, query);
  const { result } = viewed;
  const isByName = result.keyword !== null;
  const first = isByName ? "related" : "ranking";
  const tab = OLD_TABS[query.tab] ?? query.tab ?? first;
  const Tab = tab === "ranking" ? Ranking : LATER[tab] && Later;
  // a new history entry, so that Back returns to the previous tab
  const choose = (name) => go(["job", job.job_id], { ...query, tab: name === first ? "" : name });
  const tabs = [
    !isByName && ["ranking", t("tab.ranking"), count(result.returned_count)],
    !isByName && ["accounts", t("tab.accounts"), count(result.unique_account_count)],
    !isByName && ["popularity", t("tab.popularity")],
    !isByName && ["plots", t("tab.plots")],
    !isByName && ["genealogy", t("tab.genealogy")],
    !isByName && ["variants", t("tab.variants"), count(result.variants.count)],
    !isByName && ["versions", t("tab.versions"), result.versions ? count(result.versions.count) : undefined],
    ["related", t("tab.related"), count(result.search_related.returned_count)],
    !isByName && ["comparisons", t("tab.comparisons")],
    ["coverage", t("tab.coverage")],
  ].filter(Boolean);
  return html`
    <div class="stack result">
      <${Summary} result=${result} isByName=${isByName} job=${job} />
      <${Tabs} tabs=${tabs} chosen=${tab} onChoose=${choose} label=${t("tab.label")} />
      <${Panel} name=${tab}>
        ${Tab && html`
          <${Tab} key=${tab} name=${tab} ...${{ job, query, viewed, isByName }} result=${withoutVariants(result)} />
        `}
      <//>
    </div>
  `;
}
