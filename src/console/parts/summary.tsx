/**
 * The text that a person signs, line by line exactly as it is signed, and whether all of it has been in view. A long
 * value is watched in short pieces, so that jumping over its middle does not count as having seen it.
 */
import { useEffect, useMemo, useRef, useState } from 'react';

/** Fits a small screen at four times its size. */
const PIECE_CHARS = 160;

/** Cuts by whole characters; the pieces together are the text. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of text) {
    piece += character;
    if (piece.length < PIECE_CHARS) continue;
    pieces.push(piece);
    piece = '';
  }
  return piece === '' && pieces.length > 0 ? pieces : [...pieces, piece];
}

interface Piece {
  readonly text: string;
  readonly isName: boolean;
}

function lineOf(line: string): readonly Piece[] {
  const at = line.indexOf(': ');
  const name = at < 0 ? '' : line.slice(0, at + 2);
  const value = piecesOf(line.slice(name.length)).map((text) => ({ text, isName: false }));
  return name === '' ? value : [...piecesOf(name).map((text) => ({ text, isName: true })), ...value];
}

/** Letters that are written from right to left: numbers between them change their places on the screen. */
const TURNS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function TurnsNote() {
  return (
    <span className="mt-1 block font-sans text-warn">
      Holds text that is written from right to left: read its numbers with care.
    </span>
  );
}

export function Summary({
  lines,
  onRead,
  label = 'What is signed, line by line',
}: {
  readonly lines: readonly string[];
  readonly onRead?: () => void;
  readonly label?: string;
}) {
  const list = useRef<HTMLOListElement>(null);
  const pieces = useMemo(() => lines.map(lineOf), [lines]);
  const total = pieces.reduce((sum, line) => sum + line.length, 0);
  const [seen, setSeen] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other pieces are other elements
  useEffect(() => {
    const targets = [...(list.current?.querySelectorAll('[data-piece]') ?? [])];
    const left = new Set(targets);
    setSeen(0);
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting, intersectionRatio } of entries) {
          if (!isIntersecting || intersectionRatio < 0.9) continue;
          left.delete(target);
          observer.unobserve(target);
        }
        setSeen(targets.length - left.size);
        if (left.size === 0) onRead?.();
      },
      // What lies under the bar at the bottom of the screen is not in view.
      { threshold: [0.9, 1], rootMargin: '0px 0px -72px 0px' },
    );
    for (const target of targets) observer.observe(target);
    return () => observer.disconnect();
  }, [pieces, onRead]);
  return (
    <div>
      <ol ref={list} aria-label={label} className="font-mono text-sm" dir="ltr">
        {pieces.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
          <li key={at} className="border-b border-line py-1.5 [overflow-wrap:anywhere]">
            <bdi>
              {line.map(({ text, isName }, part) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and never move
                <span key={part} data-piece className={`whitespace-pre-wrap ${isName ? 'text-soft' : ''}`}>
                  {text}
                </span>
              ))}
            </bdi>
            {TURNS.test(lines[at] ?? '') ? <TurnsNote /> : null}
          </li>
        ))}
      </ol>
      {onRead === undefined ? null : (
        <p role="status" className="mt-2 text-sm text-soft">
          {seen >= total ? 'You have seen all of it.' : 'Scroll through all of it before you sign.'}
        </p>
      )}
    </div>
  );
}
