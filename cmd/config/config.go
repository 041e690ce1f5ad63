// Package config holds the sidecar's settings: what they are called, what
// they are if nobody says anything, and in which order a file, the
// environment and the command line speak. It owns the checks on them. It must
// know no service, and nothing below cmd may know it: what a package needs is
// handed to it as plain values.
package config

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
)

// Config is every setting of the running sidecar.
type Config struct {
	Listen            string        `yaml:"listen"`           // host:port of the HTTP listener; port 0 takes a free one
	CompatiblePorts   bool          `yaml:"compatible_ports"` // also listen on the ports that the papers name, on the host of Listen
	Listeners         Listeners     `yaml:"listeners"`
	InterLock         InterLock     `yaml:"interlock"`
	TLSCert           string        `yaml:"tls_cert"`            // file of the certificate, with those between it and its authority's, of all HTTP listeners; empty: they speak plain HTTP
	TLSKey            string        `yaml:"tls_key"`             // file of its key
	TLSCA             string        `yaml:"tls_ca"`              // file of authorities that are believed beside the system's when a router is called
	Data              string        `yaml:"data"`                // folder of the databases, the lock and the owner's token
	FirstToken        string        `yaml:"first_token_file"`    // where a first start puts a token for all agents, so that no call is open; empty: it issues none
	Database          string        `yaml:"database"`            // postgres://… of the server that has the databases; empty: they are files in Data
	Node              string        `yaml:"node"`                // name of this router in its cluster, which shares the database; empty: it is alone
	NodeURL           string        `yaml:"node_url"`            // where the other nodes reach this one; empty: the address that it listens on
	ClusterSecretFile string        `yaml:"cluster_secret_file"` // what the nodes of a cluster share
	NATS              string        `yaml:"nats"`                // the server by which the nodes tell each other what was written; empty: none
	AllowedHosts      []string      `yaml:"allowed_hosts"`       // names, besides loopback's and the listener's own, that Host and Origin may bear
	AgentsMayStop     bool          `yaml:"agents_may_stop"`     // an agent's token may stop and pause others, and make rules that block them
	TellVouched       bool          `yaml:"tell_vouched_only"`   // agents are told by itself only what a person or a second voice vouched for
	ShutdownGrace     time.Duration `yaml:"shutdown_grace"`
	Log               Log           `yaml:"log"`
	Presence          Presence      `yaml:"presence"`
	Retention         Retention     `yaml:"retention"`
	Escalation        Escalation    `yaml:"escalation"`
	Ranking           Ranking       `yaml:"ranking"`
	MCP               MCP           `yaml:"mcp"`
	Guard             Guard         `yaml:"guard"`
	Consolidation     Consolidation `yaml:"consolidation"`
	LLM               LLM           `yaml:"llm"`
	Telemetry         Telemetry     `yaml:"telemetry"`
	Webhook           string        `yaml:"webhook"`             // address that is told what newly waits for a person; empty: none is
	WebhookSecret     string        `yaml:"webhook_secret_file"` // what its messages are signed with; empty: webhook.secret, in the data folder
	Airgapped         bool          `yaml:"airgapped"`           // the start is refused if a connection may leave this machine
	Procedures        Procedures    `yaml:"procedures"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // text or json
}

// Presence says when an agent counts as gone.
type Presence struct {
	HeartbeatInterval time.Duration `yaml:"heartbeat_interval"` // how often agents are expected to check in
	StaleAfter        time.Duration `yaml:"stale_after"`        // silence after which an agent is stale
	OfflineAfter      time.Duration `yaml:"offline_after"`      // silence after which it is offline
}

// Retention says how long things are kept.
type Retention struct {
	Messages time.Duration `yaml:"messages"` // 0: for ever
	Episodes time.Duration `yaml:"episodes"` // of those with an outcome, twice as long if they are of high utility; 0: for ever
	Patterns time.Duration `yaml:"patterns"` // since they were last seen; 0: for ever
	Checks   time.Duration `yaml:"checks"`   // the guard's ledger; 0: for ever
	Events   time.Duration `yaml:"events"`   // what happened, in both databases and in the feed; 0: for ever
}

// Guard says how the guard begins.
type Guard struct {
	Packs []string `yaml:"packs"` // those that block where nobody has said otherwise, the others being off: names, all or none; empty: each is as it is by itself
}

// MCP says what the tools' clients are offered.
type MCP struct {
	Toolsets []string `yaml:"toolsets"` // switched on for every client, besides the core
}

// Escalation says who is told of a lesson.
type Escalation struct {
	Rules       string   `yaml:"rules"`       // file of the rules; empty: the built-in ones
	Supervisors []string `yaml:"supervisors"` // DOMAIN=AGENT: who supervises a domain
}

// Procedures says where they are kept as files.
type Procedures struct {
	Folder string `yaml:"folder"` // empty: procedures, in the data folder
}

// ProceduresFolder is the folder of the procedures' files.
func (c Config) ProceduresFolder() string {
	if c.Procedures.Folder == "" {
		return filepath.Join(c.Data, "procedures")
	}
	return c.Procedures.Folder
}

// WebhookSecretFile is the file of what the webhook's messages are signed with.
func (c Config) WebhookSecretFile() string {
	if c.WebhookSecret == "" {
		return filepath.Join(c.Data, "webhook.secret")
	}
	return c.WebhookSecret
}

// Consolidation says what becomes of what transcripts propose to remember.
type Consolidation struct {
	Threshold float64 `yaml:"threshold"` // the confidence from which a proposal is stored at once, to 1; 0: none is
}

// Ranking says what counts how much in what is found.
type Ranking struct {
	SimilarityWeight float64 `yaml:"similarity_weight"` // of lessons: 0 to 1; recency has the rest
}

// Telemetry says where the spans of what the router does are sent. Nothing is sent as long as Endpoint is empty.
type Telemetry struct {
	Endpoint string `yaml:"endpoint"` // of an OTLP/HTTP collector
	Content  bool   `yaml:"content"`  // spans hold texts too, redacted
}

// LLM says which model the router may ask. Nothing is asked, and no connection
// is made, as long as BaseURL and EmbeddingBaseURL are empty.
type LLM struct {
	BaseURL          string        `yaml:"base_url"` // of an OpenAI-compatible endpoint
	Model            string        `yaml:"model"`    // that the router itself asks; empty: it asks none
	APIKey           string        `yaml:"api_key"`
	ContextWindow    int           `yaml:"context_window"` // tokens, question and answer; 0: not known
	Timeout          time.Duration `yaml:"timeout"`        // how long the endpoint may be silent
	EmbeddingModel   string        `yaml:"embedding_model"`
	EmbeddingBaseURL string        `yaml:"embedding_base_url"`     // empty: BaseURL
	QueryPrefix      string        `yaml:"embedding_query_prefix"` // in front of a query that is embedded
	ItemPrefix       string        `yaml:"embedding_item_prefix"`  // in front of what is searched
	MemoryBudget     int           `yaml:"memory_budget"`          // tokens of memory in front of a conversation; 0: none
	Record           bool          `yaml:"record"`                 // remember exchanges as episodes
}

// EmbeddingBase is the address of the endpoint that makes vectors; empty if there is none.
func (l LLM) EmbeddingBase() string {
	switch {
	case l.EmbeddingModel == "":
		return ""
	case l.EmbeddingBaseURL != "":
		return l.EmbeddingBaseURL
	}
	return l.BaseURL
}

// Bounds of settings.
const (
	// MaxWindow is beyond the windows of today's models, in tokens.
	MaxWindow = 10_000_000
	// MaxMemoryBudget bounds what is put in front of a conversation, in tokens: as much as a context may have.
	MaxMemoryBudget = 200_000
	// MinMemoryBudget is the least that holds an item with its frame, in tokens.
	MinMemoryBudget = 50
	// MaxLLMTimeout is longer than the largest model takes to load from a slow disk.
	MaxLLMTimeout = time.Hour
	// MaxFile bounds a configuration file, in bytes; the annotated example is a twentieth of it.
	MaxFile = 64 << 10
	// MaxShutdownGrace keeps a stop shorter than the patience of a service manager.
	MaxShutdownGrace = time.Minute
	// MinInterval keeps presence from being decided by scheduling noise.
	MinInterval = 100 * time.Millisecond
	// MaxInterval is the longest silence that still says anything about an agent.
	MaxInterval = 24 * time.Hour
	// MaxAllowedHosts bounds the list that every request is compared with.
	MaxAllowedHosts = 64
	// MaxSupervisors bounds the list of supervisors: a team has few domains.
	MaxSupervisors = 256
)

// Default returns the settings that hold if nobody says anything. Data is
// empty if the platform names no folder of the user's.
func Default() Config {
	return Config{
		Listen:        "127.0.0.1:8025",
		Listeners:     Listeners{HTTP: []string{}, WebSocket: []string{}},
		Data:          defaultData(),
		AllowedHosts:  []string{},
		ShutdownGrace: 5 * time.Second,
		Log:           Log{Level: "info", Format: "text"},
		Presence: Presence{
			HeartbeatInterval: 15 * time.Second,
			StaleAfter:        45 * time.Second,
			OfflineAfter:      2 * time.Minute,
		},
		Retention:  Retention{Messages: 30 * 24 * time.Hour, Episodes: 90 * 24 * time.Hour, Patterns: 180 * 24 * time.Hour, Checks: 90 * 24 * time.Hour, Events: 30 * 24 * time.Hour},
		Escalation: Escalation{Supervisors: []string{}},
		Ranking:    Ranking{SimilarityWeight: 0.7},
		MCP:        MCP{Toolsets: []string{}},
		Guard:      Guard{Packs: []string{}},
		LLM:        LLM{Timeout: 2 * time.Minute, MemoryBudget: 1500},
	}
}

// MaxNodeName bounds the name of a node, in bytes: it stands in a header of each answer.
const MaxNodeName = 64

func unspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsUnspecified()
}

// validateNode checks what makes a router a node of a cluster.
func (c Config) validateNode() error {
	switch {
	case c.Node == "" && (c.NodeURL != "" || c.ClusterSecretFile != "" || c.NATS != ""):
		return errs.InvalidField("node", "is required with node_url, cluster_secret_file and nats: it names this router in its cluster")
	case c.Node == "":
		return nil
	case len(c.Node) > MaxNodeName || strings.Trim(c.Node, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "":
		return errs.InvalidField("node", "must be at most %d letters, digits and the signs - _ .", MaxNodeName)
	case c.Database == "":
		return errs.InvalidField("node", "needs database: the nodes of a cluster share a PostgreSQL server")
	case c.ClusterSecretFile == "":
		return errs.InvalidField("cluster_secret_file", "is required with node: the nodes of a cluster know each other by it. `openssl rand -hex 32` makes one")
	}
	if host, _, err := net.SplitHostPort(c.Listen); c.NodeURL == "" && (err == nil && host == "" || unspecified(host)) {
		return errs.InvalidField("node_url", "is required where listen (%s) is every address of the machine: the other nodes must be told one", c.Listen)
	}
	if u, err := url.Parse(c.NodeURL); c.NodeURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "") {
		return errs.InvalidField("node_url", "must be a URL such as http://10.0.0.5:8025, without a path")
	}
	if u, err := url.Parse(c.NATS); c.NATS != "" && (err != nil || u.Scheme != "nats" && u.Scheme != "nats+tls" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "") {
		return errs.InvalidField("nats", "must be a URL such as nats://10.0.0.5:4222 or nats+tls://nats.example.com, without a path")
	}
	return nil
}

// Validate returns an Invalid error, naming the setting, unless every setting
// is in its range and they fit each other.
func (c Config) Validate() error {
	for _, path := range [][2]string{
		{"data", c.Data},
		{"tls_cert", c.TLSCert},
		{"tls_key", c.TLSKey},
		{"tls_ca", c.TLSCA},
		{"interlock.config", c.InterLock.Config},
		{"procedures.folder", c.Procedures.Folder},
		{"escalation.rules", c.Escalation.Rules},
		{"webhook_secret_file", c.WebhookSecret},
		{"first_token_file", c.FirstToken},
	} {
		if strings.IndexByte(path[1], 0) >= 0 {
			return errs.InvalidField(path[0], "may not hold the character NUL")
		}
	}
	if err := c.validateListeners(); err != nil {
		return err
	}
	if c.Data == "" {
		return errs.InvalidField("data", "is required: there is no home folder; name the folder with --data or SKILLROUTER_DATA")
	}
	if !slices.Contains(levels, c.Log.Level) {
		return errs.InvalidField("log.level", "must be one of %s", strings.Join(levels, ", "))
	}
	if !slices.Contains(formats, c.Log.Format) {
		return errs.InvalidField("log.format", "must be one of %s", strings.Join(formats, ", "))
	}
	if err := cmp.Or(
		between("presence.heartbeat_interval", c.Presence.HeartbeatInterval, MinInterval, MaxInterval),
		between("presence.stale_after", c.Presence.StaleAfter, MinInterval, MaxInterval),
		between("presence.offline_after", c.Presence.OfflineAfter, MinInterval, MaxInterval),
	); err != nil {
		return err
	}
	if c.Presence.StaleAfter <= c.Presence.HeartbeatInterval {
		return errs.InvalidField("presence.stale_after", "must be longer than presence.heartbeat_interval (%s)", c.Presence.HeartbeatInterval)
	}
	if c.Presence.OfflineAfter <= c.Presence.StaleAfter {
		return errs.InvalidField("presence.offline_after", "must be longer than presence.stale_after (%s)", c.Presence.StaleAfter)
	}
	for _, of := range []struct {
		what string
		long time.Duration
	}{{"messages", c.Retention.Messages}, {"episodes", c.Retention.Episodes}, {"patterns", c.Retention.Patterns}, {"checks", c.Retention.Checks}, {"events", c.Retention.Events}} {
		if of.long < 0 {
			return errs.InvalidField("retention."+of.what, "must not be negative; 0 keeps %s for ever", of.what)
		}
	}
	if err := between("shutdown_grace", c.ShutdownGrace, 0, MaxShutdownGrace); err != nil {
		return err
	}
	if err := c.validateNode(); err != nil {
		return err
	}
	if len(c.AllowedHosts) > MaxAllowedHosts {
		return errs.InvalidField("allowed_hosts", "may hold at most %d names", MaxAllowedHosts)
	}
	for _, name := range c.AllowedHosts {
		if !hostname(name) {
			return errs.InvalidField("allowed_hosts", "must hold bare host names or addresses, without scheme, port, path or wildcard")
		}
	}
	if _, err := c.Escalation.SupervisorOf(); err != nil {
		return err
	}
	if err := check.Range("consolidation.threshold", c.Consolidation.Threshold, 0, 1); err != nil {
		return err
	}
	if err := check.Range("ranking.similarity_weight", c.Ranking.SimilarityWeight, 0, 1); err != nil {
		return err
	}
	if u, ok := address(c.Telemetry.Endpoint); !ok || u.RawQuery != "" || u.ForceQuery {
		return errs.InvalidField("telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318, without user, query and fragment")
	}
	if _, ok := address(c.Webhook); !ok {
		return errs.InvalidField("webhook", "must be a URL such as https://chat.example/hooks/router, without user and fragment")
	}
	return c.LLM.validate()
}

// address reads the address of what is dialled, which is empty if nothing is.
func address(text string) (*url.URL, bool) {
	if text == "" {
		return &url.URL{}, true
	}
	u, err := url.Parse(text)
	return u, err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.Fragment == ""
}

// SupervisorOf returns the agents that supervise domains, by domain.
func (e Escalation) SupervisorOf() (map[string]string, error) {
	const field = "escalation.supervisors"
	if len(e.Supervisors) > MaxSupervisors {
		return nil, errs.InvalidField(field, "may hold at most %d domains", MaxSupervisors)
	}
	agents := make(map[string]string, len(e.Supervisors))
	for _, pair := range e.Supervisors {
		domain, agent, ok := strings.Cut(pair, "=")
		domain, agent = strings.TrimSpace(domain), strings.TrimSpace(agent)
		if !ok || domain == "" {
			return nil, errs.InvalidField(field, "must hold DOMAIN=AGENT, such as security=AEGIS")
		}
		if err := check.AgentID(field, agent); err != nil {
			return nil, err
		}
		agents[domain] = agent
	}
	return agents, nil
}

var (
	levels  = []string{"debug", "info", "warn", "error"}
	formats = []string{"text", "json"}
)

func between(name string, d, low, high time.Duration) error {
	if d < low || d > high {
		return errs.InvalidField(name, "must lie between %s and %s", low, high)
	}
	return nil
}

// hostname tells whether s can stand alone as the host of a URL.
func hostname(s string) bool {
	if ip := net.ParseIP(strings.Trim(s, "[]")); ip != nil {
		return true
	}
	u, err := url.Parse("http://" + s)
	return err == nil && s != "" && u.Host == s && u.Port() == "" && !strings.ContainsAny(s, ":*@ ")
}
