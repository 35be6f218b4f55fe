// Follows a job: by server-sent events, or by polling where no stream is available.
import { PATHS, ServiceError, request, follow } from "./api.js";
import { signal } from "./html.js";
import { isDemo } from "./state.js";

const FINAL = new Set(["completed", "failed", "cancelled"]);
export const isOver = (job) => FINAL.has(job?.status);
const POLL_MS = 1500;
// A refusal that asking again does not change; others are a busy or absent service.
const isFinal = (error) =>
  error.name === "AbortError" || (error instanceof ServiceError && error.status >= 400 && error.status < 429);

// Follows a job until it ends. `state` is a signal of {job, error, mode, log}.
export class JobWatch {
  constructor(jobId, { onEnd, isStreamed = true, isShown = true } = {}) {
    this.jobId = jobId;
    this.onEnd = onEnd;
    this.isStreamed = isStreamed;
    this.isShown = isShown; // whether its requests are those that the page shows
    this.state = signal({ job: null, error: null, mode: "loading", log: [] });
    this.stopping = new AbortController();
    this.lastId = null;
  }

  async run() {
    try {
      await this.pollIfAnswered();
      while (!this.stopping.signal.aborted && !isOver(this.state.value.job)) await this.listen();
      if (!this.wasOver && isOver(this.state.value.job)) this.onEnd?.(this.state.value.job);
    } catch (error) {
      if (error.name !== "AbortError") this.update({ error });
    }
  }

  // Reads one stream. If there is none, polls once after a pause.
  async listen() {
    if (!this.isStreamed) {
      await this.pollLater();
      return;
    }
    try {
      this.update({ mode: "events" });
      await follow(
        `${PATHS.jobList}/${this.jobId}/events`,
        (_, job, id) => {
          this.lastId = id;
          this.take(job);
        },
        { signal: this.stopping.signal, lastId: this.lastId },
      );
      if (!isOver(this.state.value.job)) await this.poll();
    } catch (error) {
      if (isFinal(error)) throw error;
      await this.pollLater();
    }
  }

  // Polls once after a pause. A service that is away for a while is asked again.
  async pollLater() {
    this.update({ mode: "polling" });
    await this.rest();
    await this.pollIfAnswered();
  }

  async pollIfAnswered() {
    await this.poll().catch((error) => {
      if (isFinal(error)) throw error;
      if (!this.state.value.job) this.update({ error }); // until there is something to show
    });
  }

  async poll() {
    const envelope = await request(`${PATHS.jobs}/${this.jobId}`, {
      signal: this.stopping.signal,
      isShown: this.isShown,
    });
    this.take(envelope.data);
  }

  rest() {
    return new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }

  take(given) {
    const job = given.data ?? given; // an event carries the polling document
    if (job.is_demo_data) isDemo.value = true;
    this.wasOver ??= isOver(job); // when it was first seen
    const before = this.state.value;
    const stage = job.progress?.stage;
    const known = before.log.at(-1)?.stage;
    const log = stage && stage !== known ? [...before.log, { stage, at: Date.now() }] : before.log;
    this.update({ job, error: null, log });
  }

  async cancel() {
    const envelope = await request(`${PATHS.jobs}/${this.jobId}`, { method: "DELETE", isShown: true });
    this.take(envelope.data);
  }

  update(change) {
    this.state.value = { ...this.state.value, ...change };
  }

  stop() {
    this.stopping.abort();
  }
}
