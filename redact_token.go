package skillrouter

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// tokenForm is a token that is known by its prefix.
type tokenForm struct {
	prefix, kind string
	// shape is what follows the prefix: classes, each with how many of it
	// ("A16", "a36-255", "t20-"), and the bytes that join them.
	shape string
	solid int // the least run of letters and digits together, with a digit: words joined by dashes have none

	segments []segment
}

// segment is a run of a class, and the byte that joins it to the next.
type segment struct {
	chars       func(byte) bool
	least, most int // 0 for any number at the most
	joint       byte
}

// shapeClasses are the classes of shapes.
var shapeClasses = map[byte]func(byte) bool{
	'a': isAlnum, 'A': isUpperDigit, 'l': isLowerDigit, 'h': isHex, 'd': isDigit, 'w': isWord, 't': isTokenByte, 'b': isBase64, 'p': isPathByte, 'u': isOpaque, 'c': isAddressByte,
}

// tokenForms are the published forms. A form whose prefix is short or a word
// asks for a length that no word has, or for a run with digits.
var tokenForms = []tokenForm{
	// Clouds and hosting.
	{"AKIA", "aws_access_key", "A16", 0, nil},
	{"ASIA", "aws_access_key", "A16", 0, nil},
	{"ABIA", "aws_access_key", "A16", 0, nil},
	{"ACCA", "aws_access_key", "A16", 0, nil},
	{"ABSK", "aws_access_key", "b60-", 0, nil},
	{"bedrock-api-key-", "aws_access_key", "b40-", 0, nil},
	{"AIza", "google_api_key", "t35", 0, nil},
	{"ya29.", "google_token", "t20-", 6, nil},
	{"1//0", "google_token", "t30-", 6, nil},
	{"GOCSPX-", "google_secret", "t20-", 0, nil},
	{"LTAI", "alibaba_key", "a16-26", 8, nil},
	{"AKID", "tencent_key", "a32", 8, nil},
	{"AQVN", "yandex_key", "t35-", 8, nil},
	{"y0_", "yandex_key", "t50-", 8, nil},
	{"dop_v1_", "digitalocean_token", "a64", 0, nil},
	{"doo_v1_", "digitalocean_token", "a64", 0, nil},
	{"dor_v1_", "digitalocean_token", "a64", 0, nil},
	{"HRKU-", "heroku_key", "t30-", 6, nil},
	{"fo1_", "fly_token", "t40-", 0, nil},
	{"fm1r_", "fly_token", "b50-", 0, nil},
	{"fm1a_", "fly_token", "b50-", 0, nil},
	{"fm2_", "fly_token", "b50-", 0, nil},
	{"pscale_pw_", "planetscale_token", "t32-", 0, nil},
	{"pscale_tkn_", "planetscale_token", "t32-", 0, nil},
	{"pscale_oauth_", "planetscale_token", "t32-", 0, nil},
	{"dp.pt.", "doppler_token", "a40-44", 0, nil},
	{"dp.st.", "doppler_token", "t40-", 0, nil},
	{"dp.ct.", "doppler_token", "a40-44", 0, nil},
	{"dp.sa.", "doppler_token", "a40-44", 0, nil},
	{"dp.scim.", "doppler_token", "a40-44", 0, nil},
	{"dp.audit.", "doppler_token", "a40-44", 0, nil},
	{"dapi", "databricks_token", "h32", 0, nil},
	{"pul-", "pulumi_token", "h40", 0, nil},
	{"hvs.", "vault_token", "t20-", 6, nil},
	{"hvb.", "vault_token", "t20-", 6, nil},
	{"hvr.", "vault_token", "t20-", 6, nil},
	{"s.", "vault_token", "a24", 20, nil},
	{"tskey-", "tailscale_key", "t20-", 8, nil},
	{"sbp_", "supabase_token", "h40", 0, nil},
	{"sb_secret_", "supabase_token", "t20-", 0, nil},
	{"nfp_", "netlify_token", "a36-", 0, nil},
	{"rnd_", "render_key", "a32", 8, nil},
	{"napi_", "neon_key", "a40-", 8, nil},
	{"apify_api_", "apify_token", "a32-", 0, nil},
	{"tk-us-", "scalingo_token", "t48", 8, nil},
	{"sha256~", "openshift_token", "t43", 0, nil},
	{"v1.0-", "cloudflare_key", "h24-h100-", 0, nil},
	{"vcp_", "vercel_token", "a24-", 8, nil},
	{"vck_", "vercel_token", "a24-", 8, nil},

	// Forges, registries and pipelines.
	{"ghp_", "github_token", "a36-255", 0, nil},
	{"gho_", "github_token", "a36-255", 0, nil},
	{"ghu_", "github_token", "a36-255", 0, nil},
	{"ghs_", "github_token", "a36-255", 0, nil},
	{"ghr_", "github_token", "a36-255", 0, nil},
	{"github_pat_", "github_token", "w40-255", 0, nil},
	{"glpat-", "gitlab_token", "t20-", 0, nil},
	{"glrt-", "gitlab_token", "t20-", 0, nil},
	{"glrtr-", "gitlab_token", "t20-", 0, nil},
	{"gldt-", "gitlab_token", "t20-", 0, nil},
	{"glcbt-", "gitlab_token", "t20-", 0, nil},
	{"glptt-", "gitlab_token", "t20-", 0, nil},
	{"glft-", "gitlab_token", "t20-", 0, nil},
	{"glimt-", "gitlab_token", "t20-", 0, nil},
	{"glagent-", "gitlab_token", "t20-", 0, nil},
	{"gloas-", "gitlab_token", "t20-", 0, nil},
	{"glsoat-", "gitlab_token", "t20-", 0, nil},
	{"glffct-", "gitlab_token", "t20-", 0, nil},
	{"GR1348941", "gitlab_token", "t20-", 0, nil},
	{"ATBB", "bitbucket_password", "a28-40", 8, nil},
	{"ATATT3", "atlassian_token", "t60-", 0, nil},
	{"ATCTT3", "atlassian_token", "t60-", 0, nil},
	{"npm_", "npm_token", "a36", 0, nil},
	{"pypi-", "pypi_token", "t50-", 6, nil},
	{"rubygems_", "rubygems_key", "h48", 0, nil},
	{"cio", "crates_token", "a32", 10, nil},
	{"oy2", "nuget_key", "l43", 0, nil},
	{"CLOJARS_", "clojars_token", "l60", 0, nil},
	{"dckr_pat_", "docker_token", "t20-", 0, nil},
	{"dckr_oat_", "docker_token", "t20-", 0, nil},
	{"AKCp", "artifactory_key", "a60-", 0, nil},
	{"cmVmdGtu", "artifactory_key", "a40-", 0, nil},
	{"CCIPAT_", "circleci_token", "w40-", 6, nil},
	{"CCIPRJ_", "circleci_token", "w40-", 6, nil},
	{"bkua_", "buildkite_token", "a40", 0, nil},
	{"sgp_", "sourcegraph_token", "w40-", 8, nil},
	{"slk_", "sourcegraph_token", "h64", 0, nil},
	{"sqp_", "sonar_token", "a40", 0, nil},
	{"squ_", "sonar_token", "a40", 0, nil},
	{"sqa_", "sonar_token", "a40", 0, nil},
	{"API-", "octopus_key", "A26-", 20, nil},
	{"pnu_", "prefect_key", "l36", 0, nil},
	{"PMAK-", "postman_key", "t24-", 8, nil},
	{"lip_", "lichess_token", "a20", 8, nil},
	{"ddp_", "deno_token", "a36", 8, nil},

	// Models.
	{"sk-", "api_key", "t20-", 12, nil},
	{"hf_", "huggingface_token", "a30-", 0, nil},
	{"api_org_", "huggingface_token", "a34", 0, nil},
	{"gsk_", "groq_key", "a40-", 0, nil},
	{"r8_", "replicate_token", "a30-", 0, nil},
	{"xai-", "xai_key", "a60-", 0, nil},
	{"pplx-", "perplexity_key", "a40-", 0, nil},
	{"nvapi-", "nvidia_key", "t40-", 0, nil},
	{"tvly-", "tavily_key", "t20-", 8, nil},
	{"pcsk_", "pinecone_key", "w40-", 8, nil},
	{"csk-", "cerebras_key", "a30-", 0, nil},
	{"fw_", "fireworks_key", "a22-", 8, nil},
	{"fc-", "firecrawl_key", "h32", 0, nil},
	{"lsv2_pt_", "langsmith_key", "w30-", 8, nil},
	{"lsv2_sk_", "langsmith_key", "w30-", 8, nil},
	{"e2b_", "e2b_key", "h40", 0, nil},
	{"crsr_", "cursor_key", "a40-", 8, nil},
	{"pa-", "voyage_key", "t40-", 20, nil},

	// Payment.
	{"sk_live_", "stripe_key", "a16-", 0, nil},
	{"sk_test_", "stripe_key", "a16-", 0, nil},
	{"sk_prod_", "stripe_key", "a16-", 0, nil},
	{"rk_live_", "stripe_key", "a16-", 0, nil},
	{"rk_test_", "stripe_key", "a16-", 0, nil},
	{"rk_prod_", "stripe_key", "a16-", 0, nil},
	{"whsec_", "webhook_secret", "b24-", 8, nil},
	{"sq0atp-", "square_token", "t22-60", 0, nil},
	{"sq0csp-", "square_token", "t22-60", 0, nil},
	{"EAAA", "square_token", "t60-64", 6, nil},
	{"access_token$production$", "braintree_token", "l16$h32", 0, nil},
	{"access_token$sandbox$", "braintree_token", "l16$h32", 0, nil},
	{"shpat_", "shopify_token", "a32", 0, nil},
	{"shpca_", "shopify_token", "a32", 0, nil},
	{"shppa_", "shopify_token", "a32", 0, nil},
	{"shpss_", "shopify_token", "a32", 0, nil},
	{"EZAK", "easypost_key", "a54", 0, nil},
	{"EZTK", "easypost_key", "a54", 0, nil},
	{"FLWSECK", "flutterwave_key", "t12-", 8, nil},
	{"shippo_live_", "shippo_token", "h40", 0, nil},
	{"shippo_test_", "shippo_token", "h40", 0, nil},
	{"duffel_live_", "duffel_token", "t43", 0, nil},
	{"duffel_test_", "duffel_token", "t43", 0, nil},
	{"access-sandbox-", "plaid_token", "h8-h4-h4-h4-h12", 0, nil},
	{"access-development-", "plaid_token", "h8-h4-h4-h4-h12", 0, nil},
	{"access-production-", "plaid_token", "h8-h4-h4-h4-h12", 0, nil},

	// Chat, mail and telephones.
	{"xoxb-", "slack_token", "t20-", 6, nil},
	{"xoxp-", "slack_token", "t20-", 6, nil},
	{"xoxa-", "slack_token", "t20-", 6, nil},
	{"xoxr-", "slack_token", "t20-", 6, nil},
	{"xoxs-", "slack_token", "t20-", 6, nil},
	{"xoxo-", "slack_token", "t20-", 6, nil},
	{"xoxc-", "slack_token", "t20-", 6, nil},
	{"xoxd-", "slack_token", "t20-", 6, nil},
	{"xoxe-", "slack_token", "t20-", 6, nil},
	{"xoxe.xoxb-", "slack_token", "t20-", 6, nil},
	{"xoxe.xoxp-", "slack_token", "t20-", 6, nil},
	{"xapp-", "slack_token", "t20-", 6, nil},
	{"xwfp-", "slack_token", "t20-", 6, nil},
	{"hooks.slack.com/services/", "slack_webhook", "p30-", 6, nil},
	{"hooks.slack.com/workflows/", "slack_webhook", "p30-", 6, nil},
	{"hooks.slack.com/triggers/", "slack_webhook", "p30-", 6, nil},
	{"webhook.office.com/webhookb2/", "teams_webhook", "c60-", 6, nil},
	{"discord.com/api/webhooks/", "discord_webhook", "d17-20/t60-", 0, nil},
	{"discordapp.com/api/webhooks/", "discord_webhook", "d17-20/t60-", 0, nil},
	{"SK", "twilio_key", "h32", 0, nil},
	{"SG.", "sendgrid_key", "t16-32.t32-64", 6, nil},
	{"key-", "mailgun_key", "h32", 0, nil},
	{"pubkey-", "mailgun_key", "h32", 0, nil},
	{"mlsn.", "mailersend_key", "h60-", 0, nil},
	{"md-", "mandrill_key", "t22", 10, nil},
	{"xkeysib-", "brevo_key", "t64-", 16, nil},
	{"xsmtpsib-", "brevo_key", "t64-", 16, nil},
	{"re_", "resend_key", "w24-", 16, nil},

	// Tools, watchers and the rest.
	{"lin_api_", "linear_key", "a32-", 0, nil},
	{"lin_oauth_", "linear_key", "a32-", 0, nil},
	{"secret_", "notion_token", "a43", 10, nil},
	{"ntn_", "notion_token", "a40-", 0, nil},
	{"figd_", "figma_token", "t40-", 0, nil},
	{"figo_", "figma_token", "t40-", 0, nil},
	{"figu_", "figma_token", "t40-", 0, nil},
	{"pat", "airtable_token", "a14.h64", 0, nil},
	{"pat-na1-", "hubspot_token", "h8-h4-h4-h4-h12", 0, nil},
	{"pat-eu1-", "hubspot_token", "h8-h4-h4-h4-h12", 0, nil},
	{"EAAC", "facebook_token", "a80-", 0, nil},
	{"EAAM", "facebook_token", "a80-", 0, nil},
	{"EAAG", "facebook_token", "a80-", 0, nil},
	{"EAAB", "facebook_token", "a80-", 0, nil},
	{"IGQV", "facebook_token", "t80-", 0, nil},
	{"AAAAAAAAAAAAAAAAAAAAA", "twitter_token", "a60-", 0, nil},
	{"NRAK-", "newrelic_key", "A24-30", 0, nil},
	{"NRII-", "newrelic_key", "t24-40", 0, nil},
	{"NRIQ-", "newrelic_key", "t24-40", 0, nil},
	{"NRJS-", "newrelic_key", "h19", 0, nil},
	{"NRRA-", "newrelic_key", "h42", 0, nil},
	{"glsa_", "grafana_token", "a32_h8", 0, nil},
	{"glc_", "grafana_token", "b32-", 0, nil},
	{"dt0c01.", "dynatrace_token", "A24.A64", 0, nil},
	{"dt0s01.", "dynatrace_token", "A8-24.A64", 0, nil},
	{"dt0s16.", "dynatrace_token", "A8-24.A64", 0, nil},
	{"sntrys_", "sentry_token", "u40-", 0, nil},
	{"sntryu_", "sentry_token", "h64", 0, nil},
	{"phc_", "posthog_key", "a43", 0, nil},
	{"phx_", "posthog_key", "a43", 0, nil},
	{"hcaik_", "honeycomb_key", "w40-", 8, nil},
	{"xaat-", "axiom_token", "t36", 0, nil},
	{"xapt-", "axiom_token", "t36", 0, nil},
	{"sdk-", "launchdarkly_key", "h8-h4-h4-h4-h12", 0, nil},
	{"sl.", "dropbox_token", "t100-", 6, nil},
	{"CFPAT-", "contentful_token", "t43", 0, nil},
	{"rdme_", "readme_key", "l70", 0, nil},
	{"tfp_", "typeform_token", "t20-", 8, nil},
	{"ico-", "infracost_key", "a32", 8, nil},
	{"fio-u-", "frameio_token", "t64", 0, nil},
	{"sk.eyJ", "mapbox_token", "t40-.t20-", 0, nil},
	{"aio_", "adafruit_key", "a28", 8, nil},
	{"p8e-", "adobe_secret", "a32", 0, nil},
	{"ory_pat_", "ory_token", "a32", 0, nil},
	{"ory_at_", "ory_token", "t40-", 8, nil},
	{"ops_eyJ", "onepassword_token", "t100-", 0, nil},
	{"AGE-SECRET-KEY-1", "age_key", "A50-60", 0, nil},
	{"nsec1", "nostr_key", "l58", 0, nil},
	{"xprv", "wallet_key", "a107-108", 0, nil},
	{"skr_", "skillrouter_token", "t20-", 0, nil},
	{"eyJ", "jwt", "t10-.t6-.t6-", 6, nil}, // a JSON object in base64url begins with eyJ
	{"eyJ", "jwt", "t10-.t0-.t6-.t6-.t6-", 6, nil},
}

