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

// Config is every setting of the running sidecar, in the order in which they are documented. The tag yaml is the name in
// the file, usage what people are told, former a name that it had, default what holds if nobody says anything, shown how a secret is shown,
// and holds whether a text is a path or must be one line.
type Config struct {
	Listen            string        `yaml:"listen" default:"127.0.0.1:8025" usage:"address to listen on, HOST:PORT"`
	CompatiblePorts   bool          `yaml:"compatible_ports" usage:"also listen on the ports that clients of the earlier programs call: 8025 and 8031 (HTTP), 9031 (WebSocket), 3031 (UDP)" former:"seed_ports"`
	Listeners         Listeners     `yaml:"listeners"`
	InterLock         InterLock     `yaml:"interlock"`
	TLSCert           string        `yaml:"tls_cert" holds:"path" usage:"file of the certificate (PEM) that all HTTP listeners show; empty: they speak plain HTTP"`
	TLSKey            string        `yaml:"tls_key" holds:"path" usage:"file of the key (PEM) of tls_cert"`
	TLSCA             string        `yaml:"tls_ca" holds:"path" usage:"file of certificates (PEM) of authorities that are believed, beside the system's, when a router is called"`
	Data              string        `yaml:"data" holds:"path" usage:"folder that holds the databases"`
	FirstToken        string        `yaml:"first_token_file" holds:"path" usage:"file that a start puts a token for all agents into (scope captain) if none was ever issued, so that every call needs one; empty: it issues none"`
	Database          string        `yaml:"database" usage:"PostgreSQL server that has the databases, postgres://USER@HOST/NAME; empty: they are files in the data folder" shown:"redacted"`
	Node              string        `yaml:"node" usage:"name of this router in a cluster, whose nodes share the database and of which one writes; empty: it is alone"`
	NodeURL           string        `yaml:"node_url" usage:"where the other nodes of the cluster reach this one; empty: the address that it listens on"`
	ClusterSecretFile string        `yaml:"cluster_secret_file" usage:"file of the secret that the nodes of a cluster share"`
	NATS              string        `yaml:"nats" usage:"NATS server by which the nodes of the cluster tell each other that something was written, nats://HOST:4222 or nats+tls://HOST; empty: they look for themselves" shown:"redacted"`
	AllowedHosts      []string      `yaml:"allowed_hosts" usage:"further host names that requests may bear, separated by commas"`
	AgentsMayStop     bool          `yaml:"agents_may_stop" usage:"an agent's token may stop and pause other agents, and make rules that block them"`
	TellVouched       bool          `yaml:"tell_vouched_only" usage:"agents are told by itself only what a person said or imported, or a second voice vouched for"`
	ShutdownGrace     time.Duration `yaml:"shutdown_grace" default:"5s" usage:"how long open requests may take to end at shutdown"`
	Log               Log           `yaml:"log"`
	Presence          Presence      `yaml:"presence"`
	Retention         Retention     `yaml:"retention"`
	Escalation        Escalation    `yaml:"escalation"`
	Ranking           Ranking       `yaml:"ranking"`
	Consolidation     Consolidation `yaml:"consolidation"`
	Guard             Guard         `yaml:"guard"`
	MCP               MCP           `yaml:"mcp"`
	Procedures        Procedures    `yaml:"procedures"`
	LLM               LLM           `yaml:"llm"`
	Telemetry         Telemetry     `yaml:"telemetry"`
	Airgapped         bool          `yaml:"airgapped" usage:"refuse to start if a setting lets a connection leave this machine"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level" default:"info" usage:"least level that is logged: debug, info, warn, error"`
	Format string `yaml:"format" default:"text" usage:"form of the log: text or json"`
}

// Presence says when an agent counts as gone.
type Presence struct {
	HeartbeatInterval time.Duration `yaml:"heartbeat_interval" default:"15s" usage:"how often agents are expected to check in"`
	StaleAfter        time.Duration `yaml:"stale_after" default:"45s" usage:"silence after which an agent is stale"`
	OfflineAfter      time.Duration `yaml:"offline_after" default:"2m" usage:"silence after which an agent is offline"`
}

// Retention says how long things are kept.
type Retention struct {
	Messages time.Duration `yaml:"messages" default:"720h" usage:"how long messages are kept, acknowledged or not; 0 keeps them for ever"`
	Episodes time.Duration `yaml:"episodes" default:"2160h" usage:"how long episodes with an outcome are kept, twice as long if of high utility; 0 keeps them for ever"`
	Patterns time.Duration `yaml:"patterns" default:"4320h" usage:"how long patterns are kept after they were last seen; 0 keeps them for ever"`
	Checks   time.Duration `yaml:"checks" default:"2160h" usage:"how long the guard's checks of actions are kept; 0 keeps them for ever"`
	Events   time.Duration `yaml:"events" default:"720h" usage:"how long what happened is kept, for the feed and the timeline; 0 keeps it for ever"`
}

// Guard says how the guard begins.
type Guard struct {
	Packs []string `yaml:"packs" usage:"packs of the guard's rules that block where nobody has said otherwise, while all others are off: names separated by commas, all or none; empty: each is as it is by itself"`
}

// MCP says what the tools' clients are offered.
type MCP struct {
	Toolsets []string `yaml:"toolsets" usage:"toolsets that are on for every MCP client, separated by commas"`
}

