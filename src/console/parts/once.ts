/** Something that a click starts, once: a second click while it runs, or a double click, starts nothing. */
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';

export interface Once<Input, Output> {
  readonly start: (input: Input) => void;
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly done: Output | undefined;
  readonly forget: () => void;
}

export function useOnce<Input, Output>(
  run: (input: Input) => Promise<Output>,
  onDone?: (output: Output) => void,
): Once<Input, Output> {
  const running = useRef(false);
  const { mutate, isPending, error, data, reset } = useMutation({
    mutationFn: run,
    ...(onDone === undefined ? {} : { onSuccess: onDone }),
    onSettled: () => {
      running.current = false;
    },
  });
  const start = (input: Input) => {
    if (running.current) return;
    running.current = true;
    mutate(input);
  };
  return { start, isRunning: isPending, error, done: data, forget: reset };
}
