// The library, compiled to WebAssembly, behind plain functions. Text and numbers are written into its memory and read from it.

import type { Answer, Portrait, Refused, Source } from './types';

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
}

const toBytes = new TextEncoder();
const toText = new TextDecoder();

export class Library {
  private readonly to: Exports;
  private view: Float64Array = new Float64Array(0);

  constructor(readonly module: WebAssembly.Module) {
    this.to = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
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
  ask<T>(question: Record<string, unknown>): Answer<T> {
    this.write(JSON.stringify(question));
    return this.read(this.to.gough_ask()) as Answer<T>;
  }

  /** Move the platform; null when it could. */
  place(at: ArrayLike<number>): Refused | null {
    return this.move(at, this.to.gough_place);
  }

  /** Move the motors, the platform following; null when it could. */
  drive(motors: ArrayLike<number>): Refused | null {
    return this.move(motors, this.to.gough_drive);
  }

  private move(numbers: ArrayLike<number>, act: () => number): Refused | null {
    const at = this.to.gough_numbers(numbers.length);
    new Float64Array(this.to.memory.buffer, at, numbers.length).set(numbers);
    const length = act();
    return length === 0 ? null : (this.read(length) as { error: Refused }).error;
  }

  /** Frames of the posture, twelve numbers per node. The array is the module's own memory: read it before the next call. */
  frames(): Float64Array {
    const [at, n] = [this.to.gough_frames(), this.to.gough_frames_length()];
    if (this.view.buffer !== this.to.memory.buffer || this.view.byteOffset !== at || this.view.length !== n) {
      this.view = new Float64Array(this.to.memory.buffer, at, n);
    }
    return this.view;
  }
}

/** The module that travels in the page: packed, as base64; null when there is none. */
export async function unpack(packed: string): Promise<WebAssembly.Module | null> {
  if (packed.length === 0 || typeof WebAssembly !== 'object') return null;
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** Long questions: a second copy of the library in a worker, so that the page goes on. */
export class Aside {
  private worker: Worker | null = null;
  private waiting: { done: (a: Answer<unknown>) => void } | null = null;

  constructor(private readonly program: string, private readonly library: Library) {}

  /** Ask; a question that is still open is given up. */
  async ask<T>(source: Source, question: Record<string, unknown>): Promise<Answer<T>> {
    this.stop();
    let worker: Worker;
    try {
      const url = URL.createObjectURL(new Blob([this.program], { type: 'text/javascript' }));
      worker = new Worker(url);
      URL.revokeObjectURL(url);
    } catch {
      return this.library.ask<T>(question);
    }
    this.worker = worker;
    return new Promise((done) => {
      this.waiting = { done: done as (a: Answer<unknown>) => void };
      worker.onmessage = (e: MessageEvent) => this.end(e.data as Answer<unknown>);
      worker.onerror = () => this.end(this.library.ask(question));
      worker.postMessage({ module: this.library.module, source, question });
    });
  }

  /** Give up the open question. */
  stop(): void {
    this.end({ error: { kind: 'stopped', message: 'stopped' } });
  }

  private end(answer: Answer<unknown>): void {
    this.worker?.terminate();
    this.worker = null;
    const waiting = this.waiting;
    this.waiting = null;
    waiting?.done(answer);
  }
}

/** What the worker does. */
export function answerAside(): void {
  const post = (globalThis as unknown as { postMessage: (data: unknown) => void }).postMessage.bind(globalThis);
  globalThis.addEventListener('message', (e) => {
    const { module, source, question } = (e as MessageEvent).data as {
      module: WebAssembly.Module; source: Source; question: Record<string, unknown>;
    };
    const library = new Library(module);
    const loaded = library.load(source);
    post('error' in loaded ? loaded : library.ask(question));
  });
}