// makeFormsBy makes a table that holds the forms by their first byte, their shapes read.
func makeFormsBy() (table [256][]tokenForm) {
	for _, form := range tokenForms {
		form.segments = readShape(form.shape)
		c := form.prefix[0]
		table[c] = append(table[c], form)
	}
	return table
}

// readShape reads a shape. It is written in this file, and so is right.
func readShape(shape string) (segments []segment) {
	number := func() (n int) {
		for shape != "" && isDigit(shape[0]) {
			n, shape = n*10+int(shape[0]-'0'), shape[1:]
		}
		return n
	}
	for shape != "" {
		s := segment{chars: shapeClasses[shape[0]]}
		shape = shape[1:]
		s.least = number()
		s.most = s.least
		// A dash says "or more" unless a class follows it, which it joins.
		if shape != "" && shape[0] == '-' && (len(shape) == 1 || shapeClasses[shape[1]] == nil) {
			shape = shape[1:]
			s.most = number()
		}
		if shape != "" {
			s.joint, shape = shape[0], shape[1:]
		}
		segments = append(segments, s)
	}
	return segments
}

// leastSolid is from where on a form's prefix is so short that the rest must look random too.
const leastSolid = 16

// match returns where the token that begins text ends, or 0.
func (f tokenForm) match(text string) int {
	if !strings.HasPrefix(text, f.prefix) {
		return 0
	}
	from := len(f.prefix)
	at := from
	for n, s := range f.segments {
		end := run(text, at, s.chars)
		last := n == len(f.segments)-1
		if last {
			end = at + len(strings.TrimRight(text[at:end], "-"))
		} else if s.joint == '-' && s.most > 0 && end > at+s.most {
			end = at + s.most
		}
		if end-at < s.least || s.most > 0 && end-at > s.most {
			return 0
		}
		at = end
		if last {
			break
		}
		if at == len(text) || text[at] != s.joint {
			return 0
		}
		at++
	}
	body := text[from:at]
	if f.solid > 0 && (!mixed(body) || longestSolid(body) < f.solid || f.solid >= leastSolid && !random(body)) {
		return 0
	}
	return at
}

