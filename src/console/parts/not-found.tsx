/** What stands at a path of no view. */
import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <main className="mx-auto max-w-xl space-y-4 p-6">
      <h1 className="text-2xl font-bold">There is no such page</h1>
      <p>
        <Link to="/" className="text-accent underline">
          Go to the inbox
        </Link>
      </p>
    </main>
  );
}
