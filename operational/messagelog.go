package operational

// LogQuery selects messages of the whole log, the latest first; empty fields select everything.
type LogQuery struct {
	Before int64  // only smaller seqs; 0: from the newest
	Agent  string // sent by or to this agent, or to every agent
	Kind   bool   // by or to its sessions too: what a token of the agent may read
	Thread string
	Signal string
	Limit  int // most messages; in a caller's, 1 to comms.MaxLimit, 0 means comms.DefaultLimit
	Reach  int // how many seqs are looked through at most, which the mailbox sets: no index has every field
}
