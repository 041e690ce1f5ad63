package config

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/errs"
)

// Setting is one setting as it is named outside of Go: a dotted key in the
// file, a variable in the environment, a flag on the command line.
type Setting struct {
	Name  string // as in the file, with dots between levels
	Usage string
	// Switch means that the flag alone, without a value, switches the setting on.
	Switch bool
	// Former is the name that it had: it goes on working everywhere, and is shown nowhere.
	Former string
	// Secret means that Show gives a mask, and that there is no flag: the list of processes shows those to everybody.
	Secret bool

	set  func(c *Config, value string) error
	show func(c Config) string
}

// formerly is the setting with the name that it had.
func (s Setting) formerly(name string) Setting {
	s.Former = name
	return s
}

// FormerFlag is the flag that it had; empty if none.
func (s Setting) FormerFlag() string { return Setting{Name: s.Former}.Flag() }

// Env is the name of the environment variable that speaks for the setting.
func (s Setting) Env() string {
	return "SKILLROUTER_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Flag is the name of the command line flag that speaks for the setting,
// without its dashes.
func (s Setting) Flag() string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(s.Name)
}

// Show returns the setting's value in c as it would be written in the environment.
// A secret is shown as a mask.
func (s Setting) Show(c Config) string { return s.show(c) }

// Settings lists every setting, in the order in which they are documented.
func Settings() []Setting {
	return []Setting{
		text("listen", "address to listen on, HOST:PORT", func(c *Config) *string { return &c.Listen }),
		toggle("compatible_ports", "also listen on the ports that clients of the earlier programs call: 8025 and 8031 (HTTP), 9031 (WebSocket), 3031 (UDP)", func(c *Config) *bool { return &c.CompatiblePorts }).formerly(formerPorts),
		list("listeners.http", "further addresses to answer HTTP on, HOST:PORT, separated by commas", func(c *Config) *[]string { return &c.Listeners.HTTP }),
		list("listeners.websocket", "addresses where the event feed is a WebSocket at the root, HOST:PORT, separated by commas", func(c *Config) *[]string { return &c.Listeners.WebSocket }),
		text("interlock.listen", "address of the UDP mesh, HOST:PORT; empty: off", func(c *Config) *string { return &c.InterLock.Listen }),
		text("interlock.config", "file of the mesh's peers and tumbler; empty: interlock.json, in the data folder", func(c *Config) *string { return &c.InterLock.Config }),
		text("tls_cert", "file of the certificate (PEM) that all HTTP listeners show; empty: they speak plain HTTP", func(c *Config) *string { return &c.TLSCert }),
		text("tls_key", "file of the key (PEM) of tls_cert", func(c *Config) *string { return &c.TLSKey }),
		text("tls_ca", "file of certificates (PEM) of authorities that are believed, beside the system's, when a router is called", func(c *Config) *string { return &c.TLSCA }),
		text("data", "folder that holds the databases", func(c *Config) *string { return &c.Data }),
		text("first_token_file", "file that a start puts a token for all agents into (scope captain) if none was ever issued, so that every call needs one; empty: it issues none", func(c *Config) *string { return &c.FirstToken }),
		server("database", "PostgreSQL server that has the databases, postgres://USER@HOST/NAME; empty: they are files in the data folder", func(c *Config) *string { return &c.Database }),
		text("node", "name of this router in a cluster, whose nodes share the database and of which one writes; empty: it is alone", func(c *Config) *string { return &c.Node }),
		text("node_url", "where the other nodes of the cluster reach this one; empty: the address that it listens on", func(c *Config) *string { return &c.NodeURL }),
		text("cluster_secret_file", "file of the secret that the nodes of a cluster share", func(c *Config) *string { return &c.ClusterSecretFile }),
		server("nats", "NATS server by which the nodes of the cluster tell each other that something was written, nats://HOST:4222 or nats+tls://HOST; empty: they look for themselves", func(c *Config) *string { return &c.NATS }),
		list("allowed_hosts", "further host names that requests may bear, separated by commas", func(c *Config) *[]string { return &c.AllowedHosts }),
		toggle("agents_may_stop", "an agent's token may stop and pause other agents, and make rules that block them", func(c *Config) *bool { return &c.AgentsMayStop }),
		toggle("tell_vouched_only", "agents are told by itself only what a person said or imported, or a second voice vouched for", func(c *Config) *bool { return &c.TellVouched }),
		duration("shutdown_grace", "how long open requests may take to end at shutdown", func(c *Config) *time.Duration { return &c.ShutdownGrace }),
		text("log.level", "least level that is logged: debug, info, warn, error", func(c *Config) *string { return &c.Log.Level }),
		text("log.format", "form of the log: text or json", func(c *Config) *string { return &c.Log.Format }),
		duration("presence.heartbeat_interval", "how often agents are expected to check in", func(c *Config) *time.Duration { return &c.Presence.HeartbeatInterval }),
		duration("presence.stale_after", "silence after which an agent is stale", func(c *Config) *time.Duration { return &c.Presence.StaleAfter }),
		duration("presence.offline_after", "silence after which an agent is offline", func(c *Config) *time.Duration { return &c.Presence.OfflineAfter }),
		duration("retention.messages", "how long messages are kept, acknowledged or not; 0 keeps them for ever", func(c *Config) *time.Duration { return &c.Retention.Messages }),
		duration("retention.episodes", "how long episodes with an outcome are kept, twice as long if of high utility; 0 keeps them for ever", func(c *Config) *time.Duration { return &c.Retention.Episodes }),
		duration("retention.patterns", "how long patterns are kept after they were last seen; 0 keeps them for ever", func(c *Config) *time.Duration { return &c.Retention.Patterns }),
		duration("retention.checks", "how long the guard's checks of actions are kept; 0 keeps them for ever", func(c *Config) *time.Duration { return &c.Retention.Checks }),
		duration("retention.events", "how long what happened is kept, for the feed and the timeline; 0 keeps it for ever", func(c *Config) *time.Duration { return &c.Retention.Events }),
		text("escalation.rules", "file of the rules by which lessons are escalated; empty: the built-in ones", func(c *Config) *string { return &c.Escalation.Rules }),
		list("escalation.supervisors", "who supervises a domain, as DOMAIN=AGENT, separated by commas", func(c *Config) *[]string { return &c.Escalation.Supervisors }),
		fraction("ranking.similarity_weight", "how much likeness counts in the order of lessons, 0 to 1; recency has the rest", func(c *Config) *float64 { return &c.Ranking.SimilarityWeight }),
		fraction("consolidation.threshold", "confidence from which what a transcript proposes is stored at once, to 1; 0: never", func(c *Config) *float64 { return &c.Consolidation.Threshold }),
		list("guard.packs", "packs of the guard's rules that block where nobody has said otherwise, while all others are off: names separated by commas, all or none; empty: each is as it is by itself", func(c *Config) *[]string { return &c.Guard.Packs }),
		list("mcp.toolsets", "toolsets that are on for every MCP client, separated by commas", func(c *Config) *[]string { return &c.MCP.Toolsets }),
		text("procedures.folder", "folder of the procedures' files; empty: procedures, in the data folder", func(c *Config) *string { return &c.Procedures.Folder }),
		text("llm.base_url", "OpenAI-compatible endpoint that may be asked, such as http://127.0.0.1:11434/v1; empty: none", func(c *Config) *string { return &c.LLM.BaseURL }),
		text("llm.model", "model that the router itself asks; empty: none", func(c *Config) *string { return &c.LLM.Model }),
		secret("llm.api_key", "key that the endpoint wants", func(c *Config) *string { return &c.LLM.APIKey }),
		number("llm.context_window", "tokens that the model takes, question and answer; 0: not known", func(c *Config) *int { return &c.LLM.ContextWindow }),
		duration("llm.timeout", "how long the endpoint may be silent", func(c *Config) *time.Duration { return &c.LLM.Timeout }),
		text("llm.embedding_model", "model that makes vectors for the search; empty: the search is lexical", func(c *Config) *string { return &c.LLM.EmbeddingModel }),
		text("llm.embedding_base_url", "endpoint of the embedding model; empty: llm.base_url", func(c *Config) *string { return &c.LLM.EmbeddingBaseURL }),
		text("llm.embedding_query_prefix", "what the embedding model wants in front of a query, such as \"query: \"", func(c *Config) *string { return &c.LLM.QueryPrefix }),
		text("llm.embedding_item_prefix", "what it wants in front of a text that is searched, such as \"passage: \"; another makes all vectors anew", func(c *Config) *string { return &c.LLM.ItemPrefix }),
		number("llm.memory_budget", "tokens of memory that the proxy puts in front of a conversation; 0: none", func(c *Config) *int { return &c.LLM.MemoryBudget }),
		toggle("llm.record", "remember the proxy's exchanges as episodes", func(c *Config) *bool { return &c.LLM.Record }),
		text("telemetry.endpoint", "OTLP/HTTP collector that spans are sent to, such as http://127.0.0.1:4318; empty: none", func(c *Config) *string { return &c.Telemetry.Endpoint }),
		toggle("telemetry.content", "spans hold the arguments and answers of tools, and checked commands, redacted", func(c *Config) *bool { return &c.Telemetry.Content }),
		text("webhook", "URL that is told when something newly waits for a person; empty: none", func(c *Config) *string { return &c.Webhook }),
		text("webhook_secret_file", "file of the secret that its messages are signed with, made if it is not there; empty: webhook.secret, in the data folder", func(c *Config) *string { return &c.WebhookSecret }),
		toggle("airgapped", "refuse to start if a setting lets a connection leave this machine", func(c *Config) *bool { return &c.Airgapped }),
	}
}