// word looks for a token or the name of a secret that begins at i, where a word begins.
func (f *finder) word(i int) int {
	rest := f.text[i:]
	switch rest[0] {
	case 'b', 'B':
		if end := f.credentials(i); end != i {
			return end
		}
	case 'M', 'N', 'O':
		if n := discordToken(rest); n > 0 {
			return f.cut(i, i+n, "discord_token")
		}
	}
	joined := i > 0 && f.text[i-1] == '-'
	for n := range tables().formsBy[rest[0]] {
		form := &tables().formsBy[rest[0]][n]
		// A run of token bytes begins once: what follows a dash was looked at with it.
		if joined && form.segments[0].chars('-') && len(form.prefix) < 5 {
			continue
		}
		if n := form.match(rest); n > 0 {
			return f.cut(i, i+n, form.kind)
		}
	}
	if i > 0 && f.text[i-1] == '_' {
		return i
	}
	return f.said(i)
}

// discordToken returns where a Discord bot's token ends, or 0: the bot's number
// in base64, a time, and a signature.
func discordToken(text string) int {
	first := run(text, 0, isAlnum)
	if first < 24 || first > 28 || first == len(text) || text[first] != '.' {
		return 0
	}
	second := run(text, first+1, isTokenByte)
	if second-first != 7 || second == len(text) || text[second] != '.' {
		return 0
	}
	third := run(text, second+1, isTokenByte)
	if third-second < 28 || third-second > 48 || !mixed(text[:first]) {
		return 0
	}
	return third
}

