package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/redact"
)

// This file measures the redaction: how many of the secrets that people and
// tools write are cut (recall), and how many lines of code and prose are cut
// though they hold none (false positives). Every value is drawn from a seeded
// generator when the test runs. None was ever in use, and none stands here.

// draw makes values.
type draw struct{ *rand.Rand }

const (
	digits    = "0123456789"
	lowers    = "abcdefghijklmnopqrstuvwxyz"
	uppers    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphabet  = lowers + uppers
	alnums    = alphabet + digits
	hexDigits = digits + "abcdef"
)

func (d draw) of(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[d.IntN(len(alphabet))])
	}
	return b.String()
}

func (d draw) hex(n int) string    { return d.of(hexDigits, n) }
func (d draw) alnum(n int) string  { return d.of(alnums, n) }
func (d draw) lower(n int) string  { return d.of(lowers+digits, n) }
func (d draw) upper(n int) string  { return d.of(uppers+digits, n) }
func (d draw) web(n int) string    { return d.of(alnums+"-_", n-1) + d.of(alnums, 1) }
func (d draw) digit(n int) string  { return d.of(digits[1:], 1) + d.of(digits, n-1) }
func (d draw) base64(n int) string { return base64.StdEncoding.EncodeToString([]byte(d.of(alnums, n))) }

func (d draw) uuid() string {
	return d.hex(8) + "-" + d.hex(4) + "-4" + d.hex(3) + "-a" + d.hex(3) + "-" + d.hex(12)
}

// strong is a password of a generator, human one that somebody thought of.
func (d draw) strong() string { return d.of(alphabet, 4) + d.of(digits, 1) + d.alnum(15) }

func (d draw) human() string {
	words := []string{"Sommer", "Dragon", "kaffee", "Bergtour", "hunter", "Winter", "trustno", "Leipzig"}
	return words[d.IntN(len(words))] + d.of(digits, 2+d.IntN(3)) + []string{"", "!", "#", "?x"}[d.IntN(4)]
}

// A kind draws a text that holds a secret, and the part of it that must not be stored.
type kind struct {
	name string
	draw func(d draw) (text, secret string)
}

// bare is a kind whose text is the secret.
func bare(name string, f func(draw) string) kind {
	return kind{name, func(d draw) (string, string) { v := f(d); return v, v }}
}

// within is a kind whose text holds the secret at %s.
func within(name, form string, f func(draw) string) kind {
	return kind{name, func(d draw) (string, string) { v := f(d); return strings.ReplaceAll(form, "%s", v), v }}
}

func prefixed(name, prefix string, f func(draw, int) string, n int) kind {
	return bare(name, func(d draw) string { return prefix + f(d, n) })
}