// Escalation says who is told of a lesson.
type Escalation struct {
	Rules       string   `yaml:"rules" holds:"path" usage:"file of the rules by which lessons are escalated; empty: the built-in ones"`
	Supervisors []string `yaml:"supervisors" usage:"who supervises a domain, as DOMAIN=AGENT, separated by commas"`
}

// Procedures says where they are kept as files.
type Procedures struct {
	Folder string `yaml:"folder" holds:"path" usage:"folder of the procedures' files; empty: procedures, in the data folder"`
}

// ProceduresFolder is the folder of the procedures' files.
func (c Config) ProceduresFolder() string {
	if c.Procedures.Folder == "" {
		return filepath.Join(c.Data, "procedures")
	}
	return c.Procedures.Folder
}

// Consolidation says what becomes of what transcripts propose to remember.
type Consolidation struct {
	Threshold float64 `yaml:"threshold" usage:"confidence from which what a transcript proposes is stored at once, to 1; 0: never"`
}

// Ranking says what counts how much in what is found.
type Ranking struct {
	SimilarityWeight float64 `yaml:"similarity_weight" default:"0.7" usage:"how much likeness counts in the order of lessons, 0 to 1; recency has the rest"`
}

// Telemetry says where the spans of what the router does are sent. Nothing is sent as long as Endpoint is empty.
type Telemetry struct {
	Endpoint string `yaml:"endpoint" usage:"OTLP/HTTP collector that spans are sent to, such as http://127.0.0.1:4318; empty: none"`
	Content  bool   `yaml:"content" usage:"spans hold the arguments and answers of tools, and checked commands, redacted"`
}

// LLM says which model the router may ask. Nothing is asked, and no connection
// is made, as long as BaseURL and EmbeddingBaseURL are empty.
type LLM struct {
	BaseURL          string        `yaml:"base_url" usage:"OpenAI-compatible endpoint that may be asked, such as http://127.0.0.1:11434/v1; empty: none"`
	Model            string        `yaml:"model" holds:"line" usage:"model that the router itself asks; empty: none"`
	APIKey           string        `yaml:"api_key" holds:"line" usage:"key that the endpoint wants" shown:"masked"`
	ContextWindow    int           `yaml:"context_window" usage:"tokens that the model takes, question and answer; 0: not known"`
	Timeout          time.Duration `yaml:"timeout" default:"2m" usage:"how long the endpoint may be silent"`
	EmbeddingModel   string        `yaml:"embedding_model" holds:"line" usage:"model that makes vectors for the search; empty: the search is lexical"`
	EmbeddingBaseURL string        `yaml:"embedding_base_url" usage:"endpoint of the embedding model; empty: llm.base_url"`
	QueryPrefix      string        `yaml:"embedding_query_prefix" holds:"line" usage:"what the embedding model wants in front of a query, such as \"query: \""`
	ItemPrefix       string        `yaml:"embedding_item_prefix" holds:"line" usage:"what it wants in front of a text that is searched, such as \"passage: \"; another makes all vectors anew"`
	MemoryBudget     int           `yaml:"memory_budget" default:"1500" usage:"tokens of memory that the proxy puts in front of a conversation; 0: none"`
	Record           bool          `yaml:"record" usage:"remember the proxy's exchanges as episodes"`
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
	c := Config{Data: defaultData()}
	for _, s := range Settings() {
		if _, list := s.of(&c).(*[]string); list || s.value != "" {
			if err := s.set(&c, s.value); err != nil {
				panic("config: " + err.Error()) // it is ours
			}
		}
	}
	return c
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
	for _, s := range Settings() {
		text, is := s.of(&c).(*string)
		switch {
		case !is:
		case s.holds == "path" && strings.IndexByte(*text, 0) >= 0:
			return errs.InvalidField(s.Name, "may not hold the character NUL")
		case s.holds == "line" && strings.ContainsFunc(*text, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return errs.InvalidField(s.Name, "may not hold control characters")
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

// validate checks the settings of the way out. An address that is half right
// is refused at the start and not with the first question.
func (l LLM) validate() error {
	for _, setting := range [][2]string{{"llm.base_url", l.BaseURL}, {"llm.embedding_base_url", l.EmbeddingBaseURL}} {
		name, address := setting[0], setting[1]
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
			return errs.InvalidField(name, "must be a URL such as http://127.0.0.1:11434/v1")
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			return errs.InvalidField(name, "may bear no user, query or fragment; the key is llm.api_key")
		}
	}
	if l.Model != "" && l.BaseURL == "" {
		return errs.InvalidField("llm.model", "needs llm.base_url, which says where it is asked")
	}
	if l.EmbeddingModel != "" && l.EmbeddingBase() == "" {
		return errs.InvalidField("llm.embedding_model", "needs llm.embedding_base_url or llm.base_url, which say where it is asked")
	}
	if l.EmbeddingModel == "" && l.EmbeddingBaseURL != "" {
		return errs.InvalidField("llm.embedding_base_url", "needs llm.embedding_model, which says what is asked there")
	}
	if l.ContextWindow < 0 || l.ContextWindow > MaxWindow {
		return errs.InvalidField("llm.context_window", "must lie between 0 and %d tokens; 0 means that it is not known", MaxWindow)
	}
	if l.MemoryBudget != 0 && (l.MemoryBudget < MinMemoryBudget || l.MemoryBudget > MaxMemoryBudget) {
		return errs.InvalidField("llm.memory_budget", "must lie between %d and %d tokens; 0 switches memory off", MinMemoryBudget, MaxMemoryBudget)
	}
	return between("llm.timeout", l.Timeout, MinInterval, MaxLLMTimeout)
}