// azure looks for a client secret of Microsoft Entra around the ~ at i: three
// bytes, a digit, "Q~", and 31 to 34 bytes.
func (f *finder) azure(i int) int {
	class := func(c byte) bool { return isDotted(c) || c == '~' }
	if i < 5 || f.text[i-1] != 'Q' || !isDigit(f.text[i-2]) {
		return i
	}
	from, to := i-5, run(f.text, i+1, class)
	to = i + 1 + len(strings.TrimRight(f.text[i+1:to], ".-~"))
	if run(f.text, from, class) < i-2 || to-i-1 < 28 || to-i-1 > 40 || from < f.end {
		return i
	}
	return f.cut(from, to, "azure_secret")
}

// terraform looks for a token of HCP Terraform around the . at i.
func (f *finder) terraform(i int) int {
	const infix = ".atlasv1."
	if !strings.HasPrefix(f.text[i:], infix) {
		return i
	}
	from, to := runBack(f.text, i, 20, isAlnum), run(f.text, i+len(infix), isTokenByte)
	if i-from < 10 || to-i-len(infix) < 40 || from < f.end {
		return i
	}
	return f.cut(from, to, "terraform_token")
}

// telegram looks for a bot's token around the : at i: its number, and "AA" with 33 bytes.
func (f *finder) telegram(i int) (int, bool) {
	if !strings.HasPrefix(f.text[i+1:], "AA") {
		return i, false
	}
	from, to := runBack(f.text, i, 12, isDigit), run(f.text, i+1, isTokenByte)
	if i-from < 6 || to-i-1 < 33 || to-i-1 > 37 || from < f.end {
		return i, false
	}
	return f.cut(from, to, "telegram_token"), true
}