var corpusKinds = []kind{
	// Clouds.
	prefixed("aws access key id", "AKIA", draw.upper, 16),
	prefixed("aws session key id", "ASIA", draw.upper, 16),
	within("aws secret key", "aws_secret_access_key = %s", func(d draw) string { return d.of(alnums+"/+", 40) }),
	within("aws session token", "AWS_SESSION_TOKEN=%s", func(d draw) string { return "IQoJb3JpZ2luX2Vj" + d.of(alnums+"/+", 120) }),
	within("aws presigned address", "https://b.s3.amazonaws.com/k?X-Amz-Expires=900&X-Amz-Signature=%s", func(d draw) string { return d.hex(64) }),
	prefixed("google api key", "AIza", draw.web, 35),
	prefixed("google oauth secret", "GOCSPX-", draw.web, 28),
	prefixed("google access token", "ya29.a0", draw.web, 80),
	bare("azure client secret", func(d draw) string { return d.alnum(3) + "8Q~" + d.of(alnums+"-._~", 33) + d.alnum(1) }),
	within("azure storage key", "DefaultEndpointsProtocol=https;AccountName=app;AccountKey=%s;EndpointSuffix=core.windows.net", func(d draw) string { return d.of(alnums+"+/", 86) + "==" }),
	within("azure signature", "https://app.blob.core.windows.net/c/f?sv=2024-11-04&sp=r&sig=%s", func(d draw) string { return d.of(alnums, 43) + "%3D" }),
	within("azure devops token", "AZURE_DEVOPS_EXT_PAT=%s", func(d draw) string { return d.lower(52) }),
	prefixed("digitalocean token", "dop_v1_", draw.hex, 64),
	prefixed("alibaba key id", "LTAI", draw.alnum, 20),
	within("cloudflare token", "CLOUDFLARE_API_TOKEN=%s", func(d draw) string { return d.web(40) }),
	within("heroku key", "HEROKU_API_KEY=%s", draw.uuid),
	prefixed("fly.io token", "fo1_", draw.web, 43),
	prefixed("planetscale password", "pscale_pw_", draw.web, 43),
	prefixed("doppler token", "dp.pt.", draw.alnum, 43),
	prefixed("databricks token", "dapi", draw.hex, 32),
	bare("terraform cloud token", func(d draw) string { return d.alnum(14) + ".atlasv1." + d.web(64) }),
	prefixed("pulumi token", "pul-", draw.hex, 40),

	// Forges and registries.
	prefixed("github token", "ghp_", draw.alnum, 36),
	prefixed("github server token", "ghs_", draw.alnum, 36),
	bare("github fine-grained token", func(d draw) string { return "github_pat_" + d.alnum(22) + "_" + d.alnum(59) }),
	prefixed("gitlab token", "glpat-", draw.web, 20),
	prefixed("gitlab runner token", "glrt-", draw.web, 20),
	prefixed("gitlab deploy token", "gldt-", draw.web, 20),
	prefixed("bitbucket app password", "ATBB", draw.alnum, 32),
	prefixed("atlassian token", "ATATT3xFfGF0", draw.web, 172),
	prefixed("npm token", "npm_", draw.alnum, 36),
	within("npm login", "//registry.npmjs.org/:_authToken=%s", func(d draw) string { return d.uuid() }),
	prefixed("pypi token", "pypi-AgEIcHlwaS5vcmc", draw.web, 120),
	prefixed("rubygems key", "rubygems_", draw.hex, 48),
	prefixed("crates.io token", "cio", draw.alnum, 32),
	prefixed("docker token", "dckr_pat_", draw.web, 27),
	within("docker login", `{"auths":{"https://index.docker.io/v1/":{"auth":"%s"}}}`, func(d draw) string {
		return base64.StdEncoding.EncodeToString([]byte("deploy:" + d.strong()))
	}),
	prefixed("artifactory key", "AKCp", draw.alnum, 69),

	// Models.
	bare("openai key", func(d draw) string { return "sk-proj-" + d.alnum(40) + "T3BlbkFJ" + d.alnum(40) }),
	prefixed("anthropic key", "sk-ant-api03-", draw.web, 95),
	prefixed("hugging face token", "hf_", draw.alnum, 34),
	prefixed("groq key", "gsk_", draw.alnum, 52),
	prefixed("replicate token", "r8_", draw.alnum, 37),
	prefixed("xai key", "xai-", draw.alnum, 80),
	prefixed("perplexity key", "pplx-", draw.alnum, 48),

	// Payment, chat, mail and the rest.
	prefixed("stripe key", "sk_"+"live_", draw.alnum, 24),
	prefixed("stripe restricted key", "rk_"+"live_", draw.alnum, 24),
	prefixed("stripe webhook secret", "whsec_", draw.alnum, 32),
	prefixed("square access token", "sq0atp-", draw.web, 22),
	prefixed("square secret", "sq0csp-", draw.web, 43),
	bare("braintree token", func(d draw) string { return "access_token$production$" + d.lower(16) + "$" + d.hex(32) }),
	prefixed("shopify token", "shpat_", draw.hex, 32),
	prefixed("shopify secret", "shpss_", draw.hex, 32),
	bare("slack bot token", func(d draw) string { return "xoxb-" + d.digit(12) + "-" + d.digit(13) + "-" + d.alnum(24) }),
	bare("slack webhook", func(d draw) string {
		return "https://hooks.slack.com/services/T" + d.upper(10) + "/B" + d.upper(10) + "/" + d.alnum(24)
	}),
	bare("discord webhook", func(d draw) string { return "https://discord.com/api/webhooks/" + d.digit(19) + "/" + d.web(68) }),
	bare("discord bot token", func(d draw) string { return "MT" + d.alnum(24) + "." + d.web(6) + "." + d.web(38) }),
	bare("telegram bot token", func(d draw) string { return d.digit(10) + ":AA" + d.web(33) }),
	bare("teams webhook", func(d draw) string {
		return "https://app.webhook.office.com/webhookb2/" + d.uuid() + "@" + d.uuid() + "/IncomingWebhook/" + d.hex(32) + "/" + d.uuid()
	}),
	prefixed("twilio key", "SK", draw.hex, 32),
	within("twilio auth token", "TWILIO_AUTH_TOKEN=%s", func(d draw) string { return d.hex(32) }),
	bare("sendgrid key", func(d draw) string { return "SG." + d.web(22) + "." + d.web(43) }),
	prefixed("mailgun key", "key-", draw.hex, 32),
	bare("mailchimp key", func(d draw) string { return d.hex(32) + "-us" + d.digit(2) }),
	prefixed("brevo key", "xkeysib-", draw.hex, 64),
	prefixed("resend key", "re_", draw.alnum, 32),
	prefixed("postman key", "PMAK-", draw.hex, 24),
	prefixed("linear key", "lin_api_", draw.alnum, 40),
	prefixed("notion secret", "secret_", draw.alnum, 43),
	prefixed("notion token", "ntn_", draw.alnum, 46),
	prefixed("figma token", "figd_", draw.web, 40),
	bare("airtable token", func(d draw) string { return "pat" + d.alnum(14) + "." + d.hex(64) }),
	prefixed("asana token", "1/", draw.digit, 16),
	prefixed("facebook token", "EAAC", draw.alnum, 120),
	prefixed("new relic key", "NRAK-", draw.upper, 27),
	prefixed("grafana token", "glsa_", func(d draw, n int) string { return d.alnum(n) + "_" + d.hex(8) }, 32),
	prefixed("dynatrace token", "dt0c01.", func(d draw, n int) string { return d.upper(n) + "." + d.upper(64) }, 24),
	within("datadog key", "DD_API_KEY=%s", func(d draw) string { return d.hex(32) }),
	within("sentry address", "https://%s@o447951.ingest.sentry.io/5429219", func(d draw) string { return d.hex(32) }),
	prefixed("sentry token", "sntrys_", draw.web, 60),
	prefixed("vault token", "hvs.", draw.web, 90),
	prefixed("supabase token", "sbp_", draw.hex, 40),
	prefixed("dropbox token", "sl.", draw.web, 130),
	prefixed("age key", "AGE-SECRET-KEY-1", draw.upper, 58),
	prefixed("our own token", "skr_", draw.web, 43),

	// Forms without a vendor.
	bare("json web token", func(d draw) string {
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"`+d.digit(10)+`","name":"build"}`) + "." + d.web(43)
	}),
	{"private key", func(d draw) (string, string) {
		body := d.of(alnums+"+/", 64) + "\n" + d.of(alnums+"+/", 64)
		return "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + body + "\n-----END RSA PRIV" + "ATE KEY-----", body[:64]
	}},
	within("kubeconfig key", "client-key-data: %s", func(d draw) string { return d.base64(120) }),
	within("database address", "postgres://app:%s@db.internal:5432/app", draw.strong),
	within("address without a user", "redis://:%s@cache:6379/0", draw.human),
	within("basic header", "Authorization: Basic %s", func(d draw) string { return base64.StdEncoding.EncodeToString([]byte("ci:" + d.strong())) }),
	within("bearer header", "Authorization: Bearer %s", func(d draw) string { return d.web(40) }),
	within("token header", "Authorization: token %s", func(d draw) string { return d.hex(40) }),
	within("key header", "Authorization: ApiKey %s", func(d draw) string { return d.alnum(40) }),
	within("header of its own", "X-Auth-Token: %s", func(d draw) string { return d.alnum(32) }),
	within("cookie", "Cookie: theme=dark; sessionid=%s", func(d draw) string { return d.lower(32) }),
	within("set-cookie", "Set-Cookie: JSESSIONID=%s; Path=/; HttpOnly", func(d draw) string { return d.upper(32) }),
	within("password", "password=%s", draw.human),
	within("password with spaces", "password: %s", draw.strong),
	within("password of a database", "DB_PASSWORD=%s", draw.strong),
	within("pass", "pass: %s", draw.strong),
	within("pw", "pw: %s", draw.human),
	within("pwd in a connection string", "Server=db;Uid=sa;Pwd=%s;Encrypt=true", draw.human),
	within("token of letters", "export API_TOKEN=%s", func(d draw) string { return d.of(alphabet, 20) }),
	within("client secret", "client_secret=%s", func(d draw) string { return d.alnum(32) }),
	within("access token in an address", "https://h.example/cb?state=1&access_token=%s", func(d draw) string { return d.alnum(40) }),
	within("key in camel case", `"apiKey": "%s"`, func(d draw) string { return d.alnum(32) }),
	within("secret of a framework", "SECRET_KEY = '%s'", func(d draw) string { return d.of(alnums+"!@#%^&*(-_=+)", 50) }),
	within("encryption key", "ENCRYPTION_KEY=%s", func(d draw) string { return d.hex(64) }),
	within("name and value", `{"name": "DB_PASSWORD", "value": "%s"}`, draw.strong),
	within("name and value, yaml", "- name: DB_PASSWORD\n  value: %s", draw.strong),
	within("value inside", `{"password": {"value": "%s"}}`, draw.strong),
	within("xml element", "<password>%s</password>", draw.strong),
	within("xml attribute", `<add key="ApiSecret" value="%s"/>`, func(d draw) string { return d.alnum(32) }),
	within("property of a system", "-Dspring.datasource.password=%s", draw.strong),
	within("mysql", "mysql -u root -p%s app", draw.strong),
	within("curl user", "curl -u admin:%s https://h.example/x", draw.strong),
	within("sshpass", "sshpass -p %s ssh deploy@h", draw.human),
	within("docker login command", "docker login -u ci -p %s registry.example", draw.strong),
	within("redis-cli", "redis-cli -h cache -a %s ping", draw.strong),
	within("password option", "tool --password %s run", draw.human),
	within("token option", "tool --token %s run", func(d draw) string { return d.hex(32) }),
	within("netrc", "machine h.example login ci password %s", draw.strong),
	within("powershell", `ConvertTo-SecureString "%s" -AsPlainText -Force`, draw.human),
	within("said", "the password is %s", draw.human),
	within("said in German", "Passwort für prod: %s", draw.human),
	within("said of a user", "login with admin / password %s", draw.strong),
	within("identified by", "CREATE USER app IDENTIFIED BY '%s'", draw.human),
	within("with password", "ALTER ROLE app WITH PASSWORD '%s'", draw.human),
	within("a mnemonic", "mnemonic: %s", func(d draw) string {
		var words []string
		for range 12 {
			words = append(words, []string{"abandon", "ability", "crystal", "orbit", "velvet", "tunnel", "magnet", "rhythm", "window", "zebra"}[d.IntN(10)])
		}
		return strings.Join(words, " ")
	}),
}

// wrappings are how a text with a secret stands in what agents write.
var wrappings = []struct {
	name string
	wrap func(string) string
}{
	{"line", func(s string) string { return s }},
	{"prose", func(s string) string { return "On staging we took " + s + " and it worked, see the runbook." }},
	{"end of a sentence", func(s string) string { return "What failed was " + s + ". It works now." }},
	{"code", func(s string) string { return `note := "` + strings.ReplaceAll(s, `"`, `\"`) + `"` }},
	{"json", func(s string) string { b, _ := json.Marshal(map[string]string{"text": s}); return string(b) }},
	{"yaml", func(s string) string { return "notes:\n  - " + strings.ReplaceAll(s, "\n", "\n    ") + "\nowner: ci" }},
	{"backticks", func(s string) string { return "Run `" + s + "` first." }},
	{"brackets", func(s string) string { return "It did not start (" + s + ") on the second try." }},
	{"square brackets", func(s string) string { return "see [" + s + "] above" }},
	{"log line", func(s string) string { return "2026-11-22T10:01:02Z ERROR step=3 retry=false " + s }},
	{"table", func(s string) string { return "| prod | " + s + " | eu-west-1 |" }},
	{"diff", func(s string) string { return "+" + strings.ReplaceAll(s, "\n", "\n+") }},
}

// disguises are forms in which a token is still the token, and is read by whoever copies it.
var disguises = []struct {
	name string
	hide func(string) string
}{
	{"base64", func(s string) string { return "value: " + base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"line break", func(s string) string { return s[:len(s)/2] + "\n" + s[len(s)/2:] }},
	{"continued line", func(s string) string { return s[:len(s)/2] + "\\\n  " + s[len(s)/2:] }},
	{"zero width space", func(s string) string { return s[:len(s)/2] + "\u200b" + s[len(s)/2:] }},
	{"soft hyphen", func(s string) string { return s[:3] + "\u00ad" + s[3:] }},
	{"percent encoding", func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			if i%3 == 2 {
				fmt.Fprintf(&b, "%%%02X", s[i])
			} else {
				b.WriteByte(s[i])
			}
		}
		return b.String()
	}},
	{"concatenation", func(s string) string { return `key = "` + s[:len(s)/2] + `" + "` + s[len(s)/2:] + `"` }},
	{"concatenation, single quotes", func(s string) string { return "key = '" + s[:6] + "' + '" + s[6:] + "'" }},
	{"adjacent strings", func(s string) string { return `key = ("` + s[:len(s)/2] + "\"\n       \"" + s[len(s)/2:] + `")` }},
}

