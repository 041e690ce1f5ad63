package act_test

import (
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/learning/guard/act"
)

func TestForbidden(t *testing.T) {
	for text, want := range map[string][]string{
		"Never run `docker volume prune` on this host":                      {"docker volume prune"},
		"**NEVER** use `git push --force`.":                                 {"git push --force"},
		"You must not run `terraform destroy`":                              {"terraform destroy"},
		"Do not use `npm` or `yarn`; use `pnpm`":                            {"npm", "yarn"},
		"Don't run `npm install`, use `npm ci` instead":                     {"npm install"},
		"`git push --force` is forbidden on main":                           {"git push --force"},
		"`rm -rf` must never be used here":                                  {"rm -rf"},
		"Never pass `--no-verify` to `git commit`":                          {"git commit --no-verify"},
		"Never: `kubectl delete namespace prod`":                            {"kubectl delete namespace prod"},
		"Never run ``docker system prune -a`` or\n`docker volume prune`":    {"docker system prune -a", "docker volume prune"},
		"Never run `./wipe.sh --all`":                                       {"./wipe.sh --all"},
		"Never run `DROP TABLE users`":                                      {"DROP TABLE users"},
		"Never deploy on Friday. Run `make check` before.":                  nil,
		"Never commit without running `make lint`":                          nil,
		"Do not forget to run `make fmt`":                                   nil,
		"Never merge before `make check` passes":                            nil,
		"Do not edit generated files (run `make gen`)":                      nil,
		"`make lint` must not be skipped":                                   nil,
		"Never use `any`":                                                   nil,
		"Never push to `main`":                                              nil,
		"Do not modify `package-lock.json`":                                 nil,
		"Never use `--no-verify`":                                           nil,
		"Always run `make test`":                                            nil,
		"Never touch `src/app.ts`":                                          nil,
		"Use `pnpm`, never `npm`":                                           {"npm"},
		"Never run `terraform apply` before `terraform plan` was looked at": {"terraform apply"},
		"":                           nil,
		"never `":                    nil,
		"Do not rely on `git stash`": nil,
		"Never edit files by hand: run `make generate` and `git add .`": nil,
	} {
		if got := act.Forbidden(text); !slices.Equal(got, want) {
			t.Errorf("%q forbids %q, want %q", text, got, want)
		}
	}
}