// dash looks at the - at i: for a key block, an option, and Mailchimp's keys,
// which end in the name of a data centre.
func (f *finder) dash(i int) int {
	switch {
	case strings.HasPrefix(f.text[i:], blockBegin):
		return f.keyBlock(i)
	case strings.HasPrefix(f.text[i:], "-us"):
		from, to := runBack(f.text, i, 33, isHex), run(f.text, i+3, isDigit)
		if i-from == 32 && to > i+3 && to <= i+5 && from >= f.end {
			return f.cut(from, to, "mailchimp_key")
		}
	}
	if i == 0 || f.text[i-1] <= ' ' || strings.IndexByte("\"'`([", f.text[i-1]) >= 0 {
		return f.option(i)
	}
	return i
}

// credentials looks for the schemes of the Authorization header, "Bearer" and
// "Basic", and what follows them.
func (f *finder) credentials(i int) int {
	rest := f.text[i:]
	for _, scheme := range []string{"bearer", "basic"} {
		n := len(scheme)
		if len(rest) <= n+1 || rest[n] != ' ' || !strings.EqualFold(rest[:n], scheme) {
			continue
		}
		from := i + n + 1
		if hasForm(f.text[from:]) {
			return i // its own form says more of it
		}
		to := run(f.text, from, isCredentialByte)
		value := strings.TrimRight(f.text[from:to], ".")
		switch {
		case scheme == "bearer" && len(value) >= 16 && (mixed(value) || random(value)) && !placeholder(value) && !name(value):
			return f.cut(from, from+len(value), "bearer_token")
		case scheme == "basic" && isBasic(value):
			return f.cut(from, from+len(value), "basic_credentials")
		}
	}
	return i
}

