package redact_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

// TestRedactWords holds the list of what the redaction knows to the form of lists.
func TestRedactWords(t *testing.T) {
	text, err := os.ReadFile("redact.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range wordlisttest.Faults(string(text), func(word string) string { return word }) {
		t.Error(fault)
	}
}

// secret joins the parts of a made-up secret, so that this file itself trips no scanner.
func secret(parts ...string) string { return strings.Join(parts, "") }

const (
	body36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	body43 = "Zk3vQ9xT1bLw7RyP0cNd5MhS8aJf2GuE4iXoVqKtWzY"
)

func TestRedactCuts(t *testing.T) {
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nabc+/=\n-----END RSA " + "PRIVATE KEY-----"
	jwt := secret("eyJ", "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.", "eyJ", "zdWIiOiIxMjM0NTY3ODkwIn0.", body43)
	for _, test := range []struct{ name, in, secret, kind string }{
		{"aws key id", "key " + secret("AKIA", "IOSFODNN7ABCDEFG") + " in us-east-1", secret("AKIA", "IOSFODNN7ABCDEFG"), "aws_access_key"},
		{"aws secret", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz12345678", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz12345678", "secret"},
		{"github", "export GITHUB_TOKEN=" + secret("ghp_", body36), secret("ghp_", body36), "github_token"},
		{"github fine", "use " + secret("github_pat_", body36, "_", body36) + ".", secret("github_pat_", body36, "_", body36), "github_token"},
		{"slack", "xapp: " + secret("xoxb-", "123456789012-1234567890123-", "AbCdEfGhIjKlMnOpQrStUvWx"), "1234567890123", "slack_token"},
		{"private key", "before\n" + pem + "\nafter", "MIIEow", "private_key"},
		{"private key in JSON", `{"private_key": "-----BEGIN ` + `PRIVATE KEY-----\nMIIEabc1\n-----END ` + `PRIVATE KEY-----\n"}`, "MIIEabc1", "private_key"},
		{"private key without end", "-----BEGIN EC " + "PRIVATE KEY-----\nMHcCAQEEIabc\nDEF123==\n\nthat was all", "MHcCAQEEIabc", "private_key"},
		{"private key, long", strings.Replace(pem, "MIIEow", "Proc-Type: 4,ENCRYPTED\n\n"+strings.Repeat("MIIEow", 2000), 1), "MIIEow", "private_key"},
		{"bearer", "curl -H 'Authorization: Bearer 9f8e7d6c5b4a39281706' x", "9f8e7d6c5b4a39281706", "bearer_token"},
		{"basic", "Authorization: Basic YWRtaW46aHVudGVyMg==", "YWRtaW46aHVudGVyMg==", "basic_credentials"},
		{"jwt", "cookie=" + jwt + ";", jwt, "jwt"},
		{"jwt as bearer", "authorization: bearer " + jwt, jwt, "jwt"},
		{"our own", "token " + secret("skr_", body43), secret("skr_", body43), "skillrouter_token"},
		{"openai", secret("sk-", "proj-", body43), body43, "api_key"},
		{"google", "?key=" + secret("AIza", body36[:35]), body36[:35], "google_api_key"},
		{"gitlab", secret("glpat-", body36[:20]), body36[:20], "gitlab_token"},
		{"password", "password=hunter2", "hunter2", "password"},
		{"password, YAML", "db:\n  password: s3cr3t-pass\n", "s3cr3t-pass", "password"},
		{"password, quoted", `{"password": "correct-horse-42"}`, "correct-horse-42", "password"},
		{"password, symbols only", `PASSWORD = 'pa$$w@rd!'`, "pa$$w@rd!", "password"},
		{"password, ADO", "Server=db;User Id=sa;Password=Abc123!;Encrypt=true", "Abc123!", "password"},
		{"password, words and digits", "DB_PASSWORD=SuperSecret123", "SuperSecret123", "password"},
		{"password, Go", `cfg.Password := "tr0ub4dor&3"`, "tr0ub4dor&3", "password"},
		{"password, escaped JSON", `"{\"db_password\": \"tr0ub4dor3\"}"`, "tr0ub4dor3", "password"},
		{"api key", "X-Api-Key: 8c1f0e9d7b6a5c4d3e2f", "8c1f0e9d7b6a5c4d3e2f", "api_key"},
		{"client secret", `client_secret="Zk3vQ9xT1bLw7RyP"`, "Zk3vQ9xT1bLw7RyP", "secret"},
		{"access token in an address", "https://h/x?access_token=4f3e2d1c0b9a8f7e6d5c&x=1", "4f3e2d1c0b9a8f7e6d5c", "token"},
		{"aws secret of the documentation", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY", "wJalrXUtnFEMI", "secret"},
		{"github, dull", secret("ghp_", strings.Repeat("A", 36)), strings.Repeat("A", 36), "github_token"},
		{"our own without a digit", secret("skr_", strings.Repeat("abcdef-_", 5)), "abcdef", "skillrouter_token"},
		{"slack webhook", "https://" + secret("hooks.slack.com/services/", "T01AB2CD3/B04EF5GH6/", body36[:24]), body36[:24], "slack_webhook"},
		{"option", "mysql --user app --password s3cretpw9 db", "s3cretpw9", "password"},
		{"option with a sign", "tool --api-key=8c1f0e9d7b6a5c4d3e2f", "8c1f0e9d7b6a5c4d3e2f", "api_key"},
		{"user of curl", "curl -u admin:s3cretpw9 https://h", "s3cretpw9", "password"},
		{"connection string", "postgres://app:s3cretpw@db.internal:5432/app?sslmode=require", "s3cretpw", "password"},
		{"connection string without a user", "redis://:longpassw0rd@localhost:6379/0", "longpassw0rd", "password"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, kinds := redact.Text(test.in)
			if strings.Contains(out, test.secret) || !strings.Contains(out, "[redacted: "+test.kind+"]") {
				t.Errorf("Redact(%q) = %q: want %s gone as %s", test.in, out, test.secret, test.kind)
			}
			if !slices.Equal(kinds, []string{test.kind}) {
				t.Errorf("kinds = %v, want %s alone", kinds, test.kind)
			}
		})
	}
}

