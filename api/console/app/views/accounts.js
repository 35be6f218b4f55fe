// Creators: the profile, the posts, and the metrics of an account over a number of days, as tabs of one view.
import { address, PATHS, request } from "../api.js";
import { compact, count, day, Foreign, moment, published } from "../format.js";
import { html, signal, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { link, replaceAddress } from "../router.js";
import { Bars } from "../parts/charts.js";
import { ExportMenu, SaveRows } from "../parts/export.js";
import { Picture } from "../parts/media/picture.js";
import { Raw } from "../parts/raw.js";
import { useParameter } from "../parts/reads.js";
import { accountOf } from "../parts/scan_request.js";
import { sortRows, Table } from "../parts/table.js";
import {
  Badge,
  Card,
  Empty,
  ErrorNote,
  Figures,
  Head,
  Loading,
  SelectField,
  TextField,
  useTitle,
} from "../parts/ui.js";
import { hashtagsColumn, VideoCard, VideoCell } from "../parts/video.js";
import { WatchButton } from "../parts/watch.js";
import "../messages/accounts.js";
import "../messages/figures.js";
import "../messages/page.js";
import "../messages/result.js";

const SEC = /^MS4wLjABAAAA[\w.-]+$/;
const account = signal(""); // shared by all tabs
const TABS = ["profile", "posts", "metrics"];

// An id is taken as it is; the service finds that of anything else.
const toSecId = async (text) => (SEC.test(text) ? text : accountOf(text));

// State and loader of a view that reads one account. `field`: the one beside the account in the form and the address,
// {name, inAddress, usual, value, set}: `value` is that of the form, `usual` stays out of the address.
function useAccount(query, view, read, field = {}) {
  const [state, setState] = useState({});
  const currentKey = useRef(null); // of what is displayed or being read
  const newest = useRef(0); // number of the last read: responses of earlier ones are dropped
  const keyOf = (id, value) => `${id} ${value}`;
  const run = async (text, value = field.value) => {
    if (!text.trim()) return;
    const number = ++newest.current;
    setState({ busy: true });
    try {
      const id = await toSecId(text.trim());
      if (number !== newest.current) return;
      currentKey.current = keyOf(id, value);
      replaceAddress([view], { id, ...(field.name && { [field.name]: value === field.usual ? "" : value }) });
      const data = await read(id, value);
      if (number === newest.current) setState({ id, data });
    } catch (error) {
      if (number === newest.current) setState({ error });
    }
  };
  useEffect(() => {
    const leave = () => {
      newest.current += 1; // a view that was left changes no address
    };
    return leave;
  }, []);
  // Another address, or Back, shows something else.
  useEffect(() => {
    if (!query.id || keyOf(query.id, field.inAddress) === currentKey.current) return;
    account.value = query.id;
    field.set?.(field.inAddress);
    run(query.id, field.inAddress);
  }, [query.id, field.inAddress]);
  return [state, run, setState];
}

function AccountForm({ busy, onRun, action, children }) {
  const submit = (event) => {
    event.preventDefault();
    onRun(account.value);
  };
  return html`
    <form class="card" onSubmit=${submit}>
      <${TextField}
        label=${t("user.input")}
        value=${account.value}
        onInput=${(value) => {
          account.value = value;
        }}
        placeholder=${t("user.placeholder")}
        hint=${t("user.hint")}
      />
      ${children}
      <div class="row">
        <button type="submit" class="button main-act" disabled=${busy || !account.value.trim()}>
          ${t(busy ? "act.reading" : action)}
        </button>
      </div>
    </form>
  `;
}

// Title and tabs of the view. Each tab has an address of its own and shows the account that is open.
function CreatorTabs({ chosen, id, lead }) {
  useTitle(t(`nav.${chosen}`));
  return html`
    <${Head} title=${t("nav.creators")} lead=${lead} />
    <nav class="tabs" aria-label=${t("nav.creators")}>
      ${TABS.map((name) => html`
        <a key=${name} href=${link([name], { id })} aria-current=${name === chosen ? "page" : undefined}>
          ${t(`nav.${name}`)}
        </a>
      `)}
    </nav>
  `;
}

function AccountActions({ id, name }) {
  return html`
    <a class="button little" href=${link(["time", "account", id])}>${t("act.time")}</a>
    <${WatchButton} kind="account" id=${id} title=${name} />
  `;
}

export function ProfileView({ query }) {
  const [state, run] = useAccount(
    query,
    "profile",
    async (id) => (await request(PATHS.profile, { query: { sec_user_id: id }, isShown: true })).data,
  );
  const user = state.data?.user;
  return html`
    <${CreatorTabs} chosen="profile" id=${query.id} lead=${t("profile.lead")} />
    <${AccountForm} busy=${state.busy} onRun=${run} action="profile.read" />
    <${ErrorNote} error=${state.error} />
    ${state.busy && html`<${Card}><${Loading} /><//>`}
    ${user && html`
      <${Card}>
        <div class="person">
          <${Picture} kind="account" id=${user.sec_uid} name=${user.nickname} size="large" />
          <div style=${{ minWidth: 0 }}>
            <h2><${Foreign} text=${user.nickname} /></h2>
            <p class="small soft">
              @
              <${Foreign} text=${user.unique_id ?? user.short_id} />
              ${user.ip_location ? html`${" "}· <${Foreign} text=${user.ip_location} />` : ""}
            </p>
          </div>
        </div>
        ${user.signature && html`<p style=${{ whiteSpace: "pre-line" }}><${Foreign} text=${user.signature} /></p>`}
        <${Figures}
          items=${[
            [t("stat.follower_count"), count(user.follower_count)],
            [t("stat.total_favorited"), count(user.total_favorited)],
            [t("stat.aweme_count"), count(user.aweme_count)],
            [t("stat.following_count"), count(user.following_count)],
            [t("stat.favoriting_count"), count(user.favoriting_count)],
          ]}
        />
        <dl class="pairs">
          <dt>sec_uid</dt>
          <dd class="mono tiny" style=${{ overflowWrap: "anywhere" }}>${user.sec_uid}</dd>
          <dt>${t("col.observed")}</dt>
          <dd>${moment(state.data.observed_at)}</dd>
          <dt>${t("coverage.provider")}</dt>
          <dd class="mono">${state.data.data_provider}</dd>
        </dl>
        <div class="row"><${AccountActions} id=${state.id} name=${user.nickname} /></div>
      <//>
    `}
    ${!user && !state.busy && !state.error && html`
      <${Empty} title=${t("profile.empty")} icon="person">${t("user.empty_hint")}<//>
    `}
    <${Raw} />
  `;
}

// The service sorts by publication and by likes, the page by the other columns.
const postColumns = () => [
  {
    key: "video",
    label: t("col.video"),
    class: "cell-title",
    value: (row) => row.desc,
    render: (row) => html`<${VideoCell} video=${row} />`,
  },
  { key: "date", label: t("col.published"), num: true, sort: [NEWEST], render: published },
  { ...countOf("digg_count"), sort: [HOTTEST] },
  countOf("comment_count"),
  countOf("collect_count"),
  countOf("share_count"),
  hashtagsColumn(),
  {
    key: "complete",
    label: t("col.complete"),
    value: (row) => t(row.statistics_complete ? "col.exact" : "col.partial"),
    render: (row) => html`
      <${Badge} tone=${row.statistics_complete ? "good" : "warn"}>
        ${t(row.statistics_complete ? "col.exact" : "col.partial")}
      <//>
    `,
  },
  {
    key: "time",
    label: t("col.more"),
    class: "nowrap",
    render: (row) => html`<a href=${link(["time", "video", row.aweme_id])}>${t("act.time")}</a>`,
  },
];

const [NEWEST, HOTTEST] = ["0", "1"]; // orders of the service
const countOf = (name) => ({ key: name, label: t(`stat.${name}`), num: true, value: (row) => row.statistics?.[name] });

export function PostsView({ query }) {
  const sortInAddress = query.sort === HOTTEST ? HOTTEST : NEWEST;
  const [order, setOrder] = useState(sortInAddress); // of the form; the list keeps the order it was read in
  const [pageOrder, setPageOrder] = useState(""); // by a column of the posts that are shown
  const read = async (parameters) => (await request(PATHS.posts, { query: parameters, isShown: true })).data;
  const readFirst = async (id, sort) => {
    const parameters = { sec_user_id: id, max_cursor: 0, sort_type: sort };
    return { parameters, pages: [await read(parameters)] };
  };
  const [state, run, setState] = useAccount(query, "posts", readFirst, {
    name: "sort",
    inAddress: sortInAddress,
    usual: NEWEST,
    value: order,
    set: setOrder,
  });
  const { parameters, pages = [] } = state.data ?? {};
  const rows = pages.flatMap((page) => page.aweme_list);
  const columns = postColumns();
  const last = pages.at(-1);
  const sort = (next) => {
    const isByService = [NEWEST, HOTTEST].includes(next);
    setPageOrder(isByService ? "" : next);
    if (!isByService || next === parameters.sort_type) return;
    setOrder(next);
    run(state.id, next);
  };
  const more = () => {
    // unless the view has another account by now
    const change = (part) => setState((now) => (now.data === state.data ? { ...now, error: undefined, ...part } : now));
    read({ ...parameters, max_cursor: last.max_cursor }).then(
      (page) => change({ data: { parameters, pages: [...pages, page] } }),
      (error) => change({ error }),
    );
  };
  return html`
    <${CreatorTabs} chosen="posts" id=${query.id} lead=${t("posts.lead")} />
    <${AccountForm} busy=${state.busy} onRun=${run} action="posts.read">
      <div class="grid">
        <${SelectField}
          label=${t("posts.order")}
          value=${order}
          onChange=${setOrder}
          options=${[
            [NEWEST, t("posts.newest")],
            [HOTTEST, t("posts.hottest")],
          ]}
        />
      </div>
    <//>
    <${ErrorNote} error=${state.error} />
    ${state.busy && html`<${Card}><${Loading} /><//>`}
    ${last && !state.busy && html`
      <div class="row apart">
        <p class="small soft">
          ${t("posts.note", {
            shown: count(rows.length),
            union: count(last.public_observed_union_count),
            snapshots: count(last.observation_history?.snapshot_count),
          })}
        </p>
        <div class="row">
          ${pages.length > 1 && html`
            <${SaveRows} rows=${rows} title=${rows[0]?.author?.nickname} name=${t("stat.aweme_count")} table="videos" />
          `}
          <${ExportMenu}
            source=${address(PATHS.posts, parameters)}
            table="videos"
            label=${
              pages.length > 1 ? t("export.first_page", { number: count(pages[0].aweme_list.length) }) : undefined
            }
          />
        </div>
      </div>
      ${rows.length ? html`
        <${Table}
          rows=${sortRows(rows, columns, pageOrder)}
          columns=${columns}
          keyOf=${(row) => row.aweme_id}
          caption=${t("nav.posts")}
          order=${pageOrder || parameters.sort_type}
          onOrder=${sort}
          card=${(row) => html`<${VideoCard} video=${row} />`}
        />
      ` : html`<${Empty} title=${t("posts.none")} icon="grid">${t("posts.none_hint")}<//>`}
      <div class="row">
        ${last.has_more && html`<button type="button" class="button" onClick=${more}>${t("act.more")}</button>`}
        ${last.platform_has_more && !last.has_more && html`<p class="small soft">${t("posts.deeper")}</p>`}
        <${AccountActions} id=${state.id} />
      </div>
    `}
    ${!last && !state.busy && !state.error && html`
      <${Empty} title=${t("posts.empty")} icon="grid">${t("user.empty_hint")}<//>
    `}
    <${Raw} />
  `;
}

const rounded = (value) => (value === null ? null : Math.round(value));

export function MetricsView({ query }) {
  const daysInAddress = query.days ?? "30";
  const [days, setDays] = useState(daysInAddress);
  const read = async (id, value) =>
    (await request(PATHS.metrics, { query: { sec_user_id: id, days: value }, isShown: true })).data;
  const [state, run] = useAccount(query, "metrics", read, {
    name: "days",
    inAddress: daysInAddress,
    usual: "30",
    value: days,
    set: setDays,
  });
  const limits = useParameter(PATHS.metrics, "days");
  const metrics = state.data;
  return html`
    <${CreatorTabs} chosen="metrics" id=${query.id} lead=${t("metrics.lead")} />
    <${AccountForm} busy=${state.busy} onRun=${run} action="metrics.read">
      <div class="grid">
        <${TextField}
          type="number"
          label=${t("metrics.days")}
          value=${days}
          onInput=${setDays}
          min=${limits?.minimum}
          max=${limits?.maximum}
          hint=${limits ? `${limits.minimum} – ${limits.maximum}` : "\u00a0"}
        />
      </div>
    <//>
    <${ErrorNote} error=${state.error} />
    ${state.busy && html`<${Card}><${Loading} /><//>`}
    ${metrics && html`
      <${Card}
        title=${html`<${Foreign} text=${metrics.nickname} none=${metrics.sec_user_id} />`}
        aside=${html`<span class="small soft">${day(metrics.window_start)} – ${day(metrics.window_end)}</span>`}
      >
        <${Figures}
          items=${[
            [t("stat.follower_count"), count(metrics.follower_count)],
            [t("stat.total_favorited"), count(metrics.total_favorited)],
            [t("metrics.average"), count(rounded(metrics.average_digg_count))],
            [t("metrics.median"), count(rounded(metrics.median_digg_count))],
            [t("metrics.works"), count(metrics.analyzed_count), t("metrics.window", { days: metrics.days })],
          ]}
        />
        ${!metrics.analyzed_count && html`<p class="soft">${t("metrics.none")}</p>`}
        ${metrics.top_video && html`
          <div class="stack tight">
            <h3>${t("metrics.top")}</h3>
            <p><${VideoCell} video=${metrics.top_video} /></p>
            <${Bars}
              label=${t("metrics.top")}
              items=${["digg_count", "comment_count", "collect_count", "share_count"].map((key) => ({
                key,
                name: t(`stat.${key}`),
                value: metrics.top_video.statistics?.[key],
                text: compact(metrics.top_video.statistics?.[key]),
              }))}
            />
          </div>
        `}
        ${metrics.analyzed_count > 0 && html`
          <p class="small soft">${t(metrics.statistics_complete ? "metrics.complete" : "metrics.partial")}</p>
        `}
        <div class="row apart">
          <${AccountActions} id=${state.id} />
          <${ExportMenu}
            source=${address(PATHS.metrics, { sec_user_id: state.id, days: metrics.days })}
            table="metrics"
          />
        </div>
      <//>
    `}
    ${!metrics && !state.busy && !state.error && html`
      <${Empty} title=${t("metrics.empty")} icon="gauge">${t("user.empty_hint")}<//>
    `}
    <${Raw} />
  `;
}
