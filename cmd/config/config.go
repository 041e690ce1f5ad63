// Package config holds the sidecar's settings: what they are called, what
// they are if nobody says anything, and in which order a file, the
// environment and the command line speak. It owns the checks on them. It must
// know no service, and nothing below cmd may know it: what a package needs is
// handed to it as plain values.
package config

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// Config is every setting of the running sidecar, in the order in which they are documented. The tag yaml is the name in
// the file, usage what people are told, default what holds if nobody says anything, shown how a secret is shown,
// holds whether a text is a path, an address or a host or must be one line, url what it looks like if it is one, one what it may be
// alone, range where a number must lie, and most how many texts a list may hold.
type Config struct {
	Listen            string        `yaml:"listen" holds:"address" default:"127.0.0.1:8025" usage:"address to listen on, HOST:PORT"`
	CompatiblePorts   bool          `yaml:"compatible_ports" usage:"also listen on the ports that clients of the earlier programs call: 8025 and 8031 (HTTP), 9031 (WebSocket), 3031 (UDP)"`
	Listeners         Listeners     `yaml:"listeners"`
	InterLock         InterLock     `yaml:"interlock"`
	TLSCert           string        `yaml:"tls_cert" holds:"path" usage:"file of the certificate (PEM) that all HTTP listeners show; empty: they speak plain HTTP"`
	TLSKey            string        `yaml:"tls_key" holds:"path" usage:"file of the key (PEM) of tls_cert"`
	TLSCA             string        `yaml:"tls_ca" holds:"path" usage:"file of certificates (PEM) of authorities that are believed, beside the system's, when a router is called"`
	Data              string        `yaml:"data" holds:"path" usage:"folder that holds the databases"`
	FirstToken        string        `yaml:"first_token_file" holds:"path" usage:"file that a start puts a token for all agents into (scope captain) if none was ever issued, so that every call needs one; empty: it issues none"`
	Database          string        `yaml:"database" usage:"PostgreSQL server that has the databases, postgres://USER@HOST/NAME; empty: they are files in the data folder" shown:"redacted"`
	Node              string        `yaml:"node" usage:"name of this router in a cluster, whose nodes share the database and of which one writes; empty: it is alone"`
	NodeURL           string        `yaml:"node_url" url:"http://10.0.0.5:8025, without a path" usage:"where the other nodes of the cluster reach this one; empty: the address that it listens on"`
	ClusterSecretFile string        `yaml:"cluster_secret_file" usage:"file of the secret that the nodes of a cluster share"`
	NATS              string        `yaml:"nats" url:"nats://10.0.0.5:4222 or nats+tls://nats.example.com, without a path" usage:"NATS server by which the nodes of the cluster tell each other that something was written, nats://HOST:4222 or nats+tls://HOST; empty: they look for themselves" shown:"redacted"`
	AllowedHosts      []string      `yaml:"allowed_hosts" holds:"host" most:"64" usage:"further host names that requests may bear, separated by commas"`
	AgentsMayStop     bool          `yaml:"agents_may_stop" usage:"an agent's token may stop and pause other agents, and make rules that block them"`
	TellVouched       bool          `yaml:"tell_vouched_only" usage:"agents are told by itself only what a person said or imported, or a second voice vouched for"`
	ShutdownGrace     time.Duration `yaml:"shutdown_grace" default:"5s" range:"0s,1m" usage:"how long open requests may take to end at shutdown"`
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
	Level  string `yaml:"level" default:"info" one:"debug, info, warn, error" usage:"least level that is logged: debug, info, warn, error"`
	Format string `yaml:"format" default:"text" one:"text, json" usage:"form of the log: text or json"`
}

// Presence says when an agent counts as gone. Shorter times would be decided by scheduling noise, and longer ones say nothing about an agent.
type Presence struct {
	HeartbeatInterval time.Duration `yaml:"heartbeat_interval" default:"15s" range:"100ms,24h" usage:"how often agents are expected to check in"`
	StaleAfter        time.Duration `yaml:"stale_after" default:"45s" range:"100ms,24h" usage:"silence after which an agent is stale"`
	OfflineAfter      time.Duration `yaml:"offline_after" default:"2m" range:"100ms,24h" usage:"silence after which an agent is offline"`
}

// Retention says how long things are kept.
type Retention struct {
	Messages time.Duration `yaml:"messages" default:"720h" range:"0s," usage:"how long messages are kept, acknowledged or not; 0 keeps them for ever"`
	Episodes time.Duration `yaml:"episodes" default:"2160h" range:"0s," usage:"how long episodes with an outcome are kept, twice as long if of high utility; 0 keeps them for ever"`
	Patterns time.Duration `yaml:"patterns" default:"4320h" range:"0s," usage:"how long patterns are kept after they were last seen; 0 keeps them for ever"`
	Checks   time.Duration `yaml:"checks" default:"2160h" range:"0s," usage:"how long the guard's checks of actions are kept; 0 keeps them for ever"`
	Events   time.Duration `yaml:"events" default:"720h" range:"0s," usage:"how long what happened is kept, for the feed and the timeline; 0 keeps it for ever"`
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
	Supervisors []string `yaml:"supervisors" most:"256" usage:"who supervises a domain, as DOMAIN=AGENT, separated by commas"`
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
	Threshold float64 `yaml:"threshold" range:"0,1" usage:"confidence from which what a transcript proposes is stored at once, to 1; 0: never"`
}