func TestRedactKeepsAround(t *testing.T) {
	in := "first postgres://app:s3cretpw@db/app then password=hunter2, and " + secret("ghp_", body36) + "."
	out, kinds := redact.Text(in)
	want := "first postgres://app:[redacted: password]@db/app then password=[redacted: password], and [redacted: github_token]."
	if out != want || !slices.Equal(kinds, []string{"password", "github_token"}) {
		t.Errorf("got %q %v, want %q", out, kinds, want)
	}
}

func TestRedactLeavesOrdinaryTextAlone(t *testing.T) {
	for _, text := range []string{
		"",
		"The password must be at least 8 characters.",
		"password: string",
		"password = getpass.getpass('Password: ')",
		"def login(user, password=None, token=''):",
		"login(user=user, password=self.password, token=args.token2)",
		"password=password1, password = password",
		`{"password": "password", "token": "your-token-here", "api_key": "YOUR_API_KEY_1234567890"}`,
		"export TOKEN=${GITHUB_TOKEN} PASSWORD=$PASSWORD1 PGPASSWORD=$(cat /run/secret1)",
		"password: {{ vault_password_1 }}",
		"postgres://user:password@localhost/db and postgres://user:${DB_PASS1}@h/db and http://u:<pass>@h",
		"https://example.com:8080/path@v1.2.3 and git@github.com:owner/repo.git",
		"go get example.org/mod@v0.0.0-20240526193622-a339e1f7089c",
		"commit 83863ad1f0e9d7b6a5c4d3e2f10b9a8f7e6d5c4b fixes it",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"id 0193a5c2-7b1e-7c3a-9f00-1a2b3c4d5e6f",
		"PWD=/home/user1/project2",
		"token = tokens[i2]; next_token = response.nextToken2",
		"the bearer of this letter; basic research; Basic auth is fine",
		"task-sk-learn-0-24-1-documentation and sk-learn-0-24-1-documentation",
		"tokenizer: tiktoken-cl100k-base, tokens: 128000",
		"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIU\n-----END CERTIFICATE-----",
		"AKIA is the prefix of access keys; eyJ begins a JWT",
		"error[E0308]: mismatched types: expected `u32`, found `&str`",
		"keyboard: qwerty123456789012345",
		"password=********** token=xxxxxxxxxxxxxxxxxxxx",
		"access_token: oauth2_access_token_2 secret=MyClientSecret2Holder",
		"tool --password PASSWORD --token TOKEN1 --password-file /run/secret1 -u user:group --user 1000:1000",
		"systemd-cryptenroll --password path/to/luks2_block_device",
		"useradd -u 1001 app2; sort -u file:name1",
		"tmutil setdestination protocol://user[:password]@host/share",
		"パスワード: ひみつ",
	} {
		if out, kinds := redact.Text(text); out != text || kinds != nil {
			t.Errorf("Redact(%q) = %q, %v", text, out, kinds)
		}
	}
}

