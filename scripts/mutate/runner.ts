/**
 * Runs the tests of a mutation run. Either one mutation is on for a whole file, or each test is repeated with one
 * mutation after the other in modules that are loaded once.
 * @module
 */
import { appendFileSync } from 'node:fs';
import {
  inject,
  type RunnerTask,
  type RunnerTestCase,
  type RunnerTestFile,
  type RunnerTestSuite,
  TestRunner,
  type TestTryOptions,
} from 'vitest';
import { type Report, SWITCH, type Turn } from './plan.ts';

const plan = inject('plan');
const NONE: Turn = [-1, 0];

let isOn = plan.mutant;
let looks = 0;
let maximum = plan.maximum;
let seen = new Map<number, number>();

Reflect.set(globalThis, SWITCH, (number: number): boolean => {
  if (number !== isOn) {
    if (isOn === -1) seen.set(number, (seen.get(number) ?? 0) + 1);
    return false;
  }
  looks += 1;
  if (looks > maximum) throw new Error('the mutant does not end');
  return true;
});

/** A test that reads many mutations takes a long time. */
const costOf = (task: RunnerTask): number =>
  task.type === 'suite'
    ? task.tasks.reduce((sum, child) => sum + costOf(child), 0)
    : (plan.turns?.[task.id] ?? []).reduce((sum, [, most]) => sum + most, 0);

function sortByCost(suite: RunnerTestSuite): void {
  suite.tasks.sort((a, b) => costOf(a) - costOf(b));
  for (const task of suite.tasks) if (task.type === 'suite') sortByCost(task);
}

export default class MutationRunner extends TestRunner {
  #atImport: Map<number, number> | undefined;
  readonly #inTest: Record<string, readonly Turn[]> = {};
  readonly #killed = new Set<number>();
  #spoiler: number | null = null;
  #turns: readonly Turn[] = [];
  #hasFailed = false;

  /** A slow test skips the mutations that a fast one has detected. */
  onCollected(files: RunnerTestFile[]): void {
    if (plan.turns) for (const file of files) sortByCost(file);
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    this.#atImport ??= seen;
    seen = new Map();
    test.meta.mutant = plan.mutant;
    if (!plan.turns) return;
    this.#turns = (plan.turns[test.id] ?? []).filter(([number]) => !this.#killed.has(number));
    // Each mutation has two turns. The second one, without it, shows that the first has left nothing behind.
    if (this.#turns.length > 0) test.repeats = 2 * this.#turns.length - 1;
    else test.mode = 'skip';
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    if (!plan.turns) return;
    looks = 0;
    [isOn, maximum] = (options.repeats % 2 === 0 && this.#turns[options.repeats / 2]) || NONE;
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    if (!plan.turns) return run();
    if (this.#spoiler !== null) return;
    const [number] = this.#turns[Math.floor((test.result?.repeatCount ?? 0) / 2)] ?? NONE;
    if (isOn === number) {
      this.#hasFailed = false;
      try {
        await run();
      } catch (error) {
        this.#hasFailed = true;
        // The test still runs in the background.
        if (String(error).includes('timed out')) this.#spoiler = number;
      }
    } else if (this.#hasFailed) {
      try {
        await run();
        this.#killed.add(number);
      } catch {
        this.#spoiler = number;
      }
    }
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    this.#inTest[test.id] = [...seen];
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    const report: Report = {
      file: files[0]?.filepath ?? '',
      atImport: [...(this.#atImport ?? [])],
      inTest: this.#inTest,
      killed: [...this.#killed],
      spoiler: this.#spoiler,
    };
    appendFileSync(plan.reportPath, `${JSON.stringify(report)}\n`);
  }
}