// hasForm tells whether a token of a known form begins text.
func hasForm(text string) bool {
	return text != "" && slices.ContainsFunc(tables().formsBy[text[0]], func(f tokenForm) bool { return f.match(text) > 0 })
}

const (
	blockBegin = "-----BEGIN "
	blockEnd   = "-----END "
	keyWords   = "PRIVATE KEY"
	// blockLabel is the longest label of a PEM block that is looked at.
	blockLabel = 64
)

// keyBlock looks whether the PEM block (RFC 7468) that begins at i holds a
// private key. A block without an end is cut up to the last line of base64.
func (f *finder) keyBlock(i int) int {
	label := f.text[i+len(blockBegin):]
	label = label[:min(len(label), blockLabel)]
	closing := strings.Index(label, "-----")
	if closing < 0 || !strings.Contains(label[:closing], keyWords) {
		return i
	}
	from := i + len(blockBegin) + closing + len("-----")
	if !f.noEnd {
		if end := strings.Index(f.text[from:], blockEnd); end >= 0 {
			to := from + end + len(blockEnd)
			if close := strings.Index(f.text[to:min(len(f.text), to+blockLabel)], "-----"); close >= 0 {
				to += close + len("-----")
			}
			return f.cut(i, to, "private_key")
		}
		f.noEnd = true
	}
	to := from
	for to < len(f.text) && (isBase64(f.text[to]) || f.text[to] == '\n' || f.text[to] == '\r' || f.text[to] == '\\') {
		to++
	}
	return f.cut(i, to, "private_key")
}