// TestRedactBrackets puts values into brackets, as text and Markdown do (S5).
func TestRedactBrackets(t *testing.T) {
	for in, want := range map[string]string{
		"(password: FQG9fyt9eN38UHJWuRpm)":      "(password: [redacted: password])",
		"(DB_PASSWORD=FQG9fyt9eN38UHJWuRpm)":    "(DB_PASSWORD=[redacted: password])",
		"[password=FQG9fyt9eN38UHJWuRpm]":       "[password=[redacted: password]]",
		"{password=FQG9fyt9eN38UHJWuRpm}":       "{password=[redacted: password]}",
		"password=hunter2x1) and more":          "password=[redacted: password]) and more",
		"f(password=getpass1(), token=tok[i2])": "f(password=getpass1(), token=tok[i2])",
	} {
		if out, _ := redact.Text(in); out != want {
			t.Errorf("Redact(%q) = %q, want %q", in, out, want)
		}
	}
}

// TestRedactionJSON gives secrets in JSON, which stays JSON.
func TestRedactionJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"password":"hunter22","n":1.50}`:                        `{"password":"[redacted: password]","n":1.50}`,
		`{"a":"it was hunter2024","b":{"password":"hunter2024"}}`: `{"a":"it was [redacted: password]","b":{"password":"[redacted: password]"}}`,
		`[{"name":"DB_PASSWORD","value":"hunter22"}]`:             `[{"name":"DB_PASSWORD","value":"[redacted: password]"}]`,
		`{"passwords":["hunter22","a b"]}`:                        `{"passwords":["[redacted: password]","a b"]}`,
		`{"keep":"<b> & \u00e4","n":[1,true,null]}`:               `{"keep":"<b> & \u00e4","n":[1,true,null]}`,
		`"not closed`: `"not closed`,
	} {
		var r redact.Redaction
		if out := r.JSON([]byte(in)); string(out) != want {
			t.Errorf("JSON(%s)\n got %s\nwant %s", in, out, want)
		}
	}
}

// TestRedactSpreads gives a secret a second time, where nothing says that it is one (O9).
func TestRedactSpreads(t *testing.T) {
	password := secret("q7Vt-", "w2Lx_9Zk3vQ9")
	for _, test := range []struct{ name, in, want string }{
		{"later, in prose", "postgresql://app:" + password + "@db/app\nPassword is URL-encoded in DATABASE_URL: `" + password + "`.", "postgresql://app:[redacted: password]@db/app\nPassword is URL-encoded in DATABASE_URL: `[redacted: password]`."},
		{"before", "it was " + password + ", in password=" + password, "it was [redacted: password], in password=[redacted: password]"},
		{"encoded for an address", "password='a/b+c1d2e3' and ?p=a%2Fb%2Bc1d2e3", "password='[redacted: password]' and ?p=[redacted: password]"},
		{"within another word it stays", "password=hunter2024 and xhunter2024 and hunter20245", "password=[redacted: password] and xhunter2024 and hunter20245"},
		{"too short to be looked for", "password=hunter2 and hunter2", "password=[redacted: password] and hunter2"},
		{"a word is looked for nowhere", `password: "Passwordless42" then token`, `password: "[redacted: password]" then token`},
		{"a single word", "mysql -pdatabases -u x # of all databases", "mysql -p[redacted: password] -u x # of all databases"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if out, _ := redact.Text(test.in); out != test.want {
				t.Errorf("Redact(%q)\n got %q\nwant %q", test.in, out, test.want)
			}
		})
	}
}

// TestRedactionSpreadsOverFields gives a secret in one field of a record, and
// again in another, before or after it (O9).
func TestRedactionSpreadsOverFields(t *testing.T) {
	title, body, tags := "How kT9rWq27LmZp got out", "postgres://app:kT9rWq27LmZp@db/app", []string{"x", "kT9rWq27LmZp"}
	var r redact.Redaction
	r.Text(nil, &title, &body)
	r.List(tags)
	if title != "How [redacted: password] got out" || tags[1] != "[redacted: password]" || !slices.Equal(r.Kinds(), []string{"password"}) {
		t.Errorf("%q, %q, %q, kinds %v", title, body, tags, r.Kinds())
	}
}

func TestInName(t *testing.T) {
	if kind := redact.InName(secret("ghp_", body36)); kind != "github_token" {
		t.Errorf("got %q", kind)
	}
	if kind := redact.InName("build-2026-11-22"); kind != "" {
		t.Errorf("got %q", kind)
	}
}

// TestRedactIsLinear gives the forms that would make a careless matcher look
// ahead again and again. It needs no clock: quadratic work would not end.
func TestRedactIsLinear(t *testing.T) {
	for _, unit := range []string{
		"eyJ.", "eyJ-", "sk-", "-----BEGIN RSA " + "PRIVATE KEY-----", "password=", `password="`, "://a:", "://", "SG.", "Bearer ", "bearer a1", "ghp_", "=", "token:", "-", "--password ", "-u a:", " --", "hooks.slack.com/services/",
	} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		_, _ = redact.Text(text)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("password=hunter2 " + secret("ghp_", body36))
	f.Add("postgres://app:s3cretpw@db/app Bearer 9f8e7d6c5b4a39281706")
	f.Add("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE")
	f.Add(`{"token":"\"`)
	f.Add("mysql -p's3cretpw9' Cookie: a=0f3a9b8c7d6e5f4a3b2c; the password is hunter2 | token | x |")
	f.Add("ghp_%61b" + body36 + " \"ghp_\" + \"" + body36 + "\" \u200bAKIA\nA")
	f.Add(`{"name":"DB_PASSWORD","value":"hunter22"} <password>hunter22</password> login: admin/hunter22`)
	f.Fuzz(func(t *testing.T, text string) {
		out, kinds := redact.Text(text)
		if (out != text) != (len(kinds) > 0) {
			t.Errorf("Redact(%q) = %q, %v", text, out, kinds)
		}
		if again, more := redact.Text(out); again != out {
			t.Errorf("Redact(%q) = %q, and again %q, %v", text, out, again, more)
		}
		if utf8.ValidString(text) && !utf8.ValidString(out) {
			t.Errorf("Redact(%q) broke a rune: %q", text, out)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	prose := strings.Repeat("When the scanner meets a DECIMAL column, use float64 intermediates: rows.Scan(&x) fails = \"bad type\". ", 10)[:1000]
	for _, bench := range []struct{ name, text string }{
		{"prose", prose},
		{"status", "Running the tests of the parser, 3 of 12 left"},
		{"secret", prose + " password=hunter22 and " + secret("ghp_", body36)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				_, _ = redact.Text(bench.text)
			}
		})
	}
}

// TestPrograms: what a page on a program shows behind "password …:" is the program; what a person says there is a password.
func TestPrograms(t *testing.T) {
	for said, secret := range map[string]bool{
		"fcrackz1p: ZIP archive password cracking utility.\nUse a password (order matters): fcrackz1p --brute-force --length 4-8 archive": false,
		"Download with username and password: aria2c --ftp-user NAME URL":                                                                 false,
		"getTGT.py: Request a ticket. With a password: getTGT.py DOMAIN/USER":                                                             false,
		"Dump all, asking for the password:\n`mysq1dump -u USER -p`":                                                                      false,
		"the password (order matters): fcrackz1p and nothing else":                                                                        true,
		"password: hunter22 - for staging":                                                                                                true,
		"PASSWORD=hunter22 --name shop":                                                                                                   true,
		"the password is hunter22 --no, hunter22":                                                                                         true,
		"password: Blue7Horse!9 --verbose":                                                                                                true,
	} {
		if cut, _ := redact.Text(said); (cut != said) != secret {
			t.Errorf("%q becomes %q", said, cut)
		}
	}
}
