package decision

import "testing"

// TestChanges: what changes a decision stands in its place, and what is decided of something else stands beside it.
func TestChanges(t *testing.T) {
	for _, pair := range []struct {
		before, now string
		want        bool
	}{
		{"We decided to use pnpm.", "We decided to use yarn instead of pnpm.", true},
		{"We decided to use yarn instead of pnpm.", "We decided to use npm rather than yarn.", true},
		{"We decided to use yarn instead of pnpm.", "We decided to use pnpm.", true},
		{"We decided to use yarn instead of pnpm.", "We've decided to go back to pnpm.", true},
		{"We decided to store sessions in Redis.", "We're moving away from Redis, sessions go to Postgres.", true},
		{"Always use tabs for indentation.", "From now on use spaces for indentation.", true},
		{"We agreed to deploy on Tuesdays.", "We agreed to deploy on Thursdays.", true},
		{"Deploy only after 18:00, never before.", "From now on deploy only after 20:00, never before.", true},
		{"Never push to main.", "You can push to main again.", true},
		{"Never push to main.", "From now on always push to main.", true},
		{"We use Jest for unit tests from now on.", "We switched from Jest to Vitest.", true},
		{"We're going with Tailwind instead of CSS modules.", "We no longer use Tailwind.", true},
		{"No deploys on Fridays, ever.", "Deploys on Fridays are allowed again.", true},
		{"Always run make lint before committing.", "Forget the rule about make lint.", true},
		{"We decided to support Node 18.", "We're dropping support for Node 18.", true},
		{"From now on we release every two weeks.", "From now on we release every four weeks.", true},
		{"Wir haben beschlossen, npm zu verwenden.", "Wir haben beschlossen, pnpm statt npm zu verwenden.", true},
		{"Nous avons décidé d'utiliser npm.", "Nous avons décidé d'utiliser pnpm à la place de npm.", true},
		{"Hemos decidido usar npm.", "Hemos decidido usar pnpm en lugar de npm.", true},
		{"npmを使うことにしました。", "npmの代わりにpnpmを使うことにしました。", true},
		{"Pushe niemals auf main.", "Pushe niemals auf develop.", false},
		{"We decided to use pnpm.", "We decided to use Redis.", false},
		{"Never push to main.", "Never push to develop.", false},
		{"Never push to main.", "You can push to the feature branch again.", false},
		{"We decided to use Postgres for the job queue.", "We decided to use Redis for the cache.", false},
		{"Always run make lint before committing.", "Always run make test before pushing.", false},
		{"Never commit secrets.", "Always sign commits.", false},
		{"We agreed to deploy on Tuesdays.", "We agreed to write the docs on Sundays.", false},
		{"Always use pnpm, never npm.", "We decided to use Vitest instead of Jest.", false},
		{"We're switching from Jest to Vitest.", "We're switching from Poetry to uv.", false},
		{"We decided to drop support for Node 18.", "We decided to drop support for Safari 14.", false},
		{"Never edit files under vendor/.", "Never edit files under gen/.", false},
		{"From now on every endpoint needs a test.", "From now on every migration needs a rollback.", false},
	} {
		list := Said(pair.now)
		if len(list) != 1 || !list[0].Sure {
			t.Errorf("%q is not kept: %+v", pair.now, list)
			continue
		}
		if got := changes(list[0], pair.before); got != pair.want {
			t.Errorf("%q changes %q: %v, want %v", pair.now, pair.before, got, pair.want)
		}
	}
}