// leaks tells whether a part of a secret is left that is long enough to be of use.
func leaks(out, secret string) bool {
	if strings.Contains(out, secret) {
		return true
	}
	// A secret that is cut in part still leaks where twelve bytes of it in a row, beyond its public prefix, are left.
	const part = 12
	for i := len(secret) / 4; i+part <= len(secret); i++ {
		if strings.Contains(out, secret[i:i+part]) {
			return true
		}
	}
	return false
}

// recall redacts every kind in every wrapping and returns how many were cut,
// and the misses of each kind.
func recall(draws int) (cut, all int, missed map[string][]string) {
	d := draw{rand.New(rand.NewPCG(2026, 11))}
	missed = map[string][]string{}
	for _, k := range corpusKinds {
		for _, w := range wrappings {
			for range draws {
				text, secret := k.draw(d)
				out, _ := redact.Text(w.wrap(text))
				all++
				if leaks(out, secret) {
					missed[k.name] = append(missed[k.name], w.name)
				} else {
					cut++
				}
			}
		}
	}
	return cut, all, missed
}

// disguised redacts vendors' tokens in every disguise.
func disguised() (cut, all int, missed map[string][]string) {
	d := draw{rand.New(rand.NewPCG(2026, 12))}
	missed = map[string][]string{}
	for _, k := range corpusKinds {
		if !slices.Contains([]string{"aws access key id", "github token", "gitlab token", "npm token", "openai key", "anthropic key", "stripe key", "slack bot token", "google api key", "our own token"}, k.name) {
			continue
		}
		for _, h := range disguises {
			_, secret := k.draw(d)
			text := h.hide(secret)
			out, _ := redact.Text("Use this:\n" + text + "\nand go on.")
			all++
			if strings.Contains(out, text) || strings.Contains(out, text[len(text)/2:]) {
				missed[h.name] = append(missed[h.name], k.name)
			} else {
				cut++
			}
		}
	}
	return cut, all, missed
}

