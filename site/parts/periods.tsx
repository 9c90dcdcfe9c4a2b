/** Selects the time that a chart or a history covers. */
export const Periods = <Period extends string>({
  choices,
  value,
  set,
}: {
  choices: readonly (readonly [period: Period, name: string])[];
  value: Period;
  set: (period: Period) => void;
}) => (
  <fieldset class="periods">
    <legend class="unseen">Period</legend>
    {choices.map(([period, name]) => (
      <button
        type="button"
        class="quiet small"
        aria-pressed={period === value ? 'true' : 'false'}
        onClick={() => set(period)}
      >
        {name}
      </button>
    ))}
  </fieldset>
);