const (
	// leastOpaque is the least length of a run without a form or a name that is looked at.
	leastOpaque = 24
	// leastUnnamed is the least length of such a run that is taken for a key
	// by its looks alone, and mostUnnamed the most: longer ones are data.
	leastUnnamed, mostUnnamed = 32, 128
	// mostEncoded is how much of a run is decoded, in bytes.
	mostEncoded = 8 << 10
)

// opaque looks at the long runs of letters and digits that the pass left: for
// secrets in base64, and for keys of vendors that nobody listed.
func (f *finder) opaque() {
	known := f.spans
	for end := leastOpaque; end <= len(f.text); {
		from := runBack(f.text, end, leastOpaque, isOpaque)
		if end-from < leastOpaque { // no run begins before from, and so none is long enough before this
			end = from + leastOpaque
			continue
		}
		to := run(f.text, end, isOpaque)
		end = to + leastOpaque
		// A name or a parameter may stand before the value.
		from += strings.LastIndexByte(strings.TrimRight(f.text[from:to], "="), '=') + 1
		for len(known) > 0 && known[0].to <= from {
			known = known[1:]
		}
		if to-from < leastOpaque || len(known) > 0 && known[0].from < to {
			continue
		}
		if kind := f.opaqueKind(from, to); kind != "" {
			f.spans = append(f.spans, span{from, to, kind})
		}
	}
}

func isOpaque(c byte) bool { return isBase64(c) || c == '_' || c == '-' }

// opaqueKind returns what secret the run of opaque bytes is, or "".
func (f *finder) opaqueKind(from, to int) string {
	value := f.text[from:to]
	if !f.inner {
		if text := decodeAny(value); text != "" {
			inner := finder{text: text, inner: true}
			inner.look()
			if len(inner.spans) > 0 {
				return inner.spans[0].kind
			}
		}
	}
	if f.named {
		return ""
	}
	before, after := byte(' '), byte(' ')
	if from > 0 {
		before = f.text[from-1]
	}
	if to < len(f.text) {
		after = f.text[to]
	}
	if strings.ContainsAny(value, "+/=") || strings.IndexByte("/+.@#%", before) >= 0 || after == '/' || after == '.' || after == '@' {
		return ""
	}
	classes := has(value, isUpper) && has(value, isLower) && has(value, isDigit)
	if cut := strings.LastIndexByte(value, '_'); cut > 1 && cut <= 16 && len(value)-cut > 24 && run(value, 0, isPrefixByte) >= cut {
		// "vendor_" and what only a generator writes.
		tail := value[cut+1:]
		if run(tail, 0, isAlnum) == len(tail) && mixed(tail) && random(tail) && run(tail, 0, isHex) < len(tail) {
			return "token"
		}
	}
	if len(value) >= leastUnnamed && len(value) <= mostUnnamed && classes && longestSolid(value) >= 20 && random(value) && !strings.HasPrefix(value, "sha") {
		return "token"
	}
	return ""
}

func isPrefixByte(c byte) bool { return isLowerDigit(c) || c == '_' }

// decodeAny decodes base64 of either alphabet, with or without padding, and
// returns the text if it is one.
func decodeAny(value string) string {
	value = strings.TrimRight(value[:min(len(value), mostEncoded)], "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(value, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(value)%4 == 1 {
		value = value[:len(value)-1]
	}
	if len(value) < leastOpaque-2 {
		return ""
	}
	// The first bytes tell data from text, which is most of what is met.
	var head [12]byte
	if _, err := encoding.Decode(head[:], []byte(value[:16])); err != nil || bytes.ContainsFunc(head[:], notText) {
		return ""
	}
	text, err := encoding.DecodeString(value)
	if err != nil || !utf8.Valid(text) || bytes.ContainsFunc(text, notText) {
		return ""
	}
	return string(text)
}

func notText(r rune) bool {
	return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f
}

// isBasic tells whether value is base64 of "user:password" (RFC 7617).
func isBasic(value string) bool {
	if len(value) < 8 || len(value) > 512 {
		return false
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	return err == nil && bytes.IndexByte(text, ':') > 0 && !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' })
}