// sources calls f with each line of Go code and of prose that is at hand: the
// standard library's and this tree's. Tests are left out: they hold secrets.
func sources(t *testing.T, f func(file, line string, code bool)) {
	t.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	roots := []string{filepath.Join("..", "..")}
	for _, dir := range []string{"net", "crypto", "encoding", "os", "go", "text", "database", "archive", "cmd/go/internal"} {
		roots = append(roots, filepath.Join(strings.TrimSpace(string(goroot)), "src", dir))
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() {
				if name := e.Name(); name == "testdata" || len(name) > 1 && name[0] == '.' && name != ".." {
					return fs.SkipDir
				}
				return nil
			}
			code := strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
			if !code && !strings.HasSuffix(file, ".md") {
				return nil
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				if strings.TrimSpace(line) != "" {
					f(file, line, code)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What must be cut. docs/security.md has what the first run gave, before
// anything was mended for the corpus, and which kinds are missed.
const (
	leastRecall    = 0.98
	leastDisguised = 0.98
)

// TestRedactCorpus holds the recall. A kind that is missed is named.
func TestRedactCorpus(t *testing.T) {
	if len(corpusKinds) < 60 || len(wrappings) < 9 {
		t.Fatalf("%d kinds in %d wrappings are no corpus", len(corpusKinds), len(wrappings))
	}
	cut, all, missed := recall(2)
	t.Logf("%d kinds × %d wrappings: %d of %d cut, %.1f %%", len(corpusKinds), len(wrappings), cut, all, 100*float64(cut)/float64(all))
	for _, k := range corpusKinds {
		if m := missed[k.name]; len(m) > 0 {
			t.Logf("%s: %d missed: %s", k.name, len(m), strings.Join(slices.Compact(m), ", "))
		}
	}
	if float64(cut) < leastRecall*float64(all) {
		t.Errorf("recall %.1f %%, want %.1f", 100*float64(cut)/float64(all), 100*leastRecall)
	}
}

// TestRedactDisguises holds the recall of tokens that are encoded or broken up.
func TestRedactDisguises(t *testing.T) {
	cut, all, missed := disguised()
	t.Logf("%d of %d cut, %.1f %%", cut, all, 100*float64(cut)/float64(all))
	for name, m := range missed {
		t.Logf("%s: missed: %s", name, strings.Join(m, ", "))
	}
	if float64(cut) < leastDisguised*float64(all) {
		t.Errorf("recall %.1f %%, want %.1f", 100*float64(cut)/float64(all), 100*leastDisguised)
	}
}

// TestRedactFalsePositives holds how much of ordinary code and prose is cut.
func TestRedactFalsePositives(t *testing.T) {
	var lines, cut [2]int
	sources(t, func(file, line string, code bool) {
		i := 0
		if code {
			i = 1
		}
		lines[i]++
		if out, kinds := redact.Text(line); kinds != nil {
			cut[i]++
			if testing.Verbose() {
				t.Logf("%s: %s", filepath.Base(file), strings.TrimSpace(out))
			}
		}
	})
	t.Logf("code: %d of %d lines; prose: %d of %d lines", cut[1], lines[1], cut[0], lines[0])
	if lines[1] < 10_000 {
		t.Fatalf("%d lines of code are too few to judge by", lines[1])
	}
	for i, name := range []string{"prose", "code"} {
		if 200*cut[i] > lines[i] {
			t.Errorf("%d of %d lines of %s are cut, want 0.5 %% at most", cut[i], lines[i], name)
		}
	}
}