// Ranking says what counts how much in what is found.
type Ranking struct {
	SimilarityWeight float64 `yaml:"similarity_weight" default:"0.7" range:"0,1" usage:"how much likeness counts in the order of lessons, 0 to 1; recency has the rest"`
}

// Telemetry says where the spans of what the router does are sent. Nothing is sent as long as Endpoint is empty.
type Telemetry struct {
	Endpoint string `yaml:"endpoint" url:"http://127.0.0.1:4318, without user, query and fragment" usage:"OTLP/HTTP collector that spans are sent to, such as http://127.0.0.1:4318; empty: none"`
	Content  bool   `yaml:"content" usage:"spans hold the arguments and answers of tools, and checked commands, redacted"`
}

// LLM says which model the router may ask. Nothing is asked, and no connection
// is made, as long as BaseURL and EmbeddingBaseURL are empty.
type LLM struct {
	BaseURL          string        `yaml:"base_url" url:"http://127.0.0.1:11434/v1, without user, query and fragment: the key is llm.api_key" usage:"OpenAI-compatible endpoint that may be asked, such as http://127.0.0.1:11434/v1; empty: none"`
	Model            string        `yaml:"model" holds:"line" usage:"model that the router itself asks; empty: none"`
	APIKey           string        `yaml:"api_key" holds:"line" usage:"key that the endpoint wants" shown:"masked"`
	ContextWindow    int           `yaml:"context_window" range:"0,10000000" usage:"tokens that the model takes, question and answer; 0: not known"`
	Timeout          time.Duration `yaml:"timeout" default:"2m" range:"100ms,1h" usage:"how long the endpoint may be silent"`
	EmbeddingModel   string        `yaml:"embedding_model" holds:"line" usage:"model that makes vectors for the search; empty: the search is lexical"`
	EmbeddingBaseURL string        `yaml:"embedding_base_url" url:"http://127.0.0.1:11434/v1, without user, query and fragment: the key is llm.api_key" usage:"endpoint of the embedding model; empty: llm.base_url"`
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

// Bounds of settings, beside those that their tags say.
const (
	// maxMemoryBudget bounds what is put in front of a conversation, in tokens: as much as a context may have.
	maxMemoryBudget = 200_000
	// minMemoryBudget is the least that holds an item with its frame, in tokens.
	minMemoryBudget = 50
	// MaxFile bounds a configuration file, in bytes; the annotated example is a twentieth of it.
	MaxFile = 64 << 10
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
	return nil
}

// Validate returns an Invalid error, naming the setting, unless every setting
// is in its range and they fit each other.
func (c Config) Validate() error {
	for _, s := range Settings() {
		if err := s.check(&c); err != nil {
			return err
		}
	}
	if err := c.validateTLS(); err != nil {
		return err
	}
	if c.Data == "" {
		return errs.InvalidField("data", "is required: there is no home folder; name the folder with --data or SKILLROUTER_DATA")
	}
	if c.Presence.StaleAfter <= c.Presence.HeartbeatInterval {
		return errs.InvalidField("presence.stale_after", "must be longer than presence.heartbeat_interval (%s)", c.Presence.HeartbeatInterval)
	}
	if c.Presence.OfflineAfter <= c.Presence.StaleAfter {
		return errs.InvalidField("presence.offline_after", "must be longer than presence.stale_after (%s)", c.Presence.StaleAfter)
	}
	if err := c.validateNode(); err != nil {
		return err
	}
	if _, err := c.Escalation.SupervisorOf(); err != nil {
		return err
	}
	return c.LLM.validate()
}

// SupervisorOf returns the agents that supervise domains, by domain.
func (e Escalation) SupervisorOf() (map[string]string, error) {
	const field = "escalation.supervisors"
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

// hostname tells whether s can stand alone as the host of a URL.
func hostname(s string) bool {
	if ip := net.ParseIP(strings.Trim(s, "[]")); ip != nil {
		return true
	}
	u, err := url.Parse("http://" + s)
	return err == nil && s != "" && u.Host == s && u.Port() == "" && !strings.ContainsAny(s, ":*@ ")
}

// validate checks that the settings of the way out fit each other.
func (l LLM) validate() error {
	if l.Model != "" && l.BaseURL == "" {
		return errs.InvalidField("llm.model", "needs llm.base_url, which says where it is asked")
	}
	if l.EmbeddingModel != "" && l.EmbeddingBase() == "" {
		return errs.InvalidField("llm.embedding_model", "needs llm.embedding_base_url or llm.base_url, which say where it is asked")
	}
	if l.EmbeddingModel == "" && l.EmbeddingBaseURL != "" {
		return errs.InvalidField("llm.embedding_base_url", "needs llm.embedding_model, which says what is asked there")
	}
	if l.MemoryBudget != 0 && (l.MemoryBudget < minMemoryBudget || l.MemoryBudget > maxMemoryBudget) {
		return errs.InvalidField("llm.memory_budget", "must lie between %d and %d tokens; 0 switches memory off", minMemoryBudget, maxMemoryBudget)
	}
	return nil
}