// secret is a text that is shown as a mask.
func secret(name, usage string, field func(*Config) *string) Setting {
	s := text(name, usage, field)
	s.Secret = true
	s.show = func(c Config) string {
		if *field(&c) == "" {
			return ""
		}
		return "********"
	}
	return s
}

// server is a URL, which is shown without its password.
func server(name, usage string, field func(*Config) *string) Setting {
	s := text(name, usage, field)
	s.show = func(c Config) string {
		if u, err := url.Parse(*field(&c)); err == nil {
			return u.Redacted()
		}
		return "********"
	}
	return s
}

// read makes a setting whose text parse reads; must says what it has to be.
func read[T any](name, usage, must string, field func(*Config) *T, parse func(string) (T, error), show func(T) string) Setting {
	return Setting{
		Name: name, Usage: usage,
		set: func(c *Config, value string) error {
			read, err := parse(value)
			if err != nil {
				return errs.InvalidField(name, "must be %s, and is %s", must, strconv.Quote(value))
			}
			*field(c) = read
			return nil
		},
		show: func(c Config) string { return show(*field(&c)) },
	}
}

func number(name, usage string, field func(*Config) *int) Setting {
	return read(name, usage, "a whole number such as 8192", field, strconv.Atoi, strconv.Itoa)
}

func toggle(name, usage string, field func(*Config) *bool) Setting {
	s := read(name, usage, "true or false", field, strconv.ParseBool, strconv.FormatBool)
	s.Switch = true
	return s
}

func list(name, usage string, field func(*Config) *[]string) Setting {
	return read(name, usage, "", field, func(value string) ([]string, error) { // any text is one
		texts := []string{}
		for text := range strings.SplitSeq(value, ",") {
			if text = strings.TrimSpace(text); text != "" {
				texts = append(texts, text)
			}
		}
		return texts, nil
	}, func(texts []string) string { return strings.Join(texts, ",") })
}

func text(name, usage string, field func(*Config) *string) Setting {
	return read(name, usage, "", field, func(value string) (string, error) { return value, nil }, func(value string) string { return value })
}

func duration(name, usage string, field func(*Config) *time.Duration) Setting {
	return read(name, usage, "a duration such as 15s, 2m or 1h30m", field, time.ParseDuration, time.Duration.String)
}

func fraction(name, usage string, field func(*Config) *float64) Setting {
	return read(name, usage, "a number such as 0.7", field,
		func(text string) (float64, error) { return strconv.ParseFloat(text, 64) },
		func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) })
}
