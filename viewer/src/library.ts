// The library, compiled to WebAssembly, behind plain functions. Text and numbers are written into its memory and read from it.

import type { Answers } from './documents';
import type { Answer, Portrait, Refused, Source } from './types';

/** A question: what is asked, and what about. */
export type Question<K extends keyof Answers> = { ask: K } & Record<string, unknown>;

interface Exports {
  memory: WebAssembly.Memory;
  gough_text(length: number): number;
  gough_numbers(length: number): number;
  gough_answer(): number;
  gough_frames(): number;
  gough_frames_length(): number;
  gough_load(): number;
  gough_ask(): number;
  gough_place(): number;
  gough_drive(): number;
  gough_film(): number;
  gough_film_frames(): number;
}

const toBytes = new TextEncoder();
const toText = new TextDecoder();

export class Library {
  private readonly to: Exports;
  private numbers: Float64Array = new Float64Array(0);
  private posture: Float64Array = new Float64Array(0);
  private film: Float64Array = new Float64Array(0);

  /** `progress` is told the share of a long question that is done. */
  constructor(readonly module: WebAssembly.Module, progress: (share: number) => void = () => undefined) {
    this.to = new WebAssembly.Instance(module, { page: { progress } }).exports as unknown as Exports;
  }

  /** Numbers in the module's memory; the view that there is serves as long as it is the same memory. */
  private seen(view: Float64Array, at: number, length: number): Float64Array {
    const same = view.buffer === this.to.memory.buffer && view.byteOffset === at && view.length === length;
    return same ? view : new Float64Array(this.to.memory.buffer, at, length);
  }

  private put(numbers: ArrayLike<number>): void {
    this.numbers = this.seen(this.numbers, this.to.gough_numbers(numbers.length), numbers.length);
    this.numbers.set(numbers);
  }

  private write(text: string): void {
    const bytes = toBytes.encode(text);
    const at = this.to.gough_text(bytes.length);
    new Uint8Array(this.to.memory.buffer, at, bytes.length).set(bytes);
  }

  private read(length: number): unknown {
    return JSON.parse(toText.decode(new Uint8Array(this.to.memory.buffer, this.to.gough_answer(), length)));
  }

  /** Make a robot; the one before stays when it has faults. */
  load(source: Source): Answer<Portrait> {
    this.write(JSON.stringify(source));
    return this.read(this.to.gough_load()) as Answer<Portrait>;
  }

  /** Ask a question. */
  ask<K extends keyof Answers>(question: Question<K>): Answer<Answers[K]> {
    this.write(JSON.stringify(question));
    return this.read(this.to.gough_ask()) as Answer<Answers[K]>;
  }

  /** Move the platform; null when it could. */
  place(at: ArrayLike<number>): Refused | null {
    this.put(at);
    return this.refused(this.to.gough_place());
  }

  /** Move the motors, the platform following; null when it could. */
  drive(motors: ArrayLike<number>): Refused | null {
    this.put(motors);
    return this.refused(this.to.gough_drive());
  }

  private refused(length: number): Refused | null {
    return length === 0 ? null : (this.read(length) as { error: Refused }).error;
  }

  /** Frames of the posture, twelve numbers per node. The array is the module's own memory: read it before the next call. */
  frames(): Float64Array {
    this.posture = this.seen(this.posture, this.to.gough_frames(), this.to.gough_frames_length());
    return this.posture;
  }

  /** Frames of poses one after the other, up to the first that the mode does not reach; the robot stays. The module's memory, too. */
  filmed(at: readonly (readonly number[])[], mode: string): Float64Array {
    this.put(at.flat());
    this.write(mode);
    const length = this.to.gough_film() * this.to.gough_frames_length();
    this.film = this.seen(this.film, this.to.gough_film_frames(), length);
    return this.film;
  }
}

/** The module that travels in the page: packed, as base64; null when there is none. */
export async function unpack(packed: string): Promise<WebAssembly.Module | null> {
  if (packed.length === 0 || typeof WebAssembly !== 'object') return null;
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** A worker's word: how far a question is, or an answer. */
type Said = { share: number } | { answer: Answer<never> };

/** Long questions: a second copy of the library in a worker, so that the page goes on. */
export class Aside {
  private worker: Worker | null = null;
  private end: ((isDone: boolean) => void) | null = null;

  constructor(private readonly program: string, private readonly library: Library) {}

  /** Ask questions one after the other; those that are still open are given up. Whether all were answered. */
  async each<K extends keyof Answers>(
    source: Source, questions: readonly Question<K>[], heard: (answer: Answer<Answers[K]>, i: number) => void, progress: (share: number) => void,
  ): Promise<boolean> {
    this.stop();
    let [url, i] = ['', 0];
    const take = (answer: Answer<Answers[K]>): void => { heard(answer, i++); progress(i / questions.length); };
    try {
      url = URL.createObjectURL(new Blob([this.program], { type: 'text/javascript' }));
      this.worker = new Worker(url);
    } catch {
      return this.here(questions, take);
    } finally {
      URL.revokeObjectURL(url);
    }
    const worker = this.worker;
    return new Promise((done) => {
      this.end = (isDone) => {
        worker.terminate();
        this.end = null;
        done(isDone);
      };
      worker.onmessage = (e: MessageEvent) => {
        const said = e.data as Said;
        if ('share' in said) return progress((i + said.share) / questions.length);
        take(said.answer);
        if (i === questions.length) this.end?.(true);
      };
      worker.onerror = () => { worker.terminate(); this.end = null; void this.here(questions.slice(i), take).then(done); };
      worker.postMessage({ module: this.library.module, source, questions });
    });
  }

  /** Without workers: on the page's own thread, between its pictures. */
  private async here<K extends keyof Answers>(questions: readonly Question<K>[], take: (answer: Answer<Answers[K]>) => void): Promise<boolean> {
    let goesOn = true;
    this.end = () => { goesOn = false; this.end = null; };
    for (const question of questions) {
      if (!goesOn) return false;
      take(this.library.ask(question));
      await new Promise((next) => setTimeout(next));
    }
    this.end = null;
    return true;
  }

  /** Ask one question; a question that is still open is given up. */
  async ask<K extends keyof Answers>(source: Source, question: Question<K>, progress: (share: number) => void = () => undefined): Promise<Answer<Answers[K]>> {
    let found: Answer<Answers[K]> = { error: { kind: 'stopped', message: 'stopped' } };
    await this.each(source, [question], (answer) => { found = answer; }, progress);
    return found;
  }

  /** Give up the open questions. */
  stop(): void {
    this.end?.(false);
  }
}

const TOLD_MS = 50;

/** What the worker does. */
export function answerAside(): void {
  const post = (globalThis as unknown as { postMessage: (data: unknown) => void }).postMessage.bind(globalThis);
  let told = 0;
  const progress = (share: number): void => {
    const now = performance.now();
    if (now - told < TOLD_MS) return;
    told = now;
    post({ share });
  };
  globalThis.addEventListener('message', (e) => {
    const { module, source, questions } = (e as MessageEvent).data as { module: WebAssembly.Module; source: Source; questions: Question<keyof Answers>[] };
    const library = new Library(module, progress);
    const loaded = library.load(source);
    for (const question of questions) post({ answer: 'error' in loaded ? loaded : library.ask(question) });
  });
}
